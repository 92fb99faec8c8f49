"""What the data alone say about the layers: which ones are alike, and which ones go with which class.

Both come from the layers and the labels that were learned from, not from the model: they hold for every method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.evaluation.metrics import accuracy_interval
from gramme.graph import MultilayerGraph
from gramme.graph.layer import Layer

from .html import name, soft_name

# Which layers are alike: the correlation of two layers over all pairs of nodes.


MAX_PRODUCTS = 3_000_000
"""Products of two memberships or edges that are taken; beyond them nodes are sampled."""


@dataclass(frozen=True)
class LayerSimilarity:
    """How alike layers are.

    Attributes
    ----------
    table : DataFrame
        Correlations, a row and a column per layer; NaN for a layer that joins all pairs alike, or none.
    nodes : int
        Nodes whose pairs were looked at: all, or a random sample.
    """

    table: pd.DataFrame
    nodes: int


def layer_similarity(
    graph: MultilayerGraph, layers: Sequence[str] | None = None, *, random_state: int = 0
) -> LayerSimilarity:
    """The correlation of every two layers over the pairs of nodes.

    Parameters
    ----------
    graph : MultilayerGraph
    layers : sequence of str, optional
        Names of layers, in the order wanted; all if not given. A node that a layer does not hold is joined to
        nobody there.
    random_state : int, default=0
        For the sample of nodes of a large graph.

    Examples
    --------
    >>> from gramme.graph import MembershipLayer
    >>> one, other = (
    ...     MembershipLayer.from_codes([0, 0, 1, 1]),
    ...     MembershipLayer.from_codes([0, 1, 0, 1]),
    ... )
    >>> g = MultilayerGraph({"a": one, "b": one, "c": other})
    >>> layer_similarity(g).table.round(2).loc["a"].tolist()
    [1.0, 1.0, -0.5]
    """
    names = list(graph.layers if layers is None else layers)
    chosen = {name: graph.layer(name) for name in names}
    nodes = _looked_at(list(chosen.values()), graph.num_nodes, random_state)
    if nodes.size < graph.num_nodes:
        chosen = {name: layer.subset(nodes) for name, layer in chosen.items()}
    sums, products = _sums(list(chosen.values()), nodes.size)
    pairs = max(nodes.size * (nodes.size - 1), 1)
    covariance = products / pairs - np.outer(sums, sums) / pairs**2
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    # what rounding leaves of a layer that joins all pairs alike is not a deviation
    steady = deviation <= 1e-7 * np.sqrt(np.diag(products) / pairs)
    deviation[steady] = np.nan
    table = np.clip(covariance / np.outer(deviation, deviation), -1.0, 1.0)
    return LayerSimilarity(pd.DataFrame(table, index=names, columns=names), int(nodes.size))


def _looked_at(layers: list[Layer], count: int, random_state: int) -> NDArray[np.int64]:
    """All nodes, or a sample whose pairs are few enough to look at."""
    groups, edges = np.zeros(count), np.zeros(count)
    for layer in layers:
        inside = layer.incidence()
        if inside is None:
            edges += layer.degrees()
        else:
            groups += np.diff(inside.indptr)
    mean = float(groups.mean()) if count else 0.0
    work = float((groups**2).sum() + edges.sum() * (mean + len(layers)))
    if work <= MAX_PRODUCTS:
        return np.arange(count)
    kept = max(2, int(count * MAX_PRODUCTS / work))
    return np.sort(np.random.default_rng(random_state).choice(count, kept, replace=False))


def _sums(layers: list[Layer], count: int) -> tuple[Floats, Floats]:
    """The sum of each layer over all ordered pairs, and of the product of every two."""
    inside = [layer.incidence() for layer in layers]
    grouped = [place for place, matrix in enumerate(inside) if matrix is not None]
    edged = {
        place: _unit(layer.to_scipy())
        for place, layer in enumerate(layers)
        if inside[place] is None
    }
    empty = sp.csr_array((count, 0))
    parts = [_unit(matrix) for matrix in inside if matrix is not None]
    all_groups = sp.csr_array(sp.hstack([empty, *parts]))
    owner = np.repeat(grouped, [part.shape[1] for part in parts]).astype(np.int64)
    own = np.zeros((count, len(layers)))  # what a node shares with itself in each layer
    for place, part in zip(grouped, parts, strict=True):
        own[:, place] = part.multiply(part).sum(axis=1)

    sums = np.zeros(len(layers))
    products = np.zeros((len(layers), len(layers)))
    for place, part in zip(grouped, parts, strict=True):
        sums[place] = (np.asarray(part.sum(axis=0)) ** 2).sum() - own[:, place].sum()
    shared = (all_groups.T @ all_groups).tocoo()
    number = owner[shared.row] * len(layers) + owner[shared.col]
    products += np.bincount(number, shared.data**2, minlength=products.size).reshape(products.shape)
    products -= own.T @ own
    for place, matrix in edged.items():
        sums[place] = matrix.sum()
        heard = (matrix @ all_groups).multiply(all_groups).tocoo()
        across = np.bincount(owner[heard.col], heard.data, minlength=len(layers))
        for other, second in edged.items():
            across[other] = matrix.multiply(second).sum()
        products[place] += across
        products[grouped, place] += across[grouped]
    return sums, products


def _unit(matrix: sp.csr_array) -> sp.csr_array:
    """Divided by the largest weight: a correlation does not change, and squares of extreme weights stay finite."""
    return sp.csr_array(matrix / matrix.data.max(initial=1e-300))


MAX_COMPARED_LAYERS = 16
"""Layers in the table of similarities, the most important ones."""
MIN_ALIKE_CORRELATION = 0.5
"""A correlation from which two layers are said to tell much the same."""

_MAX_CLASSES = 12  # classes with a row, the most frequent ones
_MAX_NAMED = 4  # layers named for a class, and pairs named as alike
_MIN_NODES = 3  # labelled nodes with labelled neighbours, below which nothing is said about a class and a layer

Codes = NDArray[np.int64]


def layer_comparison(
    graph: MultilayerGraph, order: Sequence[str], codes: Codes, classes: Sequence[str]
) -> dict[str, Any]:
    """Similarities of the layers, and how much each speaks for each class.

    Parameters
    ----------
    graph : MultilayerGraph
    order : sequence of str
        Names of layers, the most important first.
    codes : array of int
        The class that was learned of each node, counted from 1; 0 where none was.
    classes : sequence of str
    """
    compared = list(order)[:MAX_COMPARED_LAYERS]
    alike = layer_similarity(graph, compared)
    known = np.flatnonzero(codes)
    counts = np.bincount(codes[known], minlength=len(classes) + 1)[1:]
    kept = np.argsort(-counts, kind="stable")[:_MAX_CLASSES]
    spoken = [
        class_shares(graph.layers[layer], codes, len(classes))
        for layer in compared
        if graph.num_nodes
    ]
    return {
        "layers": compared,
        "total_layers": graph.num_layers,
        "nodes": alike.nodes,
        "all_nodes": graph.num_nodes,
        "similarity": [[_number(value) for value in row] for row in alike.table.to_numpy()],
        "classes": [
            {
                "class": classes[place],
                "labelled": int(counts[place]),
                "chance": (counts[place] - 1) / (known.size - 1),
                "layers": [
                    {"layer": layer, "share": share[place], "nodes": int(heard[place])}
                    for layer, (share, heard) in zip(compared, spoken, strict=True)
                    if heard[place]
                ],
            }
            for place in np.sort(kept).tolist()
            if counts[place] and known.size > 1
        ],
        "total_classes": int((counts > 0).sum()),
    }


def class_shares(
    layer: Layer, codes: Codes, classes: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each class: of the labelled neighbours of its labelled nodes, the share that is of the class too.

    The mean over the nodes that have labelled neighbours, and how many these are.
    """
    known = np.flatnonzero(codes)
    said = np.zeros((layer.num_nodes, classes))
    said[known, codes[known] - 1] = 1.0
    inside = layer.incidence()
    if inside is None:
        heard = layer.to_scipy() @ said
    else:
        heard = inside @ (inside.T @ said) - inside.multiply(inside).sum(axis=1)[:, None] * said
    total = heard.sum(axis=1)
    nodes = known[total[known] > 1e-9 * total.max(initial=0.0)]
    mine = codes[nodes] - 1
    share = np.clip(heard[nodes, mine] / total[nodes], 0.0, 1.0)
    many = np.bincount(mine, minlength=classes)
    return np.bincount(mine, share, minlength=classes) / np.maximum(many, 1), many


