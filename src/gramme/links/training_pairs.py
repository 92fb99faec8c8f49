"""The examples of each layer with their evidence: edges set aside, or pairs that are given; attention after a trial.

Attention is the dearest evidence by far. It is first trained for one part of the edges of the largest layers. It is
trained for all parts only if it tells something there that the other evidence does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramme._types import Floats, Ints
from gramme.errors import DataError
from gramme.graph import Layer, MembershipLayer, MultilayerGraph

from .attention import LinkAttention
from .evidence import Evidence, Gathered, WholeGraph, column_names, named
from .mixture import FOLDS, CandidateList, LayerExamples, Line, log_odds_of, loss_of
from .pair_scores import Pairs, entries
from .sampling import MAX_IMPLIED_EDGES, Round, columns, edge_layer, hidden_share, named_pairs, rounds, unlinked_pairs


def easily_told(graph: MultilayerGraph, layers: Iterable[str], groups: Mapping[str, MembershipLayer]) -> list[str]:
    """What to say about how edges of layers were set aside, a sentence or two for each kind of layer.

    All layers that are asked about are edges in the graph; ``groups`` are those whose edges groups imply.
    """
    said = []
    alone = columns(groups)
    if alone:
        said.append(
            "Who is in one group with whom is told from the other layers alone: within a layer, any member of a group "
            "would give away all others."
        )
    if set(groups) - set(alone):
        said.append(
            "Whole memberships were set aside, not single pairs, which the rest of their group would give away."
        )
    closed = [name for name in layers if name not in groups and _looks_like_groups(graph.layers[name])]
    if closed:
        said.append(
            f"In {named(closed)}, nearly all neighbours of a node are linked with each other, as the members of groups "
            "are. A pair set aside there is given away by the rest of its group, so the figure says little about links "
            "between groups."
        )
    return said


def evidence_only(graph: MultilayerGraph, layers: Iterable[str]) -> list[str]:
    """What to say about layers of groups that are not asked about: why, and that they serve as evidence.

    >>> evidence_only(MultilayerGraph({"team": MembershipLayer.from_codes([0, 0, 1])}), ["team"])
    []
    """
    rest = {name: graph.layers[name] for name in graph.layers if name not in set(layers)}
    groups = [name for name, layer in rest.items() if layer.made_of == "groups"]
    large = [name for name in groups if rest[name].num_edges > MAX_IMPLIED_EDGES]
    said = []
    if large:
        said.append(
            f"Who shares a group of {named(large)} is not asked about, since more than {MAX_IMPLIED_EDGES:,} pairs do; "
            "such groups serve as evidence."
        )
    if small := [name for name in groups if name not in large]:
        said.append(f"The groups of {named(small)} serve as evidence; links are asked about in layers of edges.")
    return said


def closed_share(matrix: sp.csr_array, random: np.random.Generator) -> float:
    """The share of paths of two steps whose ends are linked, from a sample; 0 without such paths.

    >>> triangle = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    >>> closed_share(triangle, np.random.default_rng(0))
    1.0
    """
    degree = np.diff(matrix.indptr).astype(np.int64)
    chance = (degree * (degree - 1)).astype(np.float64)
    if not chance.any():
        return 0.0
    middle = random.choice(degree.size, size=4000, p=chance / chance.sum())
    first = random.integers(0, degree[middle])
    second = (first + random.integers(1, degree[middle])) % degree[middle]
    ends = matrix.indices[matrix.indptr[middle][:, None] + np.column_stack([first, second])]
    return float((entries(matrix, ends.astype(np.int64)) != 0).mean())


def _looks_like_groups(layer: Layer) -> bool:
    matrix = layer.to_scipy()
    both = sp.csr_array(matrix + matrix.T) if layer.directed else matrix
    nodes = max(int(np.count_nonzero(np.diff(both.indptr))), 2)
    density = both.nnz / (nodes * (nodes - 1))
    # a dense layer closes many paths by chance
    return closed_share(both, np.random.default_rng(0)) >= max(0.9, density + 0.2)


ATTENTION = column_names().index("attention")
TRIAL_LAYERS = 2
"""Layers on which attention is tried, those with most examples."""
LEAST_GAIN = 0.01
"""Share by which attention must lower the loss of the trial."""
LINKED, UNLINKED, MATCHED = 0, 1, 2
MAX_LISTED = 50_000
"""Candidates without a link that are listed for a part of a layer; more are represented by a sample of as many."""
MATCHED_SHARE = 0.5
"""Degree-matched unlinked pairs per linked one, besides as many uniform ones as there are linked ones."""


def set_aside(
    graph: MultilayerGraph,
    name: str,
    gathered: Gathered,
    tell: Callable[[], None] | None = None,
    groups: MembershipLayer | None = None,
    most_candidates: int = MAX_LISTED,
) -> LayerExamples:
    """Evidence for edges of a layer that are set aside, and for pairs without one; told after each part.

    ``groups`` is the layer as it was given, if its edges are those that groups imply. ``most_candidates`` bounds how
    many candidates are listed for each part.
    """
    rows, kinds, pairs, lists = [], [], [], []
    for part, asked, kind in _parts(graph, name, gathered.seed, groups):
        evidence, thinner = (
            Evidence(seen, name, WholeGraph.of(seen, gathered, layer=name)) for seen in (part.graph, part.thinner)
        )
        rows.append(evidence.of(asked))
        kinds.append(kind)
        pairs.append(asked)
        whole, *shares = (one.layers[name].num_edges for one in (graph, part.graph, part.thinner))
        lists.append(
            replace(
                _candidate_list(graph, part.linked, evidence, most_candidates),
                thinner=_candidate_list(graph, part.linked, thinner, most_candidates),
                visible_shares=tuple(share / whole for share in shares),
            )
        )
        if tell is not None:
            tell()
    kind = np.concatenate(kinds)
    return LayerExamples(
        np.concatenate(rows),
        kind == LINKED,
        kind == MATCHED,
        np.concatenate(pairs),
        hidden=0.0 if groups is not None else hidden_share(edge_layer(graph, name)),
        part_index=np.repeat(np.arange(len(kinds)), [len(some) for some in kinds]),
        lists=tuple(lists),
    )


def _candidate_list(graph: MultilayerGraph, set_aside: Pairs, evidence: Evidence, most: int) -> CandidateList:
    """What would be shown of a graph that lacks some edges: its candidates, or a sample of those without a link."""
    edges, lacking = graph.layers[evidence.layer], evidence.graph.layers[evidence.layer]
    pairs = evidence.candidates(lacking.to_scipy(), edges.present)
    places = np.arange(1, len(set_aside) + 1)
    found = sp.csr_array((places, (set_aside[:, 0], set_aside[:, 1])), shape=lacking.to_scipy().shape)
    linked = entries(found, pairs) != 0
    unlinked = entries(edges.to_scipy(), pairs) == 0
    share = min(1.0, most / max(int(unlinked.sum()), 1))
    if share < 1.0:
        unlinked &= np.random.default_rng(len(pairs)).random(len(pairs)) < share
    pairs, linked = pairs[linked | unlinked], linked[linked | unlinked]
    rows = evidence.of(pairs).astype(np.float32)
    return CandidateList(pairs, rows, linked, len(set_aside), share)


def with_all_edges(examples: LayerExamples, evidence: Evidence) -> LayerExamples:
    """Examples that were set aside, some of them with their evidence in the graph with all edges too."""
    if examples.pairs is None:
        return examples
    return replace(examples, whole=evidence.of(examples.pairs[examples.compared]))


def given_examples(graph: MultilayerGraph, name: str, evidence: Evidence, pairs: Any, linked: Any) -> LayerExamples:
    """Evidence for pairs whose answers are given."""
    positions = named_pairs(graph, pairs)
    answers = np.asarray(linked).astype(bool)
    if answers.shape != (len(positions),) or len(np.unique(answers)) < 2:
        raise DataError(
            f"the examples of layer {name!r} need an answer for each of {len(positions)} pairs, linked ones and "
            "unlinked ones among them"
        )
    return LayerExamples(evidence.of(positions), answers)


@dataclass(frozen=True)
class AttentionTrial:
    """Attention for the examples of each layer: first for some of them, to see whether it tells anything new.

    For given pairs and with all edges, it is trained on the whole graph, once. ``examples`` are without attention;
    ``tell`` is called after each layer of the trial and after each that is trained for.
    """

    graph: MultilayerGraph
    examples: Mapping[str, LayerExamples]
    given: Mapping[str, tuple[Any, Any]]
    seed: int
    groups: Mapping[str, MembershipLayer]
    tell: Callable[[], None]

    @cached_property
    def whole(self) -> LinkAttention:
        """The attention of the whole graph."""
        return LinkAttention.trained(self.graph, self.seed)

    def helps(self, unseen: Mapping[str, Floats]) -> bool:
        """Whether it lowers the loss on one part of the largest layers.

        ``unseen`` are the probabilities that a mixture without attention gives to examples it had not seen.
        """
        largest = sorted(self.examples, key=lambda name: (-len(self.examples[name].linked), name))
        losses = [
            trial(self._column(name, most=1), self.examples[name], unseen[name]) for name in largest[:TRIAL_LAYERS]
        ]
        before, after = np.sum(losses, axis=0)
        return bool(after <= (1 - LEAST_GAIN) * before)

    def joined(self) -> dict[str, LayerExamples]:
        """The examples with what attention says about all of them."""
        found = {}
        for name, one in self.examples.items():
            whole = None
            if one.pairs is not None:
                whole = self.whole.of_pairs(name, one.pairs[one.compared])
            found[name] = one.with_column(ATTENTION, self._column(name, one.lists), whole)
        return found

    def _column(self, name: str, lists: Sequence[CandidateList] = (), most: int | None = None) -> Floats:
        """What attention says about the examples; the column of the lists is filled on the way."""
        if name in self.given:
            found = self.whole.of_pairs(name, named_pairs(self.graph, self.given[name][0]))
        else:
            groups = self.groups.get(name)
            found = attention_of_set_aside(self.graph, name, self.seed, most, groups, lists)
        self.tell()
        return found


def attention_of_set_aside(
    graph: MultilayerGraph,
    name: str,
    seed: int,
    most: int | None = None,
    groups: MembershipLayer | None = None,
    lists: Sequence[CandidateList] = (),
) -> Floats:
    """What attention says about the examples of :func:`set_aside`, or of those of its first few parts.

    It is trained anew for each part, on the edges that are left. What it says about the candidates of each part is
    written to their lists.
    """
    found = []
    for place, (part, pairs, _) in enumerate(islice(_parts(graph, name, seed, groups), most)):
        attention = LinkAttention.trained(part.graph, seed)
        found.append(attention.of_pairs(name, pairs))
        for listed in [lists[place], lists[place].thinner] if lists else []:
            if listed is not None:
                listed.rows[:, ATTENTION] = attention.of_pairs(name, listed.pairs)
    return np.concatenate(found)


def trial(column: Floats, example: LayerExamples, unseen: Floats) -> tuple[float, float]:
    """The logistic loss of probabilities for unseen pairs, added over pairs, and the same with a column joined to them.

    The column may be that of the first examples only. A regression on the log-odds and the column is fitted to some of
    them and judged by the others.
    """
    judged = np.flatnonzero(example.judged[: len(column)])
    column, linked = column[judged], example.linked[judged]
    odds = log_odds_of(unseen[judged])
    both = np.column_stack([odds, column])
    folds = np.random.default_rng(0).permutation(len(linked)) % FOLDS
    joined = odds.copy()
    for fold in range(FOLDS):
        inside = folds != fold
        if len(np.unique(linked[inside])) == 2:
            line = Line.fitted(both[inside], linked[inside], 1.0)
            joined[~inside] = line.log_odds(both[~inside])
    return len(linked) * loss_of(odds, linked), len(linked) * loss_of(joined, linked)


def _parts(
    graph: MultilayerGraph, name: str, seed: int, groups: MembershipLayer | None
) -> Iterator[tuple[Round, Pairs, Ints]]:
    """Rounds with the pairs to learn from and of what kind each is; the same whenever they are asked for."""
    number, edges = list(graph.layers).index(name), graph.layers[name]
    known = edges.to_scipy()
    for place, one in enumerate(rounds(graph, name, np.random.default_rng([seed, number]), groups)):
        matched = unlinked_pairs(
            known,
            int(np.ceil(MATCHED_SHARE * len(one.linked))),
            np.random.default_rng([seed, number, place]),
            directed=edges.directed,
            degree_matched=True,
            present=edges.present,
        )
        pairs = [one.linked, one.unlinked, matched]
        yield one, np.concatenate(pairs), np.repeat([LINKED, UNLINKED, MATCHED], [len(some) for some in pairs])
