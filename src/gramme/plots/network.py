"""The network: nodes at one place in all layers, edges as lines, groups as stars around their middle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import Layer, MultilayerGraph, sorted_labels
from gramme.graph.layout import node_positions

from .style import COLOURS, axes, bare, class_colours, class_legend, panel_columns, panels, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LINES = 20_000
"""Edges or memberships that are drawn of a layer; of more a random sample, and the picture says so."""
MAX_PANELS = 12
_MAX_NAMES = 40  # nodes up to which names are written


def plot_graph(
    graph: MultilayerGraph,
    *,
    layer: str | None = None,
    by_layer: bool = False,
    colour: str | Sequence[Any] | None = None,
    names: bool | None = None,
    positions: NDArray[np.float64] | None = None,
    ax: Axes | None = None,
) -> Any:
    """Draw a graph; called as :meth:`gramme.MultilayerGraph.plot`.

    Parameters
    ----------
    graph : MultilayerGraph
    layer : str, optional
        One layer alone; all of them in one picture if not given, each in a colour of its own unless nodes have one.
    by_layer : bool, default=False
        A panel for each layer, nodes at the same places.
    colour : sequence, optional
        A value per node to colour by; numbers get a scale, other values a colour each. The labels if not given.
    names : bool, optional
        Whether to write the nodes' names; if not given, for up to 40 nodes.
    positions : array, shape (nodes, 2), optional
        Where nodes stand; by all layers together if not given (``gramme.graph.layout``).
    ax : matplotlib axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib axes
        With ``by_layer`` an array of them.
    """
    node_places = node_positions(graph) if positions is None else np.asarray(positions, dtype=float)
    if node_places.shape != (graph.num_nodes, 2):
        raise DataError(
            f"positions must have two numbers for each of the {graph.num_nodes} nodes, not shape {node_places.shape}"
        )
    node_paint = _Paint.of(graph, colour)
    write_names = graph.num_nodes <= _MAX_NAMES if names is None else names
    if by_layer:
        if ax is not None or layer is not None:
            raise DataError("by_layer=True makes a figure of its own; leave out ax and layer")
        shown_layers = list(graph.layers)[:MAX_PANELS]
        layer_panels = panels(len(shown_layers))
        for one, name in zip(layer_panels, shown_layers, strict=True):
            _draw(one, graph, [name], node_places, node_paint, names=write_names and graph.num_nodes <= 15)
            one.set_title(shortened(name), fontsize=9)
        node_paint.explain(layer_panels[panel_columns(len(shown_layers)) - 1], layer_panels)
        if graph.num_layers > len(shown_layers):
            layer_panels[-1].figure.supxlabel(f"{len(shown_layers)} of {graph.num_layers} layers", fontsize=8)
        return layer_panels
    chosen_layers = list(graph.layers) if layer is None else [layer]
    for name in chosen_layers:
        graph.layer(name)  # an unknown one is an error that suggests the nearest
    drawn = axes(ax, (5.4, 4.2))
    _draw(drawn, graph, chosen_layers, node_places, node_paint, names=write_names)
    drawn.set_title(shortened(layer or graph.name or "", 60), fontsize=10)
    node_paint.explain(drawn, drawn)
    if len(chosen_layers) > 1 and not node_paint.coloured:
        _explain_lines(drawn, chosen_layers)
    return drawn


class _Paint:
    """The colours of the nodes, and what they mean."""

    def __init__(self, values: Any, classes: list[Any] | None, unknown: bool) -> None:
        self.values, self.classes, self.unknown = values, classes, unknown

    @classmethod
    def of(cls, graph: MultilayerGraph, colour: Any) -> _Paint:
        if isinstance(colour, str):
            raise DataError(f"colour must have a value for each of the {graph.num_nodes} nodes, not {colour!r}")
        node_values = graph.labels if colour is None else graph.align(colour, "colour")
        if node_values is None:
            return cls([COLOURS[0]] * graph.num_nodes, None, False)
        known_values = [value for value in node_values if value is not None]
        is_numeric = all(
            isinstance(value, (int, float, np.number)) and not isinstance(value, bool) for value in known_values
        )
        if colour is not None and is_numeric and len(set(known_values)) > len(COLOURS):
            return cls(np.array([np.nan if one is None else one for one in node_values], float), [], False)
        class_values = sorted_labels(known_values)
        class_numbers = {value: place for place, value in enumerate(class_values)}
        class_codes = np.array([-1 if one is None else class_numbers[one] for one in node_values], dtype=np.int64)
        return cls(class_colours(class_codes), class_values, bool((class_codes < 0).any()))

    @property
    def coloured(self) -> bool:
        """Whether nodes differ in colour, so that edges must not."""
        return self.classes is not None

    def explain(self, ax: Axes, everywhere: Any) -> None:
        """A legend beside one panel, or a scale for all of them."""
        if self.classes:
            class_legend(ax, self.classes, unlabelled=self.unknown)
        elif self.coloured:
            shown = ax.collections[-1]
            ax.figure.colorbar(shown, ax=everywhere, shrink=0.7)


def _draw(
    ax: Axes, graph: MultilayerGraph, chosen: list[str], places: NDArray[np.float64], paint: _Paint, *, names: bool
) -> None:
    from matplotlib.collections import LineCollection

    left_out = 0
    is_present = np.zeros(graph.num_nodes, dtype=bool)
    colour_layers = len(chosen) > 1 and not paint.coloured
    for number, name in enumerate(chosen):
        layer = graph.layers[name]
        is_present |= layer.present
        line_ends, lines_left_out = _lines(layer, places)
        left_out += lines_left_out
        max_strength = 0.6 if layer.incidence() is None else 0.25  # stars lie close in their middle
        line_strength = float(np.clip(60 / np.sqrt(len(line_ends) + 1), 0.05, max_strength))
        colour = COLOURS[number % len(COLOURS)] if colour_layers else "#6b7683"
        ax.add_collection(LineCollection(list(line_ends), colors=colour, linewidths=0.8, alpha=line_strength, zorder=1))
    point_size = float(np.clip(2500 / max(graph.num_nodes, 1), 3, 40))
    shown_values = [one for one, there in zip(paint.values, is_present, strict=True) if there]
    ax.scatter(
        places[is_present, 0],
        places[is_present, 1],
        s=point_size,
        c=shown_values,
        linewidths=0.4,
        edgecolors="white",
        zorder=2,
    )
    if names:
        name_style: Any = {"xytext": (4, 3), "textcoords": "offset points", "fontsize": 7, "zorder": 3}
        for place in np.flatnonzero(is_present).tolist():
            ax.annotate(shortened(str(graph.nodes[place]), 16), places[place], **name_style)
    bare(ax)
    ax.margins(0.06)
    if left_out:
        ax.set_xlabel(f"{left_out:,} edges or memberships are not drawn", fontsize=7)


def _lines(layer: Layer, places: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Both ends of every line of a layer, shape (lines, 2, 2), and how many were left out."""
    incidence = layer.incidence()
    if incidence is None:
        edges = layer.to_edges()
        line_starts, line_ends = places[edges.source], places[edges.target]
    else:  # from each member to the middle of its group, where there are two at least
        memberships = incidence.tocoo()
        node, group = memberships.coords
        group_sizes = np.bincount(group, minlength=incidence.shape[1])
        coordinate_sums = [np.bincount(group, weights=places[node, k], minlength=group_sizes.size) for k in (0, 1)]
        group_middles = np.stack(coordinate_sums, axis=1) / np.maximum(group_sizes, 1)[:, None]
        in_real_group = group_sizes[group] > 1
        line_starts, line_ends = places[node[in_real_group]], group_middles[group[in_real_group]]
    line_count = len(line_starts)
    if line_count > MAX_LINES:
        kept_lines = np.sort(np.random.default_rng(0).choice(line_count, MAX_LINES, replace=False))
        line_starts, line_ends = line_starts[kept_lines], line_ends[kept_lines]
    return np.stack([line_starts, line_ends], axis=1), max(0, line_count - MAX_LINES)


def _explain_lines(ax: Axes, chosen: list[str]) -> None:
    from matplotlib.lines import Line2D

    first_legend = ax.get_legend()
    layer_marks = [
        Line2D([], [], color=COLOURS[place % len(COLOURS)], linewidth=1.4, label=shortened(name))
        for place, name in enumerate(chosen[: len(COLOURS)])
    ]
    ax.legend(handles=layer_marks, loc="lower left", bbox_to_anchor=(1.0, 0.0), frameon=False, fontsize=8)
    if first_legend is not None:
        ax.add_artist(first_legend)
