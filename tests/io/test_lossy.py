import warnings

import numpy as np
import pytest

from gramme.errors import DataError, LossyFormatWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import lossy as losses
from gramme.io.lossy import as_text, text_names

FULL = MultilayerGraph(
    {
        "edges": EdgeLayer(3, [0], [1], [2.0], directed=True, nodes=[0, 1]),
        "club": MembershipLayer(3, [0, 1, 2], [0, 0, 0]),
    },
    nodes=["a", "b", "c"],
    labels=["x", "y", None],
    features=np.eye(3),
)


def warned(graph, **can):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = as_text(graph, "fmt", **can)
    assert all(issubclass(one.category, LossyFormatWarning) for one in caught)
    return text, [str(one.message) for one in caught]


def test_a_format_that_holds_everything_loses_nothing():
    text, words = warned(FULL, groups=True, presence=True)
    assert words == []
    assert isinstance(text.layers["club"], MembershipLayer)
    assert text.labels == ["x", "y", ""]
    assert text.features()[1] == ["0", "1", "0"]


def test_every_loss_is_told_once():
    text, words = warned(FULL, weights=False, directions=False, labels=False, features=False)
    for part in ("the groups of", "which nodes", "weights", "direction", "labels", "features"):
        assert sum(part in one for one in words) == 1, part
    assert text.layers["club"].num_edges == 3  # written as edges instead


def test_names_that_are_no_text_become_text_with_a_warning():
    with pytest.warns(LossyFormatWarning, match=r"node names that are not text: 1 \(int\)"):
        assert text_names([1, "b"], "fmt", "node") == ["1", "b"]


@pytest.mark.filterwarnings("ignore::gramme.LossyFormatWarning")
@pytest.mark.parametrize(("names", "words"), [([1, "1"], "the same name"), ([""], "empty name")])
def test_names_that_text_cannot_tell_apart(names, words):
    with pytest.raises(DataError, match=words):
        text_names(names, "fmt", "node")


@pytest.mark.filterwarnings("ignore::gramme.LossyFormatWarning")
def test_labels_that_text_cannot_tell_apart():
    graph = FULL.replace(labels=np.array([1, "1", None], dtype=object))
    with pytest.raises(DataError, match="two labels are the same"):
        as_text(graph, "fmt", groups=True, presence=True)


def test_too_many_implied_edges_or_features_are_refused(monkeypatch):
    monkeypatch.setattr(losses, "MAX_IMPLIED_EDGES", 2)
    with pytest.raises(DataError, match="imply 3 edges, too many"):
        as_text(FULL, "fmt")
    monkeypatch.setattr(losses, "MAX_FEATURE_CELLS", 2)
    with pytest.raises(DataError, match="too many to write as text"):
        as_text(FULL, "fmt", groups=True, presence=True).features()
