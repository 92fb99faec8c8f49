"""Number columns as features: which are kept, what fills gaps, and that a later table is treated alike."""

import numpy as np
import pandas as pd
import pytest

from gramme import DataError, MultilayerGraph
from gramme.graph.table import MAX_NUMBER, NumberColumn, TablePlan, number_columns, number_features

pytestmark = pytest.mark.filterwarnings("ignore:the column")

TABLE = pd.DataFrame(
    {
        "hours": [0.0, 0, 0, 5, 12, 30, np.nan, 40],
        "children": [0, 1, 2, 0, 1, 2, 0, 1],
        "city": list("aabbccdd"),
        "smokes": [0, 1, 0, 1, 0, 1, 0, 1],
        "since": pd.to_datetime([f"20{year}-07-02" for year in range(10, 18)]),
        "huge": [1e200, 1, 2, 3, 4, 5, 6, 7],
    }
)


def test_numbers_and_dates_are_kept_and_two_values_or_text_are_not():
    graph = MultilayerGraph.from_table(TABLE)
    assert graph.feature_names == ("hours", "hours is missing", "children", "since")
    assert graph.features is not None
    np.testing.assert_allclose(graph.features[:, 0], [0, 0, 0, 5, 12, 30, 5, 40])
    np.testing.assert_array_equal(graph.features[:, 1], [0, 0, 0, 0, 0, 0, 1, 0])
    np.testing.assert_allclose(graph.features[:, 3], np.arange(2010.5, 2018.5), atol=0.01)
    assert list(graph.layers) == list(TABLE.columns)
    assert "1 feature" not in repr(MultilayerGraph.from_table(TABLE, numbers=False))
    assert MultilayerGraph.from_table(TABLE, numbers=False).features is None


def test_only_columns_that_are_used_are_kept():
    assert MultilayerGraph.from_table(TABLE, columns=["city", "children"]).feature_names == ("children",)
    assert MultilayerGraph.from_table(TABLE, label="hours").feature_names == ("children", "since")
    lists = pd.DataFrame({"codes": ["1;2", "2", "1"], "size": [1, 2, 3]})
    assert MultilayerGraph.from_table(lists, separator={"codes": ";"}).feature_names == ("size",)


def test_a_graph_without_numbers_has_no_features():
    graph = MultilayerGraph.from_table(TABLE[["city", "smokes"]])
    assert graph.features is None
    assert graph.feature_names is None


def test_a_later_table_has_the_same_columns_and_fillings():
    plan = TablePlan.of(TABLE)
    assert plan.numbers["hours"] == NumberColumn(5.0, gaps=True)
    again = TablePlan.from_record(plan.record())
    assert again == plan
    later = TABLE.iloc[:3].assign(hours=np.nan, children=[np.nan, 1, 2], huge=1.0)
    graph = again.graph(later)
    assert graph.feature_names == MultilayerGraph.from_table(TABLE).feature_names
    assert graph.features is not None
    assert graph.features[:, 0].tolist() == [5, 5, 5]
    assert graph.features[:, 1].tolist() == [1, 1, 1]
    assert graph.features[:, 2].tolist() == [1, 1, 2]
    older = {key: value for key, value in plan.record().items() if key != "numbers"}
    assert TablePlan.from_record(older).graph(TABLE).features is None


@pytest.mark.parametrize("wrong", [{"fill": "5", "gaps": True}, {"fill": 5.0, "gaps": 1}, {"fill": 1}])
def test_a_record_of_another_kind_is_refused(wrong: dict[str, object]):
    record = TablePlan.of(TABLE).record() | {"numbers": {"hours": wrong}}
    with pytest.raises(DataError, match="not a plan of a table's layers"):
        TablePlan.from_record(record)


def test_text_where_numbers_were_is_refused_and_huge_numbers_are_cut():
    columns = number_columns(TABLE, ["hours"])
    with pytest.raises(DataError, match="'hours': these are no numbers"):
        number_features(pd.DataFrame({"hours": ["many", "few"]}), columns)
    features, _ = number_features(pd.DataFrame({"hours": [1e300, -1e300]}), columns)
    assert features is not None
    assert features[:, 0].tolist() == [MAX_NUMBER, -MAX_NUMBER]


def test_columns_of_several_together_are_numbers_too():
    plan = TablePlan.of(TABLE, together={("hours", "children"): 2})
    assert list(plan.numbers) == ["since", "hours", "children"]


def test_a_frequent_number_is_a_group_of_its_own():
    hours = [0.0] * 40 + list(np.linspace(3, 60, 57)) + [np.nan] * 3
    layer = MultilayerGraph.from_table(pd.DataFrame({"hours": hours})).layers["hours"]
    assert layer.group_names is not None
    assert list(layer.group_names)[:2] == ["0", "(0, 17.25)"]
    assert layer.sizes.tolist() == [40, 14, 14, 14, 15]
    plan = TablePlan.of(pd.DataFrame({"hours": hours}))
    later = plan.graph(pd.DataFrame({"hours": [-1.0, 0, 0, 1e-300, 59, 70]})).layers["hours"]
    assert [str(later.group_names[code]) for code in later.codes()] == [
        "below 0",
        "0",
        "0",
        "(0, 17.25)",
        "45.75 and above",
        "45.75 and above",
    ]
