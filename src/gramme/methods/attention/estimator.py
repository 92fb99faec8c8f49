"""What GrAMME-SG and GrAMME-Fusion share as estimators: parameters, fitting, predicting, explaining, saving.

A fit makes a plan of the graph, trains the members of the ensemble on it (``gramme.training``), and adds up what each
batch of them says. The ensemble predicts the mean of its members' probabilities.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from torch import Tensor

from gramme.distributed import communicator_of, local_index
from gramme.errors import DataError, GrammeWarning, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import NameOrder
from gramme.methods.attention.given_features import ENTRY_SUM
from gramme.methods.base import NodeClassifier
from gramme.methods.contributions import Pair, Through, shares_of_joined
from gramme.methods.labels import KnownLabels, by_name, coded_labels
from gramme.methods.linear.walk_profile import SavedProfile, WalkProfile
from gramme.methods.params import (
    Choice,
    DeviceName,
    NonNegativeFloat,
    Number,
    PerLayer,
    PositiveFloat,
    PositiveInt,
    RandomSeed,
    Share,
    WholeNumber,
    per_layer,
    torch_device,
)
from gramme.methods.persistence import (
    Learned,
    MisfitError,
    SavedField,
    SavedTable,
    SavedValue,
    SavedWeights,
    Sizes,
    check_weights,
)
from gramme.nn import AttentionHop, FittedNetworks, MemberRandom, Network, Plan, Shape, ShapesOnly
from gramme.ops import Features, LayerFeatures, edge_scales
from gramme.training import Callback, Loss, Settings, evaluate, train_ensemble

from .explain import attention_coefficients, attention_reasons, attention_received, member_shares, scores_by_layer
from .features import SOURCES, InputFeatures
from .given_features import GivenFeatures, SavedScales
from .members import (
    MAX_EPOCHS,
    EnsemblePredictions,
    Members,
    TimeBudget,
    TrainingSize,
    chosen_epochs,
    make_targets,
    settled_training_size,
    step_seconds,
)

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator


PAPER: Mapping[str, Any] = {
    "feature_dim": 64,
    "hidden_dim": 32,
    "heads": 2,
    "depth": 2,
    "learning_rate": 0.001,
    "epochs": None,
    "patience": 50,
    "weight_decay": 0.0,
    "score_bound": None,
    "activation": "elu",
    "features": "random",
    "ensemble": 1,
}
"""What the paper says of both models; the epochs, of which it says nothing, are chosen from the training labels."""
AUTHORS: Mapping[str, Any] = {
    **PAPER,
    "feature_dim": 16,
    "hidden_dim": 8,
    "learning_rate": 0.01,
    "dropout": 0.4,
    "weight_decay": 0.005,
    "activation": "relu",
    "head_weights": "free",
    "readout": "attention",
}
"""Where the published code of both models differs from the paper."""


def settled_decay(wanted: float | None, labels: int) -> float:
    """The weight decay: what was asked for, else the less the more labels there are (docs/evidence/choices.md)."""
    return 0.2 / labels if wanted is None else wanted


# What the file of an attention model holds besides: the sizes of its networks and how much they rely on each layer.
class SavedShape(SavedField):
    """The sizes and choices of the networks; weights that do not go with them are refused after it."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        shape_sizes = asdict(getattr(model, self.attribute))
        learned.record[self.name] = {
            name: size for name, size in shape_sizes.items() if not isinstance(size, tuple) or size
        }

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        shape_record = self.entry(learned.record)
        try:
            sizes_by_name: Any = {
                name: tuple(saved_size) if isinstance(saved_size, list) else saved_size
                for name, saved_size in shape_record.items()
            }
            shape = Shape(**sizes_by_name)
        except (TypeError, AttributeError) as error:
            raise self.misfit("the sizes of a network", shape_record) from error
        if not len(shape.heads) == len(shape.depth) == sizes["layers"]:
            raise self.misfit("such that heads and depth have a number per layer", shape_record)
        setattr(model, self.attribute, shape)


