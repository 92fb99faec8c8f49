"""GrammeLinks: which pairs of nodes will be, or should be, linked, with a probability and the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from torch import Tensor

from gramme._progress import advance, part
from gramme._runtime import one_thread_below
from gramme.errors import DataError, FileFormatError, NotFittedError
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.arrays import loose_index
from gramme.graph.canonical import checksum, in_name_order
from gramme.methods.params import Number, RandomState, check_parameters, seed_from
from gramme.methods.persistence import (
    Learned,
    MisfitError,
    broken,
    from_json,
    plain_name,
    read_model,
    write_model,
)

from .attention import MIN_ATTENTION_NODES, LinkAttention
from .evidence import Evidence, Gathered, WholeGraph, column_names
from .expected import ExpectedLinks, FoundRanks, LinkRates, missing_links
from .explain import explanation, ingredient_table, reasons
from .mixture import (
    FittedMixtures,
    LayerExamples,
    LayerMixture,
    Line,
    Trees,
    fitted_mixtures,
    unseen_loss,
)
from .pair_scores import entries
from .sampling import (
    checked,
    columns,
    edge_layer,
    groups_asked_about,
    layers_to_learn,
    named_pairs,
    num_rounds,
    with_edges,
)
from .training_pairs import (
    TRIAL_LAYERS,
    AttentionTrial,
    easily_told,
    evidence_only,
    given_examples,
    set_aside,
    with_all_edges,
)

# The steps of learning links: how many there are, and how far they are, for whoever asked to be
# told.


Tell = Callable[[int, int], None]


class LearningSteps:
    """Called after each step: a part set aside, what all layers share of the mixtures, each mixture, each attention.

    Parameters
    ----------
    parts : mapping of layer to int
        In how many parts the edges of each layer are set aside.
    attention : bool
        Whether attention is tried.
    tell : callable, optional
        Called with the number of steps done and in all.
    """

    def __init__(
        self,
        parts: Mapping[str, int],
        *,
        attention: bool,
        tell: Tell | None = None,
    ) -> None:
        self.tell = tell
        mixtures, trials = len(parts) + 1, min(TRIAL_LAYERS, len(parts))
        tried = trials + len(parts) + mixtures if attention else 0
        self.total = sum(parts.values()) + mixtures + tried
        self.shared_among = self.total + len(parts)  # with a look at all edges of each layer
        self.done = self.done_here = 0
        self.steps_here = 1

    @contextmanager
    def within(self, name: str, steps: int) -> Iterator[None]:
        """Some of the steps, which count alike."""
        self.done_here, self.steps_here = 0, max(steps, 1)
        with part(name, steps / self.shared_among):
            yield

    def __call__(self) -> None:
        """Take note of one step more."""
        self.done += 1
        self.done_here += 1
        advance(min(self.done_here / self.steps_here, 1.0))
        if self.tell is not None:
            self.tell(self.done, self.total)


# What a file of :class:`~gramme.GrammeLinks` holds: the graph whose edges are the evidence, and
# the mixtures.


_TREE_ARRAYS = ("roots", "column", "left", "right", "threshold", "value")


def graph_to_file(graph: MultilayerGraph, learned: Learned) -> None:
    """Add a graph's nodes, layers and attributes to what is written."""
    learned.record["nodes"] = [plain_name(name) for name in graph.nodes]
    layers = []
    for number, (name, layer) in enumerate(graph.layers.items()):
        groups = layer.as_groups()
        if groups is not None:
            first, second, weight = groups.node, groups.group, groups.weight
        else:
            edges = layer.to_edges()
            first, second, weight = edges.source, edges.target, edges.weight
        layers.append({"name": name, "members": groups is not None, "directed": layer.directed})
        _put(learned, f"layer{number}.first", np.asarray(first, dtype=np.int64))
        _put(learned, f"layer{number}.second", np.asarray(second, dtype=np.int64))
        _put(learned, f"layer{number}.present", np.asarray(layer.present, dtype=np.uint8))
        if weight is not None:
            _put(learned, f"layer{number}.weight", np.asarray(weight, dtype=np.float64))
    learned.record["layers"] = layers
    if graph.features is not None:
        matrix = sp.csr_array(graph.features)
        for name in ("data", "indices", "indptr"):
            _put(learned, f"features.{name}", np.asarray(getattr(matrix, name)))
        learned.record["feature_columns"] = int(matrix.shape[1])
        learned.record["sparse_features"] = sp.issparse(graph.features)


