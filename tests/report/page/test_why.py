"""The reasons as a page holds them: the largest of what came through, by numbers that the page can look up."""

import numpy as np
import pytest
from tests.report.page.graphs import two_blocks, unpacked

from gramme.methods import LabelPropagation, OneHotLogistic
from gramme.methods.reasons import reasons
from gramme.report.page import why as page_why
from gramme.report.page.why import page_reasons, why


def test_the_largest_come_first_and_name_groups_and_neighbours_of_the_page() -> None:
    graph = two_blocks()
    model = OneHotLogistic(C=1.0, random_state=0).fit(graph)
    chosen = np.arange(10, 40)
    found = why(model, graph, chosen, page_reasons(model, graph, chosen))
    (part,) = found["parts"]
    (wanted,) = reasons(model, graph, chosen).parts
    assert unpacked(part["value"]) == pytest.approx(wanted.log_odds, abs=1e-5)
    starts = np.concatenate([[0], np.cumsum(unpacked(part["counts"]))]).astype(int)
    layer, thing, amount = (unpacked(part[key]) for key in ("layer", "thing", "amount"))
    for row in range(chosen.size):
        mine = slice(starts[row], starts[row + 1])
        assert (np.diff(np.abs(amount[mine])) <= 1e-6).all()
        assert len(amount[mine]) <= page_why.MAX_THROUGH_PER_PART
        for place, number, value in zip(layer[mine], thing[mine], amount[mine], strict=True):
            name = found["layers"][place]
            parts = next(one for one in wanted.through if one.layer == name).parts[[row]].toarray()
            if number == 0:
                assert part["kinds"][name], "a neighbour that is not on the page"
                continue
            if part["kinds"][name]:
                column = chosen[number - 1]
            else:
                used = np.unique(graph.layers[name].incidence()[chosen].indices)
                column = used[number - 1]
            assert parts[0, column] == pytest.approx(value, abs=1e-5)


def test_a_large_page_holds_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = two_blocks()
    model = LabelPropagation(random_state=0).fit(graph)
    monkeypatch.setattr(page_why, "MAX_PAGE_THROUGH", 120)
    everyone = np.arange(60)
    (part,) = why(model, graph, everyone, page_reasons(model, graph, everyone))["parts"]
    assert unpacked(part["counts"]).max() == 2
    nobody = np.zeros(0, dtype=np.int64)
    assert page_reasons(model, graph, nobody) is None
    assert why(model, graph, nobody, None) is None
