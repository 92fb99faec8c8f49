"""What GrAMME-SG and GrAMME-Fusion share as estimators: parameters, fitting, explaining, saving."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods import parameters as check
from gramme.methods.attention.ensemble import EnsembleModel
from gramme.methods.attention.ensemble_fit import EnsembleFit
from gramme.methods.attention.explain import hop_scores, layer_shares, relative_attention
from gramme.methods.attention.inputs import SOURCES, feature_columns, feature_source
from gramme.methods.importance import shares_of_joined
from gramme.methods.labels import KnownLabels, known_labels
from gramme.methods.saving import Learned
from gramme.nn import ACTIVATIONS, COMBINE, KINDS, AttentionHop, MemberRandom, Network, Shape

_EXPLAINED = 100_000_000  # nodes x layers x passes that an explanation may take


class AttentionModel(EnsembleModel):
    """Base of the two attention models; see :class:`GrammeFusion` for the parameters."""

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
        graph = self._check_graph(graph)
        self._check_parameters(graph)
        known = known_labels(graph, y)
        self._prepare(graph, known)
        fit = EnsembleFit(self, known, validation, monitor)
        fit.run()
        self.state_, self.history_, self.members_ = fit.state, fit.history, fit.members
        self._finish(self._inductive_proba(graph), known)
        return self

    def _prepare(self, graph: MultilayerGraph, known: KnownLabels) -> None:
        """Settle what the members are made from."""
        self._begin(graph, known)
        self.source_ = feature_source(graph, self.features)
        self.seed_ = check.seed_of(self.random_state)
        self.shape_ = self._shape(feature_columns(graph, self.source_, self.feature_dim))

    def fit_with_folds(
        self, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64], copies: int = 1
    ) -> NDArray[np.float64]:
        """Fit, and in the same batched program further members for each fold that do not see the fold's labels.

        Returns what those say of the labels they did not see, the mean of the ``copies`` of a fold, shape (labelled,
        classes); NaN after an interrupt.
        """
        graph = self._check_graph(graph)
        self._check_parameters(graph)
        self._prepare(graph, known)
        blind = np.repeat(np.arange(int(fold.max()) + 1), copies)  # the fold each does not see
        seen = np.ones((known.nodes.size, self.ensemble + blind.size), dtype=bool)
        seen[:, self.ensemble :] = fold[:, None] != blind
        fit = EnsembleFit(self, known, seen=seen)
        fit.run()
        self.state_, self.history_, self.members_ = fit.state, fit.history, fit.members
        unseen = np.zeros((known.nodes.size, len(known.classes)))
        if self.members_ < seen.shape[1]:
            unseen[:] = np.nan
        for number, found in enumerate(self._member_probabilities(graph, known.nodes)):
            mine = ~seen[:, number]
            unseen[mine] += found[mine] / copies
        self.members_ = min(self.members_, self.ensemble)
        self.state_ = {name: value[: self.members_] for name, value in self.state_.items()}
        self._finish(self._inductive_proba(graph), known)
        return unseen

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        check.whole("feature_dim", self.feature_dim)
        check.whole("hidden_dim", self.hidden_dim)
        check.whole("epochs", self.epochs)
        check.whole("ensemble", self.ensemble)
        check.whole("patience", self.patience)
        check.number("learning_rate", self.learning_rate, 0, open_low=True)
        check.number("weight_decay", self.weight_decay, 0)
        for name in ("dropout", "attention_dropout", "validation_fraction"):
            check.number(name, getattr(self, name), 0, 1)
        check.choice("activation", self.activation, ACTIVATIONS)
        check.choice("head_weights", self.head_weights, KINDS)
        check.choice("combine_heads", self.combine_heads, COMBINE)
        check.choice("features", self.features, (None, *SOURCES))
        if self.progress is not None:
            check.flag("progress", self.progress)
        check.device_of(self.device)
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
        value = getattr(self, name)
        if not isinstance(value, Mapping):
            return (check.whole(name, value),) * graph.num_layers
        for layer in value:
            graph.layer(layer)
        missing = [layer for layer in graph.layers if layer not in value]
        if missing:
            raise DataError(f"{name} says nothing about the layer {missing[0]!r}; name every layer")
        return tuple(check.whole(f"{name}[{layer!r}]", value[layer]) for layer in graph.layers)

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
        check.whole("hop", hop)
        if hop > self.shape_.depth[position]:
            raise DataError(f"layer {layer!r} has {self.shape_.depth[position]} hops, not {hop}")
        found: list[Tensor] = []
        for network, features, structure in self._each_batch(graph):
            hops, place = self._hops(network, position)
            scores = hop_scores(network, hops[hop - 1], features, structure)
            found.append(scores.view(-1, graph.num_nodes, *scores.shape[2:])[place])
        values = relative_attention(torch.cat(found, dim=1), held)
        return pd.Series(values, index=graph.nodes, name=layer)

    # Saving

    def _learned(self) -> Learned:
        learned = super()._learned()
        learned.record |= {
            "source": self.source_,
            "seed": self.seed_,
            "members": self.members_,
            "shape": asdict(self.shape_),
            "history": self.history_.to_dict(orient="list"),
            "importance": self.layer_importances_.to_numpy().tolist(),
        }
        learned.tensors |= {f"state.{name}": value for name, value in self.state_.items()}
        return learned

    def _restore(self, learned: Learned) -> None:
        super()._restore(learned)
        record = learned.record
        shape = record["shape"]
        per_layer = {name: tuple(shape[name]) for name in ("heads", "depth")}
        self.shape_ = Shape(**(shape | per_layer))
        self.source_ = check.choice("source", record["source"], SOURCES)
        self.seed_ = check.whole("seed", record["seed"], 0)
        self.members_ = check.whole("members", record["members"])
        self.history_ = pd.DataFrame(record["history"])
        self.layer_importances_ = pd.DataFrame(record["importance"], columns=self.layers_)
        self.state_ = {
            name.removeprefix("state."): value
            for name, value in learned.tensors.items()
            if name.startswith("state.")
        }
        self._check_state()

    def _check_state(self) -> None:
        """Whether the weights are those of the network that the parameters describe."""
        if sum(self.shape_.depth) > len(self.shape_.depth) * len(self.state_):
            raise ValueError("there are fewer weights than hops")
        with torch.device("meta"):
            expected = self._network(self.shape_, MemberRandom([0])).state_dict()
        if set(self.state_) != set(expected):
            raise ValueError("the weights are not those of this network")
        for name, value in expected.items():
            fits = self.state_[name].shape == (self.members_, *value.shape[1:])
            if not fits or not self.state_[name].is_floating_point():
                raise ValueError(f"the weights {name!r} have the wrong shape")
