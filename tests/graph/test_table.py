import json
import resource
import time
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import DataError, GrammeWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.nearest import nearest_layer
from gramme.graph.table import TablePlan

from_table = MultilayerGraph.from_table


def layer_of(values, **options):
    """The layer of a table's one column `a`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GrammeWarning)
        return from_table(pd.DataFrame({"a": values}), **options).layers["a"]


def groups_of(values, **options):
    """The group name of each row, None for none."""
    layer = layer_of(values, **options)
    assert isinstance(layer, MembershipLayer)
    names = list(layer.group_names)
    return [None if code < 0 else names[code] for code in layer.codes()]


@pytest.mark.parametrize(
    "values",
    [
        ["x", None, "y", "x"],
        [True, False, True],
        pd.array([True, None, True], dtype="boolean"),
        pd.array(["x", None, "x"], dtype="string"),
        pd.Categorical(["x", None, "x"], categories=["z", "x"]),
        [3, 1, 3],
        [10**18 + 1, 10**18 + 2, 10**18 + 1],
        [10**30, 10**30 + 1, 10**30],
        [(1, 2), "x", 1.5, "x"],
        pd.to_timedelta([1, 2, 1], unit="h"),
    ],
)
def test_categories_join_as_they_are(values):
    expected = [None if pd.isna(value) else value for value in pd.Series(values).astype(object)]
    if isinstance(values[0], tuple):
        expected = list(values)
    assert groups_of(values) == expected


def test_whole_numbers_with_gaps_are_still_whole():
    """A gap makes pandas keep whole numbers as floats."""
    groups = groups_of([1, 2, None, 2])
    assert groups == [1, 2, None, 2]
    assert type(groups[0]) is int
    assert groups_of(pd.array([1, None, 1], dtype="Int64")) == [1, None, 1]


@pytest.mark.parametrize(("distinct", "groups"), [(20, 20), (21, 5)])
def test_many_whole_numbers_become_quantiles(distinct, groups):
    assert layer_of(list(range(distinct)) * 2).num_groups == groups


def test_a_float_column_gets_five_groups_with_telling_names():
    layer = layer_of(np.linspace(0, 1, 30))
    names = ["[0, 0.2)", "[0.2, 0.4)", "[0.4, 0.6)", "[0.6, 0.8)", "[0.8, 1]"]
    assert list(layer.group_names) == names
    assert layer.sizes.tolist() == [6] * 5


def test_bins_of_equal_width():
    groups = groups_of([0.0, 4.9, 5.0, 10.0, None], bins={"a": 2})
    assert groups == ["[0, 5)", "[0, 5)", "[5, 10]", "[5, 10]", None]
    assert groups_of([-1e308, 0.5, 1e308], bins={"a": 2})[0].startswith("[-1e+308")
    assert groups_of([7.5, 7.5], bins={"a": 3}) == ["[7.5, 7.5]"] * 2


def test_stated_edges_have_open_ends():
    groups = groups_of([10, 18, 34, 50, 99, None], bins={"a": [18, 34, 50]})
    assert groups == ["below 18", "[18, 34)", "[34, 50)", "50 and above", "50 and above", None]


def test_close_edges_have_different_names():
    names = layer_of([1, 2, 3], bins={"a": [1.00001, 1.00002]}).group_names
    assert list(names) == ["below 1.00001", "1.00002 and above"]
    assert "[1000000, 1000001)" in groups_of([1000000, 2000000], bins={"a": [1000000, 1000001]})


@given(
    st.lists(
        st.floats(-1e6, 1e6, width=32) | st.just(float("nan")) | st.sampled_from([0.5, 1.5]), min_size=1, max_size=30
    ),
    st.integers(2, 6),
    st.sampled_from(["bins", "quantiles"]),
)
def test_groups_of_numbers_are_intervals_in_order(values, count, way):
    layer = layer_of(values, **{way: {"a": count}})
    assert layer.num_groups <= count
    known = [value for value in values if value == value]
    assert layer.num_memberships == len(known)
    assert layer.present.tolist() == [value == value for value in values]
    numbers = np.array(values)
    spans = sorted((numbers[m].min(), numbers[m].max()) for m in layer.members())
    for (_, high), (low, _) in pairwise(spans):
        assert high < low


def test_quantiles_split_evenly_and_merge_equal_edges():
    assert layer_of(range(100), quantiles={"a": 4}).sizes.tolist() == [25] * 4
    skewed = layer_of([0.5] * 90 + list(np.linspace(1, 2, 10)), quantiles={"a": 10})
    assert sorted(skewed.sizes.tolist()) == [10, 90]
    high = layer_of([1.5] * 5 + [5.5] * 50, quantiles={"a": 4})
    assert list(high.group_names) == ["[1.5, 5.5)", "[5.5, 5.5]"]


def test_moments_in_time_are_cut_like_numbers():
    days = pd.date_range("2020-01-01", periods=31)
    groups = groups_of(days)
    assert len(set(groups)) == 5
    assert groups[0] == "[2020-01-01, 2020-01-07)"
    assert groups_of(days, bins={"a": ["2020-01-11"]})[9:11] == ["below 2020-01-11", "2020-01-11 and above"]
    zoned = days.tz_localize("Europe/Berlin").where(days.day > 1)
    assert groups_of(zoned)[0] is None
    with pytest.raises(DataError, match="column 'a': bins of dates must be"):
        layer_of(days, bins={"a": ["never"]})


@given(
    st.lists(st.integers(-5, 5) | st.floats(-3, 3, width=16) | st.just(float("nan")), max_size=15), st.integers(1, 6)
)
def test_nearest_neighbours_are_exact(values, neighbours):
    """Everyone's nearest distances are those of brute force, and no edge is there without cause."""
    numbers = np.array(values, dtype=np.float64)
    layer = nearest_layer(numbers, neighbours)
    known = np.flatnonzero(~np.isnan(numbers))
    assert np.flatnonzero(layer.present).tolist() == known.tolist()
    assert not layer.directed
    reach = {}
    for i in known:
        others = sorted(abs(numbers[i] - numbers[j]) for j in known if j != i)[:neighbours]
        found = sorted(abs(numbers[i] - numbers[j]) for j in layer.neighbours(int(i))[0])
        assert found[: len(others)] == others
        reach[int(i)] = others[-1] if others else 0
    for i, j in zip(layer.source.tolist(), layer.target.tolist(), strict=True):
        assert abs(numbers[i] - numbers[j]) <= max(reach[i], reach[j])


