"""Numbers on nodes: the mixture finds what groups and edges tell, and its intervals hold what they promise."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from tests.graph.permuted import permuted
from tests.methods.graphs import planted

from gramme.errors import DataError, FileFormatError, NotFittedError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import load
from gramme.methods.params import parameter_rules
from gramme.methods.persistence import Learned, read_model, write_model
from gramme.methods.regression.attention import AttentionRegressor
from gramme.methods.regression.base import KnownNumbers
from gramme.methods.regression.gramme_regressor import GrammeRegressor, mixture_weights
from gramme.training import loop

GRAPH = planted(60)
KNOWN = np.where(np.arange(60) % 2 == 0, np.arange(60) % 5 * 1.5, np.nan)


@pytest.fixture(scope="module")
def model():
    quick = GrammeRegressor(ingredients=["propagation", "groups-ridge"], random_state=0)
    return quick.fit(GRAPH, KNOWN)


def test_table_page_and_short_form(model, tmp_path):
    frame = model.predictions_frame(coverage=0.8)
    np.testing.assert_allclose(frame["high"] - frame["low"], 2 * model.half_widths(0.8))
    np.testing.assert_array_equal(frame["known"], KNOWN)
    page = model.report(tmp_path / "page.html").read_text()
    assert f"{model.mean_absolute_error_:.4g}</strong> off on average" in page
    assert "propagation" in model._repr_html_()
    assert "not fitted yet" in GrammeRegressor()._repr_html_()
    model.save(tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predictions_frame()["known"], KNOWN)
    with pytest.raises(DataError, match="pass graph="):
        loaded.report(tmp_path / "page.html")
    assert loaded.report(tmp_path / "again.html", graph=GRAPH).is_file()


QUICK = {"ensemble": 1, "epochs": 10, "progress": False, "random_state": 0}
RIDGES = {"ingredients": ["propagation", "groups-ridge", "walks-ridge"], "random_state": 0}


def table(seed: int = 0, count: int = 240, noise: float = 1.0):
    random = np.random.default_rng(seed)
    one, other, none = (random.integers(0, 4, count) for _ in range(3))
    truth = 5.0 * one - 3.0 * other + random.normal(0, noise, count)
    layers = {
        name: MembershipLayer.from_codes(codes) for name, codes in (("one", one), ("other", other), ("none", none))
    }
    return MultilayerGraph(layers), truth


def known_part(truth: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    hidden = np.random.default_rng(seed).random(truth.size) > share
    return np.where(hidden, np.nan, truth)


def test_what_columns_add_up_to_is_found() -> None:
    graph, truth = table()
    y = known_part(truth, 0.3)
    model = GrammeRegressor(**RIDGES).fit(graph, y)
    hidden = np.isnan(y)
    assert model.score(y=np.where(hidden, truth, np.nan)) > 0.9
    assert model.r2_ > 0.9
    weights = model.ingredients_["weight"]
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    assert np.isnan(model.out_of_fold_[hidden]).all()
    assert model.mean_absolute_error_ == pytest.approx(np.abs(model.out_of_fold_ - truth)[~hidden].mean())


def test_numbers_spread_along_edges() -> None:
    count = 120
    graph = MultilayerGraph({"line": EdgeLayer(count, range(count - 1), range(1, count))})
    truth = np.sin(np.arange(count) / 15)
    model = GrammeRegressor(**RIDGES).fit(graph, known_part(truth, 0.4))
    assert model.score(y=truth) > 0.8


def test_the_intervals_hold_the_share_they_say() -> None:
    inside = []
    for seed in range(6):
        graph, truth = table(seed)
        y = known_part(truth, 0.4, seed)
        low, high = GrammeRegressor(**(RIDGES | {"random_state": seed})).fit(graph, y).predict_interval(0.9).T
        hidden = np.isnan(y)
        inside.append(((low <= truth) & (truth <= high))[hidden].mean())
    assert 0.85 <= np.mean(inside) <= 0.97


def test_no_number_that_is_held_back_has_a_part() -> None:
    graph, truth = table()
    y = known_part(truth, 0.3)
    one = GrammeRegressor(**RIDGES).fit(graph, y)
    changed = np.where(np.isnan(y), truth + 1000, y)
    other = GrammeRegressor(**RIDGES).fit(graph, np.where(np.isnan(y), np.nan, changed))
    assert np.array_equal(one.predict(), other.predict())


def test_mistakes_are_told() -> None:
    graph, truth = table()
    with pytest.raises(DataError, match="is not a number"):
        GrammeRegressor().fit(graph, ["low"] * graph.num_nodes)
    with pytest.raises(DataError, match="at least 5"):
        GrammeRegressor().fit(graph, [1.0, 2.0, *[None] * (graph.num_nodes - 2)])
    with pytest.raises(DataError, match="coverage"):
        GrammeRegressor(**RIDGES).fit(graph, truth).predict_interval(1.5)
    assert mixture_weights(np.array([[0.0, 1], [0, 2]]), np.array([1.0, 2]), np.ones(2)).round(3).tolist() == [0, 1]


@pytest.fixture(scope="module")
def fitted() -> GrammeRegressor:
    graph, truth = table(count=90)
    return GrammeRegressor(**QUICK).fit(graph, known_part(truth, 0.5))


def test_the_contract_of_every_method(fitted: GrammeRegressor) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.predict()
    y = np.full(90, np.nan)
    y[fitted.known_] = fitted.known_values_
    again = copy.fit(fitted.graph_, y)
    assert np.array_equal(again.predict(), fitted.predict())
    assert np.array_equal(again.out_of_fold_, fitted.out_of_fold_, equal_nan=True)
    by_name = pd.Series(y, index=fitted.nodes_)[::-1]
    assert np.array_equal(clone(fitted).fit(fitted.graph_, by_name).predict(), fitted.predict())
    assert set(parameter_rules(GrammeRegressor)) == set(fitted.get_params())
    for name, value in {"folds": 1, "ensemble": 0, "ingredients": ["magic"]}.items():
        with pytest.raises(DataError, match=name if name != "ingredients" else "magic"):
            clone(fitted).set_params(**{name: value}).fit(fitted.graph_, y)


def test_several_threads_may_predict_with_one_model(fitted: GrammeRegressor) -> None:
    graphs = [fitted.graph_.subgraph(fitted.nodes_[::2]) for _ in range(4)]
    expected = fitted.predict(fitted.graph_.subgraph(fitted.nodes_[::2])).tobytes()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda graph: fitted.predict(graph).tobytes(), graphs * 2))
    assert set(found) == {expected}


def test_what_was_saved_predicts_the_same_for_any_graph(fitted: GrammeRegressor, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert isinstance(again, GrammeRegressor)
    assert np.array_equal(again.predict(), fitted.predict())
    assert np.array_equal(again.predict_interval(0.8), fitted.predict_interval(0.8))
    assert np.array_equal(again.out_of_fold_, fitted.out_of_fold_, equal_nan=True)
    assert again.r2_ == fitted.r2_
    assert again.ingredients_.equals(fitted.ingredients_)
    part = fitted.graph_.subgraph(fitted.nodes_[::2])
    assert np.allclose(again.predict(part), fitted.predict(part))
    assert np.allclose(fitted.predict(part), fitted.predict()[::2], atol=2)
    same = fitted.graph_.subgraph(fitted.nodes_)
    assert np.allclose(again.predict(same), fitted.predict(), atol=1e-3)
    again.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "model.safetensors").read_bytes()


def test_a_model_file_that_does_not_fit_together_is_refused(fitted: GrammeRegressor, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model.safetensors")
    name, parameters, learned = read_model(tmp_path / "model.safetensors")
    for tensor in ("numbers", "unseen", "attention/state.classifier", "groups-ridge/coefficients"):
        tensors = {key: value for key, value in learned.tensors.items() if key != tensor}
        assert len(tensors) == len(learned.tensors) - 1, tensor
        write_model(tmp_path / "bad", name, parameters, Learned(learned.record, tensors))
        with pytest.raises(FileFormatError, match="does not fit together"):
            load(tmp_path / "bad")


def test_what_is_said_of_a_fold_is_mixed_without_it(fitted: GrammeRegressor) -> None:
    """The mixture's errors, which R2 and intervals are made of, do not gain from weights that have seen them."""
    random = np.random.default_rng(0)
    values, noise = random.normal(size=20), random.normal(size=(20, 12))
    fold = np.arange(20) % 5
    model = GrammeRegressor()
    model.nodes_, model.models_ = pd.Index(range(20)), dict.fromkeys("abcdefghijkl")
    model._mix(noise, KnownNumbers(np.arange(20), values), fold)
    seen = noise @ mixture_weights(noise, values, np.ones(values.size))
    assert ((model.unseen_ - values) ** 2).sum() > 1.2 * ((seen - values) ** 2).sum()