def graph_from_file(learned: Learned) -> MultilayerGraph:
    """The graph of a file, checked as any graph is when it is made."""
    nodes = loose_index(from_json(learned.record["nodes"]))
    count = len(nodes)
    layers: dict[str, Layer] = {}
    for number, entry in enumerate(learned.record["layers"]):
        first, second = (
            _get(learned, f"layer{number}.first"),
            _get(learned, f"layer{number}.second"),
        )
        weight = learned.tensors.get(f"layer{number}.weight")
        weights = None if weight is None else weight.numpy()
        present = _get(learned, f"layer{number}.present").astype(bool)
        if entry["members"]:
            layers[entry["name"]] = MembershipLayer(
                count, first, second, weight=weights, nodes=present
            )
        else:
            layers[entry["name"]] = EdgeLayer(
                count, first, second, weights, directed=entry["directed"], nodes=present
            )
    features: Any = None
    if "feature_columns" in learned.record:
        parts = tuple(_get(learned, f"features.{name}") for name in ("data", "indices", "indptr"))
        matrix = sp.csr_array(parts, shape=(count, learned.record["feature_columns"]))
        features = matrix if learned.record["sparse_features"] else matrix.toarray()
    return MultilayerGraph(layers, nodes=nodes, features=features, num_nodes=count)


def mixtures_to_file(mixtures: Mapping[str, LayerMixture], learned: Learned) -> None:
    """Add the mixtures to what is written."""
    learned.record["columns"] = column_names()
    entries = []
    for number, (name, mixture) in enumerate(mixtures.items()):
        parts = []
        for place, (part_name, model) in enumerate(mixture.parts.items()):
            prefix = f"mixture{number}.{place}"
            trees = isinstance(model, Trees)
            base = model.base if isinstance(model, Trees) else model.offset
            parts.append(
                {
                    "name": part_name,
                    "trees": trees,
                    "base": base,
                    "weight": mixture.weights[part_name],
                }
            )
            for array in _TREE_ARRAYS if trees else ("mean", "scale", "weight"):
                _put(learned, f"{prefix}.{array}", getattr(model, array))
        if mixture.typical is not None:
            _put(learned, f"mixture{number}.typical", mixture.typical)
        entries.append(
            {
                "layer": name,
                "parts": parts,
                "slope": mixture.slope,
                "offset": mixture.offset,
                "hidden": mixture.hidden,
            }
        )
    learned.record["mixtures"] = entries


def mixtures_from_file(learned: Learned) -> dict[str, LayerMixture]:
    """The mixtures of a file; one that was made of other evidence is refused."""
    if learned.record["columns"] != column_names():
        raise MisfitError("the model was made of other evidence than this version of gramme finds")
    found = {}
    for number, entry in enumerate(learned.record["mixtures"]):
        mixture = LayerMixture(
            slope=float(entry["slope"]),
            offset=float(entry["offset"]),
            hidden=float(entry["hidden"]),
        )
        if not 0.0 <= mixture.hidden < 1.0:
            raise MisfitError("the share of hidden links must be from 0 to 1")
        for place, saved_part in enumerate(entry["parts"]):
            prefix = f"mixture{number}.{place}"
            base = float(saved_part["base"])
            if saved_part["trees"]:
                arrays = [_get(learned, f"{prefix}.{array}") for array in _TREE_ARRAYS]
                mixture.parts[saved_part["name"]] = _checked_trees(Trees(base, *arrays))
            else:
                sizes = [
                    _get(learned, f"{prefix}.{array}") for array in ("mean", "scale", "weight")
                ]
                if any(len(one) != len(column_names()) for one in sizes):
                    raise MisfitError("a mixture has another number of columns than the evidence")
                mixture.parts[saved_part["name"]] = Line(sizes[0], sizes[1], sizes[2], base)
            mixture.weights[saved_part["name"]] = float(saved_part["weight"])
        mixture.typical = _typical(learned, number, mixture)
        found[entry["layer"]] = mixture
    return found


