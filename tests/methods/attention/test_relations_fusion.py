"""GrammeFusion with labels and learned rows as inputs: when they take part, what they learn, that nothing leaks."""

from typing import Any

import numpy as np
import pytest
from tests.methods.attention.contradicting import contradicting_tree, some_known
from tests.methods.cases import MethodCase
from tests.methods.graphs import PINNED, planted

from gramme import EdgeLayer, GrammeFusion, GrammeSG, MembershipLayer, MultilayerGraph
from gramme.errors import DataError
from gramme.methods import LabelPropagation
from gramme.methods.attention.relations import MIN_LABELS, out_of_fold_relations
from gramme.methods.explain import reasons
from gramme.methods.labels import known_labels

FAST = PINNED | {"epochs": 12, "hidden_dim": 8, "ensemble": 1, "features": "labels+learned"}


class TestLabelsAndLearnedInputs(MethodCase):
    name = "gramme-fusion"
    arguments = FAST | {"epochs": 2}
    trained = FAST
    inductive = True


@pytest.fixture(scope="module")
def tree() -> MultilayerGraph:
    return contradicting_tree()


@pytest.fixture(scope="module")
def fitted(tree: MultilayerGraph) -> GrammeFusion:
    return GrammeFusion(ensemble=2, random_state=0).fit(tree, some_known(tree))


def accuracy(model: Any, graph: MultilayerGraph, y: Any) -> float:
    unknown = np.array([one is None for one in y])
    return float((model.predict() == graph.labels)[unknown].mean())


def test_attention_does_not_stay_at_chance_where_another_method_has_learned(
    tree: MultilayerGraph, fitted: GrammeFusion
) -> None:
    y = some_known(tree)
    spread = accuracy(LabelPropagation(random_state=0).fit(tree, y), tree, y)
    fixed = GrammeFusion(features="walks+random", ensemble=2, random_state=0).fit(tree, y)
    assert spread > 0.3  # eight classes
    assert accuracy(fitted, tree, y) > max(spread, accuracy(fixed, tree, y)) + 0.1


def test_with_few_labels_nothing_but_fixed_features_is_tried(tree: MultilayerGraph) -> None:
    y = some_known(tree, MIN_LABELS - 1)
    model = GrammeFusion(ensemble=1, epochs=2, random_state=0).fit(tree, y)
    same = GrammeFusion(ensemble=1, epochs=2, features="walks+random", random_state=0).fit(tree, y)
    assert model.relations_ is None
    assert model.members_ == 1
    np.testing.assert_array_equal(model.probabilities_, same.probabilities_)


def test_where_features_are_named_only_those_are_taken(tree: MultilayerGraph) -> None:
    y = some_known(tree)
    assert GrammeFusion(features="random", epochs=1, ensemble=1).fit(tree, y).relations_ is None
    model = GrammeFusion(features="learned", epochs=1, ensemble=1).fit(tree, y)
    assert model.members_ == 0
    assert model.relations_ is not None
    assert list(model.relations_.kind_shares()) == ["learned"]
    with pytest.raises(DataError, match="features cannot be"):
        GrammeSG(features="labels").fit(tree, y)


def test_where_only_features_tell_classes_apart_relations_are_dropped() -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 700)
    graph = MultilayerGraph(
        {"noise": EdgeLayer(700, *random.integers(0, 700, (2, 1400)))},
        labels=[f"c{code}" for code in codes],
        features=np.eye(3)[codes] * 3 + random.normal(size=(700, 3)),
    )
    y = some_known(graph, 400)
    model = GrammeFusion(ensemble=2, random_state=0).fit(graph, y)
    same = GrammeFusion(features="given+walks", ensemble=2, random_state=0).fit(graph, y)
    assert accuracy(model, graph, y) > 0.7
    assert accuracy(model, graph, y) > accuracy(same, graph, y) - 0.05
    assert model.members_ == 2
    if model.relations_ is not None:
        assert model.relations_.fixed_share > 0.5