def test_nearest_neighbours_as_edges():
    layer = layer_of([1.0, 2.0, 4.0, None, 100.0], knn={"a": 1})
    assert isinstance(layer, EdgeLayer)
    edges = list(zip(layer.source.tolist(), layer.target.tolist(), strict=True))
    assert edges == [(0, 1), (1, 2), (2, 4)]
    assert layer.num_present == 4
    assert layer_of([1.0, 2.0, None], knn={"a": 1}, missing="group").num_present == 2


def test_equal_values_do_not_all_lean_on_the_first_rows():
    layer = nearest_layer(np.zeros(1000), 2)
    assert layer.degrees().max() <= 4


def test_missing_values():
    values = ["x", None, "x", "y", np.nan]
    assert groups_of(values) == ["x", None, "x", "y", None]
    assert groups_of(values, missing="group") == ["x", "missing", "x", "y", "missing"]
    assert groups_of(values, missing="most common") == ["x", "x", "x", "y", "x"]
    assert groups_of([1, None, 2, 7], missing="median") == [1, 2, 2, 7]
    assert groups_of([1, None, 2, 7, 9], missing="median")[1] == 2
    assert groups_of([1, None], missing={"a": "group"}) == [1, "missing"]
    assert groups_of([0.5, 2.5, None], bins={"a": 2}, missing="group")[2] == "missing"
    assert groups_of(["missing", None], missing="group") == ["missing", "missing"]
    assert groups_of([None, None], missing="group") == ["missing", "missing"]
    categories = pd.Categorical(["x", None], categories=["z", "x"])
    assert groups_of(categories, missing="group") == ["x", "missing"]
    assert groups_of(categories, missing="most common") == ["x", "x"]


def test_cells_with_several_values():
    layer = layer_of(["Ann; Bo", None, "Bo;;Bo", ""], separator={"a": ";"})
    assert list(layer.group_names) == ["Ann", "Bo"]
    assert layer.groups_per_node.tolist() == [2, 0, 1, 0]
    assert layer.num_edges == 1
    grouped = layer_of(["Ann; Bo", None, ""], separator={"a": ";"}, missing="group")
    assert grouped.groups_per_node.tolist() == [2, 1, 1]


