"""GrAMME-SG: attention on the supra graph, in which a node's copies in all layers hear each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.params import Choice, Flag, Rule
from gramme.nn import AttentionHop, MemberRandom, Network, Plan, SGNetwork, Shape, supra_plan

from .estimator import AttentionModel
from .given_features import ENTRY_SUM

POOL = ("end", "every hop")


class GrammeSG(AttentionModel):
    """Semi-supervised node classifier on the supra graph.

    Every node has a copy in every layer that holds it; copies are joined to their neighbours in the layer, to each
    other by pillar edges, and to copies of other nodes by the graph's couplings. All copies share the weights of the
    attention hops, and the average of a node's copies is classified. Pillar edges are never built. Cost per epoch:
    linear in copies, edges (or memberships) and members.

    Parameters
    ----------
    pool : {"end", "every hop"}, default="end"
        Average a node's copies once at the end, as in the paper, or after every hop, as in the authors' code.
    shared_features : bool, default=False
        Whether a node's copies start from the same random features, as in the authors' code, or from features of
        their own, as in the paper.
    feature_dim, hidden_dim, heads, depth, learning_rate, epochs, dropout, attention_dropout, weight_decay, \
score_bound, activation, head_weights, combine_heads, readout, features, entry_sum, ensemble, validation_fraction, \
patience, class_weight, progress, device, random_state
        As for :class:`GrammeFusion`; heads and depth are the same for all layers. With ``features=None``, a graph whose
        layers are coupled starts from random features if it has none of its own.

    Attributes
    ----------
    classes_, probabilities_, transduction_, history_, layer_importance_, embedding_
        As for :class:`GrammeFusion`.

    References
    ----------
    U. S. Shanthamallu, J. J. Thiagarajan, H. Song, A. Spanias, "GrAMME: Semi-Supervised Learning using Multi-layered
    Graph Attention Models", IEEE Transactions on Neural Networks and Learning Systems, 2019.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("balance_scale")
    >>> y = g.labels.copy()
    >>> y[::2] = None
    >>> model = GrammeSG(ensemble=2, epochs=30, random_state=0).fit(g, y)
    >>> bool((model.predict() == g.labels)[::2].mean() > 0.8)
    True
    """

    supports_couplings: ClassVar[bool] = True
    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "pool": Choice(*POOL),
        "shared_features": Flag(),
    }

    def __init__(
        self,
        *,
        feature_dim: int | None = None,
        hidden_dim: int = 32,
        heads: int = 2,
        depth: int = 2,
        pool: str = "end",
        shared_features: bool = False,
        learning_rate: float = 0.01,
        epochs: int = 40,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        weight_decay: float | None = None,
        score_bound: float | None = 5.0,
        activation: str = "relu",
        head_weights: str = "nonnegative",
        combine_heads: str = "weighted",
        readout: str = "linear",
        features: str | None = None,
        entry_sum: float = ENTRY_SUM,
        ensemble: int = 8,
        validation_fraction: float = 0.0,
        patience: int = 20,
        class_weight: str | Mapping[Any, float] | None = None,
        progress: bool | None = None,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            feature_dim=feature_dim,
            hidden_dim=hidden_dim,
            heads=heads,
            depth=depth,
            learning_rate=learning_rate,
            epochs=epochs,
            dropout=dropout,
            attention_dropout=attention_dropout,
            weight_decay=weight_decay,
            score_bound=score_bound,
            activation=activation,
            head_weights=head_weights,
            combine_heads=combine_heads,
            readout=readout,
            features=features,
            entry_sum=entry_sum,
            ensemble=ensemble,
            validation_fraction=validation_fraction,
            patience=patience,
            class_weight=class_weight,
            progress=progress,
            device=device,
            random_state=random_state,
        )
        self.pool = pool
        self.shared_features = shared_features

    @property
    def _features_per_layer(self) -> bool:
        return not self.shared_features

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        for name in ("heads", "depth"):
            if isinstance(getattr(self, name), Mapping):
                raise DataError(
                    f"{name} must be one number: all layers share the weights of GrammeSG"
                )
        super()._check_parameters(graph)

    def _network(self, shape: Shape, random: MemberRandom) -> Network:
        return SGNetwork(shape, random, pool=self.pool)

    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        return supra_plan(graph, self.shape_, nodes)

    def _hops(self, network: Network, layer: int) -> tuple[list[AttentionHop], int]:
        assert isinstance(network, SGNetwork)
        return list(network.hops), layer  # type: ignore[arg-type]
