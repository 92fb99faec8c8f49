import copy
import inspect
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.graphs import planted
from tests.strategies import multilayer_graphs

from gramme.errors import DataError, LossyFormatWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph, checked_graph, sorted_labels
from gramme.graph import edges as edges
from gramme.graph import multilayer as face
from gramme.graph import relations as relations
from gramme.graph import table as tables
from gramme.graph import views as views
from gramme.graph.convert import igraph as exchange_igraph
from gramme.graph.convert import networkx as exchange_networkx
from gramme.graph.convert import pyg as exchange_pyg
from gramme.graph.convert import scipy as exchange_scipy
from gramme.io import read, write

GRAPH = planted()


def test_a_graph_is_a_collection_of_nodes_with_layers_by_name():
    assert GRAPH["friends"] is GRAPH.layers["friends"]
    assert len(GRAPH) == 36
    assert list(GRAPH) == list(GRAPH.nodes)
    assert "n3" in GRAPH
    assert "n99" not in GRAPH
    assert ["n3"] not in GRAPH  # not hashable
    assert MultilayerGraph({}, num_nodes=0)  # true, though it has no nodes
    with pytest.raises(DataError, match="did you mean 'friends'"):
        GRAPH["frends"]


def test_neighbours_by_name_in_one_layer_and_in_all():
    whole = sum(abs(matrix) for matrix in GRAPH.to_scipy().values()).toarray()
    for place in (0, 7, 35):
        name = GRAPH.nodes[place]
        assert GRAPH.neighbors(name) == list(GRAPH.nodes[np.flatnonzero(whole[place])])
        alone = GRAPH["room"].to_scipy().toarray()[place]
        assert GRAPH.neighbors(name, layer="room") == list(GRAPH.nodes[np.flatnonzero(alone)])
    directed = MultilayerGraph({"a": EdgeLayer(3, [0, 1], [1, 2], directed=True)}, nodes=[*"xyz"])
    assert directed.neighbors("y") == ["z"]
    assert directed.neighbors("z") == []
    with pytest.raises(DataError, match="there is no node 'q'"):
        directed.neighbors("q")
    with pytest.raises(DataError, match="there is no layer 'b'"):
        directed.neighbors("x", layer="b")


def test_a_table_of_edges_makes_the_graph_again():
    table = GRAPH.select_layers(["friends"]).to_pandas()
    assert list(table.columns) == ["layer", "source", "target", "weight"]
    again = MultilayerGraph.from_edges(table, nodes=GRAPH.nodes, labels=GRAPH.labels)
    assert again["friends"].to_scipy().toarray().tolist() == (GRAPH["friends"].to_scipy().toarray().tolist())
    both = GRAPH.to_pandas()
    assert (both["layer"] == "room").sum() == GRAPH["room"].num_edges


def test_tables_of_nodes_and_of_memberships():
    nodes = GRAPH.to_pandas("nodes")
    assert nodes.index.name == "node"
    assert nodes["label"].tolist() == list(GRAPH.labels)
    assert nodes["friends"].tolist() == GRAPH["friends"].degrees().tolist()
    members = GRAPH.to_pandas("memberships")
    assert set(members["layer"]) == {"room"}
    assert len(members) == GRAPH["room"].num_memberships
    counts = pd.crosstab(members["node"], members["group"])
    assert counts.to_numpy().sum() == 36
    assert GRAPH.select_layers(["friends"]).to_pandas("memberships").empty
    assert MultilayerGraph({}, num_nodes=2).to_pandas().empty


def test_a_table_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(face, "MAX_TABLE_EDGES", 10)
    with pytest.raises(DataError, match="edges would not fit"):
        GRAPH.to_pandas()
    with pytest.raises(DataError, match="what must be"):
        GRAPH.to_pandas("rows")


WORK = {
    "from_edges": edges,
    "from_table": tables,
    "from_scipy": exchange_scipy,
    "from_networkx": exchange_networkx,
    "from_pyg": exchange_pyg,
    "from_igraph": exchange_igraph,
    "from_relations": relations,
    "from_views": views,
}


@pytest.mark.parametrize("name", WORK)
def test_a_builder_is_the_function_of_its_module(name):
    assert getattr(MultilayerGraph, name) is getattr(WORK[name], name)
    assert "Examples" in inspect.getdoc(getattr(MultilayerGraph, name))


def test_no_builder_is_forgotten_here():
    assert set(WORK) == {name for name in dir(MultilayerGraph) if name.startswith("from_")}


