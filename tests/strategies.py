"""Random multi-layered graphs for hypothesis, small enough to compare with brute force.

An option that is None is drawn as well: `multilayer_graphs(directed=False, labels=True)` always
has labels, never a directed layer, and sometimes weights.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph
from gramme.graph.coupling import Coupling

# Halves and small whole numbers: their sums are exact, so tests may compare with ==
WEIGHTS = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0, 7.0])
LABELS = st.one_of(st.none(), st.sampled_from(["a", "b", "ü c"]))
TEXT = st.text(min_size=1, max_size=5)


def _decided(draw: st.DrawFn, option: bool | None) -> bool:
    return draw(st.booleans()) if option is None else option


@st.composite
def edge_layers(
    draw: st.DrawFn,
    num_nodes: int,
    *,
    weighted: bool | None = None,
    directed: bool | None = None,
    presence: bool | None = None,
    clean: bool = False,
    max_edges: int = 20,
) -> EdgeLayer:
    """An edge layer, from input with self loops and repeated edges unless `clean`."""
    inside = list(range(num_nodes))
    nodes = None
    if num_nodes and _decided(draw, presence):
        inside = nodes = draw(st.lists(st.sampled_from(inside), unique=True))
    pair = st.tuples(st.sampled_from(inside), st.sampled_from(inside)) if inside else st.nothing()
    pairs = draw(st.lists(pair, max_size=max_edges)) if inside else []
    one_way = _decided(draw, directed)
    if clean:
        keyed = {p if one_way else tuple(sorted(p)): p for p in pairs if p[0] != p[1]}
        pairs = list(keyed.values())
    weights = None
    if _decided(draw, weighted):
        weights = draw(st.lists(WEIGHTS, min_size=len(pairs), max_size=len(pairs)))
    source = np.array([i for i, _ in pairs], dtype=np.int64)
    target = np.array([j for _, j in pairs], dtype=np.int64)
    return EdgeLayer(num_nodes, source, target, weights, directed=one_way, nodes=nodes)


@st.composite
def membership_layers(
    draw: st.DrawFn,
    num_nodes: int,
    *,
    presence: bool | None = None,
    single: bool | None = None,
    weighted: bool | None = False,
) -> MembershipLayer:
    """A membership layer; `single`: whether a node is in at most one group.

    With `presence` False every node is in the layer, in a group or not.
    """
    names = draw(st.sampled_from([None, ["x", "y", "z", "w"], [(1, 2), "ü", 3, 10**30]]))
    group = st.integers(0, 3)
    if num_nodes == 0:
        pairs: list[tuple[int, int]] = []
    elif _decided(draw, single):
        codes = draw(st.lists(st.integers(-1, 3), min_size=num_nodes, max_size=num_nodes))
        pairs = [(node, code) for node, code in enumerate(codes) if code >= 0]
    else:
        pairs = draw(st.lists(st.tuples(st.integers(0, num_nodes - 1), group), max_size=20))
    weights = None
    if _decided(draw, weighted):
        weights = draw(st.lists(WEIGHTS, min_size=len(pairs), max_size=len(pairs)))
    absent = _decided(draw, presence)
    return MembershipLayer(
        num_nodes,
        [node for node, _ in pairs],
        [code for _, code in pairs],
        names,
        weight=weights,
        nodes=None if absent else np.ones(num_nodes, dtype=bool),
    )


@st.composite
def layers(
    draw: st.DrawFn,
    num_nodes: int,
    *,
    kinds: Sequence[str] = ("edges", "membership"),
    weighted: bool | None = None,
    weighted_groups: bool | None = False,
    directed: bool | None = None,
    presence: bool | None = None,
    clean: bool = False,
) -> Layer:
    if draw(st.sampled_from(list(kinds))) == "membership":
        return draw(membership_layers(num_nodes, presence=presence, weighted=weighted_groups))
    return draw(edge_layers(num_nodes, weighted=weighted, directed=directed, presence=presence, clean=clean))


@st.composite
def node_names(draw: st.DrawFn, num_nodes: int, *, text_names: bool | None = None) -> Any:
    """None for 0, 1, 2, ...; text; or, where `text_names` is not given, names of all kinds."""
    if text_names is False:
        return None
    name: st.SearchStrategy[Any] = TEXT
    if text_names is None:
        if draw(st.booleans()):
            return None
        number = st.integers(-(10**30), 10**30)
        name = st.one_of(TEXT, number, st.tuples(number, TEXT))
    return draw(st.lists(name, min_size=num_nodes, max_size=num_nodes, unique=True))


@st.composite
def feature_matrices(draw: st.DrawFn, num_nodes: int) -> Any:
    columns = draw(st.integers(0, 3))
    size = num_nodes * columns
    values = draw(st.lists(st.sampled_from([0.0, 1.0, -2.5]), min_size=size, max_size=size))
    matrix = np.array(values, dtype=draw(st.sampled_from([np.float32, np.float64])))
    matrix = matrix.reshape(num_nodes, columns)
    return sp.csr_array(matrix) if draw(st.booleans()) else matrix


@st.composite
def couplings_of(draw: st.DrawFn, made: dict[str, Layer]) -> dict[tuple[str, str], Coupling]:
    """Couplings, perhaps without edges, between some of the layers."""
    found = {}
    for first, second in itertools.combinations(made, 2):
        if draw(st.booleans()):
            continue
        directed = draw(st.booleans())
        ends = [np.flatnonzero(made[name].present).tolist() for name in (first, second)]
        pairs = []
        if all(ends):
            pair = st.tuples(*map(st.sampled_from, ends))
            pairs = draw(st.lists(pair.filter(lambda p: p[0] != p[1]), max_size=6, unique=True))
        weights = None
        if draw(st.booleans()):
            weights = draw(st.lists(WEIGHTS, min_size=len(pairs), max_size=len(pairs)))
        found[first, second] = Coupling(
            made[first].num_nodes, [a for a, _ in pairs], [b for _, b in pairs], weights, directed=directed
        )
    return found


@st.composite
def features_of(draw: st.DrawFn, made: dict[str, Layer]) -> dict[str, Any]:
    """Features for some layers, with missing rows in some of the dense ones."""
    found = {}
    for name, layer in made.items():
        if draw(st.booleans()):
            continue
        matrix = draw(feature_matrices(layer.num_nodes))
        if isinstance(matrix, np.ndarray) and layer.num_nodes and draw(st.booleans()):
            matrix[draw(st.integers(0, layer.num_nodes - 1))] = np.nan
        found[name] = matrix
    return found


@st.composite
def multilayer_graphs(
    draw: st.DrawFn,
    *,
    kinds: Sequence[str] = ("edges", "membership"),
    weighted: bool | None = None,
    weighted_groups: bool | None = False,
    directed: bool | None = None,
    presence: bool | None = None,
    labels: bool | None = None,
    features: bool | None = None,
    couplings: bool | None = False,
    layer_features: bool | None = False,
    text_names: bool | None = None,
    clean: bool = False,
    min_nodes: int = 0,
    max_nodes: int = 10,
    min_layers: int = 0,
    max_layers: int = 3,
) -> MultilayerGraph:
    """A graph of a few nodes and layers.

    Parameters
    ----------
    kinds
        Kinds of layer to draw from: "edges", "membership".
    weighted, directed, presence
        For edge layers: weights, directions; for all layers: whether nodes may be absent.
    weighted_groups
        Whether memberships have weights.
    labels, features, text_names
        Whether there are labels (some unknown), features, names of text.
    couplings, layer_features
        Whether layers are coupled, and have features of their own.
    clean
        Whether edges come without self loops and repetitions, so that weights are as drawn.
    """
    num_nodes = draw(st.integers(min_nodes, max_nodes))
    layer_names = draw(st.lists(TEXT, min_size=min_layers, max_size=max_layers, unique=True))
    made = {
        name: draw(
            layers(
                num_nodes,
                kinds=kinds,
                weighted=weighted,
                weighted_groups=weighted_groups,
                directed=directed,
                presence=presence,
                clean=clean,
            )
        )
        for name in layer_names
    }
    known = None
    if _decided(draw, labels):
        known = draw(st.lists(LABELS, min_size=num_nodes, max_size=num_nodes))
    return MultilayerGraph(
        made,
        couplings=draw(couplings_of(made)) if _decided(draw, couplings) else None,
        layer_features=draw(features_of(made)) if _decided(draw, layer_features) else None,
        nodes=draw(node_names(num_nodes, text_names=text_names)),
        labels=known,
        features=draw(feature_matrices(num_nodes)) if _decided(draw, features) else None,
        num_nodes=num_nodes,
    )
