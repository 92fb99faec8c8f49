"""Each builder of MultilayerGraph hands every argument on to the function that does the work."""

import inspect

import pandas as pd
import pytest

from gramme import MultilayerGraph
from gramme.graph import builders, exchange_networkx, exchange_pyg, exchange_scipy
from gramme.graph import from_edges as edges
from gramme.graph import from_table as tables

WORK = {
    "from_edges": edges,
    "from_table": tables,
    "from_scipy": exchange_scipy,
    "from_networkx": exchange_networkx,
    "from_pyg": exchange_pyg,
}


@pytest.mark.parametrize("name", WORK)
def test_every_argument_arrives(name, monkeypatch):
    taken = {}

    def note(*given, **named):
        taken.update(named, first=given[0])
        return "the graph"

    monkeypatch.setattr(WORK[name], name, note)
    method = getattr(MultilayerGraph, name)
    options = [
        parameter.name
        for parameter in inspect.signature(method).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    assert options
    assert method("data", **{option: f"value of {option}" for option in options}) == "the graph"
    assert taken == {option: f"value of {option}" for option in options} | {"first": "data"}


def test_no_builder_is_forgotten_here():
    known = {name for name in vars(builders.Builders) if name.startswith("from_")}
    assert set(WORK) <= known


def test_a_builder_makes_a_graph():
    table = pd.DataFrame({"x": ["a", "b", "a"], "kind": ["u", "v", None]})
    graph = MultilayerGraph.from_table(table, label="kind")
    assert (graph.num_nodes, list(graph.layers)) == (3, ["x"])
