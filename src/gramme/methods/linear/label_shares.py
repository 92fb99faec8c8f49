"""LabelShares: what the labels of a node's neighbours say about its own, learned per layer and direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.distributed import PartGraph
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.methods.base import NodeClassifier
from gramme.methods.contributions import Pair, shares_of_joined
from gramme.methods.labels import KnownLabels, stratified_folds
from gramme.methods.params import (
    POSITIVE,
    Choice,
    Flag,
    PositiveFloat,
    PositiveInt,
    RandomSeed,
    Text,
    WholeNumber,
    check_number_range,
)
from gramme.methods.persistence import (
    Column,
    Learned,
    MisfitError,
    SavedArray,
    SavedField,
    SavedSeries,
    SavedTable,
    Sizes,
    plain_name,
    unique_names,
)
from gramme.methods.propagation.layer_trust import relative_agreement

from .map_regression import Maps, Singles
from .neighbour_views import ALONG, DIRECTIONS, NeighbourView, graph_views
from .share_rounds import (
    SHARES,
    SPREAD,
    Context,
    LabelFolds,
    Layout,
    Round,
    RoundLearner,
    Surroundings,
    columns_of,
    extended_folds,
    neighbour_columns,
    planned_rounds,
)

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator


class ViewColumns(NamedTuple):
    """Neighbours or groups of a view that have a column each."""

    layer: str
    direction: str
    names: pd.Index


class SavedViewColumns(SavedField):
    """The columns of each view that has some."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = [
            {**one._asdict(), "names": [plain_name(name) for name in one.names]}
            for one in getattr(model, self.attribute)
        ]

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        is_well_formed = isinstance(entry, list) and all(
            isinstance(one, dict)
            and set(one) == {"layer", "direction", "names"}
            and one["layer"] in model.layers_
            and one["direction"] in DIRECTIONS
            for one in entry
        )
        if not is_well_formed:
            raise self.misfit("layer, direction and names of each view", entry)
        view_columns = [
            ViewColumns(one["layer"], one["direction"], loose_index(unique_names(self, one["names"]))) for one in entry
        ]
        setattr(model, self.attribute, view_columns)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelShares(NodeClassifier):
    """Logistic regression on the labels among a node's neighbours, repeated with its own predictions.

    A layer need not join equals: a word's derivation is of another part of speech, a thief's victims are no thieves.
    Here every layer, and each direction of one whose edges have a direction, has a map from the labels of neighbours to
    a node's own. The first round looks at how far known labels spread within each layer by itself; so it learns how
    far each layer can be trusted. Every further round looks at the shares of labels among the direct neighbours, known
    ones where they are known and predicted ones elsewhere, and at what was predicted for the node itself. Rounds end
    when the loss on hidden labels stops falling. A label never reaches the row that it is the target of
    (``share_rounds.py``).

    With few labels the maps are shrunk to what all layers have in common, that neighbours are alike, and a layer counts
    by how far it agrees with the others (``gramme.methods.propagation.layer_trust``).

    For another graph known labels are carried over by node name.

    Cost: edges (or memberships) x classes for some 15 steps and 2 to 6 rounds, for each fold; the edges that groups
    imply are never built. Regressions cost the labels' views x classes squared. Up to 1,000 labels everything is
    done once more for each fold.

    Parameters
    ----------
    rounds : int, default=6
        Rounds at most.
    penalty : float or None, default=None
        Strength of the penalty on the maps. If not given, chosen in each round by the log loss on hidden labels.
    neighbour_columns : bool or None, default=None
        Whether each neighbour and group that labelled nodes share has coefficients of its own beside; if not given,
        where that gains on hidden labels.
    folds : int, default=5
        Folds of the labels that are hidden in turn.
    random_state : int, numpy generator or None, default=None
        Decides which labels share a fold.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    rounds_ : DataFrame
        One row per round: ``kind`` ("spread" or "shares"), ``split`` (whether directions are apart), ``one_hot``
        (whether neighbours have columns), ``penalty``, and ``log_loss`` on hidden labels.
    class_maps_ : DataFrame
        One row per layer and direction: the share of neighbours with equal labels (``alike``), and the pair of unlike
        classes that stands out most, ``neighbour`` and ``own``, with the ``share`` of ``own`` among nodes with such
        neighbours and the ``usual`` share in the layer.
    layer_importance_ : Series
        How much each layer's part of the scores differs from node to node, mean over the rounds; sums to 1.

    References
    ----------
    Q. Lu, L. Getoor, "Link-based Classification", ICML 2003 (iterative classification).

    Examples
    --------
    >>> from gramme import EdgeLayer
    >>> pairs = np.arange(60).reshape(-1, 2).T  # every edge joins unlike labels
    >>> labels = np.array(["thief", "victim"] * 30, dtype=object)
    >>> g = MultilayerGraph({"robs": EdgeLayer(60, *pairs)}, labels=labels)
    >>> y = g.labels.copy()
    >>> y[40:50:2] = None
    >>> model = LabelShares(random_state=0).fit(g, y)
    >>> bool((model.predict() == g.labels)[40:50:2].all())
    True
    >>> model.maps_in_words()
    'robs joins thief and victim'
    """

    rounds: PositiveInt = 6
    penalty: PositiveFloat | None = None
    neighbour_columns: bool | None = None
    folds: Annotated[int, WholeNumber(2)] = 5
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedTable(
            "rounds",
            Column("kind", Choice(SPREAD, SHARES)),
            Column("split", Flag()),
            Column("one_hot", Flag()),
            Column("penalty", POSITIVE),
            Column("log_loss"),
        ),
        SavedTable(
            "view_maps",
            Column("layer", Text()),
            Column("direction", Choice(*DIRECTIONS)),
            Column("neighbour", WholeNumber(0)),
            Column("own", WholeNumber(0)),
            Column("alike"),
            Column("share"),
            Column("usual"),
            Column("nodes"),
        ),
        SavedSeries("layer_importance"),
        SavedArray("known", np.int64, ("labels",), below="nodes"),
        SavedArray("known_weights", np.float64, ("labels",), low=0, optional=True),
        SavedViewColumns("columns"),
        SavedArray("rarity", np.float64, ("neighbour_columns",), low=0),
        SavedArray("coefficients", np.float32, ("coefficient_rows", "classes")),
        SavedArray("weights", np.float64, ("view_weights",)),
        SavedArray("intercepts", np.float64, ("rounds", "classes")),
    )
    _copy_cost: ClassVar[float] = 0.3

    rounds_: pd.DataFrame = field(init=False)
    view_maps_: pd.DataFrame = field(init=False)
    layer_importance_: pd.Series = field(init=False)
    known_: NDArray[np.int64] = field(init=False)
    known_weights_: NDArray[np.float64] = field(init=False)
    columns_: list[ViewColumns] = field(init=False)
    rarity_: NDArray[np.float64] = field(init=False)
    coefficients_: Singles = field(init=False)
    weights_: NDArray[np.float64] = field(init=False)
    intercepts_: NDArray[np.float64] = field(init=False)

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        if isinstance(graph, PartGraph):
            raise DataError(
                "label-shares works on a whole graph, not on one in parts; take label-propagation or gramme-auto"
            )

    def _fit_with_folds(
        self, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64], copies: int, allowance: Any = None
    ) -> NDArray[np.float64]:
        # the folds are those it hides labels by anyway
        self._run_fit(graph, known, fold=fold)
        out_of_fold = self._unseen
        del self._unseen
        out_of_fold[fold < 0] = np.nan
        return out_of_fold

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        fold: NDArray[np.int64] | None = None,
        plan: Sequence[tuple[Layout, float]] | None = None,
    ) -> NDArray[np.floating[Any]]:
        """Learn; a copy may have the plan of the model it is a copy of: what each round looks at, and its penalty.

        With folds given, it keeps the out-of-fold predictions.
        """
        check_number_range(graph)
        classes, nodes = len(known.classes), graph.num_nodes
        parts = stratified_folds(known.codes, self.folds, seed) if fold is None else fold
        labels = LabelFolds(
            known.nodes, known.codes, extended_folds(parts, self.folds), classes, nodes, known.sample_weight
        )
        joined, ways = graph_views(graph)
        columns, used = neighbour_columns(ways, known.nodes, nodes)
        around = Surroundings(joined, ways, columns, relative_agreement(graph))
        losses: Sequence[float] = []
        if plan is None:
            found = RoundLearner(around, labels).learn(self.rounds, self.penalty, self.neighbour_columns)
            rounds, losses = found.rounds, found.losses
            if fold is not None:
                self._unseen = found.unseen
        else:
            rounds = planned_rounds(around, labels, plan)
        self.known_ = self.nodes_.get_indexer(graph.nodes[known.nodes])
        self._store(graph, rounds, losses, ways, used)
        if known.sample_weight is not None:
            self.known_weights_ = known.weights
        context = Context(known.nodes, known.codes, classes, nodes, weights=known.sample_weight)
        variances = around.follow(rounds, context)
        assert context.predicted is not None
        self.view_maps_ = _view_maps(ways, context)
        self.layer_importance_ = self._by_layer(_importance(graph, variances), "importance")
        return context.predicted

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        return {"plan": [(learned_round.layout, learned_round.penalty) for learned_round in self._rounds()]}

    def _store(
        self,
        graph: MultilayerGraph,
        rounds: Sequence[Round],
        losses: Sequence[float],
        ways: Sequence[NeighbourView],
        used: Sequence[NDArray[np.int64]],
    ) -> None:
        """Store what was learned, round after round in one array of each kind."""
        self.rounds_ = pd.DataFrame(
            {
                "kind": [learned_round.layout.kind for learned_round in rounds],
                "split": [learned_round.layout.split for learned_round in rounds],
                "one_hot": [learned_round.layout.one_hot for learned_round in rounds],
                "penalty": [learned_round.penalty for learned_round in rounds],
                "log_loss": list(losses) or [np.nan] * len(rounds),
            }
        )
        self.coefficients_ = np.concatenate([learned_round.maps.coefficients for learned_round in rounds])
        self.weights_ = np.concatenate([learned_round.maps.weights for learned_round in rounds])
        self.intercepts_ = np.stack([learned_round.maps.intercept for learned_round in rounds])
        self.columns_, rarity = [], [np.zeros(0)]
        if rounds[-1].layout.one_hot:
            for view, column_index in zip(ways, used, strict=True):
                column_names = _names_of_columns(graph, view)[column_index]
                self.columns_.append(ViewColumns(view.layer, view.direction, column_names))
                rarity.append(view.rarity(column_index))
        self.rarity_ = np.concatenate(rarity)

    def _rounds(self) -> list[Round]:
        """The rounds, from the arrays that hold them."""
        learned_rounds: list[Round] = []
        first_column = first_weight = 0
        for num_columns, num_weights in self._sizes():
            round_number = len(learned_rounds)
            kind, split, one_hot, penalty = self.rounds_.iloc[round_number, :4]
            maps = Maps(
                self.coefficients_[first_column : first_column + num_columns],
                self.weights_[first_weight : first_weight + num_weights],
                self.intercepts_[round_number],
            )
            first_column, first_weight = first_column + num_columns, first_weight + num_weights
            layout = Layout(str(kind), bool(split), bool(one_hot))
            learned_rounds.append(Round(layout, float(penalty), maps))
        return learned_rounds

    def _sizes(self) -> Iterator[tuple[int, int]]:
        """Columns and weights of each round."""
        num_classes = len(self.classes_)
        for round_number, (split, one_hot) in enumerate(
            zip(self.rounds_["split"], self.rounds_["one_hot"], strict=True)
        ):
            num_views, own_views = len(self.view_maps_) if split else len(self.layers_), int(round_number > 0)
            num_columns = num_views * (num_classes + 1) + own_views * num_classes + self.rarity_.size * bool(one_hot)
            yield num_columns, num_views + own_views

    @property
    def known_codes(self) -> NDArray[np.int64]:
        """The class of each labelled node, as a position among the classes."""
        return self._codes_at(self.known_)

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        surroundings, context = self._around(graph)
        surroundings.follow(self._rounds(), context)
        assert context.predicted is not None
        return context.predicted

    def _around(self, graph: MultilayerGraph) -> tuple[Surroundings, Context]:
        """The surroundings on a graph, and the known labels of the fit that are in it."""
        label_codes = self.known_codes
        node_index = graph.nodes.get_indexer(self.nodes_[self.known_])
        is_present = node_index >= 0
        context = Context(node_index[is_present], label_codes[is_present], len(self.classes_), graph.num_nodes)
        label_weights = vars(self).get("known_weights_")
        context.prior = Context(
            node_index, label_codes, len(self.classes_), graph.num_nodes, weights=label_weights
        ).prior
        view_maps = self.view_maps_
        joined_views, directed_views = graph_views(graph, set(view_maps["layer"][view_maps["direction"] != ""]))
        return Surroundings(joined_views, directed_views, self._columns_there(graph, directed_views)), context

    def _columns_there(self, graph: MultilayerGraph, ways: Sequence[NeighbourView]) -> sp.csr_array:
        """The columns of the fit on another graph, by the names of neighbours and groups."""
        if not self.columns_:
            return columns_of(ways, [np.zeros(0, dtype=np.int64)] * len(ways), graph.num_nodes)
        column_index = [
            _names_of_columns(graph, view).get_indexer(view_columns.names)
            for view, view_columns in zip(ways, self.columns_, strict=True)
        ]
        column_ends = np.cumsum([len(view_columns.names) for view_columns in self.columns_])
        rarity = np.split(self.rarity_, column_ends[:-1])
        return columns_of(ways, column_index, graph.num_nodes, rarity)

    # Explaining

    @property
    def class_maps_(self) -> pd.DataFrame:
        """What neighbours' labels lead to, by layer and direction."""
        self.check_fitted()
        codes = {name: self.classes_[self.view_maps_[name].to_numpy()] for name in ("neighbour", "own")}
        return self.view_maps_.assign(**codes)

    def neighbour_parts(self, graph: MultilayerGraph, pair: Pair) -> Iterator[tuple[str, sp.csr_array]]:
        """What each neighbour, or group, adds to the log-odds of two classes in the last round, by layer.

        A neighbour adds its part of the mapped shares, and by the logarithmic mean its part of the log-odds. What was
        predicted for the node itself in earlier rounds is not taken apart.
        """
        surroundings, context = self._around(graph)
        rounds = self._rounds()
        surroundings.follow(rounds[:-1], context)
        layer_parts: dict[str, Any] = {}
        for view, matrix in surroundings.neighbour_parts(rounds[-1], context, pair):
            if view.groups is not None:
                num_groups = graph.layers[view.layer].columns(graph.nodes)[0].shape[1]
                entries = matrix.tocoo()
                entry_index = (entries.row, view.groups[entries.col])
                matrix = sp.csr_array((entries.data, entry_index), shape=(pair.rows.size, num_groups))
            layer_parts[view.layer] = layer_parts[view.layer] + matrix if view.layer in layer_parts else matrix
        for layer, layer_matrix in layer_parts.items():
            yield layer, sp.csr_array(layer_matrix)

    def maps_in_words(self) -> str:
        """Which unlike classes some layers join, for a sentence; nothing where layers join equal ones.

        An edge of a layer with a direction leads from its source to its target.
        """
        class_maps = self.class_maps_
        # a pair of unlike classes is worth a sentence where it is frequent, more so than elsewhere in the layer, and
        # not of a few nodes
        worth_saying = class_maps[
            (class_maps["alike"] < 0.5)
            & (class_maps["share"] >= 0.15)
            & (class_maps["share"] >= 1.5 * class_maps["usual"])
            & (class_maps["nodes"] >= 5.0)
        ]
        worth_saying = worth_saying.sort_values("nodes", ascending=False, kind="stable")
        worth_saying = worth_saying.drop_duplicates("layer").head(2)
        sentences = []
        for _, class_map in worth_saying.iterrows():
            class_pair = [class_map["neighbour"], class_map["own"]]
            if not class_map["direction"]:  # which of them is the neighbour makes no difference
                class_order = self.classes_.tolist()
                source_class, target_class = sorted(class_pair, key=class_order.index)
                sentences.append(f"{class_map['layer']} joins {source_class} and {target_class}")
                continue
            source_class, target_class = class_pair[::-1] if class_map["direction"] == ALONG else class_pair
            sentences.append(f"{class_map['layer']} leads from {source_class} to {target_class}")
        return "; ".join(sentences)

    def _check_loaded(self) -> None:
        round_sizes = list(self._sizes())
        if not round_sizes or self.intercepts_.shape[0] != len(round_sizes):
            raise MisfitError("intercepts must have a row for each round")
        num_columns, num_weights = (sum(size) for size in zip(*round_sizes, strict=True))
        if len(self.coefficients_) != num_columns or self.weights_.size != num_weights:
            raise MisfitError(f"the rounds need {num_columns} rows of coefficients and {num_weights} weights")
        if self.rarity_.size != sum(len(view_columns.names) for view_columns in self.columns_):
            raise MisfitError("rarity must have a number for each column of neighbours")
        if self.columns_ and len(self.columns_) != len(self.view_maps_):
            raise MisfitError("columns and view_maps must have the same views")
        class_codes = self.view_maps_[["neighbour", "own"]].to_numpy()
        if class_codes.size and class_codes.max() >= len(self.classes_):
            raise MisfitError("view_maps must name classes by their position")


