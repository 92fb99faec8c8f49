"""What GrAMME-SG and GrAMME-Fusion share as estimators: parameters, fitting, explaining, saving."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.attention.ensemble import EnsembleModel
from gramme.methods.attention.ensemble_fit import EnsembleFit
from gramme.methods.attention.explain import hop_scores, layer_shares, relative_attention
from gramme.methods.attention.inputs import SOURCES, feature_columns, feature_source
from gramme.methods.attention.saved import SavedImportances, SavedShape
from gramme.methods.importance import shares_of_joined
from gramme.methods.labels import KnownLabels
from gramme.methods.parameters import (
    POSITIVE,
    SHARE,
    Choice,
    Device,
    Flag,
    Number,
    Optional,
    PerClass,
    PerLayer,
    RandomState,
    Rule,
    WholeNumber,
    per_layer,
)
from gramme.methods.saved_fields import (
    SavedField,
    SavedTable,
    SavedValue,
    SavedWeights,
    check_weights,
)
from gramme.methods.saving import MisfitError
from gramme.nn import ACTIVATIONS, COMBINE, KINDS, AttentionHop, MemberRandom, Network, Shape

_EXPLAINED = 100_000_000  # nodes x layers x passes that an explanation may take


class AttentionModel(EnsembleModel):
    """Base of the two attention models; see :class:`GrammeFusion` for the parameters."""

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "feature_dim": WholeNumber(),
        "hidden_dim": WholeNumber(),
        "heads": PerLayer(WholeNumber()),
        "depth": PerLayer(WholeNumber()),
        "learning_rate": POSITIVE,
        "epochs": WholeNumber(),
        "dropout": SHARE,
        "attention_dropout": SHARE,
        "weight_decay": Number(0),
        "activation": Choice(*ACTIVATIONS),
        "head_weights": Choice(*KINDS),
        "combine_heads": Choice(*COMBINE),
        "features": Optional(Choice(*SOURCES)),
        "ensemble": WholeNumber(),
        "validation_fraction": SHARE,
        "patience": WholeNumber(),
        "class_weight": Optional(PerClass(("balanced",), POSITIVE)),
        "progress": Optional(Flag()),
        "device": Device(),
        "random_state": RandomState(),
    }
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("source", Choice(*SOURCES)),
        SavedValue("seed", WholeNumber(0)),
        SavedValue("members", WholeNumber()),
        SavedShape("shape"),
        SavedTable("history"),
        SavedImportances("importance", attribute="layer_importances_"),
        SavedWeights("state"),
    )

    out_of_fold_: NDArray[np.float64]

    def __init__(
        self,
        *,
        feature_dim: int,
        hidden_dim: int,
        heads: int | Mapping[str, int],
        depth: int | Mapping[str, int],
        learning_rate: float,
        epochs: int,
        dropout: float,
        attention_dropout: float,
        weight_decay: float,
        activation: str,
        head_weights: str,
        combine_heads: str,
        features: str | None,
        ensemble: int,
        validation_fraction: float,
        patience: int,
        class_weight: str | Mapping[Any, float] | None,
        progress: bool | None,
        device: str,
        random_state: Any,
    ) -> None:
        self.feature_dim = feature_dim
        self.hidden_dim = hidden_dim
        self.heads = heads
        self.depth = depth
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.dropout = dropout
        self.attention_dropout = attention_dropout
        self.weight_decay = weight_decay
        self.activation = activation
        self.head_weights = head_weights
        self.combine_heads = combine_heads
        self.features = features
        self.ensemble = ensemble
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.class_weight = class_weight
        self.progress = progress
        self.device = device
        self.random_state = random_state

    @abstractmethod
    def _hops(self, network: Network, layer: int) -> tuple[list[AttentionHop], int]:
        """The hops a layer passes, and the layer's place among those they treat."""

    # Fitting

    def fit(
        self,
        graph: MultilayerGraph,
        y: Any = None,
        *,
        validation: Any = None,
        monitor: Any = None,
    ) -> Self:
        """Learn from the labelled nodes of a graph.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Labels in node order or by node name; -1, None and NaN mean unknown. The graph's own labels where not given.
        validation : sequence, mapping or Series, optional
            Labels of further nodes that decide when to stop, in place of a share of the training labels; nothing is
            learned from them otherwise.
        monitor : sequence, mapping or Series, optional
            Labels of further nodes whose accuracy is noted after every epoch. For looking only: neither the training
            nor the stopping depends on them.
        """
        return self._run_fit(graph, y, validation=validation, monitor=monitor)

    def fit_with_folds(
        self, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64], copies: int = 1
    ) -> NDArray[np.float64]:
        """Fit, and in the same batched program further members for each fold that do not see the fold's labels.

        Returns what those say of the labels they did not see, the mean of the ``copies`` of a fold, shape (labelled,
        classes); NaN after an interrupt.
        """
        self._run_fit(graph, known, fold=fold, copies=copies)
        return self.out_of_fold_

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        validation: Any = None,
        monitor: Any = None,
        fold: NDArray[np.int64] | None = None,
        copies: int = 1,
    ) -> NDArray[np.floating[Any]]:
        self.source_, self.seed_ = feature_source(graph, self.features), seed
        self.shape_ = self._shape(feature_columns(graph, self.source_, self.feature_dim))
        seen = None
        if fold is not None:
            blind = np.repeat(np.arange(int(fold.max()) + 1), copies)  # the fold each does not see
            seen = np.ones((known.nodes.size, self.ensemble + blind.size), dtype=bool)
            seen[:, self.ensemble :] = fold[:, None] != blind
        fit = EnsembleFit(self, known, validation, monitor, seen)
        fit.run()
        self.state_, self.history_, self.members_ = fit.state, fit.history, fit.members
        self.interrupted_ = fit.interrupted
        if seen is not None:
            self.out_of_fold_ = self._unseen(graph, known, seen, copies)
        return self._inductive_proba(graph)

    def _unseen(
        self, graph: MultilayerGraph, known: KnownLabels, seen: NDArray[np.bool_], copies: int
    ) -> NDArray[np.float64]:
        """What members that did not see a label say of it; those members are then let go."""
        unseen = np.zeros((known.nodes.size, len(known.classes)))
        if self.members_ < seen.shape[1]:
            unseen[:] = np.nan
        for number, found in enumerate(self._member_probabilities(graph, known.nodes)):
            mine = ~seen[:, number]
            unseen[mine] += found[mine] / copies
        self.members_ = min(self.members_, self.ensemble)
        self.state_ = {name: value[: self.members_] for name, value in self.state_.items()}
        return unseen

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        heads = self._per_layer("heads", graph)
        self._per_layer("depth", graph)
        if self.combine_heads == "concatenate":
            for one in heads:
                if self.hidden_dim % one:
                    raise DataError(
                        f"heads that are concatenated share the columns of the embedding: hidden_dim "
                        f"({self.hidden_dim}) must be a multiple of heads ({one})"
                    )

    def _per_layer(self, name: str, graph: MultilayerGraph) -> tuple[int, ...]:
        """A number for each layer, from one number or a mapping by layer name."""
        return tuple(per_layer(name, getattr(self, name), graph.layers))

    def _shape(self, columns: int) -> Shape:
        graph = self.graph_
        return Shape(
            layers=graph.num_layers,
            in_dim=columns,
            hidden_dim=self.hidden_dim,
            classes=len(self.classes_),
            heads=self._per_layer("heads", graph),
            depth=self._per_layer("depth", graph),
            head_weights=self.head_weights,
            activation=self.activation,
            dropout=self.dropout,
            attention_dropout=self.attention_dropout,
            combine_heads=self.combine_heads,
        )

    # Explaining

    @cached_property
    def layer_importances_(self) -> pd.DataFrame:
        """How much each member leans on each layer: one row per member, summing to 1.

        See :func:`gramme.methods.attention.explain.layer_shares` for how it is measured. On a large graph,
        where that would take longer than the training, only the first members are asked.
        """
        graph = self._fitted_graph()
        layers = graph.num_layers
        enough = _EXPLAINED // max(1, graph.num_nodes * layers * (2 * layers + 2))
        shares: list[NDArray[np.float64]] = []
        for batch in self._each_batch(graph):
            shares.append(layer_shares(*batch))
            if sum(map(len, shares)) >= enough:
                break
        return pd.DataFrame(shares_of_joined(np.concatenate(shares), graph), columns=self.layers_)

    @property
    def layer_importance_(self) -> pd.Series:
        """Which layers the model leans on, by name, summing to 1: the mean over the members."""
        return self.layer_importances_.mean(axis=0).rename("importance")

    def node_attention(
        self, layer: str, *, hop: int = 1, graph: MultilayerGraph | None = None
    ) -> pd.Series:
        """Who is listened to in a layer, relative to the average node (1); NaN for nodes the layer does not hold.

        The attention a node receives depends on that node alone, not on who listens: the listener's part of the score
        cancels in the softmax. So one number per node says it all; who has the node as a neighbour hears it in
        proportion to this number.

        Parameters
        ----------
        layer : str
        hop : int
            Which hop, counted from 1.
        graph : MultilayerGraph, optional
            Another graph than the fitted one.
        """
        self._check_fitted()
        graph = self._fitted_graph() if graph is None else self._with_fitted_layers(graph)
        held = graph.layer(layer).present
        position = self.layers_.index(layer)
        WholeNumber().check("hop", hop)
        if hop > self.shape_.depth[position]:
            raise DataError(f"layer {layer!r} has {self.shape_.depth[position]} hops, not {hop}")
        found: list[Tensor] = []
        for network, features, plan in self._each_batch(graph):
            hops, place = self._hops(network, position)
            scores = hop_scores(network, hops[hop - 1], features, plan)
            found.append(scores.view(-1, graph.num_nodes, *scores.shape[2:])[place])
        values = relative_attention(torch.cat(found, dim=1), held)
        return pd.Series(values, index=graph.nodes, name=layer)

    def _check_loaded(self) -> None:
        shape = self.shape_
        if (shape.layers, shape.classes) != (len(self.layers_), len(self.classes_)):
            raise MisfitError("shape does not match the layers and classes")
        drawn = self.feature_dim if self.source_ != "given" else 0
        if shape.in_dim < drawn or (self.source_ == "random" and shape.in_dim != drawn):
            raise MisfitError(
                f"the in_dim of shape must go with feature_dim, not be {shape.in_dim}"
            )
        if sum(shape.depth) > len(shape.depth) * len(self.state_):
            raise MisfitError("there are fewer weights than hops")
        with torch.device("meta"):
            expected = self._network(shape, MemberRandom([0])).state_dict()
        check_weights(
            self.state_,
            {name: (self.members_, *value.shape[1:]) for name, value in expected.items()},
        )
