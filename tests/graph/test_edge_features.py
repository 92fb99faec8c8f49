import copy
import pickle
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramme
from gramme.errors import DataError, LossyFormatWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.canonical import checksum, in_name_order
from gramme.graph.edge_features import MAX_EDGE_KINDS, encoded_columns

HALVES = st.integers(-6, 6).map(lambda number: number / 2)
ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), HALVES, HALVES), max_size=16)


def slow_means(rows, key):
    """The mean of the features of the rows with the same key, one at a time."""
    by_key = {}
    for row in rows:
        if key(row) is not None:
            by_key.setdefault(key(row), []).append(row[2:])
    return {pair: np.mean(values, axis=0) for pair, values in sorted(by_key.items())}


def columns(rows):
    first, second, *values = zip(*rows, strict=True) if rows else ((), (), (), ())
    return np.array(first, dtype=int), np.array(second, dtype=int), np.array(values, dtype=float).T


@given(ROWS, st.booleans(), st.booleans())
def test_repeated_edges_have_the_mean_and_undirected_ones_carry_it_both_ways(rows, directed, weighted):
    source, target, features = columns(rows)
    layer = EdgeLayer(6, source, target, np.ones(len(rows)) if weighted else None, directed=directed, features=features)

    def key(row):
        return None if row[0] == row[1] else row[:2] if directed else tuple(sorted(row[:2]))

    means = slow_means(rows, key)
    kept = dict(zip(zip(layer.source.tolist(), layer.target.tolist(), strict=True), layer.features, strict=True))
    assert kept.keys() == means.keys()
    for pair, mean in means.items():
        assert np.allclose(kept[pair], mean)
    matrix, numbers = layer.to_scipy(), layer.edge_numbers()
    assert np.array_equal(matrix.indices, numbers.indices)
    for i, j, number in zip(*numbers.tocoo().coords, numbers.data, strict=True):
        pair = (i, j) if directed else (min(i, j), max(i, j))
        assert np.array_equal(layer.features[number], kept[pair])


@given(ROWS, st.booleans())
def test_memberships_stated_twice_have_the_mean(rows, weighted):
    node, group, features = columns(rows)
    layer = MembershipLayer(6, node, group, weight=np.ones(len(rows)) if weighted else None, features=features)
    names = layer.group_names
    kept = {(i, names[g]): values for i, g, values in zip(layer.node, layer.group, layer.features, strict=True)}
    means = slow_means(rows, lambda row: row[:2])
    assert kept.keys() == means.keys()
    for pair, mean in means.items():
        assert np.allclose(kept[pair], mean)


def described_graph():
    edges = EdgeLayer(
        4, [2, 0, 3], [0, 1, 2], [1, 2, 3], directed=True, features=[[1, 0], [2, 5], [3, 7]], feature_names=["m", "k"]
    )
    groups = MembershipLayer(4, [0, 1, 1, 3], [0, 0, 1, 1], ["z", "a"], features=[[1.0], [2.0], [3.0], [4.0]])
    return MultilayerGraph({"talk": edges, "club": groups}, nodes=["d", "c", "b", "a"])


def named_features(graph):
    """Features by names of nodes and groups, whatever their order."""
    edges, groups, nodes = graph.layers["talk"], graph.layers["club"], graph.nodes
    ends = zip(nodes[edges.source], nodes[edges.target], strict=True)
    members = zip(nodes[groups.node], groups.group_names[groups.group], strict=True)
    return (
        dict(zip(ends, edges.features.tolist(), strict=True)),
        dict(zip(members, groups.features.tolist(), strict=True)),
    )


def test_features_follow_their_edges_through_every_change_of_the_graph():
    graph = described_graph()
    whole = named_features(graph)
    assert whole[0] == {("b", "d"): [1, 0], ("d", "c"): [2, 5], ("a", "b"): [3, 7]}
    assert named_features(in_name_order(graph).graph) == whole
    assert named_features(graph.subgraph(["a", "b", "c", "d"])) == whole
    part = named_features(graph.subgraph(["a", "b", "c"]))
    assert part == ({("a", "b"): [3, 7]}, {("c", "z"): [2.0], ("c", "a"): [3.0], ("a", "a"): [4.0]})
    assert graph.layers["talk"].with_entries(np.array([True, False, True])).features.tolist() == [[2, 5], [3, 7]]
    assert graph.layers["club"].with_entries(np.arange(4) > 1).features.tolist() == [[3.0], [4.0]]
    for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        assert again == graph
        assert again.layers["talk"].feature_names == ("m", "k")
    assert not graph.layers["talk"].features.flags.writeable
    assert repr(graph.layers["talk"]) == "EdgeLayer(4 nodes, 3 edges, directed, weighted, 2 features)"
    assert repr(graph.layers["club"]).endswith("1 features)")


