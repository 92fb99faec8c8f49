"""The two graphs of HeCo's repository, as explicit meta-path edges or as the relations they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gramme.datasets.npz_graph import read_arrays, read_graph, read_positions
from gramme.datasets.record import Split
from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph

SPLITS = (20, 40, 60)
VIEWS = ("edges", "relations")
VIEW_OPTION = (
    "'edges' for the meta-paths as edges, 'relations' for the papers, authors and others "
    "themselves, as membership layers that build no edges (default: edges)"
)


def read_view(
    graph_file: Path,
    relations_file: Path,
    name: str,
    view: str,
    *,
    target: str,
    relations: Mapping[str, Sequence[str]],
) -> MultilayerGraph:
    """The stored graph, or one made of the raw relations with the same labels and features.

    ``relations`` has the two kinds that each array of pairs joins.
    """
    if view not in VIEWS:
        raise DataError(f"view must be 'edges' or 'relations', not {view!r}")
    stored = read_graph(graph_file, name)
    if view == "edges":
        return stored
    arrays = read_arrays(relations_file)
    try:
        pairs = {tuple(kinds): arrays[array].T for array, kinds in relations.items()}
        return MultilayerGraph.from_relations(
            pairs,
            target=target,
            nodes=stored.nodes,
            labels=stored.labels,
            features=stored.features,
            name=name,
        )
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=relations_file) from error
    except DataError as error:
        raise FileFormatError(str(error), file=relations_file) from error


def read_split(path: Path, per_class: int) -> Split:
    """20, 40 or 60 training nodes per class, 1000 for validation, 1000 for the test."""
    if per_class not in SPLITS:
        raise DataError(f"per_class must be 20, 40 or 60, not {per_class!r}")
    return read_positions(
        path, train=f"train_{per_class}", validation=f"val_{per_class}", test=f"test_{per_class}"
    )