def _names_of_columns(graph: MultilayerGraph, view: NeighbourView) -> pd.Index:
    column_names = graph.nodes
    if view.members is not None:
        group_names = graph.layers[view.layer].group_names
        assert group_names is not None
        assert view.groups is not None
        column_names = group_names[view.groups]
    return column_names


def _importance(graph: MultilayerGraph, variances: Sequence[Mapping[str, float]]) -> NDArray[np.float64]:
    """The mean over the rounds of each layer's part of the spread of the scores."""
    total = np.zeros(graph.num_layers)
    for one in variances:
        sizes = np.sqrt([one.get(name, 0.0) for name in graph.layers])
        total += sizes / sizes.sum() if sizes.sum() > 0 else 1 / len(sizes)
    return shares_of_joined(total, graph)


def _view_maps(ways: Sequence[NeighbourView], context: Context) -> pd.DataFrame:
    """Of each view, how many neighbours are alike, and the pair of unlike classes that stands out most.

    That is the one with the largest evidence: nodes of the pair times the logarithm of how much more frequent the
    second class is among nodes whose neighbours have the first than among all.
    """
    beliefs = context.beliefs()
    columns = ["layer", "direction", "neighbour", "own", "alike", "share", "usual", "nodes"]
    view_maps = []
    for view in ways:
        neighbour_sums = view.sums(beliefs)
        neighbour_shares = neighbour_sums / np.maximum(neighbour_sums.sum(axis=1, keepdims=True), 1e-12)
        joint_counts = (neighbour_shares.T @ beliefs[view.rows]).astype(np.float64)
        joint_total = max(joint_counts.sum(), 1e-12)
        conditional_shares = joint_counts / np.maximum(joint_counts.sum(axis=1, keepdims=True), 1e-12)
        usual_shares = joint_counts.sum(axis=0) / joint_total
        with np.errstate(divide="ignore", invalid="ignore"):
            evidence = np.where(joint_counts > 0, joint_counts * np.log(conditional_shares / usual_shares), 0.0)
        np.fill_diagonal(evidence, -1.0)
        neighbour_class, own_class = divmod(int(evidence.argmax()), evidence.shape[1])
        pair = (neighbour_class, own_class)
        alike = np.trace(joint_counts) / joint_total
        numbers = (alike, conditional_shares[pair], usual_shares[own_class], joint_counts[pair])
        view_maps.append((view.layer, view.direction, *pair, *map(float, numbers)))
    return pd.DataFrame(view_maps, columns=columns)
