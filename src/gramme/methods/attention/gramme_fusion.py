"""GrAMME-Fusion: attention within each layer, then a learned combination of the layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.params import Choice, Flag, Rule, WholeNumber
from gramme.nn import AttentionHop, FusionNetwork, MemberRandom, Network, Plan, Shape, fusion_plan

from .given_features import ENTRY_SUM
from .relation_fusion import RelationFusion

FUSE = ("end", "every hop")


class GrammeFusion(RelationFusion):
    """Semi-supervised node classifier that attends within each layer and fuses the layers.

    Every layer has a stack of weighted attention hops; fusion heads combine what the layers found, and a softmax layer
    predicts. Cost per epoch: linear in nodes, edges (or memberships, which stand for far more edges) and members.

    Parameters
    ----------
    feature_dim : int or None, default=None
        Columns of the random features (D in the paper). None: 128 by themselves, 64 beside others.
    hidden_dim : int, default=32
        Columns of the embedding (d).
    heads : int or mapping of layer name to int, default=2
        Attention heads of a hop (H).
    depth : int or mapping of layer name to int, default=2
        Hops, the paper's stacked attention layers (T).
    fusion_heads : int, default=5
        Supra-fusion heads (K). Without ``feed_forward`` they multiply out to one factor per layer.
    feed_forward : bool, default=False
        A fully connected layer with activation between the K heads and the overall fusion.
    fuse : {"every hop", "end"}, default="every hop"
        Combine the layers after every hop, as in the authors' code, or once at the end, as in the paper.
    learning_rate : float, default=0.01
        Of the Adam optimiser.
    epochs : int, default=40
        Training steps, each on the full graph. Networks with labels or learned rows as inputs train at most five times
        as many, until labels that were set aside are predicted no better.
    weight_decay : float or None, default=None
        L2 penalty on the weights. None: 0.2 / labels. The loss is a mean over the labels, so the penalty shrinks as
        labels become more.
    score_bound : float or None, default=5.0
        Attention scores t become ``bound tanh(t / bound)``. So no node counts more than exp(2 bound) times as much as
        another, and attention cannot end up with a single neighbour. None: no bound, as in the paper.
    dropout : float, default=0.0
        Share of inputs to a hop that are zeroed in a training step.
    attention_dropout : float, default=0.0
        Share of nodes that are not heard in a training step.
    activation : {"elu", "relu", "tanh", "none"}, default="relu"
    head_weights : {"nonnegative", "simplex", "free"}, default="nonnegative"
        How fusion weights are constrained: non-negative as in the paper, summing to one, or not at all.
    combine_heads : {"weighted", "average", "concatenate"}, default="weighted"
        How the heads of a hop become one: summed with learned weights as in the paper, averaged, or side by side with
        ``hidden_dim / heads`` columns each, as in other attention networks.
    readout : {"linear", "attention"}, default="linear"
        What gives the class scores: a fully connected layer after the last hop, or the last hop itself, with a column
        per class and no activation, as in other attention networks. There heads that are otherwise concatenated are
        averaged, and the last fusion has no feed-forward layer.
    features : str or None, default=None
        What the model starts from: "given" (the graph's own features, scaled), "walks" (where walks over all layers
        lead from a node, which needs no labels), "random" (numbers by node name, as in the paper), or several joined by
        +, as "given+walks". Beside given features, walk columns are as large as the training labels support. None:
        "walks+random" if the graph has no features, else "given+walks", without the walks where they would hardly
        count. "both" is another name of "given+random". "labels" shows the known labels to the network and lets it
        predict those that are hidden, over four hops, with a matrix for each layer and direction; "learned" learns a
        row for each neighbour and group; "labels+learned" takes both. With 300 labels or more None tries these too, and
        a tenth of the labels, set aside, decides how much each kind of input counts. Where fixed features would take
        more than a minute, they are left out then.
    entry_sum : float, default=20.0
        Given features that are words or counts in more than 64 columns stay sparse, and the entries of a node sum to
        this on average. The smaller, the slower a model learns from them and the more weight decay holds it back.
    ensemble : int, default=8
        Number of members. Each has its own random features and starting weights; all are trained together, and their
        probabilities are averaged. Of networks with labels or learned rows as inputs there are fewer on large graphs.
    validation_fraction : float, default=0.0
        Share of the training labels that each member sets aside to decide when to stop; 0 trains all epochs.
    patience : int, default=20
        Epochs without improvement on held-out labels before stopping.
    class_weight : "balanced" or mapping of class to float or None, default=None
        Weight of the classes in the loss.
    progress : bool or None, default=None
        Show a progress bar; by default in a terminal, when it takes more than two seconds.
    device : str, default="auto"
        "auto" takes a GPU if there is one.
    random_state : int, numpy generator or None, default=None
        The same number gives the same bits on the same machine.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    history_ : DataFrame
        Loss and accuracy per epoch, means over the members; with held-out labels also theirs.
    layer_importance_ : Series
        Which layers the model relies on, summing to 1; ``layer_importances_`` has a row per member.
    embedding_ : array, shape (nodes, members * hidden_dim)
        With ``readout="attention"`` (nodes, members * classes). States of the first network with labels and the first
        with learned rows as inputs stand before those of the members.
    relations_ : RelationPool or None
        Networks with labels or learned rows as inputs, and the share of each kind of input.

    References
    ----------
    U. S. Shanthamallu, J. J. Thiagarajan, H. Song, A. Spanias, "GrAMME: Semi-Supervised Learning using Multi-layered
    Graph Attention Models", IEEE Transactions on Neural Networks and Learning Systems, 2019.

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("balance_scale")
    >>> y = g.labels.copy()
    >>> y[::2] = None  # every other node is unknown
    >>> model = GrammeFusion(ensemble=2, epochs=30, random_state=0).fit(g, y)
    >>> bool((model.predict() == g.labels)[::2].mean() > 0.8)
    True
    >>> model.layer_importance_.index.tolist()
    ['left_weight', 'left_distance', 'right_weight', 'right_distance']
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "fusion_heads": WholeNumber(),
        "feed_forward": Flag(),
        "fuse": Choice(*FUSE),
    }

    def __init__(
        self,
        *,
        feature_dim: int | None = None,
        hidden_dim: int = 32,
        heads: int | Mapping[str, int] = 2,
        depth: int | Mapping[str, int] = 2,
        fusion_heads: int = 5,
        feed_forward: bool = False,
        fuse: str = "every hop",
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
        self.fusion_heads = fusion_heads
        self.feed_forward = feed_forward
        self.fuse = fuse

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        super()._check_parameters(graph)
        if self.fuse == "every hop" and len(set(self._per_layer("depth", graph))) > 1:
            raise DataError(
                "layers that are fused at every hop need the same depth; use fuse='end'"
            )

    def _network(self, shape: Shape, random: MemberRandom) -> Network:
        return FusionNetwork(
            shape,
            random,
            fusion_heads=self.fusion_heads,
            feed_forward=self.feed_forward,
            fuse=self.fuse,
        )

    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        return fusion_plan(graph, self.shape_, nodes, fuse=self.fuse)

    def _hops(self, network: Network, layer: int) -> tuple[list[AttentionHop], int]:
        assert isinstance(network, FusionNetwork)
        for place, group in enumerate(network.groups):
            if layer in group:
                return network.chain(place), group.index(layer)
        raise IndexError(layer)