def test_interrupted_attention_is_done_without(fitted: GrammeRegressor, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self, graph, known, fold, *_):
        self.fit(graph, known)
        self.interrupted_ = True
        return np.full(known.values.size, np.nan)

    monkeypatch.setattr(AttentionRegressor, "fit_with_folds", stopped)
    model = clone(fitted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(fitted.graph_, fitted.out_of_fold_)
    assert model.interrupted_
    assert "attention" not in model.models_
    assert np.isfinite(model.predict()).all()


def test_attention_interrupted_in_its_first_epoch_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "_step", interrupt)
    graph, truth = table(count=60)
    y = known_part(truth, 0.5)
    model = GrammeRegressor(**QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(graph, y)
    assert model.interrupted_
    assert "attention" not in model.models_
    with pytest.raises(KeyboardInterrupt):
        GrammeRegressor(**QUICK | {"ingredients": ["attention"]}).fit(graph, y)


def test_mixed_features_couplings_and_views_are_taken() -> None:
    _, truth = table(count=60)
    views = MultilayerGraph.from_views(
        {"one": truth[:, None] + 0.1, "two": np.random.default_rng(0).normal(size=(60, 2))}, k=4
    )
    model = GrammeRegressor(**QUICK).fit(views, known_part(truth, 0.5))
    assert np.isfinite(model.predict()).all()
    assert model.score(y=truth) > 0.5


def test_nodes_and_layers_in_another_order_get_the_same_numbers(tmp_path: Path) -> None:
    graph, truth = table(count=60)
    graph = graph.replace(nodes=[f"n{place}" for place in range(60)])
    y = dict(zip(graph.nodes, known_part(truth, 0.5), strict=True))
    other = permuted(graph, seed=4)
    expected = GrammeRegressor(**QUICK).fit(graph, y)
    found = GrammeRegressor(**QUICK).fit(other, y)
    places = graph.positions(other.nodes)
    assert found.predict().tolist() == expected.predict()[places].tolist()
    np.testing.assert_array_equal(found.out_of_fold_, expected.out_of_fold_[places])
    found.save(tmp_path / "model")
    part = graph.subgraph(graph.nodes[10:30])
    np.testing.assert_allclose(load(tmp_path / "model").predict(part), expected.predict(part))


def test_intervals_are_wide_where_errors_are_large_and_keep_their_promise(tmp_path):
    """Numbers of one half of the groups scatter ten times as much, and are larger."""
    random = np.random.default_rng(0)
    codes = random.integers(0, 8, 800)
    loud = codes >= 4
    truth = np.where(loud, 100.0, 0.0) + codes + random.normal(size=800) * np.where(loud, 10, 1)
    graph = MultilayerGraph({"kind": MembershipLayer.from_codes(codes)})
    hidden = np.arange(800) % 2 == 0
    model = GrammeRegressor(**RIDGES).fit(graph, np.where(hidden, np.nan, truth))
    low, high = model.predict_interval(0.9).T
    widths = high - low
    assert np.median(widths[loud]) > 3 * np.median(widths[~loud])
    inside = (low <= truth) & (truth <= high)
    assert 0.86 < inside[hidden].mean() < 0.95
    assert inside[hidden & ~loud].mean() < 0.99
    assert widths.mean() < 2 * model.half_width(0.9)
    model.save(tmp_path / "model.safetensors")
    loaded = load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(loaded.predict_interval(0.9), model.predict_interval(0.9))
    twin = graph.subgraph(graph.nodes[:100])
    assert np.corrcoef(loaded.half_widths(graph=twin), model.half_widths()[:100])[0, 1] > 0.9


def test_a_file_of_an_older_version_has_one_width_for_all(model, tmp_path):
    model.save(tmp_path / "model.safetensors")
    name, parameters, learned = read_model(tmp_path / "model.safetensors")
    for field in ("error_scale", "error_line"):
        del learned.tensors[field]
    write_model(tmp_path / "old.safetensors", name, parameters, learned)
    old = load(tmp_path / "old.safetensors")
    assert np.unique(old.half_widths(0.8)).tolist() == [model.half_width(0.8)]
