import json

import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer
from gramme.graph.table_plan import TablePlan

FIRST = pd.DataFrame(
    {
        "age": np.arange(40.0),
        "children": [0, 1, 2, 3] * 10,
        "city": ["Ulm", "Bonn"] * 20,
        "born": pd.date_range("2000-01-01", periods=40, freq="D"),
        "hobbies": ["chess; go", "go"] * 20,
        "party": ["red", "blue", None, None] * 10,
    }
)


def groups(graph, name):
    layer = graph.layers[name]
    assert isinstance(layer, MembershipLayer)
    names = list(layer.group_names)
    return [None if code < 0 else names[code] for code in layer.codes()]


@pytest.mark.filterwarnings("ignore:the column:gramme.errors.GrammeWarning")
def test_a_later_table_is_cut_where_the_first_one_was():
    plan = TablePlan.of(FIRST, label="party", bins={"age": 4}, separator={"hobbies": ";"})
    plan = TablePlan.from_record(json.loads(json.dumps(plan.record())))
    first = plan.graph(FIRST)
    part = FIRST.iloc[[3, 30]].reset_index(drop=True)
    again = plan.graph(part)
    assert list(again.layers) == ["age", "children", "city", "born", "hobbies"]
    for name in ("age", "children", "city", "born"):
        assert groups(again, name) == [groups(first, name)[3], groups(first, name)[30]], name
    assert groups(first, "age")[0] == "below 9.75"
    assert groups(first, "children")[:2] == ["0", "1"]


def test_numbers_that_were_amounts_stay_amounts_however_few_there_are():
    """Three different whole numbers alone would be taken for categories."""
    plan = TablePlan.of(FIRST[["age"]])
    assert plan.layers["age"].way == "bins"
    again = plan.graph(pd.DataFrame({"age": [1, 2, 39]}))
    assert groups(again, "age")[0] == groups(again, "age")[1] != groups(again, "age")[2]


@pytest.mark.filterwarnings("ignore:the column:gramme.errors.GrammeWarning")
@pytest.mark.parametrize("values", [[1, 2, 1], [1.0, None, 2.0], ["1", "2", "x"]])
def test_categories_have_the_same_name_in_whatever_type_they_come(values):
    plan = TablePlan.of(pd.DataFrame({"a": [1, 2, 2]}))
    assert groups(plan.graph(pd.DataFrame({"a": values})), "a")[0] == "1"


def test_several_columns_together():
    plan = TablePlan.of(FIRST[["age", "children", "city"]], together={("age", "children"): 3})
    assert list(plan.layers) == ["city", "age+children"]
    graph = plan.graph(FIRST)
    assert isinstance(graph.layers["age+children"], EdgeLayer)
    assert graph.layers["age+children"].to_scipy().sum(axis=1).min() >= 3
    assert plan.layers["age+children"].scale == pytest.approx(
        [FIRST["age"].std(ddof=0), FIRST["children"].std(ddof=0)]
    )
    kept = TablePlan.of(FIRST, columns=["age"], together={("age", "children"): 3})
    assert list(kept.layers) == ["age", "age+children"]


def test_a_column_that_is_empty_now_is_an_empty_layer():
    plan = TablePlan.of(FIRST[["born", "age"]])
    empty = pd.DataFrame({"born": [None, None], "age": [1, 2]})
    with pytest.warns(UserWarning, match="'born' joins no rows"):
        assert groups(plan.graph(empty), "born") == [None, None]


def test_a_constant_amount_is_one_group():
    plan = TablePlan.of(pd.DataFrame({"a": [1.5] * 5}))
    assert len(set(groups(plan.graph(pd.DataFrame({"a": [1.5] * 3})), "a"))) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "prty"}, "label: there is no column 'prty'; did you mean 'party'"),
        ({"together": {("age", "chldren"): 3}}, "no column 'chldren'; did you mean 'children'"),
        (
            {"together": {("age", "city"): 3}},
            "column 'city': 'Ulm' in row 0 is not a finite number",
        ),
        ({"bins": {"age": 1}}, "column 'age': bins must be a whole number of at least 2"),
        ({"knn": {"age": 10**9}}, "column 'age': 1000000000 knn are more than the"),
        ({"together": {("age",): 10**9}}, "1000000000 knn of age are more than the"),
        ({"knn": {"age": 0}}, "column 'age': knn must be a whole number of at least 1"),
        ({"together": {("age", "children"): 0}}, "whole number of at least 1"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(DataError, match=message):
        TablePlan.of(FIRST, **options)


@pytest.mark.parametrize(
    "record",
    [
        None,
        {},
        {"layers": {"a": {}}, "label": None, "id": None, "missing": "nobody"},
        {
            "layers": {"a": {"columns": [3], "way": "bins"}},
            "label": None,
            "id": None,
            "missing": "nobody",
        },
    ],
)
def test_a_record_that_is_none(record):
    with pytest.raises(DataError, match="this is not a plan of a table"):
        TablePlan.from_record(record)


def test_a_table_that_lacks_a_column():
    with pytest.raises(DataError, match="there is no column 'city'; known: town"):
        TablePlan.of(FIRST[["city"]]).graph(pd.DataFrame({"town": ["x"]}))
