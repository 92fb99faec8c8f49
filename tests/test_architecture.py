"""The rules of the architecture: packages import only upwards, and tests mirror them."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "gramme"
TESTS = ROOT / "tests"

# In the order in which data flows: a package imports only from those before it.
PACKAGES = (
    "graph",
    "io",
    "datasets",
    "ops",
    "distributed",
    "nn",
    "training",
    "methods",
    "links",
    "ranking",
    "grouping",
    "evaluation",
    "plots",
    "report",
    "app",
    "cli",
)
# They may import every package; the others only what stands before them.
FREE = ("app", "cli")
# What shows an object lives in these packages; its methods `plot...` and `report` import them when they are called.
SHOWING = ("plots", "report")
# Test modules at the root of tests/ that look at the package as a whole.
WHOLE_PACKAGE_TESTS = {
    "test_architecture",
    "test_public_api",
    "test_docs",
    "test_examples",
    "test_packaging",
    "test_numbers",
    "test_benchmarks",
    "test_stories",
    "test_paper_scripts",
    "test_published_heco",
    "test_walks",
    "test_plugins",
}


def is_shared(name: str) -> bool:
    """Modules beside the packages that every package may import: `errors` and `_private` ones."""
    return name == "errors" or name.startswith("_")


def imported_modules(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and absolute name of all that is imported, at any depth of the file.

    `from a.b import c` yields `a.b.c`: whether c is a module does not matter to find its package. Imports
    of what shows an object, inside its methods, do not count.
    """
    package = module if is_package else module.rpartition(".")[0]
    showing = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name.startswith(("plot", "report"))
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(tuple(f"gramme.{name}" for name in SHOWING))
    }
    for node in ast.walk(tree):
        if id(node) in showing:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                above = ".".join(parents[: len(parents) - node.level + 1])
                base = f"{above}.{base}" if base else above
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def forbidden_imports(package: Path) -> list[str]:
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        home = parts[0]
        if home in ("__init__", "__main__"):
            continue
        allowed = PACKAGES[: PACKAGES.index(home) + 1] if home in PACKAGES else ()
        is_package = parts[-1] == "__init__"
        module = ".".join(("gramme", *(parts[:-1] if is_package else parts)))
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        for line, name in imported_modules(tree, module, is_package):
            top, _, rest = name.partition(".")
            if top != "gramme" or home in FREE:
                continue
            target = rest.partition(".")[0]
            if is_shared(target) or target in allowed:
                continue
            where = f"{path.relative_to(package)}:{line}"
            if target in PACKAGES:
                found.append(f"{where}: {home} imports {name}, but {target} comes later")
            else:
                found.append(f"{where}: {name} hides its package; import it from where it is defined")
    return found


def test_packages_import_only_from_those_above_them():
    assert forbidden_imports(PACKAGE) == []


@pytest.mark.parametrize(
    ("path", "source", "allowed"),
    [
        ("io/a.py", "from gramme.graph import EdgeLayer", True),
        ("io/a.py", "from gramme.errors import DataError\nfrom gramme import _version", True),
        ("io/__init__.py", "from .a import x\nfrom . import b", True),
        ("io/formats/a.py", "from ..b import x", True),
        ("cli/a.py", "import gramme\nfrom gramme import GrammeSG", True),
        ("__init__.py", "from gramme.methods import GrammeSG", True),
        ("graph/a.py", "from gramme.io import read", False),
        ("graph/a.py", "def f():\n    import gramme.io.a", False),
        ("graph/a.py", "if TYPE_CHECKING:\n    from ..nn import X", False),
        ("graph/__init__.py", "from .. import nn", False),
        ("graph/a.py", "from gramme import GrammeSG", False),
        ("graph/a.py", "import gramme", False),
        ("errors.py", "from gramme.graph import EdgeLayer", False),
        ("graph/a.py", "def plot():\n    from gramme.plots import x", True),
        ("graph/a.py", "def plot():\n    from gramme.methods import x", False),
        ("graph/a.py", "def other():\n    from gramme.plots import x", False),
    ],
)
def test_the_import_rule_sees_every_form_of_import(tmp_path, path, source, allowed):
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    assert (forbidden_imports(tmp_path) == []) is allowed


