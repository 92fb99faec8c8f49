"""What --workers, --backend and parts folders ask for, and what cannot go together."""

import pytest

from gramme.cli.distributed_fit import DistributedFit, check_method, is_first_process, speaks
from gramme.cli.options import Reading
from gramme.errors import DataError


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch):
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)


def asked(data, workers=None, backend="local", resume=False, **reading):
    return DistributedFit.of([str(data)], Reading(**reading), workers, backend, resume=resume)


def parts_folder(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    return tmp_path


def test_one_process_unless_more_are_asked_for(tmp_path):
    assert asked("balance_scale") is None
    assert asked("balance_scale", workers=2).in_parts is False
    assert asked(parts_folder(tmp_path)).in_parts


def test_options_that_need_workers_say_so():
    for options in ({"backend": "ray"}, {"resume": True}):
        with pytest.raises(DataError, match="go with --workers"):
            asked("balance_scale", **options)


def test_torchrun_needs_parts(monkeypatch, tmp_path):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert not is_first_process()
    with pytest.raises(DataError, match="gramme convert DATA parts/ --parts N"):
        asked("balance_scale")
    with pytest.raises(DataError, match=r"nowhere is no folder with a manifest\.json"):
        asked("nowhere")
    with pytest.raises(DataError, match="leave out --workers"):
        asked(parts_folder(tmp_path), workers=2)
    assert asked(parts_folder(tmp_path)).started


def test_one_process_of_each_machine_reports_a_mistake(monkeypatch):
    assert speaks()
    for rank, on_its_machine, expected in (("0", "0", True), ("1", "1", False), ("2", "0", True)):
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("LOCAL_RANK", on_its_machine)
        assert speaks() is expected


def test_parts_come_complete(tmp_path):
    with pytest.raises(DataError, match="comes complete; leave out --label"):
        asked(parts_folder(tmp_path), label="party")


def test_a_method_for_one_process_is_refused_before_anything_starts():
    with pytest.raises(DataError, match="deepwalk is fitted by one process; several can fit gramme"):
        check_method("deepwalk")
