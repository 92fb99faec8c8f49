"""Places in the plane for the rows of an embedding, so that nodes the model sees alike lie near each other.

Few nodes are laid out by t-SNE, which keeps groups apart; for more of them that takes too long, and the two main
directions of variation (principal components) do. Both give the same places every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme._text import share

MAX_TSNE_NODES = 800
"""Nodes up to which t-SNE takes seconds on one core."""

_MIN_TSNE_NODES = 8
_PCA_COMPONENTS = 50
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True)
class Layout:
    """Places between 0 and 1, shape (nodes, 2), and how they were found, in words."""

    places: NDArray[np.float64]
    how: str


def plane(rows: NDArray[Any]) -> Layout:
    """A place for each row; any number of rows and columns, also none."""
    row_values = np.nan_to_num(np.asarray(rows, dtype=np.float64), posinf=0.0, neginf=0.0)
    main_components = components(row_values, _PCA_COMPONENTS)
    component_widths = np.ptp(main_components, axis=0) if len(main_components) else np.zeros(0)
    value_scale = float(np.abs(row_values).max(initial=0.0))
    if not component_widths.size or component_widths[0] <= 1e-9 * max(value_scale, 1e-12):
        how = "The model sees all nodes alike; they are spread in a spiral only to be seen."
        return Layout(_spiral(len(row_values)), how)
    if component_widths.size < 2 or component_widths[1] <= 1e-6 * component_widths[0]:
        spread_places = _spread_along(main_components[:, 0])
        how = "The model tells nodes apart in one direction only (left to right); up and down has no meaning here."
        return Layout(np.column_stack([_unit(main_components[:, :1])[:, 0], spread_places]), how)
    if _MIN_TSNE_NODES <= len(main_components) <= MAX_TSNE_NODES:
        how = "Laid out by t-SNE: closeness is meaningful; distances between groups are not."
        return Layout(_unit(_tsne(main_components)), how)
    kept_variation = float(main_components[:, :2].var(axis=0).sum() / row_values.var(axis=0).sum())
    how = f"Laid out by the two main directions of variation, which hold {share(kept_variation)} of it."
    return Layout(_unit(main_components[:, :2], equal=True), how)


def components(values: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """The rows along their main directions of variation, at most ``most`` of them, with a fixed sign."""
    rows, columns = values.shape
    if not rows or not columns:
        return np.zeros((rows, 0))
    centred_rows = values - values.mean(axis=0)
    # the smaller of the two products: an embedding has few columns, a small graph has few rows
    if columns <= rows:
        _, eigenvectors = np.linalg.eigh(centred_rows.T @ centred_rows)
        found = centred_rows @ eigenvectors[:, ::-1][:, :most]
    else:
        eigenvalues, eigenvectors = np.linalg.eigh(centred_rows @ centred_rows.T)
        component_scales = np.sqrt(np.maximum(eigenvalues, 0.0))[::-1][:most]
        found = eigenvectors[:, ::-1][:, :most] * component_scales
    largest_rows = np.abs(found).argmax(axis=0)
    signs = np.sign(found[largest_rows, np.arange(found.shape[1])])
    signed_components: NDArray[np.float64] = found * np.where(signs == 0, 1.0, signs)
    return signed_components


def _tsne(main: NDArray[np.float64]) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    # identical rows make distances of 0, which t-SNE survives; the order of nodes does not matter to it
    solver = TSNE(perplexity=min(30.0, (len(main) - 1) / 3), init="pca", random_state=0, max_iter=350)
    places: NDArray[np.float64] = solver.fit_transform(main.astype(np.float32)).astype(np.float64)
    return places if np.isfinite(places).all() else main[:, :2]


def _unit(places: NDArray[np.float64], *, equal: bool = False) -> NDArray[np.float64]:
    """Places moved and stretched into 0 .. 1; with ``equal`` by the same factor in both directions.

    A few far outliers would squeeze all others into a dot, so places beyond the outermost thousandth at each end are
    pulled to that edge.
    """
    if len(places) > 1000:
        lowest_places, highest_places = np.quantile(places, [0.001, 0.999], axis=0)
        margin = 0.1 * (highest_places - lowest_places)
        places = np.clip(places, lowest_places - margin, highest_places + margin)
    lowest_places = places.min(axis=0)
    place_ranges = np.ptp(places, axis=0)
    if equal and place_ranges.max() < 3 * max(float(place_ranges.min()), 1e-12):
        lowest_places = lowest_places - (place_ranges.max() - place_ranges) / 2
        place_ranges = np.full_like(place_ranges, place_ranges.max())
    unit_places: NDArray[np.float64] = (places - lowest_places) / np.where(place_ranges > 0, place_ranges, 1.0)
    return unit_places


def _spiral(count: int) -> NDArray[np.float64]:
    """Points of a sunflower: evenly spread over a disc."""
    order = np.arange(count)
    radius = 0.5 * np.sqrt((order + 0.5) / max(count, 1)) if count > 1 else np.zeros(count)
    angle = order * _GOLDEN_ANGLE
    return 0.5 + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def _spread_along(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A second coordinate that keeps points with near values apart: the golden ratio's steps in their order."""
    places = np.empty(len(values))
    order = np.argsort(values, kind="stable")
    places[order] = (np.arange(len(values)) * 0.6180339887498949) % 1.0
    return places
