"""The plan of a fit: how long its stages should take, judged by the size of the data; used only to show progress."""

from __future__ import annotations

from dataclasses import dataclass

from gramme.distributed import node_count, world_of
from gramme.evaluation.cross_validation import DEFAULT_FOLDS, EstimatePlan
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.methods.data_size import DataSize

PAGE_SECONDS, PAGE_SECONDS_PER_NODE, PAGE_SECONDS_PER_ENTRY = 0.8, 3.5e-4, 4.5e-6
"""For writing the model, the tables and the page."""
MAX_PAGE_SECONDS = 180.0
WAITING_SECONDS = 1.2
"""That processes spend in a fit until they have heard from each other, at the least."""
ENTRIES_PER_NODE = 10.0
"""Before the data are read: about how many ends of edges and memberships a node has."""


@dataclass(frozen=True)
class FitPlan:
    """Seconds on one core of an idle machine.

    Attributes
    ----------
    fit : float
        For the model itself.
    tests : float
        For the further fits that estimate its accuracy.
    page : float
        For writing the results and the page.
    """

    fit: float
    tests: float
    page: float

    @property
    def seconds(self) -> float:
        """All stages together."""
        return self.fit + self.tests + self.page

    def share(self, stage: float) -> float:
        """The share that a stage has of the whole."""
        return stage / self.seconds

    @classmethod
    def of(cls, graph: MultilayerGraph, model: NodeClassifier, estimate: EstimatePlan) -> FitPlan:
        """For data that have been read; several processes share the fits, and the first writes."""
        kept = 1.0 if estimate.share is None else 1 - estimate.share
        processes = world_of(graph).size
        one = model.expected_seconds(graph, kept) / processes
        one += 0.0 if processes == 1 else WAITING_SECONDS
        page = page_seconds(node_count(graph), graph.num_entries)
        return cls(one, estimate.further_fits(graph, model) * one, page)

    @classmethod
    def by_size(cls, entries: float, model: NodeClassifier, estimate: EstimatePlan) -> FitPlan:
        """For data of about so many nodes, memberships and ends of edges, which have yet to be read."""
        one = model.seconds_for(DataSize.guessed(entries))
        folds = 0 if estimate.none_further(model) else estimate.folds or DEFAULT_FOLDS
        return cls(one, folds * one, page_seconds(entries / ENTRIES_PER_NODE, entries))


def page_seconds(nodes: float, entries: float) -> float:
    """For writing the results of a graph with so many nodes, memberships and ends of edges."""
    each = PAGE_SECONDS_PER_NODE * nodes + PAGE_SECONDS_PER_ENTRY * entries
    return min(PAGE_SECONDS + each, MAX_PAGE_SECONDS)