def test_only_packages_and_shared_modules_stand_at_the_top_of_the_package():
    names = {path.stem for path in PACKAGE.glob("*.py")}
    names |= {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert sorted(name for name in names if name not in PACKAGES and not is_shared(name)) == []


def test_layers_are_asked_for_groups_and_not_for_their_class():
    """Only the packages that make, store and exchange layers look at it; others use ``as_groups`` or ``made_of``."""
    asked = re.compile(r"isinstance\([^)]*MembershipLayer")
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in ("graph", "io"):
            assert not asked.search(path.read_text("utf-8")), path


def test_later_packages_use_public_methods_of_models_only():
    private = re.compile(r"\b(model|one|fitted|estimator)\._[a-z]")
    for room in ("evaluation", "plots", "report", "cli"):
        for path in sorted((PACKAGE / room).rglob("*.py")):
            assert not private.search(path.read_text("utf-8")), path


def test_tests_mirror_the_package():
    strays = []
    for path in sorted(TESTS.rglob("test_*.py")):
        folder = path.relative_to(TESTS).parent
        if folder.parts:
            mirrored = folder.parts[0] in PACKAGES and (PACKAGE / folder).is_dir()
        else:
            words = path.stem.removeprefix("test_").split("_")
            names = ["_".join(words[:count]) for count in range(1, len(words) + 1)]
            mirrored = path.stem in WHOLE_PACKAGE_TESTS or any(
                (PACKAGE / f"{prefix}{name}.py").is_file() for name in names for prefix in ("", "_")
            )
        if not mirrored:
            strays.append(str(path.relative_to(TESTS)))
    assert strays == [], "tests/PACKAGE/test_*.py mirrors src/gramme/PACKAGE"


# Packages where every module with logic has a test file of its own name.
TESTED_BY_NAME = ("graph", "io", "datasets", "methods", "evaluation", "plots", "report", "cli")
MERE_RECORDS = {"io/parsed.py"}
"""Modules whose functions only hand out what they hold."""


def has_logic(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))


def test_every_module_with_logic_has_a_test_file_of_its_name():
    missing = []
    for room in TESTED_BY_NAME:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            module = path.relative_to(PACKAGE)
            name = f"test_{path.stem.lstrip('_')}"
            folder = TESTS / module.parent
            tests = [folder / f"{name}.py", *folder.glob(f"{name}_*.py")]
            known = path.stem.startswith("__") or module.as_posix() in MERE_RECORDS
            if not known and not any(test.is_file() for test in tests) and has_logic(path):
                missing.append(f"{tests[0].relative_to(ROOT)} for {module}")
    assert missing == []


def run_pytest(folder: Path, sources: list[str], **environment: str) -> str:
    """What pytest prints of test modules in a folder of their own under this project's conftest."""
    shutil.copy(TESTS / "conftest.py", folder)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    dataset\n    browser\n")
    for number, source in enumerate(sources):
        (folder / f"test_{number}.py").write_text(source)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GRAMME_"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-rA", "--continue-on-collection-errors"]
    return subprocess.run(
        command, cwd=folder, env=inherited | environment, capture_output=True, text=True, timeout=120, check=False
    ).stdout


MARKED_SKIP = "import pytest\n@pytest.mark.dataset\ndef test_it():\n    pytest.skip('no file')\n"
SKIPIF = "import pytest\n@pytest.mark.browser\n@pytest.mark.skipif(True, reason='no chromium')\ndef test_it(): pass\n"
FIXTURE = "def test_it(gramme_data): pass\n"
WHOLE_MODULE = "import pytest\npytestmark = pytest.mark.dataset\npytest.importorskip('no_such')\n"
PLAIN_SKIP = "import pytest\ndef test_it():\n    pytest.skip('no matter')\n"
EXPECTED_FAILURE = "import pytest\n@pytest.mark.dataset\n@pytest.mark.xfail\ndef test_it(): assert False\n"


def test_a_skip_of_a_required_test_is_a_failure_and_nothing_else_is(tmp_path):
    required = [MARKED_SKIP, SKIPIF, FIXTURE, WHOLE_MODULE]
    other = [PLAIN_SKIP, EXPECTED_FAILURE]
    said = run_pytest(tmp_path, [*required, *other], GRAMME_REQUIRE="dataset,browser")
    said = said.partition("short test summary info")[2]
    assert said.count("skipped, but GRAMME_REQUIRE demands every") == len(required)
    assert "FAILED test_0.py::test_it" in said
    assert "ERROR test_1.py::test_it" in said  # before it begins
    assert "ERROR test_2.py::test_it" in said  # in the fixture
    assert "ERROR test_3.py" in said  # as it is collected
    assert "SKIPPED [1] test_4.py" in said
    assert "XFAIL test_5.py::test_it" in said
    assert "1 failed, 1 skipped, 1 xfailed, 3 errors" in said


def test_without_the_demand_a_skip_stays_a_skip_and_says_why(tmp_path):
    said = run_pytest(tmp_path, [MARKED_SKIP, SKIPIF, FIXTURE, WHOLE_MODULE])
    assert "4 skipped in" in said
    assert "export GRAMME_DATA=" in said


def test_the_data_fixture_gives_the_folder(tmp_path):
    assert "1 passed in" in run_pytest(tmp_path, [FIXTURE], GRAMME_DATA=str(tmp_path))
