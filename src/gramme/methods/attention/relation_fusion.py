"""An attention model that takes labels and learned rows as inputs where held-out labels gain by it.

With many labels, networks over relations (:mod:`gramme.methods.attention.relations`) are fitted beside the networks
that start from fixed features, or in their place where those would take minutes. With fewer labels nothing changes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from gramme.distributed import communicator_of
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import NameOrder
from gramme.methods.attention.estimator import AttentionModel, settled_decay
from gramme.methods.attention.explain import attention_reasons, attention_received, member_shares
from gramme.methods.attention.features import RANDOM_DIM
from gramme.methods.attention.relations import (
    MIN_LABELS,
    RELATION_KINDS,
    RELATION_SOURCES,
    RelationOptions,
    RelationPool,
    fit_relations,
    out_of_fold_relations,
)
from gramme.methods.attention.saved_relations import SavedRelations
from gramme.methods.attention.training_size import TimeBudget, TrainingSize, expected_step_seconds
from gramme.methods.contributions import Pair, Through, shares_of_joined
from gramme.methods.labels import KnownLabels
from gramme.methods.persistence import SavedField
from gramme.nn.relation_plan import graph_views, views_size

MAX_FIXED_SECONDS = 60.0
"""Expected seconds of networks with fixed features up to which they are tried beside networks over relations."""
MEMBER_SIZE = 3_000_000
"""Entries, rows and sources of a graph's views times networks of a kind: about two minutes of one core."""
TIME_SHARE = 0.9
"""Of an allowance of time that trainings have."""