def test_a_builder_makes_a_graph():
    table = pd.DataFrame({"x": ["a", "b", "a"], "kind": ["u", "v", None]})
    graph = MultilayerGraph.from_table(table, label="kind")
    assert (graph.num_nodes, list(graph.layers)) == (3, ["x"])


@given(multilayer_graphs(weighted_groups=None))
def test_the_supra_graph_equals_brute_force(graph):
    size, layers = graph.num_nodes, list(graph.layers.values())
    expected = np.zeros((size * len(layers), size * len(layers)))
    for here, layer in enumerate(layers):
        expected[here * size : (here + 1) * size, here * size : (here + 1) * size] = layer.to_scipy().toarray()
        for there, other in enumerate(layers):
            for node in range(size):
                if here != there and layer.present[node] and other.present[node]:
                    expected[here * size + node, there * size + node] = 1
    supra = graph.supra_adjacency()
    assert np.array_equal(supra.toarray(), expected)
    assert supra.nnz == np.count_nonzero(expected)


def test_an_absent_copy_has_no_edges():
    layers = {"a": EdgeLayer(2, [0], [1]), "b": EdgeLayer(2, [], [], nodes=[1])}
    supra = MultilayerGraph(layers).supra_adjacency().toarray()
    assert supra.tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_no_layers_make_no_copies():
    assert MultilayerGraph({}, num_nodes=3).supra_adjacency().shape == (0, 0)


NAMES = [10**30, 2, "ü", (1, 2), "2", -5, True, 2.5]


def small(**parts):
    layers = {"friends": EdgeLayer(3, [0], [1]), "room": MembershipLayer.from_values(["a", "b", "b"])}
    return MultilayerGraph(layers, **({"nodes": ["Ann", "Bo", "Cy"]} | parts))


@given(multilayer_graphs(weighted_groups=None))
def test_copies_and_pickles_are_equal_and_read_only(graph):
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert list(again.layers) == list(graph.layers)
    assert copy.deepcopy(graph) is graph
    assert graph.replace() == graph
    with pytest.raises(TypeError):
        again.layers["new"] = None
    if isinstance(again.features, np.ndarray):
        assert not again.features.flags.writeable
    if again.labels is not None:
        assert not again.labels.flags.writeable


def test_other_processes_get_an_equal_graph(tmp_path):
    graph = small(labels=["x", None, "y"], features=sp.eye_array(3))
    joblib.dump(graph, tmp_path / "graph.joblib")
    again = joblib.load(tmp_path / "graph.joblib", mmap_mode="r")
    assert again == graph


@given(multilayer_graphs(weighted_groups=None, min_nodes=1), st.randoms(use_true_random=False))
def test_a_subgraph_equals_the_materialised_subgraph(graph, random):
    names = [name for name in graph.nodes if random.random() < 0.6]
    random.shuffle(names)
    part = graph.subgraph(names)
    assert list(part.nodes) == names
    places = graph.positions(names)
    for name, layer in graph.layers.items():
        whole = layer.to_scipy().toarray()
        assert np.array_equal(part.layers[name].to_scipy().toarray(), whole[np.ix_(places, places)])
        assert part.layers[name].present.tolist() == layer.present[places].tolist()
    if graph.labels is not None:
        assert list(part.labels) == [graph.labels[place] for place in places]
    if graph.features is not None:
        dense = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
        again = part.features if isinstance(part.features, np.ndarray) else part.features.toarray()
        assert np.array_equal(again, dense[places])
    assert graph.subgraph(graph.nodes) == graph


def test_names_of_any_kind_are_found():
    graph = MultilayerGraph({}, nodes=NAMES)
    for place, name in enumerate(NAMES):
        assert graph.positions([name]).tolist() == [place]
    assert graph.positions(reversed(NAMES)).tolist() == list(range(len(NAMES)))[::-1]
    assert graph.positions(["ü", "ü"]).tolist() == [2, 2]
    assert graph.positions([]).tolist() == []


@pytest.mark.parametrize(
    "names",
    [
        [3, 1, 2],
        np.array([3, 1, 2], dtype=np.int8),
        pd.Index([3, 1, 2]),
        pd.Series([3, 1, 2], index=[9, 9, 9]),
        (n for n in (3, 1, 2)),
        {3: 0, 1: 0, 2: 0},
        [np.int64(3), np.int32(1), 2],
    ],
)
def test_whole_numbers_are_the_same_names_however_given(names):
    graph = MultilayerGraph({}, nodes=names)
    assert graph.positions([1, 3]).tolist() == [1, 0]
    assert all(type(name) is int for name in graph.nodes)
    assert graph == MultilayerGraph({}, nodes=[3, 1, 2])