class SavedImportances(SavedField):
    """How much each member relies on each layer."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = getattr(model, self.attribute).to_numpy().tolist()

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        importance_rows = np.array(self.entry(learned.record), dtype=np.float64)
        if (
            importance_rows.ndim != 2
            or importance_rows.shape[1] != sizes["layers"]
            or not np.isfinite(importance_rows).all()
        ):
            raise self.misfit("a row of finite numbers per member, one for each layer", importance_rows.shape)
        setattr(model, self.attribute, pd.DataFrame(importance_rows, columns=model.layers_))


class SavedEdgeFeatures(SavedField):
    """The features of edges and memberships that the networks know, by layer: names, means and deviations."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        known_features: dict[str, EdgeFeatures] = getattr(model, self.attribute)
        if known_features:
            learned.record[self.name] = {
                layer: [list(edge_features.names), edge_features.center.tolist(), edge_features.scale.tolist()]
                for layer, edge_features in known_features.items()
            }

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        features_record = learned.record.get(self.name, {})
        edge_features = {
            layer: EdgeFeatures(tuple(names), np.array(center, dtype=np.float64), np.array(scale, dtype=np.float64))
            for layer, (names, center, scale) in features_record.items()
        }
        expected = {
            layer: count
            for layer, count in zip(sorted(model.layers_), model.shape_.edge_columns, strict=False)
            if count
        }
        fits = {layer: len(one.names) for layer, one in edge_features.items()} == expected
        for layer_features in edge_features.values():
            fits &= layer_features.center.shape == layer_features.scale.shape == (len(layer_features.names),)
            fits &= bool(np.isfinite(layer_features.center).all() and (layer_features.scale > 0).all())
        if not fits:
            raise self.misfit("names, means and deviations of features by layer", features_record)
        setattr(model, self.attribute, edge_features)


@dataclass(frozen=True)
class EdgeFeatures:
    """The names of a layer's features, and the means and deviations by which they are standardised."""

    names: tuple[str, ...]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]


NETWORK_FIELDS: tuple[SavedField, ...] = (
    SavedValue("source", Choice(*SOURCES)),
    SavedProfile("profile", optional=True),
    SavedScales("scales"),
    SavedValue("walk_size", Number(0), default=1.0),
    SavedValue("seed", WholeNumber(0)),
    SavedValue("members", WholeNumber(0)),
    SavedShape("shape"),
    SavedTable("history"),
    SavedWeights("state"),
)
"""What the file of every model with attention networks holds, whatever it predicts."""

FIELDS: tuple[SavedField, ...] = (
    *NETWORK_FIELDS,
    SavedEdgeFeatures("edge_features"),
    SavedImportances("importance", attribute="layer_importances_"),
)
"""What the file of an attention model holds."""


def check_members(
    shape: Shape, inputs: InputFeatures, state: Mapping[str, Tensor], members: int, network: Callable[[], Network]
) -> None:
    """Raise a MisfitError if weights from a file are not those of so many networks on these features."""
    if ("walks" in inputs.source) != (inputs.profile is not None):
        raise MisfitError("there must be a walk profile if networks start from walks, and else none")
    if inputs.columns != shape.in_dim or inputs.layer_columns < 0:
        raise MisfitError(f"the in_dim of shape must go with the features, not be {shape.in_dim}")
    if sum(shape.depth) > len(shape.depth) * len(state):  # before a network of that size is made
        raise MisfitError("there are fewer weights than hops")
    expected = network().state_dict()
    check_weights(state, {name: (members, *weight_tensor.shape[1:]) for name, weight_tensor in expected.items()})