def _typical(learned: Learned, number: int, mixture: LayerMixture) -> Any:
    """The evidence of a typical pair; files of before it was written have that of a line, if there is one."""
    if f"mixture{number}.typical" not in learned.tensors:
        return next((part.mean for part in mixture.parts.values() if isinstance(part, Line)), None)
    found = _get(learned, f"mixture{number}.typical")
    if found.shape != (len(column_names()),):
        raise MisfitError("a mixture has another number of columns than the evidence")
    return found


UnseenPairs = dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]


def rates_to_file(
    rates: Mapping[str, LinkRates], unseen_pairs: UnseenPairs, learned: Learned
) -> None:
    """Add how scores become probabilities, and the scores of unlinked pairs that were learned from."""
    entries = []
    for number, (name, one) in enumerate(rates.items()):
        _put(learned, f"rates{number}.log_odds", one.log_odds)
        _put(learned, f"rates{number}.rate", one.rate)
        pairs, scores = unseen_pairs[name]
        _put(learned, f"rates{number}.unseen_pairs", pairs)
        _put(learned, f"rates{number}.unseen_scores", scores)
        entries.append({"layer": name, "missing": one.missing, "set_aside": one.set_aside})
    learned.record["rates"] = entries


def unseen_from_file(learned: Learned, num_nodes: int) -> UnseenPairs:
    """Unlinked pairs that were learned from, with their scores."""
    found = {}
    for number, entry in enumerate(learned.record["rates"]):
        pairs = _get(learned, f"rates{number}.unseen_pairs")
        scores = _get(learned, f"rates{number}.unseen_scores")
        fits = pairs.shape == (len(scores), 2) and ((pairs >= 0) & (pairs < num_nodes)).all()
        if not fits or not ((scores >= 0) & (scores <= 1)).all():
            raise MisfitError("the pairs that were learned from do not fit the graph")
        found[entry["layer"]] = pairs, scores
    return found


def rates_from_file(learned: Learned) -> dict[str, LinkRates]:
    """What :func:`rates_to_file` wrote; rates must rise with the score."""
    found = {}
    for number, entry in enumerate(learned.record["rates"]):
        odds, rate = (_get(learned, f"rates{number}.{name}") for name in ("log_odds", "rate"))
        rising = len(odds) and (np.diff(odds) > 0).all() and (np.diff(rate) >= 0).all()
        if len(odds) != len(rate) or not rising:
            raise MisfitError("the probabilities of a layer do not rise with its scores")
        found[entry["layer"]] = LinkRates(
            odds, rate, float(entry["missing"]), int(entry["set_aside"])
        )
    return found


def whole_to_file(whole: WholeGraph, learned: Learned) -> None:
    """Add which costly evidence is gathered, and the attention that was trained."""
    learned.record["gathered"] = asdict(whole.gathered)
    if whole.attention is not None and whole.gathered.attention:
        _put(learned, "attention.rows", whole.attention.rows)
        learned.record["attention"] = list(whole.attention.weights)
        for number, name in enumerate(whole.attention.weights):
            _put(learned, f"attention.{number}.weight", whole.attention.weights[name])
            _put(learned, f"attention.{number}.offset", whole.attention.offsets[name])


def whole_from_file(
    graph: MultilayerGraph, learned: Learned
) -> tuple[Gathered, LinkAttention | None]:
    """What :func:`whole_to_file` wrote, which must fit the graph."""
    record = learned.record["gathered"]
    alone = tuple(str(name) for name in record.get("excluded_layers", ()))
    gathered = Gathered(**{**record, "excluded_layers": alone})
    if not gathered.attention:
        return gathered, None
    rows = _get(learned, "attention.rows")
    weights, offsets = {}, {}
    for number, name in enumerate(learned.record["attention"]):
        weights[name] = _get(learned, f"attention.{number}.weight")
        offsets[name] = _get(learned, f"attention.{number}.offset")
    if rows.ndim != 3 or len(rows) != graph.num_nodes:
        raise MisfitError("the rows of attention are not those of the nodes")
    _, members, dim = rows.shape
    for name, weight in weights.items():
        shapes = ((members, dim), (members, dim, dim))
        if weight.shape not in shapes or offsets[name].shape != (members,):
            raise MisfitError(f"the attention of layer {name!r} has another size than its rows")
    return gathered, LinkAttention(rows, weights, offsets)


