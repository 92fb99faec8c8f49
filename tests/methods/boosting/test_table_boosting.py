"""Boosted trees on a table: they cut numbers, use groups, and never see a node's own label."""

import numpy as np
import pandas as pd
import pytest
from tests.methods.cases import MethodCase

import gramme
from gramme import DataError, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeAuto
from gramme.methods.boosting.group_statistics import GroupStatistics, KnownTargets
from gramme.methods.boosting.table_boosting import TableBoosting, boosting_applies
from gramme.methods.labels import known_labels


class TestTableBoosting(MethodCase):
    name = "boosting"
    inductive = True
    quality = 0.6


def hidden_labels(truth: np.ndarray, every: int = 2) -> np.ndarray:
    y = truth.astype(object)
    y[np.arange(y.size) % every == 0] = None
    return y


def test_numbers_that_no_five_groups_tell_apart():
    """The label is whether a number is in a narrow band: cut into five groups it would be lost."""
    number = np.random.default_rng(0).uniform(size=400)
    graph = MultilayerGraph.from_table(pd.DataFrame({"number": number, "noise": number[::-1]}))
    truth = np.where((number > 0.48) & (number < 0.55), "in", "out")
    y = hidden_labels(truth)
    model = TableBoosting(random_state=0).fit(graph, y)
    hidden = np.arange(400) % 2 == 0
    assert (model.predict() == truth)[hidden].mean() > 0.97
    groups = GrammeAuto(random_state=0, ingredients=["label-propagation"]).fit(graph, y)
    assert (groups.predict() == truth)[hidden].mean() < 0.96
    assert model.column_importance_.index[0] == "number"
    assert model.layer_importance_.idxmax() == "number"
    assert model.layer_importance_.sum() == pytest.approx(1)


def test_frequencies_in_many_groups_are_learned_without_a_nodes_own_label():
    """Sixty groups whose members agree: each label is told by the others of its group."""
    codes = np.arange(600) % 60
    truth = np.where(codes % 2 == 0, "even", "odd")
    graph = MultilayerGraph({"sender": MembershipLayer.from_codes(codes)})
    model = TableBoosting(random_state=0).fit(graph, hidden_labels(truth, every=7))
    assert (model.predict() == truth).mean() > 0.99
    assert model.column_importance_.index[0] == "share of odd in sender"


