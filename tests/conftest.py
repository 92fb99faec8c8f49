"""What all tests share: where the real datasets are, which skips are failures, hypothesis profiles.

`GRAMME_REQUIRE=dataset,browser,app,ray,distributed` names markers whose tests must run: a skip of such a test becomes a
failure. CI sets it, so that a missing dataset cannot pass for a green run.
"""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

# What collection loads stays to the end; looking through it for garbage again and again took a fifth of its time.
gc.disable()

hypothesis.settings.register_profile("default", max_examples=30, deadline=None)
hypothesis.settings.register_profile("slow", max_examples=1000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def gramme_data() -> Path:
    """The folder of the real datasets; a test that asks for it is marked `dataset` by itself."""
    value = os.environ.get("GRAMME_DATA")
    if not value:
        pytest.skip("GRAMME_DATA is not set: export GRAMME_DATA=/folder/with/all/datasets")
    folder = Path(value).resolve()
    if not folder.is_dir():
        pytest.skip(f"GRAMME_DATA={value} is not a folder: it must hold one folder per dataset")
    return folder


def required_markers() -> list[str]:
    return [name for name in os.environ.get("GRAMME_REQUIRE", "").replace(",", " ").split() if name]


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The words of the skip, from the (path, line, reason) that pytest keeps of it."""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def fail(report: pytest.TestReport | pytest.CollectReport, marker: str) -> None:
    message = f"skipped, but GRAMME_REQUIRE demands every {marker!r} test to run: {reason_of(report)}"
    report.outcome = "failed"
    report.longrepr = message


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Looks for doctests in the package alone: the files of tests have none, and are searched for nothing."""
    found = yield
    return [one for one in found if type(one).__name__ != "DoctestModule"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "gramme_data" in getattr(item, "fixturenames", ()):
            item.add_marker("dataset")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # An expected failure also counts as "skipped" for pytest, but it did run.
    if report.skipped and not hasattr(report, "wasxfail"):
        for marker in required_markers():
            if item.get_closest_marker(marker):
                fail(report, marker)
                break
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A module skipped as a whole (importorskip) has no tests to ask, so its text is asked."""
    report = yield
    if report.skipped and collector.path.is_file():
        text = collector.path.read_text(encoding="utf-8")
        for marker in required_markers():
            if f"mark.{marker}" in text or (marker == "dataset" and "gramme_data" in text):
                fail(report, marker)
                break
    return report
