"""What is refused before links are learned."""

import numpy as np
import pytest

from gramme import GrammeLinks
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph


def test_weights_that_vanish_when_they_are_divided_are_refused():
    source = np.arange(19)
    layer = EdgeLayer(20, source, source + 1, weight=np.full(19, 5e-324))
    with pytest.raises(DataError, match=r"the layer 'talk' has a weight of 4\.94066e-324"):
        GrammeLinks(random_state=0).fit(MultilayerGraph({"talk": layer}))