def test_rows_are_named_by_the_id_or_the_index():
    table = pd.DataFrame({"city": ["Ulm", "Ulm"], "who": ["Ann", "Bo"]})
    graph = from_table(table, id="who")
    assert list(graph.nodes) == ["Ann", "Bo"]
    assert list(graph.layers) == ["city"]
    assert list(from_table(table.set_index("who")).nodes) == ["Ann", "Bo"]
    assert list(from_table(table, columns=["city"]).nodes) == [0, 1]
    assert list(from_table(table.iloc[::-1], columns="city").nodes) == [1, 0]
    both = table.assign(year=[1, 2]).set_index(["who", "year"])
    assert list(from_table(both).nodes) == [("Ann", 1), ("Bo", 2)]


def test_labels_make_no_layer():
    table = pd.DataFrame({"party": ["red", None], "vote": ["yes", "yes"], 3: [1, 1]})
    graph = from_table(table, label="party", name="house")
    assert list(graph.labels) == ["red", None]
    assert list(graph.layers) == ["vote", "3"]
    assert graph.name == "house"


@pytest.mark.parametrize("values", [["x", "y", "z"], [None, None]])
def test_a_column_that_joins_nobody_is_warned_of(values):
    with pytest.warns(GrammeWarning, match="the column 'a' joins no rows") as caught:
        from_table(pd.DataFrame({"a": values}))
    assert caught[0].filename == __file__


TABLE = pd.DataFrame({"age": [1.5, 2.5], "city": ["Ulm", "Ulm"], "who": ["Ann", "Ann"]})


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [1]}, {}, "must be a pandas DataFrame, not dict"),
        (TABLE.iloc[:0], {}, "the table has no rows"),
        (TABLE[[]], {}, "no column to make a layer of"),
        (TABLE[["age"]], {"label": "age"}, "no column to make a layer of"),
        (TABLE[["age", "age"]], {}, "two columns have the name 'age'"),
        (pd.DataFrame({1: [1, 1], "1": [1, 1]}), {}, "two columns have the name '1'"),
        (TABLE, {"label": "agee"}, "label: there is no column 'agee'; did you mean 'age'?"),
        (TABLE, {"label": TABLE["age"]}, "label must be the name of a column"),
        (TABLE, {"id": "wo"}, "id: there is no column 'wo'; did you mean 'who'?"),
        (TABLE, {"id": "who"}, "the id column 'who': the name 'Ann' in row 2 is there already"),
        (TABLE.assign(who=["Ann", None]), {"id": "who"}, "in row 2 is missing"),
        (TABLE.set_index("who"), {}, "the index of the table"),
        (TABLE, {"columns": ["cty"]}, "columns: there is no column 'cty'; did you mean 'city'?"),
        (TABLE, {"columns": ["age"], "label": "age"}, "is the label or id"),
        (TABLE, {"bins": {"agee": 3}}, "bins: there is no column 'agee'; did you mean 'age'?"),
        (TABLE, {"bins": {"age": 2}, "label": "age"}, "bins: there is no column 'age'"),
        (TABLE, {"bins": {"age": 2}, "knn": {"age": 1}}, "'age' is in both bins and knn"),
        (TABLE, {"bins": 3}, "bins must be a mapping by column, not 3"),
        (TABLE, {"bins": {"age": 1}}, "column 'age': bins must be a whole number of at least 2"),
        (TABLE, {"bins": {"age": True}}, "bins must be a whole number or a list of edges"),
        (TABLE, {"bins": {"age": []}}, "bins must be a whole number or a list of edges"),
        (TABLE, {"bins": {"age": [3, 1]}}, "the edges of bins must rise"),
        (TABLE, {"bins": {"city": 3}}, "column 'city': 'Ulm' in row 1 is not a finite number"),
        (TABLE, {"quantiles": {"age": 2.5}}, "quantiles must be a whole number of at least 2"),
        (TABLE, {"knn": {"age": 0}}, "knn must be a whole number of at least 1, not 0"),
        (TABLE, {"separator": {"city": ""}}, "separator must be text such as ';'"),
        (TABLE, {"missing": "grp"}, "missing='grp' is unknown; did you mean 'group'?"),
        (TABLE, {"missing": {"ag": "group"}}, "missing: there is no column 'ag'"),
        (TABLE.assign(city=["Ulm", None]), {"missing": "median"}, "column 'city': missing='median' needs numbers"),
        (TABLE.assign(age=np.nan), {"missing": "median"}, "needs at least one value"),
        (TABLE.assign(age=[1.0, np.inf]), {}, "column 'age': inf in row 2 is not a finite number"),
        (TABLE.assign(age=[1j, 2j]), {}, "complex numbers have no order"),
        (TABLE.assign(age=[[1], [2]]), {}, "a cell holds one value, or text with a separator"),
    ],
)
@pytest.mark.filterwarnings("ignore::gramme.errors.GrammeWarning")
def test_bad_input_is_quoted(table, options, message):
    with pytest.raises(DataError) as error:
        from_table(table, **options)
    assert message in str(error.value)


