import sqlite3

import pytest
from tests.methods.graphs import planted

from gramme.errors import DataError
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.evaluation.link_ledger import LinkLedger


@pytest.mark.parametrize("kind", [Ledger, LinkLedger])
def test_a_path_that_cannot_be_used_is_refused_in_words(kind, tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        kind(tmp_path)
    with pytest.raises(DataError, match="there is no such file"):
        kind(tmp_path / "r.sqlite", create=False)
    with pytest.raises(DataError, match="there is no folder"):
        kind(tmp_path / "none" / "r.sqlite")


@pytest.mark.parametrize("kind", [Ledger, LinkLedger])
def test_the_file_is_closed_at_the_end_of_the_block(kind, tmp_path):
    with kind(tmp_path / "r.sqlite") as ledger:
        assert ledger.done() == set()
    with pytest.raises((sqlite3.ProgrammingError, DataError), match="closed database"):
        ledger.done()


def test_names_that_are_no_unicode_are_recorded_and_found_again(tmp_path):
    """As a file whose name was written in another encoding brings them."""
    graph = planted(30)
    layers = {f"{name}\udce9": layer for name, layer in graph.layers.items()}
    data = {"caf\udce9": graph.replace(layers=layers)}
    began = []

    def labels():
        benchmark(
            data,
            ["majority"],
            train=[30],
            repeats=1,
            jobs=1,
            out=tmp_path / "labels.sqlite",
            command="gramme benchmark --datasets caf\udce9.csv",
            on_start=lambda missing, done, jobs: began.append((len(missing), done)),
        )

    labels()
    labels()
    assert began == [(1, 0), (0, 1)]
    with Ledger(tmp_path / "labels.sqlite", create=False) as ledger:
        assert ledger.runs()["dataset"].tolist() == ["caf\\udce9"]
        assert ledger.commands() == ["gramme benchmark --datasets caf\\udce9.csv"]

    told = []
    for _ in range(2):
        link_benchmark(
            data,
            ["own-attachment"],
            repeats=1,
            jobs=1,
            out=tmp_path / "links.sqlite",
            tell=lambda finished, total: told.append(finished),
        )
    assert told == list(range(1, len(told) + 1))  # nothing is done twice
