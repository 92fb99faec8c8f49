import os

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods.embedding.base import cached, folder

GRAPH = MultilayerGraph({"a": EdgeLayer(3, [0], [1])})
SETTINGS = {"embedding": "test", "seed": 0}
VALUES = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path))


class Computer:
    def __init__(self, values=VALUES):
        self.calls, self.values = 0, values

    def __call__(self):
        self.calls += 1
        return self.values


def entries():
    return sorted(folder().glob("*"))


def test_computed_once():
    compute = Computer()
    for labels in (None, ["x", "y", "z"]):
        assert (cached(GRAPH.replace(labels=labels), SETTINGS, compute).embedding == VALUES).all()
    assert compute.calls == 1
    assert [path.suffix for path in entries()] == [".npz"]


@pytest.mark.parametrize(
    ("graph", "settings"),
    [(GRAPH, SETTINGS | {"seed": 1}), (GRAPH.replace(nodes=["x", "y", "z"]), SETTINGS), (GRAPH, {})],
)
def test_another_graph_or_setting_is_another_entry(graph, settings):
    cached(GRAPH, SETTINGS, Computer())
    other = Computer(VALUES + 1)
    assert (cached(graph, settings, other).embedding == VALUES + 1).all()
    assert other.calls == 1


def test_what_it_cost_is_kept():
    def slow():
        sum(range(2_000_000))
        return VALUES

    made, found = cached(GRAPH, SETTINGS, slow), cached(GRAPH, SETTINGS, slow)
    assert (made.fresh, found.fresh) == (True, False)
    assert made.cpu_seconds > 0
    assert found[1:3] == made[1:3]


def damaged(content):
    yield b""
    yield content[: len(content) // 2]
    yield bytes(1000)
    place = content.index(VALUES.tobytes()) + 9
    yield content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]


def test_a_damaged_entry_is_computed_anew():
    cached(GRAPH, SETTINGS, Computer())
    (path,) = entries()
    content = path.read_bytes()
    for number, broken in enumerate(damaged(content)):
        path.write_bytes(broken)
        assert (cached(GRAPH, SETTINGS, Computer()).embedding == VALUES).all(), number
        with np.load(path) as file:
            assert (file["embedding"] == VALUES).all()


@pytest.mark.parametrize("wrong", [VALUES[:2], VALUES.astype(float), VALUES.ravel(), VALUES * np.float32(np.nan)])
def test_an_entry_that_does_not_fit_is_computed_anew(wrong):
    cached(GRAPH, SETTINGS, Computer())
    (path,) = entries()
    np.savez(path, embedding=wrong)
    assert (cached(GRAPH, SETTINGS, Computer()).embedding == VALUES).all()


def test_no_pickle_is_ever_loaded():
    cached(GRAPH, SETTINGS, Computer())
    (path,) = entries()
    np.savez(path, embedding=np.array([[print, 1]] * 3, dtype=object))
    assert (cached(GRAPH, SETTINGS, Computer()).embedding == VALUES).all()


def test_what_was_not_used_for_longest_goes_first():
    compute = Computer()
    for seed in range(3):
        cached(GRAPH, {"seed": seed}, compute)
        (new,) = set(entries()) - {path for path in entries() if path.stat().st_mtime < 1e9}
        os.utime(new, (seed, seed))
    size = entries()[0].stat().st_size
    cached(GRAPH, {"seed": 0}, compute)  # used again, so the one with seed 1 is the oldest now
    cached(GRAPH, {"seed": 3}, compute, limit=3 * size + 10)
    assert len(entries()) == 3
    assert compute.calls == 4
    cached(GRAPH, {"seed": 0}, compute)
    assert compute.calls == 4
    cached(GRAPH, {"seed": 1}, compute)
    assert compute.calls == 5


def test_what_exceeds_the_limit_alone_is_not_kept():
    cached(GRAPH, SETTINGS, Computer(), limit=10)
    assert not folder().exists()


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRAMME_CACHE", str(tmp_path / "file"))
    assert (cached(GRAPH, SETTINGS, Computer()).embedding == VALUES).all()
