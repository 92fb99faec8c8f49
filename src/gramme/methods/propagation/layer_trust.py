"""How far each layer can be trusted, from what it says by itself about labels that it has not seen.

A label spreads within layer l alone, F = 0.9 P_l F + Y, as in label propagation. What reaches a labelled node from the
labels of other folds is compared between the classes, each by the number of its labels,

    r_c  =  F_c / n_c  +  0.1 s,        p_c  ~  prior_c r_c^sharpness,

where s is what a label gives to any node on average. The layer's gain is the log likelihood of the labels under p less
that under the class frequencies, at the best of some sharpnesses and never below 0.

A layer's skill is the gain per label that hears anything in the layer, and its weight proportional to that. As far as
chance, up to two standard deviations of it, explains how the skills differ, they are drawn towards how far the layers
agree with each other, which needs no labels: a layer of noise joins nodes that walks in the other layers do not lead
to. With S_l the adjacency of layer l scaled by the square roots of the degrees, and K_m four steps of a walk in layer m
less where every walk leads,

    a_lm  =  tr(S_l K_m) / (|S_l| |K_m|),

in every entry up to 1,024 nodes, with random signs for the nodes beyond. Every ingredient of the mixture that weighs
layers before it has learned from them uses this module: label propagation, the spectral model and the smoothing of the
neighbourhood model with labels; the maps of label-shares and the walks of attention and regression by agreement alone.

Cost: 15 neighbourhood sums per layer of 5 or 10 columns per class, or of a column per label where these are fewer; 5 of
1,024 columns for the agreement, or of fewer columns on small or large graphs.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gramme._types import Floats, Ints
from gramme.distributed import communicator_of, global_positions, node_count
from gramme.graph import MultilayerGraph
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels, class_prior, stratified_folds
from gramme.ops import layers_sum, random_features

from .series import Walk, has_many_small_layers, layer_pairs, walk_of

SHARPNESS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
FAINT = 0.1
"""Of what a label gives to a node on average, heard from every class; 0.03 to 0.3 made no difference."""
SHARPNESS_COST = 0.5  # log likelihood that the best of several sharpnesses is expected to gain by chance
EVEN_SHARE = 0.01  # part of the weight that all layers share, as a node may be reached through the least of them only


def trust_folds(codes: Ints, folds: int | None, seed: int) -> Ints:
    """The fold of each label: as many as are given, ten of up to 200 labels and five of more."""
    return stratified_folds(codes, folds or (10 if codes.size <= 200 else 5), seed)


@dataclass(frozen=True)
class LayerSkills:
    """What is known of each layer: its skill, the gain per label that this is estimated from, and its agreement."""

    skills: Floats
    gains: Floats
    agreement: Floats

    def weights(self, power: float = 1.0) -> Floats:
        """Layer weights, summing to 1: by skill, or by a higher power of the gains times the agreement squared.

        What is drawn together cannot be told apart by a power. Of the gains alone, those of noise would stand out.
        """
        if power == 1 or not self.gains.any():
            return trust_weights(self.skills)
        return trust_weights(self.gains**power * self.agreement**2)


def layer_skills(
    graph: MultilayerGraph,
    known: KnownLabels,
    fold: Ints,
    held: Sequence[int | None] = (None,),
    walk: Walk | None = None,
) -> list[LayerSkills]:
    """The skills of the layers where the labels of a fold are not known, for each of some folds.

    Every label is predicted from those of other folds; those of a fold in ``held`` are left out, none for None. What
    was found for the latest graph is remembered, as several methods ask for the same folds of the same labels.
    """
    global _latest_skills
    if _latest_skills is None or _latest_skills[0]() is not graph:
        _latest_skills = (weakref.ref(graph), {})
    kept = _latest_skills[1]
    labels = b"".join(np.ascontiguousarray(part).tobytes() for part in (known.nodes, known.codes, fold))
    asked = hashlib.sha256(labels).digest()
    if not all((asked, one) in kept for one in held):
        kept |= {(asked, one): row for one, row in zip(held, _skills(graph, known, fold, held, walk), strict=True)}
    return [kept[asked, one] for one in held]


_latest_skills: tuple[weakref.ref[MultilayerGraph], dict[tuple[bytes, int | None], LayerSkills]] | None = None


def _skills(
    graph: MultilayerGraph, known: KnownLabels, fold: Ints, held: Sequence[int | None], walk: Walk | None
) -> list[LayerSkills]:
    num_classes, num_folds = len(known.classes), int(fold.max()) + 1
    label_units = fold * num_classes + known.codes
    present_units, unit_column = np.unique(label_units, return_inverse=True)
    unit_indicators = np.zeros((known.nodes.size, present_units.size))
    unit_indicators[np.arange(known.nodes.size), unit_column] = 1
    fold_gains, fold_heard = np.zeros((len(held), graph.num_layers)), np.zeros((len(held), graph.num_layers))
    num_nodes = node_count(graph)
    walk = walk_of(graph) if walk is None else walk
    for layer_slice, spread_values, spread_totals in walk.within_layers(known.nodes, unit_indicators, 0.9, 15):
        faint_amounts = FAINT * spread_totals.sum(axis=1) / (num_nodes * known.nodes.size)
        for layer_block in _blocks(spread_values.shape[0], known.nodes.size * num_folds * num_classes):
            unit_columns = np.zeros((len(faint_amounts[layer_block]), known.nodes.size, num_folds * num_classes))
            unit_columns[:, :, present_units] = spread_values[layer_block]
            reached_labels = unit_columns.reshape(-1, known.nodes.size, num_folds, num_classes)
            other_folds = reached_labels.sum(axis=2) - reached_labels[:, np.arange(fold.size), fold]
            for held_index, fold_left_out in enumerate(held):
                heard_here = other_folds if fold_left_out is None else other_folds - reached_labels[:, :, fold_left_out]
                fold_gains[held_index, layer_slice][layer_block], fold_heard[held_index, layer_slice][layer_block] = (
                    _gains(heard_here, known.codes, fold, fold_left_out, faint_amounts[layer_block])
                )
    agreement = layer_agreement(graph) if known.nodes.size < ENOUGH_LABELS else np.ones(graph.num_layers)
    return [
        LayerSkills(_shrunk(layer_gains, heard_labels, agreement), layer_gains / np.maximum(heard_labels, 1), agreement)
        for layer_gains, heard_labels in zip(fold_gains, fold_heard, strict=True)
    ]


def _shrunk(gains: Floats, heard: Floats, agreement: Floats) -> Floats:
    """Gains per label, drawn towards their mean times the agreement as far as chance explains how they differ.

    A gain of G is about half the square of a normal variable with variance 1, so that its own variance is 2 G + 1/2;
    what layers differ by beyond that is estimated by moments (DerSimonian and Laird, 1986), as far as it exceeds what
    chance comes to by two standard deviations: a few layers with a few labels often differ by one.
    """
    # agreement counts where labels say nothing at all
    mean = max(float(gains.sum() / max(heard.sum(), 1)), 1e-3)
    expected = mean * agreement
    precision = heard**2 / (
        2 * mean * heard + 0.5
    )  # one gain for all: a layer that others agree with is judged as well
    total = precision.sum()
    apart = gains / np.maximum(heard, 1) - expected
    freedom = total - (precision**2).sum() / max(total, 1e-30)
    chance = gains.size - 1
    excess = (precision * apart**2).sum() - chance - 2 * (2 * chance) ** 0.5
    between = max(float(excess / freedom), 0.0) if freedom > 1e-9 * total else 0.0
    skills: Floats = expected + apart * between * precision / (between * precision + 1)
    return skills


def _blocks(count: int, numbers: int) -> Iterator[slice]:
    # looked at together, so that they stay in cache
    block_size = max(1, (1 << 17) // max(numbers, 1))
    for first_layer in range(0, count, block_size):
        yield slice(first_layer, first_layer + block_size)


def _gains(others: Floats, codes: Ints, fold: Ints, held: int | None, faint: Floats) -> tuple[Floats, Floats]:
    """The gain in log likelihood of some layers, and how many labels they reach.

    ``others`` is what reaches each label from those of other folds, (layers, labels, classes).
    """
    fold_counts = np.zeros((int(fold.max()) + 1, others.shape[-1]))
    np.add.at(fold_counts, (fold, codes), 1)
    label_index = np.arange(codes.size)
    known_counts = fold_counts.sum(axis=0)
    if held is not None:
        known_counts = known_counts - fold_counts[held]
    left_counts = known_counts - fold_counts[fold]
    # a class whose labels are all in one fold cannot be told by the others, whatever the layer is worth
    is_tested = (fold != held) & (left_counts[label_index, codes] > 0)
    if not is_tested.any():
        return np.zeros(len(others)), np.zeros(len(others))
    codes, others = codes[is_tested], np.maximum(others[:, is_tested], 0)
    log_frequencies = np.log(class_prior(known_counts))
    log_shares = np.log(others / np.maximum(left_counts[is_tested], 1) + np.maximum(faint, 1e-300)[:, None, None])
    label_rows = np.arange(codes.size)
    best_gains = np.zeros(len(others))
    is_reached = others.sum(axis=2) > 0
    for sharpness in SHARPNESS:
        class_scores = log_frequencies + sharpness * log_shares
        top_scores = class_scores.max(axis=2)
        log_totals = top_scores + np.log(np.exp(class_scores - top_scores[..., None]).sum(axis=2))
        label_gains = class_scores[:, label_rows, codes] - log_totals - log_frequencies[codes]
        best_gains = np.maximum(best_gains, np.where(is_reached, label_gains, 0).sum(axis=1) - SHARPNESS_COST)
    return best_gains, is_reached.sum(axis=1).astype(np.float64)


_latest: tuple[weakref.ref[MultilayerGraph], Floats] | None = None


def layer_agreement(graph: MultilayerGraph) -> Floats:
    """How far each layer agrees with the others, 1 on average; of two layers both agree alike.

    The latest graph's is remembered, as several methods and folds ask for it in a row.
    """
    global _latest
    if graph.num_layers < 3:
        return np.ones(graph.num_layers)
    if _latest is None or _latest[0]() is not graph:
        _latest = (weakref.ref(graph), _agreement(graph))
    return _latest[1]


def _agreement(graph: MultilayerGraph) -> Floats:
    all_sum, layers, nodes = communicator_of(graph).all_sum, graph.num_layers, graph.num_nodes
    whole = node_count(graph)
    # fewer random signs where they would take more numbers than this over all layers
    probes = int(np.clip(10_000_000 // max(whole * layers, 1), 4, 1024))
    if whole <= probes:  # then every entry is looked at
        probes, signs = whole, np.zeros((nodes, whole))
        signs[np.arange(nodes), global_positions(graph)] = 1
    else:
        signs = np.where(random_features(graph.nodes, probes, 0) > 0, 1.0, -1.0)
    blocks = list(_probed_at_once(graph, signs) if has_many_small_layers(graph) else _probed(graph, signs))
    # by layer: |S_l|^2, |K_l|^2 and tr(S_l K_l)
    products = np.zeros((3, layers))
    for layer, _, step, walk in blocks:
        for row, (one, other) in zip(products, ((step, step), (walk, walk), (step, walk)), strict=True):
            row += np.bincount(layer, np.einsum("ij,ij->i", one, other), minlength=layers)
    products = all_sum(products)
    scale = 1 / np.maximum(products[:2] ** 0.5, 1e-30)
    totals = np.zeros((2, nodes, probes))
    for layer, node, step, walk in blocks:
        np.add.at(totals[0], node, step * scale[0, layer][:, None])
        np.add.at(totals[1], node, walk * scale[1, layer][:, None])
    others = np.zeros(layers)
    for layer, node, step, walk in blocks:
        found = scale[0, layer] * np.einsum("ij,ij->i", step, totals[1, node])
        found += scale[1, layer] * np.einsum("ij,ij->i", walk, totals[0, node])
        others += np.bincount(layer, found, minlength=layers)
    mean = (all_sum(others) / 2 - products[2] * scale[0] * scale[1]) / (layers - 1)
    # what layers that have nothing in common come to by chance, less with more of them to compare with
    agreement: Floats = np.maximum(mean, 0) + (2 / (probes * whole * (layers - 1))) ** 0.5
    relative: Floats = agreement / agreement.mean()
    return relative


Probed = tuple[Ints, Ints, Floats, Floats]
"""The layer and the node of some rows, and what S and K make of the signs there."""


def _probed(graph: MultilayerGraph, signs: Floats) -> Iterator[Probed]:
    """Layer by layer."""
    for layer_index, layer_name in enumerate(graph.layers):
        neighbourhood = layers_sum(graph, [layer_name])

        def sums(values: Floats, neighbourhood: Callable[[Tensor], Tensor] = neighbourhood) -> Floats:
            value_tensor = torch.from_numpy(values)
            neighbour_sums: Floats = (neighbourhood(value_tensor) - value_tensor).numpy()
            return neighbour_sums

        layer_numbers = np.full(graph.num_nodes, layer_index)
        yield layer_numbers, np.arange(graph.num_nodes), *_walked(graph, layer_numbers, sums, signs)


def _probed_at_once(graph: MultilayerGraph, signs: Floats) -> Iterator[Probed]:
    """All layers in products of one matrix, whose rows are the nodes that each layer joins."""
    edge_rows, neighbour_nodes, edge_weights = layer_pairs(graph)
    row_layers, row_nodes = np.divmod(np.unique(edge_rows), graph.num_nodes)
    row_keys = row_layers * graph.num_nodes + row_nodes
    neighbour_keys = edge_rows - edge_rows % graph.num_nodes + neighbour_nodes
    column_places = np.minimum(np.searchsorted(row_keys, neighbour_keys), row_keys.size - 1)
    is_kept = row_keys[column_places] == neighbour_keys  # a neighbour that hears nobody has no row
    matrix_entries = (edge_weights[is_kept], (np.searchsorted(row_keys, edge_rows[is_kept]), column_places[is_kept]))
    joined_matrix = sp.csr_array(matrix_entries, shape=(row_keys.size, row_keys.size))
    yield row_layers, row_nodes, *_walked(graph, row_layers, lambda values: joined_matrix @ values, signs[row_nodes])


def _walked(
    graph: MultilayerGraph, layer: Ints, sums: Callable[[Floats], Floats], signs: Floats
) -> tuple[Floats, Floats]:
    """S and K applied to signs, from the sums over neighbours without the node itself."""
    all_sum = communicator_of(graph).all_sum
    degrees = np.maximum(sums(np.ones((layer.size, 1))), 0)
    root = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0)
    each = sp.csr_array((np.ones(layer.size), (layer, np.arange(layer.size))), shape=(graph.num_layers, layer.size))
    first = np.sqrt(degrees) / np.maximum(all_sum(each @ degrees) ** 0.5, 1e-30)[layer]
    state = signs - first * all_sum(each @ (first * signs))[layer]
    # four steps, each staying one time in five: like the even share chosen on label samples 0 and 1 of 3sources and
    # Wikipedia, and on planted graphs with layers of noise
    for _ in range(4):
        state = 0.2 * state + 0.8 * root * sums(root * state)
    return root * sums(root * signs), state


def trust_weights(skills: Floats) -> Floats:
    """Layer weights that sum to 1: a part spread evenly, the rest proportional to the skills."""
    skill_total = skills.sum()
    proportional_weights = skills / skill_total if skill_total > 0 else np.full(skills.size, 1 / skills.size)
    mixed_weights: Floats = (1 - EVEN_SHARE) * proportional_weights + EVEN_SHARE / skills.size
    return mixed_weights


def agreement_weights(graph: MultilayerGraph) -> dict[str, float]:
    """Layer weights from agreement alone, without labels; none where all layers count alike."""
    agreement = layer_agreement(graph)
    if np.ptp(agreement) == 0:
        return {}
    return dict(zip(graph.layers, trust_weights(agreement).tolist(), strict=True))


def relative_agreement(graph: MultilayerGraph) -> dict[str, float]:
    """How far each layer agrees with the others, as a share of the one that does most."""
    agreement = layer_agreement(graph)
    return dict(zip(graph.layers, (agreement / agreement.max()).tolist(), strict=True))


def layer_trust(graph: MultilayerGraph, known: KnownLabels, seed: int) -> Floats:
    """How much to trust each layer, summing to 1."""
    if graph.num_layers < 2:
        return np.ones(graph.num_layers)
    return layer_skills(graph, known, trust_folds(known.codes, None, seed))[0].weights()
