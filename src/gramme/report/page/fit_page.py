"""The page of a fit: collects everything a reader may ask about it, and writes it as one HTML file.

All that a page shows lies in its data block, and ``html.render`` needs nothing else. So ``gramme report DIR`` makes
the page anew from ``report.html`` itself, without the data the model was fitted on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._plugins import Registry
from gramme.graph import MultilayerGraph
from gramme.io.atomic import write_files
from gramme.methods import NodeClassifier
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.auto.gramme_auto import GrammeAuto
from gramme.methods.auto.ingredients import INGREDIENTS
from gramme.methods.explain import reasons
from gramme.plots.plane import plane
from gramme.report.tables import layer_table

from .fit_facts import graph_facts, page_head
from .html import pack_shares, render
from .layer_comparison import layer_comparison
from .network import network
from .node_details import LEARNED, leading_groups, neighbourhoods, node_table, packed_sets, why


@dataclass(frozen=True)
class Section:
    """A further section of the page of a fit.

    Parameters
    ----------
    name : str
        Its anchor on the page.
    heading : str
    content : callable
        Of the model and the graph: a table, a text, or None where there is nothing to show.
    """

    name: str
    heading: str
    content: Callable[[NodeClassifier, MultilayerGraph], pd.DataFrame | str | None]

    def data(self, model: NodeClassifier, graph: MultilayerGraph) -> dict[str, Any]:
        """What the page's data block holds of it."""
        content = self.content(model, graph)
        found: dict[str, Any] = {"name": self.name, "heading": self.heading}
        if isinstance(content, pd.DataFrame):
            heads = [str(column) for column in content]
            cells = content.head(200).astype(object)
            return found | {"heads": heads, "rows": cells.where(cells.notna(), "").to_numpy().tolist()}
        return found | {"text": content}


SECTIONS = Registry[Section]((), lambda section: section.name, "gramme.sections", Section)
"""Sections that come after those of gramme's own."""
register_section = SECTIONS.add


def write_fit_page(
    path: Path,
    model: NodeClassifier,
    graph: MultilayerGraph,
    *,
    known: Iterable[Any] | None = None,
    estimate: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
) -> Path:
    """Write the page of a model that was fitted on the graph; it appears whole or not at all.

    ``known`` are the labels it was fitted on, None where unknown (the graph's own if not given), ``estimate`` is the
    record of an :class:`~gramme.evaluation.Estimate` with its ``predictions``, and ``config`` what ``config.json``
    notes. What is missing is left out of the page.
    """
    data = fit_data(model, graph, known=known, estimate=estimate, config=config)
    write_files({Path(path): render(data)})
    return Path(path)


