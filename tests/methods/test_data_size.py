"""The size of data, and that what a fit is expected to take follows it."""

import numpy as np
import pandas as pd
import pytest

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import METHODS, GrammeAuto
from gramme.methods.data_size import DataSize


def graph(nodes: int = 40, *, columns: int = 0) -> MultilayerGraph:
    """A ring of edges, two columns of a table, and half of the labels."""
    place = np.arange(nodes)
    table = MultilayerGraph.from_table(
        pd.DataFrame(
            {"colour": [f"c{one % 3}" for one in place], "size": [f"s{one % 5}" for one in place]}
        )
    )
    layers = {"ring": EdgeLayer(nodes, place, (place + 1) % nodes)} | dict(table.layers)
    labels = np.array([["a", "b"][one % 2] if one % 4 < 2 else None for one in place], object)
    features = np.ones((nodes, columns)) if columns else None
    return MultilayerGraph(layers, labels=labels, features=features)


def test_everything_is_counted_once() -> None:
    made = graph(columns=7)
    size = DataSize.of(made)
    assert (size.nodes, size.layers, size.ends, size.memberships) == (40, 3, 80, 80)
    assert (size.labels, size.classes, size.columns) == (20, 2, 7)
    assert size.entries == made.num_entries
    assert DataSize.of(made.replace(labels=None)).labels == 40, "all of them may get one"
    assert DataSize.guessed(8000).entries == pytest.approx(8000, rel=0.01)


def test_steps_to_neighbours_cost_more_where_nodes_are_many() -> None:
    few, some, many = (DataSize.guessed(entries).reach for entries in (1e4, 1.6e5, 1e8))
    assert few < 0.1
    assert some == pytest.approx(1)
    assert many == 4


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_longer_for_more(name: str) -> None:
    model = METHODS[name].estimator()
    small, large = (model.seconds_for(DataSize.guessed(entries)) for entries in (1e4, 1e6))
    assert 0 < small < large < 1e5
    assert model.expected_seconds(graph()) > 0


def test_a_mixture_counts_the_ingredients_that_take_part() -> None:
    few = GrammeAuto(ingredients=["label-propagation"])
    assert few.expected_seconds(graph()) < GrammeAuto().expected_seconds(graph())
    assert GrammeAuto().expected_seconds(graph(columns=500)) > GrammeAuto().expected_seconds(
        graph()
    )