def test_an_unknown_name_is_quoted_with_what_would_be_right():
    with pytest.raises(DataError, match=r"no node 'Dan' in the graph \(nodes are named 'Ann', 'Bo'"):
        small().positions(["Ann", "Dan"])
    with pytest.raises(DataError, match=r"no node '1'.*a node 1 is there: names are int, not str"):
        MultilayerGraph({}, nodes=[1, 2]).positions(["1"])
    with pytest.raises(DataError, match="it has no nodes"):
        MultilayerGraph({}).positions(["a"])
    with pytest.raises(DataError, match="hashable"):
        small().positions([["Ann"]])


def test_labels_by_position_by_name_and_by_series():
    expected = ["x", None, "y"]
    assert list(small(labels=expected).labels) == expected
    assert list(small(labels={"Cy": "y", "Ann": "x"}).labels) == expected
    by_name = pd.Series(["y", "x"], index=["Cy", "Ann"])
    assert list(small(labels=by_name).labels) == expected
    by_position = pd.Series(["x", None, "y"])
    assert list(small(labels=by_position).labels) == expected
    assert list(small(labels=pd.Categorical(["x", None, "y"])).labels) == expected
    assert list(small(labels=iter(expected)).labels) == expected


def test_unknown_labels_of_every_spelling_become_none():
    spellings = [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
    graph = MultilayerGraph({}, num_nodes=len(spellings), labels=spellings)
    assert list(graph.labels) == [None] * len(spellings)
    assert graph.classes == []


def test_labels_become_plain_python_values():
    given_labels = [np.int64(1), np.bool_(True), np.str_("a"), -1, 2.5, ("t", 1)]
    labels = MultilayerGraph({}, num_nodes=6, labels=given_labels).labels
    assert [type(label) for label in labels] == [int, bool, str, int, float, tuple]
    assert labels[3] == -1
    moments = np.array(["2020-01-01", "NaT"], dtype="datetime64[ns]")
    dated = MultilayerGraph({}, num_nodes=2, labels=moments)
    assert list(dated.labels) == [pd.Timestamp("2020-01-01"), None]
    from_array = MultilayerGraph({}, num_nodes=2, labels=np.array([1, 2], dtype=np.uint8))
    assert [type(label) for label in from_array.labels] == [int, int]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["x"], "1 labels were given for 3 nodes"),
        ("xyz", "must be a sequence or a mapping by node, not 'xyz'"),
        ({"x", "y", "z"}, "must be a sequence or a mapping by node"),
        (5, "must be a sequence or a mapping by node, not 5"),
        (np.zeros((3, 2)), "must be one-dimensional, not of shape (3, 2)"),
        ([["x"], None, "y"], "the label of node 'Ann' is not a value: unhashable type: 'list'"),
        ([("t", []), None, "y"], "the label of node 'Ann' is not a value"),
        ({"Dan": "x"}, "there is no node 'Dan' in the graph"),
        (pd.Series(["x", "y"], index=["Bo", "Bo"]), "node 'Bo' has more than one label"),
    ],
)
def test_bad_labels_are_quoted(labels, message):
    with pytest.raises(DataError) as error:
        small(labels=labels)
    assert message in str(error.value)


def test_classes_are_sorted_also_when_they_do_not_compare():
    assert small(labels=["b", "a", "b"]).classes == ["a", "b"]
    assert sorted_labels(["b", 2, "a", 1, (1,)]) == [1, 2, "a", "b", (1,)]