def fit_data(
    model: NodeClassifier,
    graph: MultilayerGraph,
    *,
    known: Iterable[Any] | None = None,
    estimate: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything the page of a fit shows, as plain values; parameters as for :func:`write_fit_page`."""
    from .before_labels import next_labels  # which needs the format of this page

    estimate_record = dict(estimate or {"kind": "none"})
    node_rows = node_table(model, graph, known, estimate_record.pop("predictions", None))
    shown_nodes = node_rows.chosen()
    layer_rows = layer_table(model)
    # as the model saw it, couplings between layers are layers too
    fitted_graph: MultilayerGraph = vars(model).get("graph_", graph)
    for inner_model in getattr(model, "models_", {}).values():
        # the ingredients of a loaded mixture do not hold the graph, which attention is computed from
        if "graph_" not in vars(inner_model):
            inner_model.graph_ = fitted_graph
    layer_order = list(fitted_graph.layers)
    if layer_rows is not None:
        layer_order = layer_rows.sort_values("importance", ascending=False, kind="stable")["layer"].tolist()
    shown_neighbourhoods = neighbourhoods(model, fitted_graph, shown_nodes, layer_order)
    # without nodes, or with one class only, there is nothing to explain
    why_so = reasons(model, fitted_graph, shown_nodes) if shown_nodes.size and len(model.classes_) > 1 else None
    class_names = [str(label) for label in model.classes_.tolist()]
    return page_head("fit", config or {}, graph.name) | {
        "method": type(model).__name__,
        "graph": graph_facts(graph),
        "labels": {
            "learned": int((node_rows.use == 1).sum()),
            "held_out": int((node_rows.use == 2).sum()),
            "classes": class_names,
        },
        "estimate": estimate_record,
        "doubtful": int(node_rows.doubtful.sum()),
        "layers": None if layer_rows is None else layer_rows.to_dict(orient="list"),
        "stories": layer_comparison(
            fitted_graph, layer_order, np.where(node_rows.use == LEARNED, node_rows.label, 0), node_rows.labels
        ),
        "members": len(getattr(model, "layer_importances_", ())) or None,
        "explanation": getattr(model, "explanation_", None),
        "ingredients": _ingredients(model),
        "history": _table(getattr(model, "history_", None), rows=2000),
        "nodes": node_rows.packed(shown_nodes) | _sets(model, shown_nodes, class_names, config),
        "map": _map(model, graph, shown_nodes),
        "neighbourhoods": shown_neighbourhoods,
        "network": network(graph, shown_nodes, layer_order, held=[layer["name"] for layer in shown_neighbourhoods])
        if shown_nodes.size
        else None,
        "why": why(model, fitted_graph, shown_nodes, why_so),
        "leading_groups": leading_groups(why_so, fitted_graph, class_names),
        "next_labels": next_labels(graph, node_rows.learned_labels(), node_rows.use > 0),
        "further": [section.data(model, graph) for section in SECTIONS.values()],
    }


def _sets(
    model: NodeClassifier, chosen: NDArray[np.int64], classes: list[str], config: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The plausible classes of each node, where they were asked for and something is promised of them."""
    wanted = (config or {}).get("sets")
    if not wanted or not wanted["enough"] or not chosen.size:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is not promised is told with the sets
        sets = model.predict_set(coverage=wanted["coverage"], by_class=wanted["by_class"])
    return {"sets": packed_sets(sets[chosen], classes)}


def _map(model: NodeClassifier, graph: MultilayerGraph, chosen: NDArray[np.int64]) -> dict[str, Any]:
    """Places of the nodes after training and, where a method starts from features, before it."""
    if isinstance(model, GrammeAuto):  # what is shown is what predicts: all of it, not one ingredient's embedding
        after = plane(model.evidence(chosen))
        return {"source": "mixture", "how": after.how, "after": _pack(after.places)}
    embedding = getattr(model, "embedding_", None)
    source = "embedding" if embedding is not None else "probabilities"
    rows = model.predict_proba() if embedding is None else np.asarray(embedding)
    after = plane(rows[chosen])
    found: dict[str, Any] = {"source": source, "how": after.how, "after": _pack(after.places)}
    start = _starting_features(model, graph, chosen)
    if start is not None:
        before = plane(start)
        words = start_in_words(getattr(model, "source_", "random"))
        found |= {"before": _pack(before.places), "how_before": before.how, "start": words}
    return found


def start_in_words(source: str) -> str:
    """What a network starts from, in words.

    >>> start_in_words("walks+random")
    'where walks through the network lead and random numbers'
    """
    words = {
        "given": "the nodes’ attributes",
        "walks": "where walks through the network lead",
        "random": "random numbers",
    }
    kinds = "given+random" if source == "both" else source
    return " and ".join(words[kind] for kind in kinds.split("+"))


def _pack(places: NDArray[np.float64]) -> dict[str, Any]:
    return {"x": pack_shares(places[:, 0]), "y": pack_shares(places[:, 1])}


def _starting_features(
    model: NodeClassifier, graph: MultilayerGraph, chosen: NDArray[np.int64]
) -> NDArray[np.float32] | None:
    """What the first member of an ensemble of networks knew of some nodes before training, copies side by side."""
    if not isinstance(model, AttentionModel) or not chosen.size:
        return None
    features = model.start_features(graph, chosen)
    copies = features.reshape(-1, chosen.size, features.shape[-1])
    side: NDArray[np.float32] = np.concatenate(list(copies), axis=1)
    return side


def _ingredients(model: NodeClassifier) -> dict[str, list[Any]] | None:
    """What a mixture is made of, the largest first, with what each ingredient does; None for other methods."""
    ingredient_rows = getattr(model, "ingredients_", None)
    if ingredient_rows is None:
        return None
    fitted_models = getattr(model, "models_", {})
    ingredient_words = [
        INGREDIENTS[one].in_words(fitted_models[one]) if one in INGREDIENTS and one in fitted_models else ""
        for one in ingredient_rows["ingredient"]
    ]
    if any(ingredient_words):
        ingredient_rows = ingredient_rows.assign(what_it_is=ingredient_words)
    return _table(ingredient_rows.sort_values("weight", ascending=False, kind="stable"))


def _table(table: pd.DataFrame | None, rows: int = 200) -> dict[str, list[Any]] | None:
    """The columns of a table as lists, thinned evenly where it has very many rows."""
    if table is None or not len(table):
        return None
    if len(table) > rows:
        table = table.iloc[np.unique(np.linspace(0, len(table) - 1, rows).astype(int))]
    return {str(column): table[column].tolist() for column in table}
