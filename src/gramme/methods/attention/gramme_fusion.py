"""GrAMME-Fusion: attention within each layer, then a learned combination of the layers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from gramme.distributed import communicator_of
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import NameOrder
from gramme.methods.contributions import Pair, Through
from gramme.methods.labels import KnownLabels
from gramme.methods.params import Choice, PositiveInt
from gramme.methods.persistence import SavedField
from gramme.nn import AttentionHop, FusionNetwork, MemberRandom, Network, Plan, Shape, SupraFusion, fusion_plan
from gramme.nn.relations import graph_views, views_size
from gramme.training import Settings

from .estimator import AUTHORS, PAPER, AttentionModel, settled_decay
from .features import RANDOM_DIM, SOURCES
from .members import TRAINING_SHARE, TimeBudget, TrainingSize, expected_step_seconds
from .relation_models import RelationPool, SavedRelations
from .relations import (
    MIN_LABELS,
    PATIENCE,
    RELATION_KINDS,
    RELATION_SOURCES,
    RelationOptions,
    fit_relations,
    out_of_fold_relations,
)


@dataclass(kw_only=True, eq=False, repr=False)
class GrammeFusion(AttentionModel):
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
    epochs : int or None, default=40
        Training steps, each on the full graph. None: chosen from the training labels, as the largest number, up to 200,
        after which five networks that each leave out a fifth of them predict these no worse than before (``epochs_``
        says which); 200 with fewer than 10 labels. Networks with labels or learned rows as inputs train at most five
        times as many as this, until labels that were set aside are predicted no better.
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
    attention_score : {"neighbour", "leaky"}, default="neighbour"
        Whether the neighbour's part of a score counts alone, as in the paper, where the listener's cancels; or both
        with LeakyReLU on their sum, as in GAT: then all listeners have ratios of their own. Exact for groups as well,
        whose edges are not built; slower, in one process, without features of edges.
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
    epochs_ : int
        Epochs that were trained.
    history_ : DataFrame
        Loss and accuracy per epoch, means over the members; with held-out labels also theirs.
    layer_importance_ : Series
        Which layers the model relies on, summing to 1; ``layer_importances_`` has a row per member.
    embedding_ : array, shape (nodes, members * hidden_dim)
        With ``readout="attention"`` (nodes, members * classes). States of the first network with labels and the first
        with learned rows as inputs stand before those of the members.
    head_weights_, fusion_weights_, supra_fusion_weights_ : DataFrame
        The paper's beta by member, hop, layer and head; its gamma by member, hop, fusion head and layer; and the
        weights of the fusion heads. What each edge gets is :meth:`attention_coefficients`.
    relations_ : RelationPool or None
        Networks with labels or learned rows as inputs, and the share of each kind of input.

    Notes
    -----
    The defaults differ from the paper, whose settings :meth:`paper` has, and from the code that its authors published,
    whose settings :meth:`authors` has:

    ==================  ===================  =====================  =====================
    parameter           default              paper                  authors' code
    ==================  ===================  =====================  =====================
    feature_dim (D)     128, or 64           64                     16
    hidden_dim (d)      32                   32                     8
    heads (H)           2                    2                      2
    depth (T)           2                    2                      2
    fusion_heads (K)    5                    5                      5
    fuse                every hop            end                    every hop
    features            walks+random, ...    random                 random
    learning_rate       0.01                 0.001                  0.01
    epochs              40                   by training labels     by training labels
    dropout             0.0                  0.0                    0.4
    weight_decay        0.2 / labels         0.0                    0.005
    score_bound         5.0                  None                   None
    activation          relu                 elu                    relu
    head_weights        nonnegative          nonnegative            free
    readout             linear               linear                 attention
    ensemble            8                    1                      1
    ==================  ===================  =====================  =====================

    Neither source says how many epochs there were; the paper does not name its activation either.

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

    features: Annotated[str, Choice(*SOURCES, *RELATION_SOURCES)] | None = None
    fusion_heads: PositiveInt = 5
    feed_forward: bool = False
    fuse: Literal["every hop", "end"] = "every hop"

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedRelations("relations"),)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**PAPER, "fusion_heads": 5, "fuse": "end"},
        "authors": {**AUTHORS, "fusion_heads": 5, "fuse": "every hop"},
    }

    relations_: RelationPool | None = field(init=False, default=None)

    @property
    def fusion_weights_(self) -> pd.DataFrame:
        """The weights of the layers in each fusion head, gamma of the paper.

        A row per member, hop after which the layers are fused, and fusion head; a column per layer.
        """
        rows = {
            (member, hop, head): gamma
            for hop, fusion in self._fusions()
            for member, heads in enumerate(fusion.gamma().tolist())
            for head, gamma in enumerate(heads)
        }
        index = pd.MultiIndex.from_tuples(rows, names=["member", "hop", "fusion_head"])
        return pd.DataFrame(list(rows.values()), index=index, columns=self.layer_order_)[self.layers_].sort_index()

    @property
    def supra_fusion_weights_(self) -> pd.DataFrame:
        """The weights of the fusion heads in the overall fusion: a row per member and hop, a column per head."""
        rows = {
            (member, hop): kappa
            for hop, fusion in self._fusions()
            for member, kappa in enumerate(fusion.kappa().tolist())
        }
        index = pd.MultiIndex.from_tuples(rows, names=["member", "hop"])
        return pd.DataFrame(list(rows.values()), index=index).sort_index()

    def _fusions(self) -> list[tuple[int, SupraFusion]]:
        """Where layers are fused, with the hop that comes before."""
        self.check_fitted()
        network = self._whole_network()
        assert isinstance(network, FusionNetwork)
        fusions = [cast("SupraFusion", supra_fusion) for supra_fusion in network.fusions]
        return [
            (max(self.shape_.depth) - len(fusions) + fusion_number, supra_fusion)
            for fusion_number, supra_fusion in enumerate(fusions, 1)
        ]

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        super()._check_parameters(graph)
        if self.fuse == "every hop" and len(set(self._per_layer("depth", graph))) > 1:
            raise DataError("layers that are fused at every hop need the same depth; use fuse='end'")

    def _network(self, shape: Shape, random: MemberRandom) -> Network:
        return FusionNetwork(
            shape, random, fusion_heads=self.fusion_heads, feed_forward=self.feed_forward, fuse=self.fuse
        )

    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        return fusion_plan(graph, self.shape_, nodes, fuse=self.fuse, edge_scales=self._edge_scales(graph))

    def _hops(self, network: Network, layer: int) -> tuple[list[AttentionHop], int]:
        assert isinstance(network, FusionNetwork)
        for group_number, group in enumerate(network.groups):
            if layer in group:
                return network.chain(group_number), group.index(layer)
        raise IndexError(layer)

    # Networks over relations beside those of the paper, or in their place

    def _fit(self, graph: MultilayerGraph, known: KnownLabels, seed: int, **options: Any) -> NDArray[np.floating[Any]]:
        if not self._considers_relations(graph, known, options):
            return super()._fit(graph, known, seed, **options)
        fold, copies = options.get("fold"), options.get("copies", 1)
        relation_options = self._relation_options(graph, known, options.get("allowance"))
        probe = None
        fixed_seconds = self.ensemble * self._most_epochs * expected_step_seconds(graph)
        if self.features is None and fixed_seconds <= 60:  # beyond that they are not tried beside these

            def probe(aside: NDArray[np.bool_]) -> NDArray[np.float64]:
                return self._fixed_at(graph, known, seed, aside)

        pool, history, interrupted = fit_relations(graph, known, seed, relation_options, probe)
        if not pool.models:  # fixed features alone say more
            return super()._fit(graph, known, seed, **options)
        fixed = None
        if pool.fixed_share > 0:
            fixed = super()._fit(graph, known, seed, **options).astype(np.float64)
        else:
            self._without_fixed(graph, seed, history, TrainingSize(self.ensemble, copies, self._most_epochs))
        self.relations_, self.interrupted_ = pool, self.interrupted_ or interrupted
        if interrupted:
            warnings.warn("interrupted: networks over relations are trained in part", GrammeWarning, stacklevel=4)
        if fold is not None:
            parts, tested_folds = out_of_fold_relations(graph, known, fold, seed, relation_options, pool)
            kind_shares = pool.kind_shares()
            unseen = None if fixed is None else self.out_of_fold_
            said = pool.pooled([parts[kind] for kind in kind_shares], kind_shares.values(), unseen)
            said[~np.isin(fold, tested_folds)] = np.nan
            self.out_of_fold_ = said
        return pool.probabilities(graph, fixed)

    def _considers_relations(self, graph: MultilayerGraph, known: KnownLabels, options: Mapping[str, Any]) -> bool:
        """Whether networks over relations take part: where they are asked for, or nothing is and labels are many."""
        if not communicator_of(graph).alone or options.get("callbacks") or options.get("loss"):
            return False
        if self.features in RELATION_SOURCES:
            return True
        return self.features is None and options.get("validation") is None and known.nodes.size >= MIN_LABELS

    def _relation_options(
        self, graph: MultilayerGraph, known: KnownLabels, allowance: TimeBudget | None
    ) -> RelationOptions:
        input_kinds = RELATION_KINDS if self.features is None else tuple(self.features.split("+"))
        deadline = None
        if allowance is not None and allowance.measured:
            deadline = time.perf_counter() + TRAINING_SHARE * allowance.seconds
        decay = settled_decay(self.weight_decay, known.nodes.size)
        # labels set aside end most trainings long before
        settings = Settings(5 * self._most_epochs, self.learning_rate, decay, PATIENCE)
        # on a large graph as many networks of a kind as take about two minutes of one core
        members = min(self.ensemble, max(1, 3_000_000 // max(views_size(graph_views(graph)), 1)))
        title = type(self).__name__
        return RelationOptions(
            input_kinds, members, self.hidden_dim, self.score_bound, settings, deadline, title, self.progress
        )

    @property
    def _most_epochs(self) -> int:
        """Epochs as far as networks over relations go by them: their training ends by labels set aside in any case."""
        return self.epochs or AttentionModel.epochs or 1

    def _fixed_at(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, aside: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """What a network with fixed features says about labels that it has not seen."""
        probe = clone(self).set_params(ensemble=1, progress=False)
        probe.classes_ = known.classes
        super(GrammeFusion, probe)._fit(graph, known, seed, fold=np.where(aside, 0, -1))
        found: NDArray[np.float64] = probe.out_of_fold_[aside]
        return found

    def _without_fixed(self, graph: MultilayerGraph, seed: int, history: pd.DataFrame, effort: TrainingSize) -> None:
        """What a fit stores where no network has fixed features."""
        self.source_, self.profile_, self.scales_, self.walk_size_ = "random", None, None, 1.0
        random_columns = RANDOM_DIM[True] if self.feature_dim is None else self.feature_dim
        self.edge_features_ = {}
        self.seed_, self.shape_ = seed, self._shape(graph, random_columns)
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
        embedding_parts = [order.to_given(model.embedding(order.graph)) for model in pool.first_of_kind()]
        if self.members_:
            embedding_parts.append(super()._embed(order))
        return np.concatenate(embedding_parts, axis=1)

    # Explaining

    def _layer_shares(self, graph: MultilayerGraph) -> NDArray[np.float64]:
        members = [super()._layer_shares(graph)] if self.members_ else []
        pool = self.relations_
        relation_rows = [] if pool is None else [model.layer_shares(graph)[None] for model in pool.first_of_kind()]
        return np.concatenate([*members, *relation_rows])

    def _row_weights(self, rows: int) -> NDArray[np.float64]:
        if self.relations_ is None:
            return super()._row_weights(rows)
        kind_shares = list(self.relations_.kind_shares().values())
        members = rows - len(kind_shares)
        return np.array([self.relations_.fixed_share / max(members, 1)] * members + kind_shares)

    def _received(self, graph: MultilayerGraph, hop: int, head: int | None, member: int | None) -> NDArray[np.float64]:
        pool = self.relations_
        if pool is None or (self.members_ and (head, member) != (None, None)):
            return super()._received(graph, hop, head, member)
        if (head, member) != (None, None):
            raise DataError("this model has no networks with fixed features, which alone have heads and members")
        found, network_weights = [model.received(graph, hop) for model in pool.models], list(pool.shares)
        if self.members_:
            found.append(super()._received(graph, hop, None, None))
            network_weights.append(pool.fixed_share)
        stacked_attention, share = np.stack(found), np.array(network_weights)[:, None, None]
        share_totals = (~np.isnan(stacked_attention) * share).sum(0)
        return np.where(
            share_totals > 0,
            np.nansum(stacked_attention * share, 0) / np.where(share_totals > 0, share_totals, 1.0),
            np.nan,
        )

    def _most_hops(self, position: int) -> int:
        pool = self.relations_
        if pool is None:
            return super()._most_hops(position)
        hops = [model.network.hops for model in pool.models]
        return max(hops + [super()._most_hops(position)] * bool(self.members_))

    def reasons(self, graph: MultilayerGraph, pair: Pair) -> list[Through]:
        """What came through neighbours and groups, as parts of the log-odds of two classes."""
        pool = self.relations_
        if pool is None:
            return super().reasons(graph, pair)
        unit_scale = np.ones(pair.rows.size)
        all_through = [
            through
            for model, share in zip(pool.models, pool.shares, strict=True)
            for through in model.through(graph, pair, pool.exponent * share * unit_scale)
        ]
        if self.members_:
            weight = pool.exponent * pool.fixed_share
            all_through += [replace(one, parts=one.parts * weight) for one in super().reasons(graph, pair)]
        through_by_layer: dict[str, Through] = {}
        for layer_through in all_through:
            earlier_through = through_by_layer.get(layer_through.layer)
            through_by_layer[layer_through.layer] = (
                layer_through
                if earlier_through is None
                else replace(layer_through, parts=earlier_through.parts + layer_through.parts)
            )
        return list(through_by_layer.values())

    def _check_loaded(self) -> None:
        if self.members_:
            super()._check_loaded()