def _number(value: float) -> float | None:
    return None if value != value else round(float(value), 4)


def stories_section(data: dict[str, Any]) -> str:
    """The table of similarities and the table of classes; nothing for a page from before there were any."""
    stories = data.get("stories")
    if not stories:
        return ""
    return _similarity(stories) + _classes(stories)


def _similarity(stories: dict[str, Any]) -> str:
    layers, table = stories["layers"], stories["similarity"]
    if len(layers) < 2:
        return ""
    title = "<h3>Which layers are alike</h3>"
    if not any(value is not None for row in table for value in row):
        return f"{title}<p>{similarity_told(layers, table)}</p>"
    head = "".join(f'<th scope="col">{place}</th>' for place in range(1, len(layers) + 1))
    rows = []
    for place, layer in enumerate(layers):
        cells = "".join(
            _cell(table[place][other], same=place == other) for other in range(len(layers))
        )
        rows.append(
            f'<tr><th scope="row"><span class="faint">{place + 1}</span> {soft_name(layer, 40)}</th>{cells}</tr>'
        )
    sampled = ""
    if stories["nodes"] < stories["all_nodes"]:
        sampled = f" Computed among {stories['nodes']:,} nodes drawn at random."
    some = ""
    if len(layers) < stories["total_layers"]:
        some = f" Shown are the {len(layers)} most important of {stories['total_layers']:,} layers."
    return (
        f"{title}<p>{similarity_told(layers, table)} "
        "The numbers are correlations of two layers over all pairs of nodes: 1 where they join the same pairs, 0 where "
        "one says nothing about the other, below 0 where one joins the pairs that the other does not."
        f'{sampled}{some}</p><div class="scroll" tabindex="0" role="region" aria-label="Similarity of layers">'
        '<table class="confusion alike"><caption class="sr">Correlations of layers</caption>'
        f"<thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(value: float | None, *, same: bool) -> str:
    if value is None:
        return '<td class="faint">–</td>'
    if same:
        return '<td class="faint">·</td>'
    kind = "right" if value >= 0 else "wrong"
    level = 0 if abs(value) < 0.05 else 1 + min(7, int(abs(value) * 10))
    return f'<td class="{kind} heat{level}">{_signed(value)}</td>'


def _signed(value: float) -> str:
    """Two digits, with a proper minus sign.

    >>> _signed(-0.25), _signed(-0.001)
    ('−0.25', '0.00')
    """
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "−")