def test_features_count_in_equality_and_checksum():
    plain, described, other = (EdgeLayer(2, [0], [1], features=features) for features in (None, [[1.0]], [[2.0]]))
    renamed = EdgeLayer(2, [0], [1], features=[[1.0]], feature_names=["other"])
    assert len({checksum(MultilayerGraph({"a": layer})) for layer in (plain, described, other, renamed)}) == 4
    assert described == EdgeLayer(2, [1], [0], features=[1.0])
    assert described not in (plain, other, renamed)
    swapped = MembershipLayer(2, [0, 1], [1, 0], ["y", "x"], features=[[1.0], [2.0]])
    assert swapped == MembershipLayer(2, [0, 1], [0, 1], ["x", "y"], features=[[1.0], [2.0]])
    assert swapped != MembershipLayer(2, [0, 1], [0, 1], ["x", "y"], features=[[2.0], [1.0]])


def test_no_edges_at_all():
    layer = EdgeLayer(3, [], [], features=np.zeros((0, 2)))
    assert layer.features.shape == (0, 2)
    assert EdgeLayer(1, [0], [0], features=[[1.0]]).features.shape == (0, 1)


def test_archives_keep_features(tmp_path):
    graph = described_graph()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gramme.write(graph, tmp_path / "g.npz")
    assert gramme.read(tmp_path / "g.npz") == graph
    with pytest.warns(LossyFormatWarning, match="features of edges"):
        gramme.write(graph, tmp_path / "g.mpx")


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("columns", [1, 2])
def test_pyg_there_and_back(directed, columns):
    pytest.importorskip("torch_geometric")
    features = np.array([[3.0, -1.0], [4.0, 2.0]])[:, :columns]
    layer = EdgeLayer(3, [0, 1], [1, 2], directed=directed, features=features)
    data = MultilayerGraph({"calls": layer}).to_pyg()
    assert data["node", "calls", "node"].edge_attr.shape == (2 if directed else 4, columns)
    assert gramme.MultilayerGraph.from_pyg(data).layers["calls"] == layer


def test_pyg_edges_whose_features_differ_by_direction_are_directed():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(
        edge_index=torch.tensor([[0, 1], [1, 0]]), edge_attr=torch.tensor([[1.0, 0.0], [3.0, 0.0]]), num_nodes=2
    )
    layer = MultilayerGraph.from_pyg(data).layers["edges"]
    assert layer.directed
    assert layer.features.tolist() == [[3, 0], [1, 0]]  # along PyG's edge 0 to 1 it is 1 that hears 0
    assert layer.source.tolist() == [0, 1]
    merged = MultilayerGraph.from_pyg(data, directed=False).layers["edges"]
    assert (merged.num_edges, merged.features.tolist()) == (1, [[2, 0]])


def test_pyg_directed_features_keep_their_edge():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data(
        edge_index=torch.tensor([[0, 2], [1, 1]]), edge_attr=torch.tensor([[1.0, 0.0], [3.0, 0.0]]), num_nodes=3
    )
    layer = MultilayerGraph.from_pyg(data).layers["edges"]
    by_ends = dict(zip(zip(layer.source, layer.target, strict=True), layer.features.tolist(), strict=True))
    assert by_ends == {(1, 0): [1, 0], (1, 2): [3, 0]}


def test_networkx_there_and_back():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", minutes=3, kind="call")
    graph.add_edge("b", "c", minutes=5, kind="mail", weight=2)
    made = MultilayerGraph.from_networkx(graph, edge_features=["minutes", "kind"])
    layer = made.layers["edges"]
    assert layer.feature_names == ("minutes", "kind=call", "kind=mail")
    assert layer.features.tolist() == [[3, 1, 0], [5, 0, 1]]
    assert layer.weight.tolist() == [1, 2]
    back = made.to_networkx()["edges"]
    assert back.edges["a", "b"] == {"minutes": 3, "kind=call": 1, "kind=mail": 0, "weight": 1}
    assert MultilayerGraph.from_networkx(back, edge_features=layer.feature_names).layers["edges"] == layer
    both = MultilayerGraph.from_networkx(nx.Graph(graph), edge_features=["minutes"], directed=True).layers["edges"]
    assert both.features.tolist() == [[3], [3], [5], [5]]
    with pytest.raises(DataError, match="no edge has the attribute 'minute'; did you mean 'minutes'"):
        MultilayerGraph.from_networkx(graph, edge_features=["minute"])


