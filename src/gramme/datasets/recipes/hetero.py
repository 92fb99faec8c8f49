"""Multiple Features: 2,000 handwritten digits, each seen in six ways; a graph of modalities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from gramme.datasets.readers import positive_int, read_arrays, read_graph, read_positions
from gramme.datasets.record import Paths, Split
from gramme.errors import DataError, FileFormatError
from gramme.graph import MultilayerGraph


# The two graphs of HeCo's repository, as explicit meta-path edges or as the relations they come from.
def read_view(
    graph_file: Path, relations_file: Path, name: str, view: str, *, target: str, relations: Mapping[str, Sequence[str]]
) -> MultilayerGraph:
    """The stored graph, or one made of the raw relations with the same labels and features.

    ``relations`` has the two kinds that each array of pairs joins.
    """
    if view not in ("edges", "relations"):
        raise DataError(f"view must be 'edges' or 'relations', not {view!r}")
    stored = read_graph(graph_file, name)
    if view == "edges":
        return stored
    arrays = read_arrays(relations_file)
    try:
        node_pairs = {tuple(kinds): arrays[array].T for array, kinds in relations.items()}
        return MultilayerGraph.from_relations(
            node_pairs, target=target, nodes=stored.nodes, labels=stored.labels, features=stored.features, name=name
        )
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=relations_file) from error
    except DataError as error:
        raise FileFormatError(str(error), file=relations_file) from error


def heco_builder(name: str, target: str, *kinds: str) -> Callable[..., MultilayerGraph]:
    """How to build a graph of HeCo's, whose papers are related to these kinds of node."""

    def build(paths: Paths, *, view: str = "edges") -> MultilayerGraph:
        """The graph as stored, or made of the raw relations."""
        node_pairs = {f"paper_{kind}": ("paper", kind) for kind in kinds}
        return read_view(paths["graph.npz"], paths["relations.npz"], name, view, target=target, relations=node_pairs)

    return build


def split_heco(paths: Paths, *, per_class: int = 20) -> Split:
    """20, 40 or 60 training nodes per class, 1000 for validation, 1000 for the test."""
    if per_class not in (20, 40, 60):
        raise DataError(f"per_class must be 20, 40 or 60, not {per_class!r}")
    array_names = {"train": f"train_{per_class}", "validation": f"val_{per_class}", "test": f"test_{per_class}"}
    return read_positions(paths["graph.npz"], **array_names)


# ACM 3025: papers joined by a common author and by a common subject; a benchmark of scale.


def build_acm3025(paths: Paths) -> MultilayerGraph:
    """The graph as stored."""
    return read_graph(paths["graph.npz"], "acm3025")


def split_acm3025(paths: Paths) -> Split:
    """600 training, 300 validation and 2125 test papers."""
    path = paths["graph.npz"]
    return read_positions(path, train="train_idx", validation="val_idx", test="test_idx")


MULTIPLE_FEATURES_VIEWS = {
    "fou": "fourier",
    "fac": "profiles",
    "kar": "karhunen_loeve",
    "pix": "pixels",
    "zer": "zernike",
    "mor": "morphology",
}


def build_multiple_features(paths: Paths, *, neighbours: int = 10) -> MultilayerGraph:
    """A nearest-neighbour layer per view, each with its own features."""
    neighbours = positive_int(neighbours, "neighbours")
    path = paths["views.npz"]
    arrays = read_arrays(path)
    try:
        views = {view_name: arrays[stored] for stored, view_name in MULTIPLE_FEATURES_VIEWS.items()}
        node_labels = arrays["labels"]
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=path) from error
    return MultilayerGraph.from_views(views, k=neighbours, labels=node_labels, name="multiple_features")