def _checked_trees(trees: Trees) -> Trees:
    """Trees in which every step leads forward to a node and every question is about a column that exists."""
    count = len(trees.column)
    inner = trees.column >= 0
    places = np.arange(count)
    for way in (trees.left, trees.right):
        if len(way) != count or ((way[inner] <= places[inner]) | (way[inner] >= count)).any():
            raise MisfitError("the trees of a mixture lead nowhere")
    sizes_fit = len(trees.threshold) == count and len(trees.value) == count
    if not sizes_fit or (trees.column >= len(column_names())).any():
        raise MisfitError("the trees of a mixture ask about evidence that is not there")
    if ((trees.roots < 0) | (trees.roots >= max(count, 1))).any():
        raise MisfitError("the trees of a mixture begin nowhere")
    return trees


def _put(learned: Learned, name: str, values: Any) -> None:
    learned.tensors[name] = torch.from_numpy(np.array(values, order="C"))


def _get(learned: Learned, name: str) -> Any:
    tensor: Tensor | None = learned.tensors.get(name)
    if tensor is None:
        raise MisfitError(f"{name} is missing")
    return tensor.numpy()


_BLOCK = 200_000
CACHES = ("_whole", "_listed_pairs")
NO_GAIN = "Attention was left out: it did not lower the error on pairs set aside."
TOO_LARGE = "Attention was left out: the graph is too large to train it for links."
TOO_SMALL = "Attention was left out: the graph is too small to train it for links."