def test_tables_of_edges():
    table = pd.DataFrame(
        {
            "layer": ["x", "y", "x", "x"],
            "source": ["a", "a", "b", "b"],
            "target": ["b", "c", "c", "a"],
            "minutes": [1.0, np.nan, 4.0, 3.0],
            "kind": ["call", "mail", None, "call"],
            "paid": [True, False, True, True],
            "day": pd.to_datetime(["1970-01-02", "1970-01-03", "1970-01-02", "1970-01-02"]),
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that columns are not used
        graph = MultilayerGraph.from_edges(table, edge_features=["minutes", "kind", "paid", "day"])
    first, second = graph.layers.values()
    assert first.feature_names == second.feature_names == ("minutes", "kind=call", "kind=mail", "paid", "day")
    assert first.features.tolist() == [[2.0, 1, 0, 1, 1], [4.0, 0, 0, 1, 1]]
    assert second.features.tolist() == [[np.mean([1, 4, 3]), 0, 1, 0, 2]]
    frame = graph.to_pandas()
    assert MultilayerGraph.from_edges(frame.drop(columns="weight"), edge_features=list(first.feature_names)) == graph


def test_tables_of_coupled_edges_give_layers_features():
    table = {
        "source_layer": ["p", "p"],
        "source": ["a", "a"],
        "target_layer": ["p", "q"],
        "target": ["b", "c"],
        "v": [1, 2],
    }
    graph = MultilayerGraph.from_edges(table, edge_features=["v"])
    assert graph.layers["p"].features.tolist() == [[1]]
    assert graph.couplings["p", "q"].num_edges == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": [[1.0], [np.nan]]}, "the features of the edge from node 1 to node 2 are not all finite"),
        ({"features": [[1.0]]}, r"features of shape \(1, 1\) were given for 2 edges"),
        ({"features": np.zeros((2, 0))}, "no columns"),
        ({"features": [["a"], ["b"]]}, "must be numbers"),
        ({"features": [[1.0], [2.0]], "feature_names": ["a", "b"]}, "2 feature_names were given for 1 columns"),
        ({"features": [[1, 2], [2, 3]], "feature_names": ["a", "a"]}, "names must differ"),
        ({"features": [[1, 2], [2, 3]], "feature_names": [1, 2]}, "must be texts"),
        ({"feature_names": ["a"]}, "without features"),
    ],
)
def test_wrong_features_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        EdgeLayer(3, [0, 1], [1, 2], **options)


def test_memberships_with_wrong_features_are_named():
    with pytest.raises(DataError, match="the membership of node 1 in 'b' are not all finite"):
        MembershipLayer(2, [0, 1], [0, 1], ["a", "b"], features=[[1.0], [np.inf]])


@pytest.mark.parametrize(
    ("table", "wanted", "message"),
    [
        ({"a": [1]}, ["b"], "no column 'b'"),
        ({"a": [1]}, "a", "must be a list"),
        ({"a": [1]}, [], "must be a list"),
        ({"a": [1]}, ["a", "a"], "named twice"),
        ({"a": [None, np.nan]}, ["a"], "no value at all"),
        ({"a": [1.0, np.inf]}, ["a"], "not finite"),
        ({"a": [f"note {k}" for k in range(MAX_EDGE_KINDS + 1)]}, ["a"], "distinct texts"),
        ({"a": ["x"], "a=x": [3]}, ["a", "a=x"], "named twice"),
    ],
)
def test_columns_that_cannot_describe_edges(table, wanted, message):
    with pytest.raises(DataError, match=message):
        encoded_columns(table, wanted)


def test_numbers_with_gaps_in_pandas_own_types():
    matrix, _ = encoded_columns({"n": pd.array([1, None, 3], dtype="Int64"), "b": [True, None, False]}, ["n", "b"])
    assert matrix.tolist() == [[1, 1], [2, 0.5], [3, 0]]
