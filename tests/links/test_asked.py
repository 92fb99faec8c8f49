"""What is refused before links are learned."""

import numpy as np
import pytest

from gramme import GrammeLinks
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.links.asked import MAX_LAYERS_LEARNED, layers_to_learn


def test_weights_that_vanish_when_they_are_divided_are_refused():
    source = np.arange(19)
    layer = EdgeLayer(20, source, source + 1, weight=np.full(19, 5e-324))
    with pytest.raises(DataError, match=r"the layer 'talk' has a weight of 4\.94066e-324"):
        GrammeLinks(random_state=0).fit(MultilayerGraph({"talk": layer}))


def test_links_of_hundreds_of_layers_are_asked_for_by_name():
    layers = {
        f"day {number}": EdgeLayer(4, [0, 1], [1, 2]) for number in range(MAX_LAYERS_LEARNED + 1)
    }
    graph = MultilayerGraph(layers)
    with pytest.raises(DataError, match="for 201 of them; name at most 200 with layers"):
        layers_to_learn(graph, None)
    assert layers_to_learn(graph, ["day 7"]) == ["day 7"]