def similarity_told(layers: Sequence[str], table: Sequence[Sequence[float | None]]) -> str:
    """The table of similarities in words, from its numbers."""
    pairs = [
        (value, layers[one], layers[other])
        for one in range(len(layers))
        for other in range(one + 1, len(layers))
        if (value := table[one][other]) is not None
    ]
    if not pairs:
        return "No two layers can be compared: each joins no pair of nodes, or all pairs alike."
    pairs.sort(key=lambda pair: -pair[0])
    alike = [pair for pair in pairs if pair[0] >= MIN_ALIKE_CORRELATION]
    if alike:
        told = "; ".join(
            f"{name(one, 40)} and {name(other, 40)} ({value:.2f})"
            for value, one, other in alike[:_MAX_NAMED]
        )
        more = f" and {len(alike) - _MAX_NAMED:,} more pairs" if len(alike) > _MAX_NAMED else ""
        more = more.replace(" 1 more pairs", " 1 more pair")
        return f"Much the same is told by {told}{more}."
    value, one, other = pairs[0]
    return (
        f"No two layers tell much the same: even the two most alike, {name(one, 40)} and {name(other, 40)}, have a "
        f"correlation of {_signed(value)} only."
    )


def speaking_layers(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The layers that speak for a class: the share lies above chance by more than its 95 % interval."""
    found = []
    for layer in row["layers"]:
        if layer["nodes"] < _MIN_NODES:
            continue
        low, _ = accuracy_interval(layer["share"] * layer["nodes"], layer["nodes"])
        if low > row["chance"]:
            found.append(layer)
    return sorted(found, key=lambda layer: -layer["share"])


def _classes(stories: dict[str, Any]) -> str:
    rows = []
    none = '<span class="faint">none clearly</span>'
    for row in stories["classes"]:
        speaking = speaking_layers(row)
        told = ", ".join(
            f"{name(layer['layer'], 40)} {layer['share']:.0%}" for layer in speaking[:_MAX_NAMED]
        )
        if len(speaking) > _MAX_NAMED:
            told += f", and {len(speaking) - _MAX_NAMED:,} more"
        rows.append(
            f'<tr><th scope="row">{name(row["class"], 40)}</th><td class="number">{row["chance"]:.0%}</td>'
            f"<td>{told or none}</td></tr>"
        )
    if not rows:
        return ""
    some = ""
    if len(rows) < stories["total_classes"]:
        some = f" Shown are the {len(rows)} most frequent of {stories['total_classes']:,} classes."
    return (
        "<h3>Which layers speak for which class</h3>"
        "<p>Of the labelled neighbours that a class’s labelled nodes have in a layer, some share is of the same class. "
        "Named are the layers where this share is higher than chance by more than its 95 % interval, the highest "
        f'first.{some}</p><div class="scroll"><table><caption class="sr">Layers that speak for a class</caption>'
        "<thead><tr>"
        '<th scope="col">Class</th><th scope="col" class="number">By chance</th>'
        '<th scope="col">Layers that speak for it</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