@pytest.mark.parametrize(
    "features",
    [
        [[1, 0], [0, 2], [0, 0]],
        np.array([[1, 0], [0, 2], [0, 0]], dtype=np.float32),
        np.array([[1, 0], [0, 2], [0, 0]], dtype=np.float16),
        pd.DataFrame([[1, 0], [0, 2], [0, 0]]),
        sp.csr_matrix([[1, 0], [0, 2], [0, 0]]),
        sp.coo_array(([1, 1, 1], ([0, 1, 1], [0, 1, 1])), shape=(3, 2)),
        sp.csr_array(np.array([[1, 0], [0, 2], [0, 0]], dtype=np.int8)),
    ],
)
def test_features_of_every_form_are_the_same_numbers(features):
    graph = small(features=features)
    assert graph == small(features=np.array([[1.0, 0], [0, 2], [0, 0]]))
    assert graph.features.dtype in (np.float32, np.float64)
    part = graph.subgraph(["Cy", "Bo"]).features
    assert sp.csr_array(part).toarray().tolist() == [[0, 0], [0, 2]]
    data = graph.features if isinstance(graph.features, np.ndarray) else graph.features.data
    with pytest.raises(ValueError, match="read-only"):
        data[0] = 5


def test_features_are_copied():
    features = np.ones((3, 1))
    graph = small(features=features)
    features[:] = 2
    assert graph.features.tolist() == [[1], [1], [1]]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((2, 2)), "features of shape (2, 2) were given for 3 nodes"),
        (np.ones(3), "features of shape (3,) were given for 3 nodes"),
        ([["a"], ["b"], ["c"]], "features must be numbers"),
        ([[1], [1, 2], [3]], "rows of equal length"),
        (np.ones((3, 1)) * 1j, "not complex"),
        ([[1], [np.nan], [1]], "the features of node 'Bo' are not all finite"),
        (sp.csr_array([[1.0], [0], [np.inf]]), "the features of node 'Cy' are not all finite"),
    ],
)
def test_bad_features_are_quoted(features, message):
    with pytest.raises(DataError) as error:
        small(features=features)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: small(nodes=["Ann", "Bo"]), "2 node names were given for 3 nodes"),
        (lambda: small(nodes=["Ann", "Bo", "Ann"]), "two nodes have the name 'Ann'"),
        (lambda: small(nodes=["Ann", None, "Cy"]), "the node at position 1 has no name"),
        (lambda: small(nodes=["Ann", [], "Cy"]), "a node name must be hashable"),
        (lambda: MultilayerGraph([EdgeLayer(1, [], [])]), "must be a mapping of name to layer"),
        (lambda: MultilayerGraph({"a": 3}), "layer 'a' is not a layer but 3"),
        (lambda: MultilayerGraph({"": EdgeLayer(1, [], [])}), "layer name '' is empty or not text"),
        (lambda: MultilayerGraph({1: EdgeLayer(1, [], [])}), "layer name 1 is empty or not text"),
        (
            lambda: MultilayerGraph({"a": EdgeLayer(1, [], []), "b": EdgeLayer(2, [], [])}),
            "layer 'b' is over 2 nodes, others over 1",
        ),
        (lambda: MultilayerGraph({}, num_nodes=-1), "must be a whole number of at least 0, not -1"),
        (lambda: small().layer("freinds"), "no layer 'freinds'; did you mean 'friends'?"),
        (lambda: small().select_layers(["rom"]), "no layer 'rom'; did you mean 'room'?"),
        (lambda: small().subgraph(["Bo", "Ann", "Bo"]), "the node 'Bo' was named twice"),
    ],
)
def test_bad_graphs_are_quoted(make, message):
    with pytest.raises(DataError) as error:
        make()
    assert message in str(error.value)


def test_a_graph_does_not_change():
    graph = small(labels=["x", None, "y"])
    for name in ("labels", "nodes", "layers", "features", "name", "lables"):
        with pytest.raises(AttributeError, match=r"graph.replace\(...\) makes a new one"):
            setattr(graph, name, None)
    with pytest.raises(TypeError):
        graph.layers["new"] = graph.layers["room"]
    with pytest.raises(ValueError, match="read-only"):
        graph.labels[0] = "z"


def test_other_graphs_are_made_from_one():
    graph = small(labels=["x", None, "y"], name="party")
    assert graph.replace(labels=None).labels is None
    assert graph.replace(nodes=["a", "b", "c"]).labels[0] == "x"
    assert list(graph.select_layers(["room", "friends"]).layers) == ["room", "friends"]
    assert list(graph.select_layers("room").layers) == ["room"]
    assert graph.select_layers([]).num_nodes == 3
    assert graph.subgraph([]).num_nodes == 0
    with pytest.raises(TypeError, match="no part 'edges'"):
        graph.replace(edges=None)