def test_a_nodes_own_label_never_reaches_its_columns():
    """Groups of two with random labels say nothing: with its own label among those counted, each would be known."""
    random = np.random.default_rng(1)
    truth = np.where(random.random(400) < 0.5, "a", "b")
    graph = MultilayerGraph({"pair": MembershipLayer.from_codes(np.arange(400) // 2)})
    y = hidden_labels(truth, every=10)
    model = TableBoosting(random_state=0).fit(graph, y)
    labelled = np.array([value is not None for value in y])
    assert 0.4 < (model.predict() == truth)[labelled].mean() < 0.65


@pytest.mark.parametrize("kind", ["groups", "edges"])
def test_changing_the_labels_of_a_fold_changes_no_column_of_its_own_nodes(kind: str):
    random = np.random.default_rng(2)
    groups = MembershipLayer.from_codes(random.integers(30, size=90))
    edges = EdgeLayer(90, random.integers(90, size=300), random.integers(90, size=300))
    graph = MultilayerGraph({"layer": groups if kind == "groups" else edges})
    fold = np.arange(90) % 5
    first = random.integers(2, size=(90, 1)).astype(float)
    changed = first.copy()
    changed[fold == 3] = first[fold == 3][::-1]  # how frequent the class is everywhere stays
    tables = [
        GroupStatistics.learned(graph, KnownTargets(np.arange(90), fold, rows, np.ones(90)), ["share"]).table(
            graph, fold
        )
        for rows in (first, changed)
    ]
    np.testing.assert_array_equal(tables[0][fold == 3], tables[1][fold == 3])
    assert (tables[0][fold != 3] != tables[1][fold != 3]).any()


def test_out_of_fold_predictions_do_not_depend_on_the_labels_of_their_fold():
    """What a copy without the fold says; settings are those of the whole fit, so they are given here."""
    random = np.random.default_rng(3)
    table = pd.DataFrame({"x": random.normal(size=200), "shop": random.integers(40, size=200).astype(str)})
    graph = MultilayerGraph.from_table(table)
    y = np.where(table["x"] + random.normal(size=200) > 0, "a", "b")
    fold = np.arange(200) % 4

    def unseen(labels: np.ndarray) -> np.ndarray:
        model = TableBoosting(leaves=4, rounds=20, random_state=0)
        known = known_labels(graph, labels)
        return model.fit_with_folds(graph, known, fold)

    flipped = np.where(fold == 1, np.where(y == "a", "b", "a"), y)
    first, again = unseen(y), unseen(flipped)
    np.testing.assert_array_equal(first[fold == 1], again[fold == 1])
    assert (first[fold == 0] != again[fold == 0]).any()


def test_numbers_are_compared_with_their_group():
    """A payment is odd if it is large for its sender: neither the amount nor the sender alone tells."""
    random = np.random.default_rng(4)
    sender = np.arange(900) % 45
    usual = random.uniform(1, 1000, size=45)[sender]
    truth = np.where(random.random(900) < 0.3, "odd", "usual")
    amount = usual * np.where(truth == "odd", 1.5, 1) * random.uniform(0.95, 1.05, size=900)
    table = pd.DataFrame({"sender": [f"s{one}" for one in sender], "amount": amount})
    y = hidden_labels(truth, every=3)
    model = TableBoosting(random_state=0).fit(MultilayerGraph.from_table(table), y)
    hidden = np.arange(900) % 3 == 0
    assert (model.predict() == truth)[hidden].mean() > 0.85
    assert model.column_importance_.idxmax() == "amount against its mean in sender"


def test_new_rows_of_a_table_are_predicted_by_the_names_of_their_groups(tmp_path):
    random = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "hours": random.integers(0, 50, size=300).astype(float),
            "shop": [f"shop {one}" for one in random.integers(25, size=300)],
            "city": random.choice(["Ulm", "Bonn"], size=300),
        }
    )
    truth = np.where((table["hours"] > 20) & (table["city"] == "Ulm"), "yes", "no")
    model = TableBoosting(random_state=0).fit(MultilayerGraph.from_table(table), truth)
    new = pd.DataFrame(
        {
            "hours": [40.0, 5.0, 40.0, 33.0],
            "shop": ["shop 1", "shop 2", "no such shop", None],
            "city": ["Ulm", "Ulm", "Bonn", "Ulm"],
        },
        index=[f"new {one}" for one in range(4)],
    )
    graph = MultilayerGraph.from_table(new)
    assert model.predict(graph).tolist() == ["yes", "no", "no", "yes"]
    model.save(tmp_path / "model.safetensors")
    loaded = gramme.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(graph), model.predict_proba(graph))
    pd.testing.assert_series_equal(loaded.column_importance_, model.column_importance_)
    with pytest.raises(DataError, match="needs the features hours"):
        model.predict(MultilayerGraph.from_table(new.rename(columns={"hours": "minutes"}).assign(hours="a")))


def test_where_a_mixture_has_boosting():
    layers = {"kind": MembershipLayer.from_codes(np.arange(60) % 4)}
    plain = MultilayerGraph(layers)
    assert not boosting_applies(plain)
    assert boosting_applies(plain.replace(features=np.zeros((60, 2))))
    assert not boosting_applies(plain.replace(features=np.zeros((60, 1_001))))
    labels = np.array(["a", "b"] * 30)
    numbers = np.where(labels == "a", 0.0, 1.0) + np.linspace(0, 1.5, 60)
    model = GrammeAuto(random_state=0, epochs=2, ensemble=1).fit(
        plain.replace(features=np.column_stack([numbers]), feature_names=["size"]), hidden_labels(labels, every=5)
    )
    assert "boosting" in model.models_
    assert "boosting" not in GrammeAuto(random_state=0, epochs=2, ensemble=1).fit(plain, labels).models_
