"""One run of a benchmark of links: a method scores the pairs of one split, against each kind of unlinked pairs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from gramme.evaluation.link_methods import LinkMethod
from gramme.evaluation.link_splits import NEGATIVES, PROTOCOL, LinkSplit, link_splits
from gramme.evaluation.one_run import told
from gramme.graph import MultilayerGraph
from gramme.io.names import proper_text
from gramme.links.reasons import calibration_bins, roc_auc

HITS_RANK = 20


@dataclass(frozen=True)
class LinkSpec:
    """All that decides a run.

    Attributes
    ----------
    dataset, checksum : str
        Name and checksum of the graph.
    layer : str
    method : LinkMethod
    realisation, fold : int
        Which division of the edges, and which part of it is held out.
    """

    dataset: str
    checksum: str
    layer: str
    method: LinkMethod
    realisation: int
    fold: int

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this run from all others, in text that a ledger can hold."""
        where = proper_text(self.dataset), self.checksum, proper_text(self.layer)
        return (*where, self.method.name, self.realisation, self.fold)

    def run(self, graph: MultilayerGraph) -> LinkResult:
        """Do it; whatever goes wrong in the method is its result and no error here."""
        split = next(islice(link_splits(graph, self.layer, self.realisation), self.fold, None))
        try:
            return LinkResult(self, scored(split, self.layer, self.method, seed=self.realisation))
        except Exception as error:
            return self.failed(told(error))

    def failed(self, error: str) -> LinkResult:
        """The result of a run that could not end."""
        empty = {"status": "failed", "error": error, "protocol": PROTOCOL}
        return LinkResult(self, [{"negatives": kind} | empty for kind in NEGATIVES])


@dataclass(frozen=True)
class LinkResult:
    """The result of a run: a row for each kind of unlinked pairs."""

    spec: LinkSpec
    scores: list[dict[str, Any]] = field(default_factory=list)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as a ledger has them."""
        names = ("dataset", "checksum", "layer", "method", "realisation", "fold")
        return [dict(zip(names, self.spec.key, strict=True)) | row for row in self.scores]


def scored(split: LinkSplit, layer: str, method: LinkMethod, *, seed: int) -> list[dict[str, Any]]:
    """The scores of a method on a split, against each kind of unlinked pairs."""
    began = time.process_time()
    kinds = list(split.unlinked)
    parts = [split.linked, *(split.unlinked[kind] for kind in kinds)]
    scores = method.score(split.graph, layer, np.concatenate(parts), seed)
    seconds = time.process_time() - began
    ends = np.cumsum([len(part) for part in parts])
    linked = scores[: ends[0]]
    found = []
    for place, kind in enumerate(kinds):
        unlinked = scores[ends[place] : ends[place + 1]]
        both = np.concatenate([linked, unlinked])
        truth = np.repeat([True, False], [len(linked), len(unlinked)])
        judged = method.probabilities and kind == "uniform"
        found.append(
            {
                "negatives": kind,
                "status": "done",
                "roc_auc": roc_auc(truth, both),
                "average_precision": float(average_precision_score(truth, both)),
                "hits_at_20": hits_at(linked, unlinked),
                "calibration_bins": _as_text(calibration_bins(truth, both)) if judged else None,
                "linked": len(linked),
                "unlinked": len(unlinked),
                "cpu_seconds": seconds,
                "protocol": PROTOCOL,
            }
        )
    return found


def hits_at(
    linked: NDArray[np.float64], unlinked: NDArray[np.float64], count: int = HITS_RANK
) -> float:
    """The share of linked pairs that score above the 20th best unlinked one; 1 where there are fewer.

    >>> hits_at(np.array([3.0, 1.0]), np.array([2.0, 0.0]), count=1)
    0.5
    """
    if len(unlinked) < count:
        return 1.0
    return float((linked > np.sort(unlinked)[-count]).mean())


def _as_text(bins: NDArray[np.float64]) -> str:
    return json.dumps(np.round(bins, 6).tolist())
