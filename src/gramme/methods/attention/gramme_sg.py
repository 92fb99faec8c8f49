"""GrAMME-SG: attention on the supra graph, in which a node's copies in all layers hear each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.nn import AttentionHop, MemberRandom, Network, Plan, SGNetwork, Shape, supra_plan

from .estimator import AUTHORS, PAPER, AttentionModel


@dataclass(kw_only=True, eq=False, repr=False)
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
score_bound, activation, head_weights, combine_heads, readout, attention_score, features, entry_sum, ensemble, \
validation_fraction, patience, class_weight, progress, device, random_state
        As for :class:`GrammeFusion`; heads and depth are the same for all layers. With ``features=None``, a graph whose
        layers are coupled starts from random features if it has none of its own.

    Notes
    -----
    :meth:`paper` has the settings of the paper and :meth:`authors` those of the code that its authors published; the
    defaults differ from both as :class:`GrammeFusion` shows in a table. The defaults of ``pool`` and
    ``shared_features`` are the paper's. The single fusion head of the paper is the one that joins the attention heads.

    Attributes
    ----------
    classes_, probabilities_, transduction_, epochs_, history_, layer_importance_, embedding_
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

    pool: Literal["end", "every hop"] = "end"
    shared_features: bool = False

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**PAPER, "pool": "end", "shared_features": False},
        "authors": {**AUTHORS, "pool": "every hop", "shared_features": True},
    }
    supports_couplings: ClassVar[bool] = True

    @property
    def _features_per_layer(self) -> bool:
        return not self.shared_features

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        for name in ("heads", "depth"):
            if isinstance(getattr(self, name), Mapping):
                raise DataError(f"{name} must be one number: all layers share the weights of GrammeSG")
        super()._check_parameters(graph)

    def _network(self, shape: Shape, random: MemberRandom) -> Network:
        return SGNetwork(shape, random, pool=self.pool)

    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        return supra_plan(graph, self.shape_, nodes, edge_scales=self._edge_scales(graph))

    def _heard_layer(self, layer: int, toward: int | None) -> int:
        return layer if toward is None else toward

    def _hops(self, network: Network, layer: int) -> tuple[list[AttentionHop], int]:
        assert isinstance(network, SGNetwork)
        return list(network.hops), layer  # type: ignore[arg-type]