@pytest.mark.parametrize("kind", ["labels", "learned", "labels+learned"])
def test_an_out_of_fold_prediction_never_depends_on_the_labels_of_its_fold(tree: MultilayerGraph, kind: str) -> None:
    known = known_labels(tree, some_known(tree))
    fold = np.arange(known.nodes.size) % 2
    model = GrammeFusion(features=kind, epochs=4, ensemble=1, random_state=0)
    first = model.fit_with_folds(tree, known, fold)
    # other labels in fold 0, at the same number of each class for the same set of labels held out
    codes = known.codes.copy()
    mine = np.flatnonzero(fold == 0)
    codes[mine] = np.random.default_rng(0).permutation(codes[mine])
    other = type(known)(known.nodes, codes, known.classes)
    pool = model.relations_
    assert pool is not None
    seed = model.seed_
    options = model._relation_options(tree, known, None)
    as_given, _ = out_of_fold_relations(tree, known, fold, seed, options, pool)
    changed, _ = out_of_fold_relations(tree, other, fold, seed, options, pool)
    assert first.shape == (known.nodes.size, len(known.classes))
    assert np.isfinite(first).all()
    for name, said in as_given.items():
        np.testing.assert_array_equal(said[mine], changed[name][mine])
        assert not np.array_equal(said[fold == 1], changed[name][fold == 1])


def test_a_known_label_does_not_tell_its_own_prediction(tree: MultilayerGraph) -> None:
    y = some_known(tree)
    model = GrammeFusion(features="labels", epochs=6, ensemble=1, random_state=0).fit(tree, y)
    assert model.relations_ is not None
    inputs: Any = model.relations_.models[0]
    node = int(np.flatnonzero(inputs.codes == 0)[0])
    before = inputs.probabilities(tree)
    inputs.codes = inputs.codes.copy()
    inputs.codes[node] = 3
    after = inputs.probabilities(tree)
    place = tree.nodes.get_loc(inputs.names[node])
    np.testing.assert_array_equal(before[place], after[place])
    assert not np.array_equal(before, after)  # its neighbours do hear it


def test_what_it_relies_on(tree: MultilayerGraph, fitted: GrammeFusion) -> None:
    importance = fitted.layer_importance_
    assert importance.sum() == pytest.approx(1)
    assert importance.idxmin() == "noise"
    attention = fitted.node_attention("parent")
    assert attention.index.tolist() == tree.nodes.tolist()
    assert np.nanmean(attention) == pytest.approx(1, abs=0.2)
    assert np.isfinite(fitted.node_attention("noise", hop=4)).any()
    with pytest.raises(DataError, match="hops, not 5"):
        fitted.node_attention("parent", hop=5)
    assert len(fitted.embedding_) == tree.num_nodes


def test_reasons_of_labels_as_inputs_add_up_at_the_last_hop() -> None:
    graph = planted(60)
    model = GrammeFusion(**FAST | {"features": "labels"}).fit(graph)
    found = reasons(model, graph, np.arange(5))
    assert len(found.parts) == 1
    through = found.parts[0].through
    assert {one.layer for one in through} == {"friends", "room"}
    for one in through:
        assert np.isfinite(one.parts.data).all()
    assert any(one.parts.nnz for one in through)


def test_a_layer_of_another_kind_is_refused(tree: MultilayerGraph) -> None:
    y = some_known(tree)
    model = GrammeFusion(features="labels", epochs=1, ensemble=1).fit(tree, y)
    parent = tree.layers["parent"].to_edges()
    undirected = EdgeLayer(tree.num_nodes, parent.source, parent.target)
    with pytest.raises(DataError, match="direction"):
        model.predict_proba(tree.replace(layers={**tree.layers, "parent": undirected}))
    groups = MembershipLayer.from_codes(np.arange(tree.num_nodes) % 5)
    with pytest.raises(DataError, match="'parent' has groups here"):
        model.predict_proba(tree.replace(layers={**tree.layers, "parent": groups}))
