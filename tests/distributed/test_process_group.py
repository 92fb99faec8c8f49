"""Processes meet on loopback, and a wrong environment is refused."""

import contextlib
import socket
from pathlib import Path

import pytest
from tests.distributed.processes import together

from gramme.distributed import ALONE, World, in_world, join
from gramme.errors import DataError


def listeners(world: World) -> list[str]:
    """The addresses that this process listens on, from /proc."""
    own = set()
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            own.add(str(link.readlink()))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                found.append(fields[1].split(":")[0])
    return found


@pytest.mark.distributed
def test_nobody_listens_beyond_the_loopback():
    found = [address for one in together(2, listeners) for address in one]
    assert found
    assert set(found) == {"0100007F"}  # 127.0.0.1


def test_a_process_without_others_is_alone(monkeypatch):
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    assert not in_world()
    with join() as world:
        assert world is ALONE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 2, "size": 2, "port": 1}, "process 2 cannot be one of 2"),
        ({"rank": 0, "size": 2, "port": 1, "wire": "int8"}, "not as 'int8'"),
        ({"rank": 0, "size": 2}, "MASTER_PORT"),
    ],
)
def test_what_cannot_meet_is_refused(options, message, monkeypatch):
    monkeypatch.delenv("MASTER_PORT", raising=False)
    with pytest.raises(DataError, match=message), join(**options):
        pass


def test_a_number_in_the_environment_must_be_one(monkeypatch):
    monkeypatch.setenv("RANK", "first")
    with pytest.raises(DataError, match="RANK='first'"), join():
        pass


def test_the_port_is_free():
    from gramme.distributed.process_group import free_port

    with socket.socket() as one:
        one.bind(("127.0.0.1", free_port()))
