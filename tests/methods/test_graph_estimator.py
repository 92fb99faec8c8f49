"""What classifiers and regressions share: rules and fields of base classes count, and another graph is checked."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme.errors import DataError, GrammeWarning, NotFittedError
from gramme.graph import EdgeLayer
from gramme.methods import GrammeRegressor, LabelPropagation
from gramme.methods.graph_estimator import GraphEstimator

GRAPH = planted()


@pytest.mark.parametrize("kind", [LabelPropagation, GrammeRegressor])
def test_rules_and_fields_of_base_classes_count(kind: type[GraphEstimator]) -> None:
    assert issubclass(kind, GraphEstimator)
    assert set(kind._all_rules()) == set(kind().get_params())
    names = [field.name for field in kind._all_fields()]
    assert names[0] == "layers"
    assert "nodes" in names
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", [LabelPropagation, GrammeRegressor])
def test_what_is_not_fitted_says_so(kind: type[GraphEstimator]) -> None:
    with pytest.raises(NotFittedError, match=f"this {kind.__name__} is not fitted yet"):
        kind().predict()  # type: ignore[attr-defined]


def test_another_graph_needs_the_layers_of_the_fit() -> None:
    model = LabelPropagation(random_state=0).fit(GRAPH, half_known(GRAPH))
    with pytest.raises(DataError, match="no layer 'friends'"):
        model.predict(GRAPH.select_layers(["room"]))
    more = GRAPH.replace(layers={**GRAPH.layers, "new": EdgeLayer(GRAPH.num_nodes, [0], [1])})
    with pytest.warns(GrammeWarning, match="left out: new"):
        found = model.predict(more)
    assert np.array_equal(found, model.predict())


def test_a_fit_that_fails_leaves_nothing_behind() -> None:
    model = LabelPropagation(random_state=0).fit(GRAPH, half_known(GRAPH))
    model._begin_on(GRAPH, GRAPH, None)
    with pytest.raises(NotFittedError):
        model.predict()
    assert model.layers_ == list(GRAPH.layers)
