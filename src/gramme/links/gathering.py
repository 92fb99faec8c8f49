"""The examples of each layer with their evidence: edges set aside, or pairs that are given; attention after a trial.

Attention is the dearest evidence by far. It is first trained for one part of the edges of the largest layers. It is
trained for all parts only if it tells something there that the other evidence does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.links.asked import named_pairs
from gramme.links.attention import LinkAttention
from gramme.links.evidence import Evidence, column_names
from gramme.links.examples import rounds, unlinked_pairs
from gramme.links.mixture import FOLDS, LayerExamples, Line, loss_of
from gramme.links.pair_scores import Floats, Pairs
from gramme.links.whole_graph import Gathered, WholeGraph

ATTENTION = column_names().index("attention")
TRIAL_LAYERS = 2
"""Layers on which attention is tried, those with most examples."""
LEAST_GAIN = 0.01
"""Share by which attention must lower the loss of the trial."""
LINKED, UNLINKED, MATCHED = 0, 1, 2
MATCHED_SHARE = 0.5
"""Degree-matched unlinked pairs per linked one, besides as many uniform ones as there are linked ones."""


def set_aside(
    graph: MultilayerGraph,
    name: str,
    gathered: Gathered,
    tell: Callable[[], None] | None = None,
    groups: MembershipLayer | None = None,
) -> LayerExamples:
    """Evidence for edges of a layer that are set aside, and for pairs without one; told after each part.

    ``groups`` is the layer as it was given, if its edges are those that groups imply.
    """
    rows, kinds = [], []
    for part in _parts(graph, name, gathered.seed, groups):
        evidence = Evidence(part.graph, name, WholeGraph.of(part.graph, gathered, layer=name))
        rows.append(evidence.of(part.pairs))
        kinds.append(part.kinds)
        if tell is not None:
            tell()
    kind = np.concatenate(kinds)
    return LayerExamples(np.concatenate(rows), kind == LINKED, kind == MATCHED)


def unlinked_examples(
    graph: MultilayerGraph, name: str, seed: int, groups: MembershipLayer | None = None
) -> Pairs:
    """The uniform pairs of :func:`set_aside` without an edge, in their order, as positions."""
    parts = _parts(graph, name, seed, groups)
    return np.concatenate([part.pairs[part.kinds == UNLINKED] for part in parts])


def given_examples(
    graph: MultilayerGraph, name: str, whole: WholeGraph, pairs: Any, linked: Any
) -> LayerExamples:
    """Evidence for pairs whose answers are given."""
    positions = named_pairs(graph, pairs)
    answers = np.asarray(linked).astype(bool)
    if answers.shape != (len(positions),) or len(np.unique(answers)) < 2:
        raise DataError(
            f"the examples of layer {name!r} need an answer for each of {len(positions)} pairs, linked ones and "
            "unlinked ones among them"
        )
    return LayerExamples(Evidence(graph, name, whole).of(positions), answers)


def with_attention(
    graph: MultilayerGraph,
    examples: Mapping[str, LayerExamples],
    unseen: Mapping[str, Floats],
    given: Mapping[str, tuple[Any, Any]],
    seed: int,
    groups: Mapping[str, MembershipLayer],
    tell: Callable[[], None] | None = None,
) -> tuple[dict[str, LayerExamples], LinkAttention | None]:
    """The examples with what attention says about them; none where a trial gains nothing.

    Where pairs are given, the attention that was trained on the whole graph comes with them.

    Parameters
    ----------
    graph : MultilayerGraph
    examples : mapping of layer to LayerExamples
        Without attention.
    unseen : mapping of layer to array
        The probabilities that a mixture without attention gives to its examples when it had not seen them.
    given : mapping of layer to (pairs, linked)
        The layers whose examples are given pairs.
    seed : int
        Of the training, and of the parts that were set aside.
    groups : mapping of layer to MembershipLayer
        The layers whose edges are those that groups imply.
    tell : callable, optional
        Called after each layer of the trial and after each that is trained for.
    """
    tell = tell or (lambda: None)
    whole = LinkAttention.trained(graph, seed) if given else None

    def column(name: str, most: int | None = None) -> Floats:
        if whole is not None and name in given:
            found = whole.of_pairs(name, named_pairs(graph, given[name][0]))
        else:
            found = attention_of_set_aside(graph, name, seed, most, groups.get(name))
        tell()
        return found

    largest = sorted(examples, key=lambda name: (-len(examples[name].linked), name))
    losses = [
        trial(column(name, 1), examples[name], unseen[name]) for name in largest[:TRIAL_LAYERS]
    ]
    before, after = np.sum(losses, axis=0)
    if after > (1 - LEAST_GAIN) * before:
        return {}, None
    return {name: one.with_column(ATTENTION, column(name)) for name, one in examples.items()}, whole


def attention_of_set_aside(
    graph: MultilayerGraph,
    name: str,
    seed: int,
    most: int | None = None,
    groups: MembershipLayer | None = None,
) -> Floats:
    """What attention says about the examples of :func:`set_aside`, or of those of its first few parts.

    It is trained anew for each part, on the edges that are left.
    """
    found = []
    for part in islice(_parts(graph, name, seed, groups), most):
        found.append(LinkAttention.trained(part.graph, seed).of_pairs(name, part.pairs))
    return np.concatenate(found)


def trial(column: Floats, example: LayerExamples, unseen: Floats) -> tuple[float, float]:
    """The logistic loss of probabilities for unseen pairs, added over pairs, and the same with a column joined to them.

    The column may be that of the first examples only. A regression on the log-odds and the column is fitted to some of
    them and judged by the others.
    """
    judged = np.flatnonzero(example.judged[: len(column)])
    column, linked = column[judged], example.linked[judged]
    share = np.clip(unseen[judged], 1e-9, 1 - 1e-9)
    odds = np.log(share / (1 - share))
    both = np.column_stack([odds, column])
    folds = np.random.default_rng(0).permutation(len(linked)) % FOLDS
    joined = odds.copy()
    for fold in range(FOLDS):
        inside = folds != fold
        if len(np.unique(linked[inside])) == 2:
            line = Line.fitted(both[inside], linked[inside], 1.0)
            joined[~inside] = line.log_odds(both[~inside])
    return len(linked) * loss_of(odds, linked), len(linked) * loss_of(joined, linked)


@dataclass(frozen=True)
class _Part:
    """A graph without some edges of a layer, and the pairs to learn from: those, uniform and degree-matched ones."""

    graph: MultilayerGraph
    pairs: Pairs
    kinds: NDArray[np.int64]


def _parts(
    graph: MultilayerGraph, name: str, seed: int, groups: MembershipLayer | None
) -> Iterator[_Part]:
    """The same parts whenever they are asked for."""
    number, edges = list(graph.layers).index(name), graph.layers[name]
    known = edges.to_scipy()
    drawn = rounds(graph, name, np.random.default_rng([seed, number]), groups)
    for place, one in enumerate(drawn):
        matched = unlinked_pairs(
            known,
            int(np.ceil(MATCHED_SHARE * len(one.linked))),
            np.random.default_rng([seed, number, place]),
            directed=edges.directed,
            degree_matched=True,
            present=edges.present,
        )
        pairs = [one.linked, one.unlinked, matched]
        kinds = np.repeat([LINKED, UNLINKED, MATCHED], [len(some) for some in pairs])
        yield _Part(one.graph, np.concatenate(pairs), kinds)