@dataclass(kw_only=True, eq=False, repr=False)
class AttentionModel(NodeClassifier):
    """Base of the two attention models; see :class:`GrammeFusion` for the parameters.

    Attributes
    ----------
    members_, state_
        How many members were trained, and the weights of all of them, who lie along the first axis.
    history_, shape_, seed_, source_, profile_, scales_, walk_size_
        Loss by epoch, sizes of the networks, the seed of everything random, and where features come from.
    """

    feature_dim: PositiveInt | None = None
    hidden_dim: PositiveInt = 32
    heads: Annotated[int | Mapping[str, int], PerLayer(WholeNumber())] = 2
    depth: Annotated[int | Mapping[str, int], PerLayer(WholeNumber())] = 2
    learning_rate: PositiveFloat = 0.01
    epochs: PositiveInt | None = 40
    dropout: Share = 0.0
    attention_dropout: Share = 0.0
    weight_decay: NonNegativeFloat | None = None
    score_bound: PositiveFloat | None = 5.0
    activation: Literal["elu", "relu", "tanh", "none"] = "relu"
    head_weights: Literal["nonnegative", "simplex", "free"] = "nonnegative"
    combine_heads: Literal["weighted", "average", "concatenate"] = "weighted"
    readout: Literal["linear", "attention"] = "linear"
    attention_score: Literal["neighbour", "leaky"] = "neighbour"
    features: Annotated[str, Choice(*SOURCES)] | None = None
    entry_sum: PositiveFloat = ENTRY_SUM
    ensemble: PositiveInt = 8
    validation_fraction: Share = 0.0
    patience: PositiveInt = 20
    progress: bool | None = None
    device: DeviceName = "auto"
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = FIELDS
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    members_: int = field(init=False)
    seed_: int = field(init=False)
    source_: str = field(init=False)
    profile_: WalkProfile | None = field(init=False)
    scales_: GivenFeatures | None = field(init=False)
    walk_size_: float = field(init=False)
    shape_: Shape = field(init=False)
    state_: dict[str, Tensor] = field(init=False)
    history_: pd.DataFrame = field(init=False)
    out_of_fold_: NDArray[np.float64] = field(init=False)
    effort_: TrainingSize = field(init=False)
    epochs_: int = field(init=False)
    edge_features_: dict[str, EdgeFeatures] = field(init=False)

    _features_per_layer: ClassVar[Any] = False

    @abstractmethod
    def _network(self, shape: Shape, random: MemberRandom) -> Network:
        """The network for the members of one batch."""

    @abstractmethod
    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        """What the network needs of a graph, for the output of some nodes or of all."""

    @abstractmethod
    def _hops(self, network: Network, layer: int) -> tuple[list[AttentionHop], int]:
        """The hops a layer passes, and the layer's place among those they treat."""

    # The settings of others

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """The model with the settings of the paper; ``overrides`` are parameters that are to be otherwise."""
        return cls(**{**cls.presets["paper"], **overrides})

    @classmethod
    def authors(cls, **overrides: Any) -> Self:
        """The model with the settings of the published code; ``overrides`` are parameters that are to be otherwise."""
        return cls(**{**cls.presets["authors"], **overrides})

    # Fitting

    def fit(
        self,
        graph: MultilayerGraph,
        y: Any = None,
        *,
        mask: str | None = None,
        sample_weight: Any = None,
        validation: Any = None,
        monitor: Any = None,
        callbacks: Sequence[Callback] = (),
        loss: Loss | None = None,
    ) -> Self:
        """Learn from the labelled nodes of a graph.

        Parameters
        ----------
        graph, y, mask, sample_weight
            As for :meth:`gramme.methods.NodeClassifier.fit`.
        validation : sequence, mapping or Series, optional
            Labels of further nodes that decide when to stop, in place of a share of the training labels. They are used
            for nothing else.
        monitor : sequence, mapping or Series, optional
            Labels of further nodes whose accuracy is recorded after every epoch. Neither the training nor the stopping
            depends on them.
        callbacks : sequence of callbacks, optional
            What is to happen beside the training.
        loss : callable, optional
            A loss of your own, ``loss(scores, task)``, in place of the cross entropy; see ``gramme.training.Loss``.
            With callbacks or a loss, networks with fixed features alone are trained.
        """
        if (callbacks or loss is not None) and self.features is not None and self.features not in SOURCES:
            raise DataError(f"callbacks and loss need networks with fixed features, not {self.features!r}")
        watched = {"validation": by_name(graph, validation), "monitor": by_name(graph, monitor)}
        own_options = {"callbacks": callbacks, "loss": loss}
        return self._run_fit(graph, y, mask=mask, sample_weight=sample_weight, **watched, **own_options)

    def _fit_with_folds(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        fold: NDArray[np.int64],
        copies: int,
        allowance: TimeBudget | None = None,
    ) -> NDArray[np.float64]:
        """Fit, and in the same batched program further members for each fold that do not see the fold's labels."""
        self._run_fit(graph, known, fold=fold, copies=copies, allowance=allowance)
        return self.out_of_fold_

    def _predict_halves(
        self, graph: MultilayerGraph, known: KnownLabels, half: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """By as many networks for each half as there were for each fold, to be compared with these."""
        copy: AttentionModel = clone(self).set_params(ensemble=1, epochs=self.effort_.epochs)
        return copy.fit_with_folds(graph, known, half, self.effort_.copies)

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
        allowance: TimeBudget | None = None,
        callbacks: Sequence[Callback] = (),
        loss: Loss | None = None,
    ) -> NDArray[np.floating[Any]]:
        wanted_inputs = self.features, self.feature_dim, self.entry_sum
        inputs = InputFeatures.of(graph, *wanted_inputs, known, seed)
        self.source_, self.profile_, self.scales_, self.walk_size_ = inputs.learned
        self.edge_features_ = {
            name: EdgeFeatures(graph.layers[name].feature_names or (), *scale)
            for name, scale in edge_scales(graph.layers).items()
        }
        self.seed_, self.shape_ = seed, self._shape(graph, inputs.columns)
        members, communicator = self._members(), communicator_of(graph)
        plan = self._plan(graph, local_index(graph, known.nodes)[1]).to(members.device)
        decay = settled_decay(self.weight_decay, known.nodes.size)
        settings = Settings(self.epochs or MAX_EPOCHS, self.learning_rate, decay, self.patience)
        if self.epochs is None and validation is None and not self.validation_fraction:
            settings = replace(settings, epochs=chosen_epochs(members, graph, plan, known, settings))
        folds = 0 if fold is None else int(fold.max()) + 1

        def timed() -> float:
            every_label = np.ones((known.nodes.size, self.ensemble + folds * copies), dtype=bool)
            tried = make_targets(self, graph, known, every_label, validation)
            return step_seconds(members, graph, plan, tried, settings)

        full = TrainingSize(self.ensemble, copies, settings.epochs)
        effort = self.effort_ = settled_training_size(full, folds, allowance, graph, timed)
        tally = EnsemblePredictions(graph, known, effort.members, fold, effort.copies)
        lessons = make_targets(self, graph, known, tally.seen, validation)
        watched = monitor
        if monitor is not None:
            watched = coded_labels(graph, monitor, known.classes, "monitor", strict=False)
        trained_ensemble = train_ensemble(
            members.batches(plan, lessons.members),
            lambda batch: members.new(graph, batch),
            plan,
            lessons,
            replace(settings, epochs=effort.epochs),
            monitor=watched,
            trained=tally.add,
            title=type(self).__name__,
            progress=self.progress,
            communicator=communicator,
            further=callbacks,
            loss=loss,
        )
        self.history_, self.interrupted_ = trained_ensemble.history, trained_ensemble.interrupted
        self.epochs_ = len(trained_ensemble.history)
        self.members_ = min(trained_ensemble.members, effort.members)
        self.state_ = {name: weight_tensor[: self.members_] for name, weight_tensor in trained_ensemble.state.items()}
        if trained_ensemble.interrupted:
            after = f"after {len(trained_ensemble.history)} of {effort.epochs} epochs"
            how_far = "fully trained" if trained_ensemble.complete else after
            warnings.warn(
                f"interrupted: the model has {trained_ensemble.members} of {lessons.members} members, {how_far}",
                GrammeWarning,
                stacklevel=4 + (type(self)._fit is not AttentionModel._fit),  # a method that calls this one adds a step
            )
        if fold is None:
            return tally.mean()
        self.out_of_fold_ = tally.unseen * (1.0 if trained_ensemble.members == lessons.members else np.nan)
        # asked without the members that leave out a fold: to the bit what the model says about any other graph
        return self._inductive_proba(graph, plan)

    def _inputs(self) -> InputFeatures:
        """Where the members' features come from."""
        learned_inputs = (self.source_, self.profile_, self.scales_, self.walk_size_)
        return InputFeatures.loaded(learned_inputs, self.feature_dim, self.shape_.in_dim)

    def _members(self) -> Members:
        made_from = self._network, self.shape_, self.seed_, self._inputs(), self._features_per_layer
        return Members(*made_from, torch_device(self.device))

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        heads = self._per_layer("heads", graph)
        self._per_layer("depth", graph)
        if self.combine_heads == "concatenate":
            for head_count in heads:
                if self.hidden_dim % head_count:
                    raise DataError(
                        f"heads that are concatenated share the columns of the embedding: hidden_dim "
                        f"({self.hidden_dim}) must be a multiple of heads ({head_count})"
                    )

    def _per_layer(self, name: str, graph: MultilayerGraph) -> tuple[int, ...]:
        """A number for each layer, from one number or a mapping by layer name."""
        return tuple(per_layer(name, getattr(self, name), graph.layers))

    def _shape(self, graph: MultilayerGraph, columns: int) -> Shape:
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
            score_bound=self.score_bound,
            readout=self.readout,
            score=self.attention_score,
            edge_columns=tuple(
                len(self.edge_features_[name].names) if name in self.edge_features_ else 0 for name in graph.layers
            )
            if self.edge_features_
            else (),
        )

    def _edge_scales(self, graph: MultilayerGraph) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """By what the features of each layer are standardised; an error where a graph has others than the fit had."""
        for name, known_features in self.edge_features_.items():
            layer = graph.layers[name]
            if layer.num_entries and layer.feature_names != known_features.names:
                raise DataError(
                    f"the layer {name!r} needs the features {', '.join(known_features.names)} of its entries, with "
                    "which the "
                    f"model was fitted; it has {', '.join(layer.feature_names or ()) or 'none'}"
                )
        return {
            name: (layer_features.center, layer_features.scale) for name, layer_features in self.edge_features_.items()
        }

    # Predicting

    def start_features(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
        """The features that the first member starts from, shape (nodes, columns); of some nodes, by position, or all.

        Where a node's copies have features of their own, (layers * nodes, columns), the first layer's copies first.
        """
        self.check_fitted()
        order = self._ordered(graph)
        node_rows = np.arange(graph.num_nodes) if nodes is None else nodes
        first_features = self._members().start(order.graph, order.to_sorted(node_rows))
        copies = first_features.reshape(-1, node_rows.size, first_features.shape[1])
        if len(copies) > 1:
            copies = copies[[self.layer_order_.index(name) for name in self.layers_]]
        return copies.reshape(first_features.shape)

    def _each_batch(
        self, graph: MultilayerGraph, plan: Plan | None = None, member: int | None = None
    ) -> Iterator[tuple[Network, Features, Plan]]:
        """Trained network, features and plan of each batch of members, or of one; the plan is made if none is given."""
        members = self._members()
        whole_plan = (self._plan(graph).to(members.device) if plan is None else plan).everywhere
        if member is not None and not 0 <= member < self.members_:
            raise DataError(f"member must be a whole number below {self.members_}, the size of the ensemble")
        for batch in members.batches(whole_plan, self.members_) if member is None else [range(member, member + 1)]:
            yield *members.trained(graph, batch, self.state_), whole_plan

    def _inductive_proba(self, graph: MultilayerGraph, plan: Plan | None = None) -> NDArray[np.float32]:
        probability_sum = np.zeros((graph.num_nodes, len(self.classes_)))
        if not graph.num_nodes:
            return probability_sum.astype(np.float32)
        for network, features, whole_plan in self._each_batch(graph, plan):
            scores = evaluate(network, features, whole_plan).scores
            probability_sum += scores.double().softmax(-1).sum(1).cpu().numpy()
        return (probability_sum / self.members_).astype(np.float32)

    def embed(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        """The embedding of a graph's nodes, shape (nodes, members * hidden_dim): the members' side by side."""
        self.check_fitted()
        return self._embed(self._ordered(graph))

    def _embed(self, order: NameOrder) -> NDArray[np.float32]:
        if not order.graph.num_nodes:
            return np.zeros((0, self.members_ * self.shape_.out_dim), dtype=np.float32)
        embedding_parts = [
            evaluate(network, features, plan).embedding.flatten(1).cpu().numpy()
            for network, features, plan in self._each_batch(order.graph)
        ]
        return order.to_given(np.concatenate(embedding_parts, axis=1).astype(np.float32, copy=False))

    def transform(self, graph: MultilayerGraph | None = None) -> NDArray[np.float32]:
        """The embedding of the fitted graph's nodes or of another's, as scikit-learn's transformers have it."""
        self.check_fitted()
        return self.embedding_ if graph is None or self.fitted_on(graph) else self.embed(graph)

    @cached_property
    def embedding_(self) -> NDArray[np.float32]:
        """The embedding of the fitted graph's nodes; see :meth:`embed`."""
        self.check_fitted()
        return self._embed(self._fitted_order())

    def to_torch(self, graph: MultilayerGraph | None = None) -> tuple[torch.nn.Module, tuple[Tensor, ...]]:
        """The fitted networks on a graph as one torch module, and what it takes: for ``torch.export`` and the like.

        The module turns the members' input features into class probabilities, (nodes, classes), by torch's own
        operations alone. The graph is part of it.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.

        Examples
        --------
        >>> from gramme import GrammeFusion, datasets
        >>> graph = datasets.load("synthetic", nodes=30, random_state=0)
        >>> model = GrammeFusion(epochs=2, ensemble=2, random_state=0).fit(graph)
        >>> program = torch.export.export(*model.to_torch())
        >>> bool(np.allclose(program.module()(*model.to_torch()[1]).detach(), model.predict_proba(), atol=1e-5))
        True
        """
        self.check_fitted()
        order = self._fitted_order() if graph is None else self._ordered(graph)
        network = self._whole_network()
        features = self._members().features(order.graph, range(self.members_))
        if isinstance(features, LayerFeatures):
            features = features.dense()
        if not isinstance(features, Tensor):
            raise DataError("sparse features have no form as a tensor of a module; make them dense")
        given_order = torch.from_numpy(order.to_given(np.arange(order.graph.num_nodes)))
        return FittedNetworks(network, self._plan(order.graph), given_order).eval(), (features.cpu(),)

    # Explaining

    @cached_property
    def layer_importances_(self) -> pd.DataFrame:
        """How much each member relies on each layer: a row per member, summing to 1.

        See ``gramme.methods.attention.explain.layer_shares``. On a large graph only the first members are asked. Of
        networks with labels or learned rows as inputs the first of each kind has a row, after those of the members.
        """
        self.check_fitted()
        graph = self._fitted_order().graph
        layer_shares = shares_of_joined(self._layer_shares(graph), graph)
        return pd.DataFrame(layer_shares, columns=self.layer_order_)[self.layers_]

    def _layer_shares(self, graph: MultilayerGraph) -> NDArray[np.float64]:
        return member_shares(self._each_batch(graph), graph)

    def _row_weights(self, rows: int) -> NDArray[np.float64]:
        """How much each row of ``layer_importances_`` counts in the mean."""
        return np.full(rows, 1 / rows)

    @property
    def layer_importance_(self) -> pd.Series:
        """Which layers the model relies on, by name, summing to 1: the mean over the networks, by their shares."""
        importance_table = self.layer_importances_
        weighed = importance_table.mul(self._row_weights(len(importance_table)), axis=0).sum(axis=0)
        return (weighed / (weighed.sum() or 1)).rename("importance")

    def node_attention(
        self,
        layer: str,
        *,
        hop: int = 1,
        head: int | None = None,
        member: int | None = None,
        graph: MultilayerGraph | None = None,
    ) -> pd.Series:
        """How loud each node of a layer is for whoever hears it, relative to the mean over the nodes (1).

        The score of an edge has a part of the listener, which cancels in the softmax, and a part t_j of the neighbour.
        For a node j of n this is ``exp(t_j)`` divided by its mean over the n nodes that the layer holds; NaN for absent
        nodes. For one head of one member, all who hear two nodes attend to them in the ratio of these two numbers.
        Otherwise it is the mean over the heads, and over the members: a summary, since each head has a ratio of its
        own. With ``attention_score="leaky"`` t_j is the score for a listener whose own part is the layer's mean.
        :meth:`attention_coefficients` has what each edge gets.

        Parameters
        ----------
        layer : str
        hop : int, default=1
            Which hop, counted from 1.
        head, member : int, optional
            One head of the hop, one member of the ensemble, counted from 0; the mean over all if not given.
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        """
        order, position = self._asked_about(layer, hop, graph)
        if head is not None and not 0 <= head < self.shape_.heads[position]:
            raise DataError(f"head must be a whole number below {self.shape_.heads[position]}, the heads of {layer!r}")
        # one pass serves all layers, and who asks for one of the fitted graph's will ask for the others
        kept_attention = self.__dict__.setdefault("_received_", {}) if graph is None else {}
        asked_for = hop, head, member
        if asked_for not in kept_attention:
            kept_attention[asked_for] = self._received(order.graph, *asked_for)
        names = order.to_given(order.graph.nodes.to_numpy())
        return pd.Series(order.to_given(kept_attention[asked_for][position]), index=names, name=layer)

    def attention_coefficients(
        self,
        layer: str,
        hop: int = 1,
        *,
        nodes: Any = None,
        toward: str | None = None,
        member: int | None = None,
        graph: MultilayerGraph | None = None,
    ) -> list[sp.csr_array]:
        """The attention coefficients, alpha of the paper's Eq. 2: how much of what a node hears comes from each.

        Parameters
        ----------
        layer : str
        hop : int, default=1
            Which hop, counted from 1.
        nodes : sequence of names, optional
            The listeners: a row for each; all nodes if not given. A layer of groups stands for far more edges than
            memberships, so there they must be named.
        toward : str, optional
            For GrammeSG, the layer whose copies are listened to, in the layer itself if not given. Toward another
            layer these are a node's own copy there and coupled nodes.
        member : int, optional
            One member of the ensemble, counted from 0; the mean over all if not given.
        graph : MultilayerGraph, optional
            A graph other than the fitted one.

        Returns
        -------
        list of scipy CSR, each of shape (listeners, nodes)
            One for each head, with columns in the order of the graph's nodes. A row sums to 1, itself included; for
            GrammeSG its rows toward all layers do. Rows of nodes that the layer does not hold are empty.
        """
        order, position = self._asked_about(layer, hop, graph)
        if not self.members_:
            raise DataError("this model has no networks with fixed features, and only these attend edge by edge")
        if nodes is None and order.graph.layers[layer].made_of == "groups":
            raise DataError(f"the layer {layer!r} is of groups; say whose coefficients are wanted: nodes=[...]")
        node_names = pd.Index(order.to_given(order.graph.nodes.to_numpy()))
        listeners = np.arange(len(node_names)) if nodes is None else node_names.get_indexer(list(nodes))
        if (listeners < 0).any():
            unknown = list(nodes)[int(np.argmax(listeners < 0))]
            raise DataError(f"there is no node {unknown!r}; {did_you_mean(str(unknown), map(str, node_names))}")
        if toward is not None:
            order.graph.layer(toward)
        scores = scores_by_layer(self._each_batch(order.graph, member=member), self._hops, order.graph, hop)
        heard_layer = self._heard_layer(position, None if toward is None else self.layer_order_.index(toward))
        head_coefficients = attention_coefficients(
            scores, order.graph, position, order.to_sorted(listeners), heard_layer
        )
        node_columns = order.to_sorted(np.arange(len(node_names)))
        return [sp.csr_array(alpha[:, node_columns]) for alpha in head_coefficients]

    def _asked_about(self, layer: str, hop: int, graph: MultilayerGraph | None) -> tuple[NameOrder, int]:
        """The graph of a question about a layer's hop, and the layer's position, or an error if there is no such."""
        self.check_fitted()
        order = self._fitted_order() if graph is None else self._ordered(graph)
        order.graph.layer(layer)  # says so where there is none
        position = self.layer_order_.index(layer)
        WholeNumber().check("hop", hop)
        if hop > self._most_hops(position):
            raise DataError(f"layer {layer!r} has {self._most_hops(position)} hops, not {hop}")
        return order, position

    def _heard_layer(self, layer: int, toward: int | None) -> int | None:
        """The layer whose copies are listened to, in a supra graph; None where layers do not hear each other."""
        if toward not in (None, layer):
            raise DataError(f"in {type(self).__name__} layers do not hear each other; toward= is for GrammeSG")
        return None

    def _whole_network(self) -> Network:
        """One network with all members' weights."""
        if not self.members_:
            raise DataError("this model has no networks with fixed features, which alone have heads and fusion weights")
        network = self._network(self.shape_, MemberRandom([0] * self.members_))
        network.load_state_dict(self.state_)
        return network

    @property
    def head_weights_(self) -> pd.DataFrame:
        """The weights of the attention heads, beta of the paper: a row per member, hop and layer, a column per head.

        Heads that are averaged have 1 / heads each; heads side by side have none, and no rows.
        """
        self.check_fitted()
        network = self._whole_network()
        weight_rows = {}
        for layer in self.layers_:
            hops, layer_place = self._hops(network, self.layer_order_.index(layer))
            for hop_number, hop in enumerate(hops, 1):
                if hop.combine_heads != "concatenate":
                    head_factors = hop.head_factors().detach()
                    for member in range(self.members_):
                        member_weights = head_factors[member, layer_place if head_factors.shape[1] > 1 else 0]
                        weight_rows[member, hop_number, layer] = dict(enumerate(member_weights.tolist()))
        index = (
            pd.MultiIndex.from_tuples(list(weight_rows) or [], names=["member", "hop", "layer"])
            if weight_rows
            else None
        )
        return pd.DataFrame(list(weight_rows.values()), index=index).sort_index(
            level=["member", "hop"], sort_remaining=False
        )

    def _most_hops(self, position: int) -> int:
        """Hops of the layer at a position."""
        return self.shape_.depth[position]

    def _received(self, graph: MultilayerGraph, hop: int, head: int | None, member: int | None) -> NDArray[np.float64]:
        """How much attention each node receives in each layer at a hop, (layers, nodes)."""
        return attention_received(self._each_batch(graph, member=member), self._hops, graph, hop, head)

    def reasons(self, graph: MultilayerGraph, pair: Pair) -> list[Through]:
        """What came through neighbours and groups, as parts of the log-odds of two classes."""
        return attention_reasons(self._each_batch(graph), graph, pair).through

    def _check_loaded(self) -> None:
        shape = self.shape_
        if (shape.layers, shape.classes) != (len(self.layers_), len(self.classes_)):
            raise MisfitError("shape does not match the layers and classes")
        inputs = self._inputs()
        with torch.device("meta"):
            check_members(shape, inputs, self.state_, self.members_, lambda: self._network(shape, ShapesOnly()))