class GrammeLinks(BaseEstimator):  # type: ignore[misc]
    """Say how probable a link between two nodes is, in each layer of a graph.

    The evidence for a pair are paths of length 2 and 3 in the layer, in the others and in all together, links in other
    layers, common groups, walks, degrees and attributes. How much each counts is learned from edges of the layer that
    are set aside while the evidence is gathered, against random pairs without an edge: by logistic regression over all
    layers, by one for each layer, and by boosted trees where a layer has many edges, weighed by pairs they have not
    seen. Where edges set aside stand in the list of candidates tells how many of the first are links: probabilities are
    the chance that a pair is a link, at the rate among candidates.

    Parameters
    ----------
    random_state : int, default=0
        Which edges are set aside and which pairs they are compared with.
    missing_share : float, default=0.2
        The share of a layer's links that is taken to be missing in the data. No data can tell it; probabilities and
        expected counts hold for it.

    Attributes
    ----------
    layers_ : list of str
        The layers that links can be predicted in: those with at least 2 edges.
    ingredients_ : DataFrame
        Per layer and piece of evidence: its ROC-AUC alone on edges set aside, and its weight in the mixture.
    explanation_ : str
        In words, what the predictions rest on and how good they are on edges set aside.
    scores_ : DataFrame
        Per layer: pairs learned from, ROC-AUC and calibration error of the mixture on pairs it had not seen.

    Examples
    --------
    >>> import gramme
    >>> g = gramme.datasets.load("synthetic", nodes=60)
    >>> links = GrammeLinks(random_state=0).fit(g.select_layers(list(g.layers)[:1]))
    >>> links.predict_proba(links.layers_[0], [(g.nodes[0], g.nodes[1])]).shape
    (1,)
    """

    def __init__(self, random_state: Any = 0, missing_share: float = 0.2) -> None:
        self.random_state = random_state
        self.missing_share = missing_share

    def fit(
        self,
        graph: MultilayerGraph,
        examples: Mapping[str, tuple[Any, Any]] | None = None,
        *,
        layers: Iterable[str] | None = None,
        tell: Tell | None = None,
    ) -> Self:
        """Learn from the edges of a graph what makes a link likely.

        Parameters
        ----------
        graph : MultilayerGraph
        examples : mapping of layer to (pairs, linked), default=None
            Pairs by node names that are not in the graph, and whether each is linked: validation pairs of a benchmark.
            They take the place of edges set aside from the graph.
        layers : sequence of str, default=None
            The layers to learn links of; all if not given. The others still serve as evidence.
        tell : callable, optional
            Called with the number of steps done and in all.
        """
        checks = {
            "random_state": RandomState(),
            "missing_share": Number(0, 1, open_low=True),
        }
        check_parameters(checks, self.get_params(deep=False))
        seed = seed_from(self.random_state)
        for name in [name for name in vars(self) if name.endswith("_") or name in CACHES]:
            delattr(self, name)
        graph = checked(graph)
        with one_thread_below(graph.num_entries):
            return self._learn(graph, {} if examples is None else examples, layers, seed, tell)

    def _learn(
        self,
        graph: MultilayerGraph,
        given: Mapping[str, tuple[Any, Any]],
        layers: Iterable[str] | None,
        seed: int,
        tell: Tell | None,
    ) -> Self:
        wanted = layers_to_learn(with_edges(graph), layers)
        named = in_name_order(graph).graph  # chance and ties follow names
        groups = groups_asked_about(named, wanted)
        graph = with_edges(named)
        parts = {name: 0 if name in given else num_rounds(graph, name) for name in wanted}
        possible = Gathered.affordable(graph, sum(parts.values()) + 1, seed, columns(groups))
        gathered = replace(possible, attention=False)
        step = LearningSteps(parts, attention=possible.attention, tell=tell)
        self.graph_, self.layers_, self.gathered_ = graph, wanted, gathered
        learned: dict[str, LayerExamples] = {}
        for name in sorted(wanted):
            with step.within(f"evidence in {name}", parts[name]):
                if name in given:
                    evidence = self._evidence(graph, name)
                    learned[name] = given_examples(graph, name, evidence, *given[name])
                else:
                    learned[name] = set_aside(graph, name, gathered, step, groups.get(name))
            with step.within(f"all edges of {name}", 1):
                if name not in given:
                    learned[name] = with_all_edges(learned[name], self._evidence(graph, name))
        if all(one.linked.all() for one in learned.values()):
            raise DataError(
                "all nodes are linked to each other in every layer: there is no pair without a link to learn from or "
                "to ask about"
            )
        with step.within("weighing the evidence", len(wanted) + 1):
            fitted = fitted_mixtures(learned, seed, step)
        word = ""
        if not possible.attention and not possible.excluded_layers:
            word = TOO_SMALL if graph.num_nodes < MIN_ATTENTION_NODES else TOO_LARGE
        if possible.attention:
            word = NO_GAIN
            tried = AttentionTrial(graph, learned, given, seed, groups, step)
            with step.within("trying attention", min(TRIAL_LAYERS, len(wanted))):
                helps = tried.helps(fitted.unseen)
            if helps:
                with step.within("training attention", 2 * len(wanted) + 1):
                    richer = tried.joined()
                    others = fitted_mixtures(richer, seed, step)
                if unseen_loss(richer, others.unseen) < unseen_loss(learned, fitted.unseen):
                    fitted, learned, word = others, richer, ""
                    self.gathered_ = possible
                    whole = self._whole_graph("")
                    self._whole[""] = WholeGraph(possible, whole.closeness, tried.whole)
        self.mixtures_ = fitted.mixtures
        self.unseen_pairs_: UnseenPairs = {}
        self.rates_ = {name: self._link_rates(name, learned[name], fitted) for name in wanted}
        learned = {name: learned[name] for name in wanted}
        self.ingredients_ = ingredient_table(learned, self.mixtures_)
        assumed = f"Probabilities hold if {self.missing_share:.0%} of a layer's links are missing in the data."
        words = [assumed, word, *easily_told(graph, wanted, groups)]
        words += evidence_only(graph, wanted) if layers is None else []
        self.scores_, self.explanation_ = explanation(
            learned, fitted.unseen, self.ingredients_, words
        )
        return self

    def predict_proba(
        self, layer: str, pairs: Any, graph: MultilayerGraph | None = None
    ) -> NDArray[np.float64]:
        """The chance that each pair of node names is a link, at the rate among candidates, shape (pairs,).

        It holds if ``missing_share`` of the layer's links are missing in the data. Its order is that of
        :meth:`balanced_scores`.

        Parameters
        ----------
        layer : str
        pairs : sequence of (source, target)
            By name, without an edge between them: walks and attention have seen the edges of the graph.
        graph : MultilayerGraph, default=None
            Another graph with the same layers, perhaps with new nodes; the fitted one if not given.
        """
        scores = self.balanced_scores(layer, pairs, graph)
        return self.rates_[layer].probability(scores)

    def balanced_scores(
        self, layer: str, pairs: Any, graph: MultilayerGraph | None = None
    ) -> NDArray[np.float64]:
        """The probability of a link if pairs were drawn from as many linked as unlinked ones, shape (pairs,).

        It compares pairs with random ones, whatever the number of missing links. Parameters as for
        :meth:`predict_proba`.
        """
        mixture = self._mixture(layer)
        seen = self.graph_ if graph is None else self._other(graph)
        if graph is not None and checksum(seen) == checksum(self.graph_):
            seen = self.graph_  # pairs of it that were learned from have scores of their own
        positions = named_pairs(seen, pairs)
        return self._scores(self._evidence(seen, layer), mixture, positions)

    def candidates(
        self, layer: str, top: int = 100, node: Any = None, tell: Tell | None = None
    ) -> pd.DataFrame:
        """The unlinked pairs of a layer that are most likely to have, or to get, a link.

        Only pairs are looked at that paths of at most three steps or a small group join, never all of them.

        Parameters
        ----------
        layer : str
        top : int, default=100
        node : node name, default=None
            Candidates for this node alone.
        tell : callable, optional
            Called with the number of pairs scored and in all.

        Returns
        -------
        DataFrame
            ``layer``, ``source``, ``target``, ``probability`` (the chance that this pair is a link), ``score`` (the
            same if links were as frequent as unlinked pairs) and ``why``, most probable first.
        """
        self._mixture(layer)
        if top < 1:
            raise DataError(f"top must be at least 1, not {top}")
        pairs, scores = self._listed(layer, node, tell)
        best = np.argsort(-scores, kind="stable")[:top]
        evidence = self._evidence(self.graph_, layer)
        return self._table(layer, evidence, pairs[best], scores[best], node)

    def expected(self, layer: str, top: int = 100, node: Any = None) -> ExpectedLinks:
        """How many of the first :meth:`candidates` are expected to be links, with a 90 % interval.

        The number holds if ``missing_share`` of the layer's links are missing in the data.

        Parameters
        ----------
        layer : str
        top : int, default=100
        node : node name, default=None
            Of the candidates for this node alone.

        Returns
        -------
        ExpectedLinks
            ``count``, ``low``, ``high`` and ``shown``, the number of candidates; in words as a string.
        """
        self._mixture(layer)
        if top < 1:
            raise DataError(f"top must be at least 1, not {top}")
        _, scores = self._listed(layer, node)
        return self.expected_of(layer, np.sort(scores)[::-1][:top])

    def expected_of(self, layer: str, scores: Any) -> ExpectedLinks:
        """How many pairs with these :meth:`balanced_scores` are expected to be links."""
        self._mixture(layer)
        rates = self.rates_[layer]
        return rates.expected(rates.probability(np.asarray(scores, dtype=np.float64)))

    def explained(self, layer: str, pairs: Any) -> pd.DataFrame:
        """The given pairs with probability, score and reason, in the form of :meth:`candidates`."""
        mixture = self._mixture(layer)
        evidence = self._evidence(self.graph_, layer)
        positions = named_pairs(self.graph_, pairs)
        scores = self._scores(evidence, mixture, positions)
        return self._table(layer, evidence, positions, scores)

    def save(self, path: Any) -> None:
        """Write the fitted model, with the graph its evidence is from, to a safetensors file."""
        self.check_fitted()
        learned = Learned()
        graph_to_file(self.graph_, learned)
        mixtures_to_file(self.mixtures_, learned)
        rates_to_file(self.rates_, self.unseen_pairs_, learned)
        whole_to_file(self._whole_graph(""), learned)
        learned.record["explanation"] = self.explanation_
        learned.record["ingredients"] = self.ingredients_.to_dict(orient="list")
        learned.record["scores"] = self.scores_.to_dict(orient="list")
        write_model(path, type(self).__name__, self.get_params(), learned)

    @classmethod
    def load(cls, path: Any) -> GrammeLinks:
        """Read a model that was saved with :meth:`save`."""
        name, parameters, learned = read_model(path)
        if name != cls.__name__:
            raise FileFormatError(
                f"holds a model of the kind {name!r}; read it with gramme.load", file=path
            )
        try:
            model = cls(**parameters)
            model.graph_ = graph_from_file(learned)
            model.mixtures_ = mixtures_from_file(learned)
            model.rates_ = rates_from_file(learned)
            model.unseen_pairs_ = unseen_from_file(learned, model.graph_.num_nodes)
            model.gathered_, attention = whole_from_file(model.graph_, learned)
            model._whole = {"": WholeGraph.of(model.graph_, model.gathered_, attention)}
            model.layers_ = [name for name in model.mixtures_ if name in model.graph_.layers]
            model.explanation_ = str(learned.record["explanation"])
            model.ingredients_ = pd.DataFrame(learned.record["ingredients"])
            model.scores_ = pd.DataFrame(learned.record["scores"])
        except Exception as error:  # whatever its content sets off is the file's fault
            raise broken(path, error) from error
        return model

    # Inside

    def _evidence(self, graph: MultilayerGraph, layer: str) -> Evidence:
        """The evidence in a graph; what is of the graph as a whole is found once for all layers of the fitted one."""
        if graph is not self.graph_:
            return Evidence(graph, layer, WholeGraph.of(graph, self.gathered_, layer=layer))
        alone = layer in self.gathered_.excluded_layers
        return Evidence(graph, layer, self._whole_graph(layer if alone else ""))

    def _whole_graph(self, layer: str) -> WholeGraph:
        """What the graph as a whole says; without one layer, if it is named."""
        if not hasattr(self, "_whole"):
            self._whole: dict[str, WholeGraph] = {}
        if layer not in self._whole:
            self._whole[layer] = WholeGraph.of(self.graph_, self.gathered_, layer=layer or None)
        return self._whole[layer]

    def _scores(
        self,
        evidence: Evidence,
        mixture: LayerMixture,
        pairs: NDArray[np.int64],
        tell: Tell | None = None,
    ) -> NDArray[np.float64]:
        found = np.zeros(len(pairs))
        for begin in range(0, len(pairs), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            found[part] = mixture.probability(evidence.of(pairs[part]))
            if evidence.graph is self.graph_:
                unseen = self._unseen_scores(evidence.layer, pairs[part])
                found[part] = np.where(np.isnan(unseen), found[part], unseen)
            if tell is not None:
                tell(min(begin + _BLOCK, len(pairs)), len(pairs))
        return found

    def _listed(
        self, layer: str, node: Any = None, tell: Tell | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """All candidates of a layer, or of a node in it, with their scores."""
        if node is None and layer in self._lists:
            return self._lists[layer]
        sources = None if node is None else self.graph_.positions([node])
        evidence = self._evidence(self.graph_, layer)
        edges = self.graph_.layers[layer]
        pairs = evidence.candidates(edges.to_scipy(), edges.present, sources)
        if sources is not None and edges.directed:
            pairs = pairs[pairs[:, 0] == sources]
        found = pairs, self._scores(evidence, self.mixtures_[layer], pairs, tell)
        if node is None:
            self._lists[layer] = found
        return found

    @property
    def _lists(self) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """The candidates of layers that were listed already."""
        if not hasattr(self, "_listed_pairs"):
            self._listed_pairs: dict[str, Any] = {}
        return self._listed_pairs

    def _keep_unseen(
        self, name: str, fold_of_pair: sp.csr_array, mixtures: Sequence[LayerMixture]
    ) -> None:
        """Score the unlinked pairs that were learned from by mixtures that have not seen them, and keep the scores."""
        linked = self.graph_.layers[name].to_scipy()
        both = fold_of_pair.tocoo()
        pairs = np.column_stack([both.row, both.col]).astype(np.int64)
        fresh = entries(linked, pairs) == 0
        pairs, folds = pairs[fresh], both.data[fresh] - 1
        evidence = self._evidence(self.graph_, name)
        scores = np.zeros(len(pairs))
        for fold in np.unique(folds):
            mine = folds == fold
            scores[mine] = mixtures[fold].probability(evidence.of(pairs[mine]))
        self.unseen_pairs_[name] = pairs, scores

    def _unseen_scores(self, layer: str, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """The scores that were kept for pairs that were learned from; NaN for all others."""
        known, scores = self.unseen_pairs_[layer]
        if not self.graph_.layers[layer].directed:
            pairs = np.sort(pairs, axis=1)
        keys, asked = (some[:, 0] * self.graph_.num_nodes + some[:, 1] for some in (known, pairs))
        if not len(keys):
            return np.full(len(pairs), np.nan)
        order = np.argsort(keys)
        place = np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)
        return np.where(keys[order][place] == asked, scores[order][place], np.nan)

    def _link_rates(self, name: str, examples: LayerExamples, fitted: FittedMixtures) -> LinkRates:
        """From scores to probabilities, by the ranks of edges set aside in lists of candidates."""
        edges = self.graph_.layers[name]
        fold_of_pair = fitted.fold_of_pairs(name, examples, self.graph_.num_nodes)
        self._keep_unseen(name, fold_of_pair, fitted.by_fold[name])
        _, scores = self._listed(name)
        if examples.lists:
            ranks = FoundRanks.of_lists(examples, fitted.by_fold[name], fold_of_pair)
        else:
            unseen = fitted.unseen[name][examples.linked]
            ranks = FoundRanks.of_scores(unseen, scores)
        nodes = int(edges.present.sum())
        unlinked = nodes * (nodes - 1) // (1 if edges.directed else 2) - edges.num_edges
        missing = missing_links(edges.num_edges, self.missing_share, unlinked)
        return LinkRates.of(ranks, scores, missing, unlinked)

    def _table(
        self,
        layer: str,
        evidence: Evidence,
        pairs: NDArray[np.int64],
        scores: NDArray[np.float64],
        node: Any = None,
    ) -> pd.DataFrame:
        names = self.graph_.nodes
        if node is not None and len(pairs):
            place = self.graph_.positions([node])[0]
            pairs = np.where((pairs[:, 1] == place)[:, None], pairs[:, ::-1], pairs)
        return pd.DataFrame(
            {
                "layer": np.full(len(pairs), layer, dtype=object),
                "source": names[pairs[:, 0]].to_numpy().astype(object),
                "target": names[pairs[:, 1]].to_numpy().astype(object),
                "probability": self.rates_[layer].probability(scores),
                "score": scores,
                "why": reasons(
                    self.mixtures_[layer], evidence.of(pairs), evidence.linked_in(pairs)
                ),
            }
        )

    def _mixture(self, layer: str) -> LayerMixture:
        self.check_fitted()
        self.graph_.layer(layer)
        if layer not in self.mixtures_:
            edge_layer(self.graph_, layer)
            raise DataError(
                f"links of the layer {layer!r} were not learned; learned: {', '.join(self.layers_)}"
            )
        return self.mixtures_[layer]

    def _other(self, graph: MultilayerGraph) -> MultilayerGraph:
        missing = [name for name in self.graph_.layers if name not in graph.layers]
        flat = with_edges(checked(graph)) if not missing else graph
        if missing:
            raise DataError(f"the graph has no layer {missing[0]!r}, which the model was fitted on")
        return in_name_order(flat).graph.select_layers(list(self.graph_.layers))

    def check_fitted(self) -> None:
        """Raise a ``NotFittedError`` unless it is fitted."""
        if not hasattr(self, "mixtures_"):
            raise NotFittedError("this GrammeLinks is not fitted yet; call fit first")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in CACHES}
