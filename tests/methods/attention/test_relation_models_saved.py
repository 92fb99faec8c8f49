"""Networks over relations in a file: they come back whole, and a file that does not fit is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.methods.graphs import PINNED, half_known, planted

import gramme
from gramme import DataError, GrammeFusion, MultilayerGraph
from gramme.methods.persistence import MisfitError

FAST = PINNED | {"epochs": 3, "hidden_dim": 4, "ensemble": 2, "features": "labels+learned"}

FITS_NOT = (MisfitError, DataError, KeyError, TypeError, ValueError)  # gramme.load names the file in all these cases


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    return planted(60)


@pytest.fixture(scope="module")
def model(graph: MultilayerGraph) -> GrammeFusion:
    return GrammeFusion(**FAST).fit(graph, half_known(graph))


def test_a_loaded_model_says_the_same(graph: MultilayerGraph, model: GrammeFusion, tmp_path: Path) -> None:
    model.save(tmp_path / "m.safetensors")
    loaded = gramme.load(tmp_path / "m.safetensors")
    np.testing.assert_allclose(loaded.predict_proba(graph), model.predict_proba(), atol=1e-6)
    assert loaded.relations_.kind_shares() == pytest.approx(model.relations_.kind_shares())
    np.testing.assert_allclose(loaded.embed(graph), model.embedding_, atol=1e-5)
    part = graph.subset(np.arange(20, 60)) if hasattr(graph, "subset") else graph
    np.testing.assert_allclose(loaded.predict_proba(part), model.predict_proba(part), atol=1e-6)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("layout",), "none"),
        (("layout", 0), [0, 1]),
        (("layout", 0, 0), 7),
        (("shares",), [0.5]),
        (("shares", 0), float("nan")),
        (("exponent",), -1),
        (("models", 0), {"kind": "magic"}),
        (("models", 0, "hops"), 10_000),
        (("models", 0, "hops"), 3),
    ],
)
def test_a_record_that_does_not_fit_is_refused(model: GrammeFusion, path: tuple[Any, ...], value: Any) -> None:
    learned = model._learned()
    entry: Any = learned.record["relations"]
    for key in path[:-1]:
        entry = entry[key]
    entry[path[-1]] = value
    with pytest.raises(FITS_NOT):
        GrammeFusion._restored(model.get_params(), learned)


@pytest.mark.parametrize("name", ["known", "codes", "sources", "0.weight", "1.table"])
def test_tensors_that_do_not_fit_are_refused(model: GrammeFusion, name: str) -> None:
    learned = model._learned()
    key = next(key for key in learned.tensors if key.startswith(f"relations.{name}"))
    learned.tensors[key] = (
        learned.tensors[key] + 10_000 if name in ("known", "codes", "sources") else learned.tensors[key][:1]
    )
    with pytest.raises(FITS_NOT):
        GrammeFusion._restored(model.get_params(), learned)
    del learned.tensors[key]
    with pytest.raises(FITS_NOT):
        GrammeFusion._restored(model.get_params(), learned)
