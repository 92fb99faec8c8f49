"""What members learn from."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme.errors import GrammeWarning
from gramme.methods import GrammeFusion
from gramme.methods.attention.member_lessons import lessons_of
from gramme.methods.labels import known_labels

GRAPH = planted(30)
Y = half_known(GRAPH)
KNOWN = known_labels(GRAPH, Y)


def model(**settings: object) -> GrammeFusion:
    made = GrammeFusion(**settings)
    made.seed_ = 0
    return made


def test_a_label_that_is_not_seen_counts_nothing() -> None:
    seen = np.ones((KNOWN.nodes.size, 2), dtype=bool)
    seen[0, 1] = False
    lessons = lessons_of(model(), GRAPH, KNOWN, seen)
    np.testing.assert_array_equal(lessons.weights > 0, seen)
    assert lessons.held_out is None


def test_labels_set_aside_are_among_those_seen_and_none_where_they_are_too_few() -> None:
    seen = np.ones((KNOWN.nodes.size, 2), dtype=bool)
    lessons = lessons_of(model(validation_fraction=0.4), GRAPH, KNOWN, seen)
    assert lessons.held_out is not None
    assert 0 < lessons.held_out.sum() < seen.sum()
    with pytest.warns(GrammeWarning, match="sets none aside"):
        assert lessons_of(model(validation_fraction=0.01), GRAPH, KNOWN, seen).held_out is None
    given = lessons_of(model(), GRAPH, KNOWN, seen, validation=Y)
    assert given.validation is not None
