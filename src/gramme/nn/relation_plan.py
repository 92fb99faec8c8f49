"""What networks over relations need of a graph: its views, and the compact sums of each hop.

Only the nodes that are asked about matter after the last hop, before it those they hear, and so on back to the first:
in training most of the last hops' rows are left out. Rows that nobody listens to are never computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.graph import MultilayerGraph
from gramme.ops.views import StackedViews

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """One way to listen in a layer.

    ``layer``: Position of the layer; ``backwards``: Whether edges are followed from their target to their source;
    ``matrix`` (nodes, sources): How strongly each node listens to each source: to nodes, or to groups; ``groups``:
    Whether the sources are groups.
    """

    layer: int
    backwards: bool
    matrix: sp.csr_array
    groups: bool


def graph_views(graph: MultilayerGraph) -> list[View]:
    """The views of every layer, in order: two of a layer of directed edges, one of any other.

    A group with a single member is left out, as it joins nobody.
    """
    views = []
    for place, layer in enumerate(graph.layers.values()):
        incidence = layer.incidence()
        if incidence is not None:
            views.append(View(place, False, _shared_groups(incidence), True))
            continue
        matrix = layer.to_scipy()
        views.append(View(place, False, matrix, False))
        if layer.directed:
            views.append(View(place, True, sp.csr_array(matrix.T.tocsr()), False))
    return views


def _shared_groups(incidence: sp.csr_array) -> sp.csr_array:
    """Memberships of groups that have several members; the others' columns stay, empty."""
    shared = np.bincount(incidence.indices, minlength=incidence.shape[1]) > 1
    kept = shared[incidence.indices]
    pointer = np.concatenate([[0], np.cumsum(kept)])[incidence.indptr]
    parts = (incidence.data[kept], incidence.indices[kept], pointer)
    return sp.csr_array(parts, shape=incidence.shape)


def views_size(views: Sequence[View]) -> int:
    """Entries, rows and sources of all views, on which the cost of a step depends; groups also hear their members."""
    size = 0
    for view in views:
        listeners = int(np.count_nonzero(np.diff(view.matrix.indptr)))
        sources = int(np.unique(view.matrix.indices).size)
        size += (2 if view.groups else 1) * (int(view.matrix.nnz) + listeners + sources)
    return size


def source_names(graph: MultilayerGraph, view: View) -> pd.Index:
    """The names of a view's sources."""
    return list(graph.layers.values())[view.layer].columns(graph.nodes)[1]


class RelationStep(nn.Module):
    """One hop: who listens to whom among some nodes.

    ``inputs``, ``outputs``: The nodes whose states are there before and after the hop; all if not given. Whoever an
    output hears must be among the inputs, and so must be the output itself.

    ``members``: Groups listen to their members; the groups of one layer after those of another; ``heard``: Nodes listen
    to nodes and to groups. The table of sources is that of the inputs, then that of the groups; ``own``: Where the
    outputs stand among the inputs; None if they are the same.
    """

    own: Tensor | None

    def __init__(
        self, views: Sequence[View], inputs: Positions | None = None, outputs: Positions | None = None
    ) -> None:
        super().__init__()
        nodes = views[0].matrix.shape[0] if views else 0
        before = np.arange(nodes) if inputs is None else inputs
        heard, starts = [], []
        members = []
        start = before.size
        for view in views:
            matrix = view.matrix if outputs is None else sp.csr_array(view.matrix[outputs])
            if not view.groups:
                heard.append(matrix if inputs is None else sp.csr_array(matrix[:, before]))
                starts.append(0)
                continue
            groups = np.unique(matrix.indices)
            inside = sp.csr_array(view.matrix[:, groups].T.tocsr())
            members.append(inside if inputs is None else sp.csr_array(inside[:, before]))
            heard.append(sp.csr_array(matrix[:, groups]))
            starts.append(start)
            start += groups.size
        self.heard = StackedViews(heard, starts, start)
        self.members = _stacked_members(members, before.size) if members else None
        own = None
        if outputs is not None:
            own = torch.from_numpy(np.searchsorted(before, outputs))
        self.register_buffer("own", own, persistent=False)


def _stacked_members(matrices: list[sp.csr_array], sources: int) -> StackedViews:
    """Groups of several layers as listeners: each layer is a view with rows of its own."""
    total = sum(matrix.shape[0] for matrix in matrices)
    padded, start = [], 0
    for matrix in matrices:
        shape = (total, matrix.shape[1])
        indptr = np.concatenate(
            [
                np.zeros(start, dtype=matrix.indptr.dtype),
                matrix.indptr,
                np.full(total - start - matrix.shape[0], matrix.indptr[-1]),
            ]
        )
        padded.append(sp.csr_array((matrix.data, matrix.indices, indptr), shape=shape))
        start += matrix.shape[0]
    return StackedViews(padded, None, sources)


class RelationPlan(nn.Module):
    """The hops of a network over a graph's views, for the output of some nodes or of all.

    ``nodes``: In ascending order; all nodes if not given.

    ``start``: The nodes whose inputs are needed; None for all; ``ends``: For each hop, where the nodes asked about
    stand among its outputs; None if they are all of them.
    """

    def __init__(self, views: Sequence[View], hops: int, nodes: Positions | None = None) -> None:
        super().__init__()
        self.layer_of_view = [view.layer for view in views]
        self.group_views = [place for place, view in enumerate(views) if view.groups]
        self.num_nodes = int(views[0].matrix.shape[0]) if views else 0
        needed: list[Positions | None] = [nodes]
        for _ in range(hops):
            needed.append(None if needed[-1] is None else reached(views, needed[-1]))
        needed = needed[::-1]
        steps: list[RelationStep] = []
        for before, after in pairwise(needed):
            if steps and before is None and after is None:
                steps.append(steps[-1])
            else:
                steps.append(RelationStep(views, before, after))
        self.steps = nn.ModuleList(steps)
        self.start = needed[0]
        self.ends: list[Tensor | None] = [
            None if nodes is None else torch.from_numpy(_among(after, nodes)) for after in needed[1:]
        ]

    def at_start(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        """Which of some nodes are among those whose inputs are needed, and where they stand there."""
        if self.start is None:
            return torch.ones_like(nodes, dtype=torch.bool), nodes
        start = torch.from_numpy(self.start)
        places = torch.searchsorted(start, nodes).clamp(max=max(start.numel() - 1, 0))
        there = start[places] == nodes if start.numel() else torch.zeros_like(nodes, dtype=torch.bool)
        return there, places[there]


def reached(views: Sequence[View], nodes: Positions) -> Positions | None:
    """Some nodes and all whom they hear, also through groups, in ascending order; None where these are all nodes."""
    count = views[0].matrix.shape[0] if views else 0
    found = np.zeros(count, dtype=bool)
    found[nodes] = True
    for view in views:
        heard = np.zeros(view.matrix.shape[1], dtype=bool)
        heard[sp.csr_array(view.matrix[nodes]).indices] = True
        if view.groups:
            inside = heard[view.matrix.indices]
            owners = np.repeat(np.arange(count), np.diff(view.matrix.indptr))
            found[owners[inside]] = True
        else:
            found |= heard
    return None if found.all() else np.flatnonzero(found)


def _among(positions: Positions | None, nodes: Positions) -> Positions:
    found: Positions = nodes if positions is None else np.searchsorted(positions, nodes)
    return found
