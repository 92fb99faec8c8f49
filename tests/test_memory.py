import sys

import pytest

from gramme._memory import free_bytes, kibibytes


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_the_system_is_asked():
    free = free_bytes()
    assert free is not None
    assert 2**20 < free < 2**50
    assert kibibytes("self/status", "VmRSS") > 1000


def test_a_line_that_is_not_there():
    with pytest.raises((ValueError, OSError)):
        kibibytes("meminfo", "Nothing")