def test_a_million_rows_of_ten_categories_take_seconds_and_little_memory():
    random = np.random.default_rng(0)
    names = np.array([f"value {code}" for code in range(10)], dtype=object)
    table = pd.DataFrame({f"c{k}": names[random.integers(0, 10, 1_000_000)] for k in range(10)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    graph = from_table(table)
    assert time.process_time() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB
    assert graph.num_edges > 10 * 10 * (100_000**2 // 2) * 0.99
    assert sum(layer.group.nbytes for layer in graph.layers.values()) == 10_000_000


def test_polars_frames_are_tables_too():
    polars = pytest.importorskip("polars")
    rows = {"who": ["a", "b", "c"], "city": ["Ulm", "Ulm", None], "team": ["x", None, "y"]}
    one = MultilayerGraph.from_table(polars.DataFrame(rows), label="team", id="who")
    assert one == MultilayerGraph.from_table(pd.DataFrame(rows), label="team", id="who")
    edges = {"source": ["a", "b"], "target": ["b", "c"], "weight": [1.5, 2.0]}
    assert MultilayerGraph.from_edges(polars.DataFrame(edges)) == MultilayerGraph.from_edges(edges)


def test_columns_that_say_nothing_are_left_out_of_larger_tables():
    rows = 40
    table = pd.DataFrame(
        {
            "kind": ["a", "b"] * 20,
            "same": "x",
            "empty": None,
            "remark": [f"said {row}" for row in range(rows)],
            "joined": pd.date_range("2015-01-01", periods=rows, freq="60D"),
        }
    )
    with pytest.warns(GrammeWarning) as caught:
        graph = MultilayerGraph.from_table(table)
    assert list(graph.layers) == ["kind", "joined"]
    assert [str(one.message) for one in caught] == [
        "the column 'same' is left out: its only value is 'x'",
        "the column 'empty' is left out: it is empty",
        "the column 'remark' is left out: its values are all different, like names or free text",
    ]
    assert list(graph.layers["joined"].group_names)[:2] == ["2015", "2016"]
    days = MultilayerGraph.from_table(table, columns=["joined"], dates={"joined": "weekday"})
    assert days.layers["joined"].num_groups == 7
    assert "same" in MultilayerGraph.from_table(table, columns=["kind", "same"]).layers
    with pytest.raises(DataError, match="by decade, year, month or weekday"):
        MultilayerGraph.from_table(table, dates={"joined": "week"})


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
    assert plan.layers["age+children"].scale == pytest.approx([FIRST["age"].std(ddof=0), FIRST["children"].std(ddof=0)])
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
        ({"together": {("age", "city"): 3}}, "column 'city': 'Ulm' in row 1 is not a finite number"),
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
        {"layers": {"a": {"columns": [3], "way": "bins"}}, "label": None, "id": None, "missing": "nobody"},
    ],
)
def test_a_record_that_is_none(record):
    with pytest.raises(DataError, match="this is not a plan of a table"):
        TablePlan.from_record(record)


def test_a_table_that_lacks_a_column():
    with pytest.raises(DataError, match="there is no column 'city'; known: town"):
        TablePlan.of(FIRST[["city"]]).graph(pd.DataFrame({"town": ["x"]}))


@pytest.mark.parametrize("name", ["ID", "sample_no", "patientCode", "Case Number", "row.key"])
def test_a_column_of_sample_numbers_makes_no_layer(name):
    rows = 60
    samples = [70_000 + 13 * row for row in range(rows - 3)] + [70_000] * 3
    table = pd.DataFrame({name: samples, "city": ["Ulm", "Bonn"] * (rows // 2), "age": range(rows)})
    with pytest.warns(GrammeWarning, match="like an identifier"):
        graph = MultilayerGraph.from_table(table)
    assert list(graph.layers) == ["city", "age"]
    assert list(MultilayerGraph.from_table(table, columns=[name, "city"]).layers) == [name, "city"]
