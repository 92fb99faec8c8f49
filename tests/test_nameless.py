import os

import pytest

from gramme._nameless import give_name, open_nameless


def test_a_file_appears_whole_and_replaces_nothing(tmp_path):
    handle = open_nameless(tmp_path)
    if handle is None:
        pytest.skip("there are no such files here")
    os.write(handle, b"whole")
    assert list(tmp_path.iterdir()) == []
    give_name(handle, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"whole"
    with pytest.raises(FileExistsError):
        give_name(handle, tmp_path / "a")
    os.close(handle)


@pytest.mark.parametrize("folder", ["none", "with\0zero"])
def test_where_there_can_be_none(tmp_path, folder):
    assert open_nameless(tmp_path / folder) is None
