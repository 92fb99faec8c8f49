"""GrammeLinks: which pairs of nodes will be, or should be, linked, with a probability and the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from gramme._progress import advance, part
from gramme._runtime import one_thread_below
from gramme._text import share
from gramme._types import Floats
from gramme.errors import DataError, NotFittedError
from gramme.graph import EdgeLayer, Layer, MultilayerGraph
from gramme.graph.canonical import checksum, in_name_order
from gramme.graph.node_values import same_features
from gramme.io.atomic import write_files
from gramme.io.formats.graphml import write_gexf
from gramme.methods.params import Number, RandomSeed, check_parameters, parameter_rules, seed_from
from gramme.methods.persistence import write_model

from .evidence import Evidence, Gathered
from .expected import ExpectedLinks, FoundRanks, LinkRates, missing_links
from .explain import changes, explanation, ingredient_table, named_reasons, network_parts, reasons
from .mixture import FittedMixtures, LayerExamples, LayerMixture, fitted_mixtures
from .pair_scores import Pairs, WalkCloseness, entries
from .sampling import (
    checked,
    columns,
    easily_told,
    edge_layer,
    evidence_only,
    given_examples,
    groups_asked_about,
    layers_to_learn,
    named_pairs,
    num_rounds,
    set_aside,
    with_all_edges,
    with_edges,
)
from .saved import links_record, read_links

_BLOCK = 200_000
Tell = Callable[[int, int], None]


class LearningSteps:
    """Counts steps: a part set aside, what all layers share of the mixtures, each mixture."""

    def __init__(self, parts: Mapping[str, int], tell: Tell | None = None) -> None:
        self.tell = tell
        self.total = sum(parts.values()) + len(parts) + 1
        self.done = self.done_here = 0
        self.steps_here = 1
        self._shared_among = self.total + len(parts)  # with a look at all edges of each layer

    @contextmanager
    def within(self, name: str, steps: int) -> Iterator[None]:
        """Some of the steps, which count alike."""
        self.done_here, self.steps_here = 0, max(steps, 1)
        with part(name, steps / self._shared_among):
            yield

    def __call__(self) -> None:
        """Take note of one step more."""
        self.done += 1
        self.done_here += 1
        advance(min(self.done_here / self.steps_here, 1.0))
        if self.tell is not None:
            self.tell(self.done, self.total)


CACHES = ("_walks", "_listed", "_network_parts", "_unrated")


@dataclass(eq=False, repr=False)
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

    random_state: RandomSeed = 0
    missing_share: Annotated[float, Number(0, 1, open_low=True)] = 0.2

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
        check_parameters(parameter_rules(GrammeLinks), self.get_params(deep=False))
        seed = seed_from(self.random_state)
        for attribute_name in [name for name in vars(self) if name.endswith("_") or name in CACHES]:
            delattr(self, attribute_name)
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
        learned_layers = layers_to_learn(with_edges(graph), layers)
        ordered_graph = in_name_order(graph).graph  # chance and ties follow names
        groups_asked = groups_asked_about(ordered_graph, learned_layers)
        graph = with_edges(ordered_graph)
        num_parts = {name: 0 if name in given else num_rounds(graph, name) for name in learned_layers}
        gathered = Gathered.affordable(graph, columns(groups_asked))
        step = LearningSteps(num_parts, tell)
        self.graph_, self.layers_, self.gathered_ = graph, learned_layers, gathered
        all_examples: dict[str, LayerExamples] = {}
        for layer_name in sorted(learned_layers):
            with step.within(f"evidence in {layer_name}", num_parts[layer_name]):
                if layer_name in given:
                    evidence = self._evidence(graph, layer_name)
                    all_examples[layer_name] = given_examples(graph, layer_name, evidence, *given[layer_name])
                else:
                    all_examples[layer_name] = set_aside(
                        graph, layer_name, gathered, seed, step, groups_asked.get(layer_name)
                    )
            with step.within(f"all edges of {layer_name}", 1):
                if layer_name not in given:
                    all_examples[layer_name] = with_all_edges(
                        all_examples[layer_name], self._evidence(graph, layer_name)
                    )
        if all(layer_examples.linked.all() for layer_examples in all_examples.values()):
            raise DataError(
                "all nodes are linked to each other in every layer: there is no pair without a link to learn from or "
                "to ask about"
            )
        with step.within("weighing the evidence", len(learned_layers) + 1):
            fit_result = fitted_mixtures(all_examples, seed, step)
        self.mixtures_ = fit_result.mixtures
        self.unseen_scores_: dict[str, sp.csr_array] = {}
        for layer_name in learned_layers:
            fold_of_pair = fit_result.fold_of_pairs(layer_name, all_examples[layer_name], graph.num_nodes)
            self.unseen_scores_[layer_name] = self._unseen(layer_name, fold_of_pair, fit_result.by_fold[layer_name])
        self.rates_: dict[str, LinkRates] = {}
        self.__dict__["_unrated"] = {
            name: partial(self._link_rates, name, all_examples[name], fit_result) for name in learned_layers
        }
        all_examples = {name: all_examples[name] for name in learned_layers}
        self.ingredients_ = ingredient_table(all_examples, self.mixtures_)
        assumed_share = f"Probabilities hold if {share(self.missing_share)} of a layer's links are missing in the data."
        more_words = [assumed_share, *easily_told(graph, learned_layers, groups_asked)]
        more_words += evidence_only(graph, learned_layers) if layers is None else []
        self.scores_, self.explanation_ = explanation(all_examples, fit_result.unseen, self.ingredients_, more_words)
        return self

    def predict_proba(self, layer: str, pairs: Any, graph: MultilayerGraph | None = None) -> Floats:
        """The chance that each pair of node names is a link, at the rate among candidates, shape (pairs,).

        It holds if ``missing_share`` of the layer's links are missing in the data. Its order is that of
        :meth:`balanced_scores`.

        Parameters
        ----------
        layer : str
        pairs : sequence of (source, target)
            By name, without an edge between them: walks have seen the edges of the graph.
        graph : MultilayerGraph, default=None
            Another graph with the same layers, perhaps with new nodes; the fitted one if not given.
        """
        scores = self.balanced_scores(layer, pairs, graph)
        return self._rates(layer).probability(scores)

    def balanced_scores(self, layer: str, pairs: Any, graph: MultilayerGraph | None = None) -> Floats:
        """The probability of a link if pairs were drawn from as many linked as unlinked ones, shape (pairs,).

        It compares pairs with random ones, whatever the number of missing links. Parameters as for
        :meth:`predict_proba`.
        """
        mixture = self._mixture(layer)
        visible_graph = self.graph_
        if graph is not None:
            ordered_graph = self._other(graph)
            # pairs of the fitted graph that were learned from have scores of their own
            if checksum(ordered_graph) != checksum(visible_graph) or not same_features(
                ordered_graph.features, visible_graph.features
            ):
                visible_graph = ordered_graph
        pair_positions = named_pairs(visible_graph, pairs)
        return self._scores(self._evidence(visible_graph, layer), mixture, pair_positions)

    def candidates(self, layer: str, top: int = 100, node: Any = None, tell: Tell | None = None) -> pd.DataFrame:
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
            same if links were as frequent as unlinked pairs), ``why``, with the names of those who join the two, and
            ``change``: whether a link bridges two parts of the network, closes triangles or shortens a path; most
            probable first.
        """
        self._mixture(layer, top)
        all_pairs, all_scores = self._candidates(layer, node, tell)
        best_first = np.argsort(-all_scores, kind="stable")[:top]
        return self._table(
            layer, self._evidence(self.graph_, layer), all_pairs[best_first], all_scores[best_first], node
        )

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
        self._mixture(layer, top)
        _, scores = self._candidates(layer, node)
        return self.expected_of(layer, np.sort(scores)[::-1][:top])

    def expected_of(self, layer: str, scores: Any) -> ExpectedLinks:
        """How many pairs with these :meth:`balanced_scores` are expected to be links."""
        self._mixture(layer)
        rates = self._rates(layer)
        return rates.expected(rates.probability(np.asarray(scores, dtype=np.float64)))

    def explained(self, layer: str, pairs: Any) -> pd.DataFrame:
        """The given pairs with probability, score and reason, in the form of :meth:`candidates`."""
        mixture = self._mixture(layer)
        evidence = self._evidence(self.graph_, layer)
        pair_positions = named_pairs(self.graph_, pairs)
        return self._table(layer, evidence, pair_positions, self._scores(evidence, mixture, pair_positions))

    def to_gephi(self, links: pd.DataFrame, path: Any) -> None:
        """Write the graph for Gephi (GEXF), with the candidates as further layers, weighed by their probability.

        Parameters
        ----------
        links : DataFrame
            As from :meth:`candidates`, of one layer or several.
        path : path
        """
        self.check_fitted()
        layers: dict[str, Layer] = dict(self.graph_.layers)
        for layer, layer_links in links.groupby("layer", sort=False):
            candidates_name = f"{layer} (candidates)"
            while candidates_name in layers:
                candidates_name += " "
            pair_positions = named_pairs(self.graph_, layer_links[["source", "target"]])
            link_probability, directed = layer_links["probability"].to_numpy(), self.graph_.layers[str(layer)].directed
            layers[candidates_name] = EdgeLayer(
                self.graph_.num_nodes, pair_positions[:, 0], pair_positions[:, 1], link_probability, directed=directed
            )
        write_files(write_gexf(self.graph_.replace(layers=layers), Path(path)))

    def save(self, path: Any) -> None:
        """Write the fitted model, with the graph its evidence is from, to a safetensors file."""
        self.check_fitted()
        for layer in self.layers_:
            self._rates(layer)
        write_model(path, type(self).__name__, self.get_params(), links_record(self))

    @classmethod
    def load(cls, path: Any) -> GrammeLinks:
        """Read a model that was saved with :meth:`save`."""
        parameters, learned = read_links(path, cls.__name__)
        model = cls(**parameters)
        model.__dict__.update(learned)
        return model

    # Inside

    def _evidence(self, graph: MultilayerGraph, layer: str) -> Evidence:
        """The evidence in a graph; where walks lead in the fitted one is found once for all layers."""
        if graph is not self.graph_:
            return Evidence(graph, layer, self.gathered_)
        closeness_by_layer: dict[str, WalkCloseness] = self.__dict__.setdefault("_walks", {})
        closeness_key = layer if layer in self.gathered_.excluded_layers else ""
        if closeness_key not in closeness_by_layer:
            closeness_by_layer[closeness_key] = self.gathered_.closeness(graph, layer)
        return Evidence(graph, layer, self.gathered_, closeness_by_layer[closeness_key])

    def _scores(self, evidence: Evidence, mixture: LayerMixture, pairs: Pairs, tell: Tell | None = None) -> Floats:
        pair_scores = np.zeros(len(pairs))
        for block_start in range(0, len(pairs), _BLOCK):
            block_slice = slice(block_start, block_start + _BLOCK)
            pair_scores[block_slice] = mixture.probability(evidence.of(pairs[block_slice]))
            if evidence.graph is self.graph_:
                block_pairs = pairs[block_slice] if evidence.is_directed else np.sort(pairs[block_slice], axis=1)
                unseen_scores = entries(self.unseen_scores_[evidence.layer], block_pairs)
                pair_scores[block_slice] = np.where(unseen_scores > 0, unseen_scores, pair_scores[block_slice])
            if tell is not None:
                tell(min(block_start + _BLOCK, len(pairs)), len(pairs))
        return pair_scores

    def _candidates(self, layer: str, node: Any = None, tell: Tell | None = None) -> tuple[Pairs, Floats]:
        """All candidates of a layer, or of a node in it, with their scores."""
        listed_by_layer: dict[str, tuple[Pairs, Floats]] = self.__dict__.setdefault("_listed", {})
        if node is None and layer in listed_by_layer:
            return listed_by_layer[layer]
        source_nodes = None if node is None else self.graph_.positions([node])
        with one_thread_below(self.graph_.num_entries):
            evidence = self._evidence(self.graph_, layer)
            layer_edges = self.graph_.layers[layer]
            candidate_pairs = evidence.candidates(layer_edges.to_scipy(), layer_edges.present, source_nodes)
            if source_nodes is not None and layer_edges.directed:
                candidate_pairs = candidate_pairs[candidate_pairs[:, 0] == source_nodes]
            pairs_and_scores = candidate_pairs, self._scores(evidence, self.mixtures_[layer], candidate_pairs, tell)
        if node is None:
            listed_by_layer[layer] = pairs_and_scores
        return pairs_and_scores

    def _unseen(self, name: str, fold_of_pair: sp.csr_array, mixtures: Sequence[LayerMixture]) -> sp.csr_array:
        """The scores of unlinked pairs that were learned from, by mixtures that have not seen them."""
        fold_entries = fold_of_pair.tocoo()
        pairs = np.column_stack([fold_entries.row, fold_entries.col]).astype(np.int64)
        is_unlinked = entries(self.graph_.layers[name].to_scipy(), pairs) == 0
        pairs, fold_index = pairs[is_unlinked], fold_entries.data[is_unlinked] - 1
        evidence = self._evidence(self.graph_, name)
        unseen_scores = np.zeros(len(pairs))
        for fold_number in np.unique(fold_index):
            in_fold = fold_index == fold_number
            unseen_scores[in_fold] = mixtures[fold_number].probability(evidence.of(pairs[in_fold]))
        return sp.csr_array((unseen_scores, (pairs[:, 0], pairs[:, 1])), shape=fold_of_pair.shape)

    def _rates(self, layer: str) -> LinkRates:
        """From scores to probabilities: found when they are first asked for, since that takes a list of candidates."""
        pending_rates = self.__dict__.get("_unrated", {})
        if (compute_rates := pending_rates.get(layer)) is not None:
            self.rates_[layer] = compute_rates()
            pending_rates.pop(layer, None)  # another thread may have done the same
        return self.rates_[layer]

    def _link_rates(self, name: str, examples: LayerExamples, fitted: FittedMixtures) -> LinkRates:
        """From scores to probabilities, by the ranks of edges set aside in lists of candidates."""
        layer_edges = self.graph_.layers[name]
        _, candidate_scores = self._candidates(name)
        if examples.lists:
            fold_of_pair = fitted.fold_of_pairs(name, examples, self.graph_.num_nodes)
            found_ranks = FoundRanks.of_lists(examples, fitted.by_fold[name], fold_of_pair)
        else:
            linked_scores = fitted.unseen[name][examples.linked]
            found_ranks = FoundRanks.of_scores(linked_scores, candidate_scores)
        num_nodes = int(layer_edges.present.sum())
        num_unlinked = num_nodes * (num_nodes - 1) // (1 if layer_edges.directed else 2) - layer_edges.num_edges
        num_missing = missing_links(layer_edges.num_edges, self.missing_share, num_unlinked)
        return LinkRates.of(found_ranks, candidate_scores, num_missing, num_unlinked)

    def _table(self, layer: str, evidence: Evidence, pairs: Pairs, scores: Floats, node: Any = None) -> pd.DataFrame:
        node_names = self.graph_.nodes
        if "_network_parts" not in self.__dict__:  # over all layers, so found once
            any_evidence = self._evidence(self.graph_, self.layers_[0])
            self.__dict__["_network_parts"] = network_parts(any_evidence, seed_from(self.random_state))
        if node is not None and len(pairs):
            node_position = self.graph_.positions([node])[0]
            pairs = np.where((pairs[:, 1] == node_position)[:, None], pairs[:, ::-1], pairs)
        return pd.DataFrame(
            {
                "layer": np.full(len(pairs), layer, dtype=object),
                "source": node_names[pairs[:, 0]].to_numpy().astype(object),
                "target": node_names[pairs[:, 1]].to_numpy().astype(object),
                "probability": self._rates(layer).probability(scores),
                "score": scores,
                "why": reasons(self.mixtures_[layer], evidence.of(pairs), named_reasons(evidence, pairs)),
                "change": changes(evidence, pairs, self.__dict__["_network_parts"]),
            }
        )

    def _mixture(self, layer: str, top: int = 1) -> LayerMixture:
        self.check_fitted()
        if top < 1:
            raise DataError(f"top must be at least 1, not {top}")
        self.graph_.layer(layer)
        if layer not in self.mixtures_:
            edge_layer(self.graph_, layer)
            raise DataError(f"links of the layer {layer!r} were not learned; learned: {', '.join(self.layers_)}")
        return self.mixtures_[layer]

    def _other(self, graph: MultilayerGraph) -> MultilayerGraph:
        for layer_name in self.graph_.layers:
            if layer_name not in graph.layers:
                raise DataError(f"the graph has no layer {layer_name!r}, which the model was fitted on")
        return in_name_order(with_edges(checked(graph))).graph.select_layers(list(self.graph_.layers))

    def check_fitted(self) -> None:
        """Raise a ``NotFittedError`` unless it is fitted."""
        if not hasattr(self, "mixtures_"):
            raise NotFittedError("this GrammeLinks is not fitted yet; call fit first")

    def __getstate__(self) -> dict[str, Any]:
        for layer in [*self.__dict__.get("_unrated", {})]:
            self._rates(layer)
        return {
            attribute_name: attribute_value
            for attribute_name, attribute_value in vars(self).items()
            if attribute_name not in CACHES
        }