class RelationFusion(AttentionModel):
    """Base of :class:`GrammeFusion`: networks with fixed features, networks over relations, or both.

    ``relations_``: The networks over relations and the share of each; None if there are none.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedRelations("relations"),)

    relations_: RelationPool | None = None

    # Fitting

    def _fit_otherwise(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, asked: Mapping[str, Any]
    ) -> NDArray[np.floating[Any]] | None:
        self.relations_ = None
        if not self._considers_relations(graph, known, asked["validation"]):
            return None
        fold, copies, allowance = asked["fold"], asked["copies"], asked["allowance"]
        options = self._relation_options(graph, known, allowance)
        probe = None
        if self.features is None and self._fixed_seconds(graph) <= MAX_FIXED_SECONDS:

            def probe(aside: NDArray[np.bool_]) -> NDArray[np.float64]:
                return self._fixed_at(graph, known, seed, aside)

        fit = fit_relations(graph, known, known.weights, seed, options, probe)
        pool = fit.pool
        if not pool.models:  # fixed features alone say more
            return None
        fixed = None
        if pool.fixed_share > 0:
            fixed = self._fit(graph, known, seed, **asked, fixed_only=True).astype(np.float64)
        else:
            self._without_fixed(graph, seed, fit.history, TrainingSize(self.ensemble, copies, self._most_epochs))
        self.relations_, self.interrupted_ = pool, self.interrupted_ or fit.interrupted
        if fit.interrupted:
            warnings.warn("interrupted: networks over relations are trained in part", GrammeWarning, stacklevel=5)
        if fold is not None:
            parts, tested = out_of_fold_relations(graph, known, known.weights, fold, seed, options, pool)
            unseen = None if fixed is None else self.out_of_fold_
            said = pool.pooled(parts, unseen)
            said[~np.isin(fold, tested)] = np.nan
            self.out_of_fold_ = said
        return pool.probabilities(graph, fixed)

    def _considers_relations(self, graph: MultilayerGraph, known: KnownLabels, validation: Any) -> bool:
        """Whether networks over relations take part: where they are asked for, or nothing is and labels are many."""
        if not communicator_of(graph).alone:
            return False
        if self.features in RELATION_SOURCES:
            return True
        return self.features is None and validation is None and known.nodes.size >= MIN_LABELS

    def _relation_options(
        self, graph: MultilayerGraph, known: KnownLabels, allowance: TimeBudget | None
    ) -> RelationOptions:
        kinds = RELATION_KINDS if self.features is None else tuple(self.features.split("+"))
        deadline = None
        if allowance is not None and allowance.measured:
            deadline = time.perf_counter() + TIME_SHARE * allowance.seconds
        return RelationOptions(
            kinds,
            min(self.ensemble, max(1, MEMBER_SIZE // max(views_size(graph_views(graph)), 1))),
            self.hidden_dim,
            self._most_epochs,
            self.learning_rate,
            settled_decay(self.weight_decay, known.nodes.size),
            self.score_bound,
            deadline,
            type(self).__name__,
            self.progress,
        )

    @property
    def _most_epochs(self) -> int:
        """Epochs as far as networks over relations go by them: their training ends by labels set aside in any case."""
        return self.epochs or AttentionModel.epochs or 1

    def _fixed_seconds(self, graph: MultilayerGraph) -> float:
        """About how long the networks with fixed features take, judged by the size of the graph."""
        return self.ensemble * self._most_epochs * expected_step_seconds(graph)

    def _fixed_at(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, aside: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """What a network with fixed features says about labels that it has not seen."""
        probe = clone(self).set_params(ensemble=1, progress=False)
        probe.classes_ = known.classes
        probe._fit(graph, known, seed, fold=np.where(aside, 0, -1), copies=1, fixed_only=True)
        found: NDArray[np.float64] = probe.out_of_fold_[aside]
        return found

    def _without_fixed(self, graph: MultilayerGraph, seed: int, history: pd.DataFrame, effort: TrainingSize) -> None:
        """What a fit stores where no network has fixed features."""
        self.source_, self.profile_, self.scales_, self.walk_size_ = "random", None, None, 1.0
        columns = RANDOM_DIM[True] if self.feature_dim is None else self.feature_dim
        self.edge_features_ = {}
        self.seed_, self.shape_ = seed, self._shape(graph, columns)
        self.members_, self.state_ = 0, {}
        self.history_, self.effort_, self.interrupted_ = history, effort, False
        self.epochs_ = len(history)

    # Predicting

    def _inductive_proba(self, graph: MultilayerGraph, plan: Any = None) -> NDArray[np.float32]:
        pool = self.relations_
        if pool is None or not graph.num_nodes:
            return super()._inductive_proba(graph, plan)
        fixed = None
        if self.members_:
            fixed = super()._inductive_proba(graph, plan).astype(np.float64)
        return pool.probabilities(graph, fixed).astype(np.float32)

    def _embed(self, order: NameOrder) -> NDArray[np.float32]:
        pool = self.relations_
        if pool is None:
            return super()._embed(order)
        parts = [order.to_given(model.embedding(order.graph)) for model in pool.first_of_kind()]
        if self.members_:
            parts.append(super()._embed(order))
        return np.concatenate(parts, axis=1)

    # Explaining

    @cached_property
    def layer_importances_(self) -> pd.DataFrame:
        """How much each member relies on each layer: rows that sum to 1.

        Of networks over relations the first of each kind has a row, after those of the members.
        """
        self.check_fitted()
        graph = self._fitted_order().graph
        rows = []
        if self.members_:
            rows.append(member_shares(self._each_batch(graph), graph))
        if self.relations_ is not None:
            rows += [model.layer_shares(graph)[None] for model in self.relations_.first_of_kind()]
        shares = shares_of_joined(np.concatenate(rows), graph)
        return pd.DataFrame(shares, columns=self.layer_order_)[self.layers_]

    @property
    def layer_importance_(self) -> pd.Series:
        """Which layers the model relies on, by name, summing to 1: the mean over the networks, by their shares."""
        table = self.layer_importances_
        if self.relations_ is None:
            return table.mean(axis=0).rename("importance")
        shares = list(self.relations_.kind_shares().values())
        fixed = len(table) - len(shares)
        weights = np.array([self.relations_.fixed_share / max(fixed, 1)] * fixed + shares)
        weighed = table.mul(weights, axis=0).sum(axis=0)
        return (weighed / weighed.sum()).rename("importance")

    def _received(self, graph: MultilayerGraph, hop: int, head: int | None, member: int | None) -> NDArray[np.float64]:
        """How much attention each node receives in each layer at a hop, (layers, nodes)."""
        if self.relations_ is None or (self.members_ and (head, member) != (None, None)):
            return super()._received(graph, hop, head, member)
        if (head, member) != (None, None):
            raise DataError("this model has no networks with fixed features, which alone have heads and members")
        found = [model.received(graph, hop) for model in self.relations_.models]
        weights = list(self.relations_.shares)
        if self.members_:
            found.append(attention_received(self._each_batch(graph), self._hops, graph, hop))
            weights.append(self.relations_.fixed_share)
        every, share = np.stack(found), np.array(weights)[:, None, None]
        there = ~np.isnan(every)
        total = (there * share).sum(0)
        mean = np.where(there, every * share, 0.0).sum(0)
        return np.where(total > 0, mean / np.where(total > 0, total, 1.0), np.nan)

    def _most_hops(self, position: int) -> int:
        pool = self.relations_
        if pool is None:
            return super()._most_hops(position)
        hops = [getattr(model.network, "hops", 1) for model in pool.models]
        return max(hops + [super()._most_hops(position)] * bool(self.members_))

    def reasons(self, graph: MultilayerGraph, pair: Pair) -> list[Through]:
        """What came through neighbours and groups, as parts of the log-odds of two classes."""
        pool = self.relations_
        if pool is None:
            return super().reasons(graph, pair)
        every = np.ones(pair.rows.size)
        found = [
            through
            for model, share in zip(pool.models, pool.shares, strict=True)
            for through in model.through(graph, pair, pool.exponent * share * every)
        ]
        if self.members_:
            for through in attention_reasons(self._each_batch(graph), graph, pair).through:
                scaled = through.parts * (pool.exponent * pool.fixed_share)
                found.append(Through(through.layer, through.kind, scaled))
        joined: dict[str, Through] = {}
        for through in found:
            if through.layer in joined:
                parts = joined[through.layer].parts + through.parts
                through = Through(through.layer, through.kind, parts)
            joined[through.layer] = through
        return list(joined.values())

    def _check_loaded(self) -> None:
        if self.members_:
            super()._check_loaded()