def test_equality_sees_every_part_but_the_name():
    graph = small(labels=["x", None, "y"], features=np.eye(3))
    assert graph == graph.replace(name="other")
    assert graph == graph.replace(features=sp.eye_array(3))
    others = [
        graph.replace(nodes=["Ann", "Bo", "Di"]),
        graph.replace(labels=["x", "x", "y"]),
        graph.replace(labels=None),
        graph.replace(features=None),
        graph.replace(features=2 * np.eye(3)),
        graph.select_layers(["room", "friends"]),
        graph.select_layers(["room"]),
        3,
    ]
    assert all(graph != other for other in others)
    assert MultilayerGraph({}, num_nodes=2) == MultilayerGraph({}, nodes=[0, 1])
    with pytest.raises(TypeError, match="unhashable"):
        hash(graph)


def test_no_layers_no_nodes_one_node():
    assert repr(MultilayerGraph({})) == "MultilayerGraph(0 nodes, 0 layers)"
    assert MultilayerGraph({}, num_nodes=2).num_edges == 0
    one = MultilayerGraph({"a": EdgeLayer(1, [0], [0])}, labels=["x"], features=[[1]])
    assert one.num_edges == 0
    assert repr(one) == ("MultilayerGraph(1 node, 1 layer: a 0 edges, 1 class on 1 node, 1 feature)")
    nobody = MultilayerGraph({"a": EdgeLayer(2, [], [], nodes=[])})
    assert nobody.layers["a"].num_present == 0
    assert nobody.summary().loc["a", "components"] == 0


def test_to_scipy_gives_a_matrix_per_layer():
    matrices = small().to_scipy()
    assert list(matrices) == ["friends", "room"]
    assert matrices["room"].toarray().tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_masks_stay_with_their_nodes(tmp_path):
    layer = EdgeLayer(4, [0, 1, 2], [1, 2, 3])
    masks = {"train": [True, True, False, False], "test": np.array([False, False, True, True])}
    graph = MultilayerGraph({"a": layer}, nodes=list("wxyz"), labels=list("pqpq"), masks=masks)
    assert graph.subgraph(["z", "w"]).masks["test"].tolist() == [True, False]
    assert graph.replace(name="other").masks["train"].tolist() == masks["train"]
    assert graph != graph.replace(masks={"train": masks["test"]})
    with pytest.raises(ValueError, match="read-only"):
        graph.masks["train"][0] = False
    assert pickle.loads(pickle.dumps(graph)) == graph
    write(graph, tmp_path / "g.npz")
    assert read(tmp_path / "g.npz") == graph
    write(graph, tmp_path / "g.csv")
    assert read(tmp_path / "g.csv").masks["test"].tolist() == masks["test"].tolist()
    with pytest.warns(LossyFormatWarning, match="masks"):
        write(graph, tmp_path / "g.mpx")
    for wrong in ([True] * 3, [1, 0, 1, 0], "train"):
        with pytest.raises(DataError, match="mask"):
            MultilayerGraph({"a": layer}, masks={"train": wrong})


def test_what_is_no_graph_is_told_what_makes_one_of_it():
    import networkx as nx
    from torch_geometric.data import Data, HeteroData

    layer = EdgeLayer(2, [0], [1])
    for wrong, words in (
        (np.eye(2), "NodeIndexClassifier"),
        (np.arange(3), "from_scipy"),
        (sp.csr_array((2, 2)), "from_scipy"),
        (pd.DataFrame({"a": [1]}), "from_table"),
        (nx.path_graph(2), "from_networkx makes one"),
        (nx.MultiDiGraph(), "from_networkx makes one"),
        (HeteroData(), "from_pyg makes one"),
        (Data(), "from_pyg makes one"),
        ("a.csv", r"gramme.read\('a.csv'\)"),
        (layer, "makes one of it"),
        ({"a": np.eye(2)}, "from_scipy of matrices"),
        ([(0, 1)], "from_edges"),
        (3, "not int$"),
    ):
        with pytest.raises(DataError, match=f"not {type(wrong).__name__}; .*{words}|{words}"):
            checked_graph(wrong)


def test_a_split_of_a_graph_as_of_samples_is_told_how():
    from sklearn.model_selection import cross_val_score

    from gramme.methods import LabelPropagation

    graph = MultilayerGraph({"a": EdgeLayer(4, [0, 1, 2], [1, 2, 3])}, labels=list("pqpq"))
    with pytest.raises(DataError, match=r"not np.int64\(.\).*NodeIndexClassifier\(graph, model\)"):
        cross_val_score(LabelPropagation(), graph, graph.labels, cv=2, error_score="raise")
