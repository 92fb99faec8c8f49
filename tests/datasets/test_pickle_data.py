import pickle

import pytest

from gramme.datasets.pickle_data import Call, Name, RefusedError, read_pickle


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_plain_values_are_read_from_every_protocol(protocol):
    value = {"a": [1, -70_000, 2**40, 1.5, None, True, ()], "b": ("x", ("y", "z", 1, 2)), 3: {}}
    assert read_pickle(pickle.dumps(value, protocol=protocol), frozenset()) == value


def test_a_call_is_recorded_and_not_made():
    content = b"cos\nsystem\n(S'touch here'\ntR."
    assert read_pickle(content, frozenset({"os.system"})) == Call("os.system", ("touch here",))
    assert read_pickle(b"cos\nsystem\n.", frozenset({"os.system"})) == Name("os.system")
    with pytest.raises(RefusedError, match=r"os\.system"):
        read_pickle(content, frozenset())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"]",
        b"t.",
        b"\x86.",
        b"K\x01K\x02a.",
        b"K\x01}b.",
        b"K\x01K\x02R.",
        b"h\x07.",
        b"K\x01}s.",
    ],
)
def test_a_broken_pickle_is_an_error(content):
    with pytest.raises((ValueError, LookupError, TypeError)):
        read_pickle(content, frozenset())
