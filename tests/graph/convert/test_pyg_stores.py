import numpy as np
import pytest
import scipy.sparse as sp
from torch_geometric.data import Data

from gramme.errors import DataError
from gramme.graph.convert.pyg import (
    as_tensor,
    given_matrix,
    number_of_nodes,
    stored_edge_features,
    stored_labels,
    stored_weights,
)

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")


EDGES = torch.tensor([[0, 1], [1, 4]])


def test_nodes_as_stated_or_as_far_as_edges_reach():
    assert number_of_nodes(Data(num_nodes=9), {}) == 9
    assert number_of_nodes(Data(), {"r": {"edge_index": EDGES}}) == 5
    assert number_of_nodes(Data(), {}) == 0


def test_weights_are_one_positive_number_per_edge_and_other_attributes_are_features():
    one = torch.tensor([[3.0], [4.0]])
    assert stored_weights({"edge_weight": torch.tensor([1.0, 2.0])}).tolist() == [1.0, 2.0]
    assert stored_weights({"edge_attr": one}).tolist() == [3.0, 4.0]
    assert stored_edge_features({"edge_attr": one}) == {}
    assert stored_weights({}) is None
    both = {"edge_attr": one, "edge_weight": torch.tensor([1.0, 2.0])}
    assert (stored_weights(both).tolist(), stored_edge_features(both)["features"].tolist()) == ([1, 2], [[3], [4]])
    for attributes in (torch.zeros(2, 2), torch.tensor([-1.0, 1.0]), torch.tensor([[0.0], [1.0]])):
        assert stored_weights({"edge_attr": attributes}) is None
        assert stored_edge_features({"edge_attr": attributes})["features"].shape == tuple(attributes.shape)


def test_labels_by_number_or_by_class():
    assert stored_labels({"y": torch.tensor([0, -1, 2])}, {}).tolist() == [0, None, 2]
    named = Data(y=torch.tensor([[1], [-1]]), classes=["a", "b"])
    assert stored_labels(named, named).tolist() == ["b", None]
    assert stored_labels({}, {}) is None
    with pytest.raises(DataError, match="one label per node"):
        stored_labels({"y": torch.zeros(3, 2)}, {})


@pytest.mark.parametrize("sparse", [False, True])
def test_features_go_there_and_back(sparse):
    matrix = np.array([[0.0, 1.0], [2.0, 0.0]])
    tensor = as_tensor(sp.csr_array(matrix) if sparse else matrix)
    assert tensor.is_sparse is sparse
    again = given_matrix({"x": tensor}, "x")
    assert sp.issparse(again) is sparse
    assert np.array_equal(again.toarray() if sparse else again, matrix)
    assert given_matrix({}, "x") is None
