"""How far layers are trusted: by hidden labels, by each other, and alike however the graph is stored."""

import numpy as np
import pytest

from gramme import datasets
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import GrammeFusion
from gramme.methods.labels import KnownLabels, known_labels, stratified_folds
from gramme.methods.propagation import series
from gramme.methods.propagation.label_propagation import LabelPropagation
from gramme.methods.propagation.layer_trust import (
    EVEN_SHARE,
    FAINT,
    SHARPNESS,
    SHARPNESS_COST,
    LayerSkills,
    agreement_weights,
    layer_agreement,
    layer_skills,
    layer_trust,
    trust_weights,
)
from gramme.methods.propagation.layer_trust import _shrunk as shrunk
from gramme.methods.propagation.series import ManyLayersWalk, NodeWalk


def planted_and_noise(
    nodes: int = 90, told: int = 2, noise: int = 2, seed: int = 0, codes: np.ndarray | None = None
) -> MultilayerGraph:
    """Layers in which edges mostly join equal classes, and layers of chance; one node has no edges."""
    random = np.random.default_rng(seed)
    codes = np.arange(nodes) % 3 if codes is None else codes
    layers = {}
    for number in range(told + noise):
        source, target = random.integers(nodes - 1, size=(2, 12 * nodes))
        kept = (source != target) & ((codes[source] == codes[target]) | (random.random(source.size) < 0.2))
        if number >= told:
            kept = (source != target) & (random.random(source.size) < 0.45)
        layers[f"{'told' if number < told else 'noise'} {number}"] = EdgeLayer(nodes, source[kept], target[kept])
    return MultilayerGraph(layers, labels=np.array(["a", "b", "c"])[codes])


