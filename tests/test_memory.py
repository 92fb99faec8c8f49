import os
import subprocess
import sys
from pathlib import Path

import pytest

from gramme._memory import LARGE_PAGES, free_bytes, kibibytes


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_the_system_is_asked():
    free = free_bytes()
    assert free is not None
    assert 2**20 < free < 2**50
    assert kibibytes("self/status", "VmRSS") > 1000


def test_a_line_that_is_not_there():
    with pytest.raises((ValueError, OSError)):
        kibibytes("meminfo", "Nothing")


def faults_of_a_large_array(setting: str | None) -> tuple[str, int]:
    """The setting once gramme is imported, and how many pages the system had to give for 64 MiB."""
    environment = {name: value for name, value in os.environ.items() if name != LARGE_PAGES}
    if setting is not None:
        environment[LARGE_PAGES] = setting
    program = (
        "import os, gramme, torch, resource\n"
        "faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "before = faults()\n"
        "array = torch.ones(16 << 20)\n"
        f"print(os.environ['{LARGE_PAGES}'], faults() - before)\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    said, faults = made.stdout.split()
    return said, int(faults)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages of 2 MiB are Linux's")
def test_large_arrays_of_torch_lie_on_large_pages_unless_the_user_says_otherwise():
    said, faults = faults_of_a_large_array("0")
    assert said == "0"
    plain = faults_of_a_large_array(None)
    assert plain[0] == "1"
    allowed = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if allowed.exists() and "[madvise]" in allowed.read_text(encoding="ascii"):
        assert plain[1] < faults / 4