def known_every(graph: MultilayerGraph, step: int) -> KnownLabels:
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[np.random.default_rng(0).permutation(labels.size)[labels.size // step :]] = None
    return known_labels(graph, labels)


def dense_gains(graph: MultilayerGraph, known: KnownLabels, fold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gains of the layers, and how many labels hear something there, from all powers of each walk."""
    classes, gains, heard = len(known.classes), [], []
    prior = (np.bincount(known.codes) + 1 / classes) / (known.codes.size + 1)
    for layer in graph.layers.values():
        walk = layer.to_scipy().toarray() + np.eye(graph.num_nodes)
        lonely = walk.sum(1) <= 1
        walk = walk / walk.sum(1, keepdims=True)
        walk[lonely] = 0
        kernel = sum(np.linalg.matrix_power(0.9 * walk, k) for k in range(16))
        faint = FAINT * kernel[:, known.nodes].mean()
        logs, own = [], []
        for place, (node, code) in enumerate(zip(known.nodes, known.codes, strict=True)):
            others = fold != fold[place]
            sums = np.array([kernel[node, known.nodes[others & (known.codes == c)]].sum() for c in range(classes)])
            counts = np.array([(others & (known.codes == c)).sum() for c in range(classes)])
            if counts[code] and sums.sum():
                logs.append(np.log(sums / np.maximum(counts, 1) + faint))
                own.append(code)
        tried = [0.0]
        for sharpness in SHARPNESS:
            chances = prior * np.exp(sharpness * np.array(logs))
            chances /= chances.sum(1, keepdims=True)
            tried.append((np.log(chances[np.arange(len(own)), own] / prior[own])).sum() - SHARPNESS_COST)
        gains.append(max(tried))
        heard.append(len(own))
    return np.array(gains), np.array(heard, dtype=float)


def test_skills_equal_a_dense_reference():
    graph = planted_and_noise()
    known = known_every(graph, 4)
    fold = stratified_folds(known.codes, 5, 0)
    expected = shrunk(*dense_gains(graph, known, fold), layer_agreement(graph))
    np.testing.assert_allclose(layer_skills(graph, known, fold)[0].skills, expected, rtol=2e-3)


def test_skills_that_differ_by_chance_are_alike_and_others_are_kept():
    chance = shrunk(np.array([2.0, 0.0, 1.0]), np.full(3, 60.0), np.ones(3))
    np.testing.assert_allclose(chance, 1 / 60)
    clear = shrunk(np.array([60.0, 0.0, 1.0]), np.full(3, 60.0), np.ones(3))
    assert clear[0] > 0.9 > 0.1 > clear[1:].max()
    unheard = shrunk(np.array([20.0, 0.0, 0.0]), np.array([60.0, 60.0, 0.0]), np.ones(3))
    assert unheard[1] < unheard[2] < unheard[0]


def test_taking_many_layers_together_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    graph = planted_and_noise()
    known = known_every(graph, 4)
    fold = stratified_folds(known.codes, 5, 0)
    held = [None, 0, 3]
    apart = layer_skills(graph, known, fold, held, NodeWalk(graph))
    monkeypatch.setattr(series, "MANY_LAYERS", 2)
    other = graph.replace(labels=None)  # a graph's agreement is remembered
    np.testing.assert_allclose(layer_agreement(other), layer_agreement(graph))
    together = layer_skills(other, known, fold, held, ManyLayersWalk(other))
    for one, another in zip(together, apart, strict=True):
        np.testing.assert_allclose(one.skills, another.skills, rtol=2e-3)


def test_groups_and_the_edges_that_they_imply_are_trusted_alike():
    graph = datasets.load("synthetic_table", nodes=120, random_state=2)
    edges = graph.replace(layers={name: layer.to_edges() for name, layer in graph.layers.items()})
    known = known_every(graph, 4)
    np.testing.assert_allclose(layer_trust(graph, known, 0), layer_trust(edges, known, 0), atol=1e-3)


def test_the_skill_without_a_fold_does_not_see_its_labels():
    graph = planted_and_noise()
    known = known_every(graph, 3)
    fold = stratified_folds(known.codes, 5, 0)
    changed = np.where(fold == 2, (known.codes + 1) % 3, known.codes)
    other = KnownLabels(known.nodes, changed, known.classes)
    unseen = [layer_skills(graph, one, fold, [2])[0].gains for one in (known, other)]
    np.testing.assert_allclose(*unseen, rtol=1e-12)
    assert np.abs(layer_skills(graph, known, fold)[0].gains - layer_skills(graph, other, fold)[0].gains).max() > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_little_weight_even_with_a_label_per_class(seed: int):
    graph = planted_and_noise(seed=seed)
    few = known_labels(graph, {0: "a", 1: "b", 2: "c"})
    assert layer_trust(graph, few, 0)[2:].sum() < 0.3
    assert layer_trust(graph, known_every(graph, 4), 0)[2:].sum() < 0.3


def test_layers_of_noise_cost_less_in_label_propagation():
    """With a label per class nothing can be tested, and all layers used to count alike: that cost 21 points here."""
    told, every = [], []
    for seed in range(5):
        graph = planted_and_noise(nodes=150, seed=seed)
        plain = graph.replace(layers={name: layer for name, layer in graph.layers.items() if name.startswith("told")})
        few = {0: "a", 1: "b", 2: "c"}
        for found, one in ((told, plain), (every, graph)):
            found.append((LabelPropagation(random_state=0).fit(one, few).predict() == graph.labels).mean())
    assert np.mean(every) > np.mean(told) - 0.15


def test_layers_of_noise_do_not_drown_attention():
    """Walks over all layers alike led nowhere beside four layers of noise: 0.39 and 0.44 were right here."""
    for seed in range(2):
        graph = planted_and_noise(nodes=150, noise=4, seed=seed)
        assert graph.labels is not None
        few = graph.labels.copy()
        few[6:] = None
        predicted = GrammeFusion(ensemble=2, random_state=0).fit(graph, few).predict()
        assert (predicted == graph.labels)[6:].mean() > 0.75


def test_weights_by_agreement_know_no_label():
    graph = planted_and_noise()
    weights = agreement_weights(graph)
    assert weights == agreement_weights(graph.replace(labels=None))
    assert sum(weight for name, weight in weights.items() if name.startswith("noise")) < 0.25
    two = graph.replace(layers=dict(list(graph.layers.items())[:2]))
    assert agreement_weights(two) == {}  # of two layers neither can be told to be the noise


def test_labels_outweigh_agreement():
    """Two layers agree about something else than the classes, and one alone follows these."""
    alike = planted_and_noise(noise=0, seed=1)
    own = planted_and_noise(told=1, noise=0, seed=2, codes=np.random.default_rng(0).integers(3, size=90))
    layers = {f"other {name}": layer for name, layer in alike.layers.items()}
    graph = MultilayerGraph(layers | {"own": own.layers["told 0"]}, labels=own.labels)
    assert layer_agreement(graph)[2] < 0.4
    assert layer_trust(graph, known_every(graph, 3), 0)[2] > 0.75


def test_without_anything_to_tell_layers_by_all_count_alike():
    empty = EdgeLayer(4, [], [])
    graph = MultilayerGraph(dict.fromkeys("abc", empty))
    known = known_labels(graph, {0: "x", 1: "y"})
    np.testing.assert_allclose(layer_trust(graph, known, 0), 1 / 3)
    alone = MultilayerGraph({"a": EdgeLayer(4, [0], [1])})
    assert layer_trust(alone, known, 0).tolist() == [1]


def test_a_layer_that_few_hear_is_judged_by_those():
    """A small layer that is always right has more weight than a large one that is right at times."""
    graph = planted_and_noise(told=1, noise=0)
    same = np.arange(0, 24, 3)
    small = EdgeLayer(90, same[:-1], same[1:])
    both = MultilayerGraph({**graph.layers, "small": small}, labels=graph.labels)
    weights = layer_trust(both, known_every(both, 2), 0)
    assert weights[1] > 0.3


def test_weights_from_skills():
    weights = trust_weights(np.array([0.5, 0.25, 0.0]))
    np.testing.assert_allclose(weights.sum(), 1)
    np.testing.assert_allclose(weights[2], EVEN_SHARE / 3)
    np.testing.assert_allclose(trust_weights(np.zeros(3)), 1 / 3)


def test_powers_take_gains_as_they_are_but_not_those_of_a_layer_that_no_other_agrees_with():
    """In congress_votes one vote nearly is the party: what is drawn towards the others cannot stand out by a power."""
    skills = LayerSkills(np.full(3, 0.2), gains=np.array([0.5, 0.2, 0.6]), agreement=np.array([1.4, 1.5, 0.1]))
    np.testing.assert_allclose(skills.weights(), 1 / 3)
    raised = skills.weights(2)
    assert raised[0] > 0.8
    assert raised[2] < 0.05
    none = LayerSkills(np.full(3, 0.2), gains=np.zeros(3), agreement=np.ones(3))
    np.testing.assert_allclose(none.weights(8), 1 / 3)


def test_a_lucky_layer_of_noise_is_not_believed_with_few_labels():
    """Three layers that agree reach few of twenty labels; one of two layers of noise happens to gain 5.8."""
    agreement = np.array([2.15, 0.94, 1.67, 0.12, 0.12])
    skills = shrunk(np.array([0.0, 0.0, 1.3, 0.0, 5.8]), np.array([8.0, 6, 20, 20, 20]), agreement)
    assert skills[3:].sum() < 0.1 * skills.sum()
