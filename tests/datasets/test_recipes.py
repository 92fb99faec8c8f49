"""Every dataset, built whole: sizes, classes, and the paper's edge count where it can be had."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from tests.datasets.cases import BROUGHT, EMBEDDED, FROM_FILES, Case

from gramme import datasets
from gramme.datasets.congress_votes import VOTES
from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MembershipLayer


def by_id(case: Case) -> str:
    return case.id


def test_every_registered_dataset_has_a_case():
    assert {case.name for case in [*EMBEDDED, *FROM_FILES]} | set(BROUGHT) == set(datasets.names())


def test_the_cases_are_where_they_belong():
    assert all(datasets.info(case.name).embedded for case in EMBEDDED)
    assert all(datasets.info(case.name).files for case in FROM_FILES)


@pytest.mark.parametrize("case", FROM_FILES, ids=by_id)
def test_from_files(gramme_data, case):
    case.check(datasets.load(case.name, **case.options))


@pytest.mark.parametrize("case", EMBEDDED, ids=by_id)
def test_embedded(case, monkeypatch):
    monkeypatch.delenv("GRAMME_DATA", raising=False)
    case.check(datasets.load(case.name, **case.options))


@pytest.mark.parametrize(
    "case", [case for case in [*EMBEDDED, *FROM_FILES] if not case.options], ids=by_id
)
def test_the_record_states_the_size(case):
    record = datasets.info(case.name)
    stated = (record.nodes, record.layers, record.classes)
    assert stated == (case.nodes, len(case.edges), len(case.classes))


def test_balance_scale_is_the_published_file(gramme_data: Path):
    graph = datasets.load("balance_scale")
    columns = []
    for layer in graph.layers.values():
        assert isinstance(layer, MembershipLayer)
        columns.append(layer.group_names[layer.codes()])
    rows = zip(graph.labels, *columns, strict=True)
    made = "".join(",".join(map(str, row)) + "\n" for row in rows)
    assert made == (gramme_data / "balance_scale" / "balance-scale.data").read_text()


def test_the_votes_are_named_as_in_their_description(gramme_data: Path):
    text = (gramme_data / "congress_votes" / "house-votes-84.names").read_text()
    places = [text.index(f"{number}. {vote}: 2 (y,n)") for number, vote in enumerate(VOTES, 2)]
    assert places == sorted(places)


def test_who_did_not_vote_is_absent(gramme_data: Path):
    graph = datasets.load("congress_votes")
    absent = [graph.num_nodes - layer.num_present for layer in graph.layers.values()]
    assert absent == [12, 48, 11, 11, 15, 11, 14, 15, 22, 7, 21, 31, 25, 17, 28, 104]


def test_the_leak_is_a_layer_equal_to_the_label(gramme_data: Path):
    graph = datasets.load("congress_votes_leaky")
    assert graph.layers["party"] == MembershipLayer.from_values(graph.labels)
    record = datasets.info("congress_votes_leaky")
    assert "WARNING" in record.description
    # The other reading of the count, a self loop for every member in every layer
    assert 2 * graph.num_edges + graph.num_layers * graph.num_nodes == 358_388


def test_no_other_dataset_has_its_label_among_its_layers(gramme_data: Path):
    for case in [*EMBEDDED, *FROM_FILES]:
        if case.name == "congress_votes_leaky":
            continue
        graph = datasets.load(case.name, **case.options)
        labels = MembershipLayer.from_values(graph.labels)
        for layer in graph.layers.values():
            if isinstance(layer, MembershipLayer) and layer.holds_all_nodes:
                assert not np.array_equal(np.sort(layer.sizes), np.sort(labels.sizes)), case.id


def test_leskovec_and_ng_carry_their_own_names(gramme_data: Path):
    graph = datasets.load("leskovec_ng")
    by_name = dict(zip(graph.nodes, graph.labels, strict=True))
    assert by_name["Jure Leskovec"] == "Leskovec"
    assert by_name["Andrew Ng"] == "Ng"
    assert "Bernhard Schölkopf" in by_name


def test_ckm_repeats_are_merged_and_no_edge_leaves_a_city(gramme_data: Path):
    graph = datasets.load("ckm_social")
    merged = 0
    for layer in graph.layers.values():
        assert isinstance(layer, EdgeLayer)
        assert layer.self_loops_dropped == 241
        # One of the two directions of each edge is merged by nature, the rest are repeats.
        merged += layer.duplicates_merged - layer.num_edges
    assert merged == 362
    assert (graph.summary()["homophily"] == 1).all()
    pieces, _ = connected_components(sum(graph.to_scipy().values()))
    assert pieces == 4  # so the layers together give the cities away


def test_vickers_labels_are_those_of_the_data_folder(gramme_data: Path):
    graph = datasets.load("vickers_chan")
    codes = (gramme_data / "vickers_chan" / "vickers_chan.labels").read_text().split()
    assert [{"0": "boy", "1": "girl"}[code] for code in codes] == graph.labels.tolist()
    assert graph.nodes.tolist() == list(range(1, 30))


def test_mammography_groups(gramme_data: Path):
    paper = datasets.load("mammography").layers["age"]
    plain = datasets.load("mammography", recipe="plain").layers["age"]
    assert isinstance(paper, MembershipLayer)
    assert isinstance(plain, MembershipLayer)
    assert sorted(plain.group_names) == ["18-33", "34-49", "50-65", "66-81", "82-97"]
    assert dict(zip(paper.group_names, paper.sizes, strict=True))["unknown"] == 5
    with pytest.raises(DataError, match="did you mean 'plain'"):
        datasets.load("mammography", recipe="plane")


def test_cora_rows_belong_together(gramme_data: Path):
    """Features, labels and edges are stored apart; were the test rows in a wrong order, neighbours would differ."""
    graph = datasets.load("cora")
    test = datasets.official_split("cora")["test"]
    edges = graph.layers["citations"].to_edges()
    inside = np.isin(edges.source, test) & np.isin(edges.target, test)
    start, end = edges.source[inside], edges.target[inside]
    assert (graph.labels[start] == graph.labels[end]).mean() > 0.7
    shared = graph.features[start].multiply(graph.features[end]).sum(axis=1)
    anybody = graph.features[start].multiply(graph.features[np.roll(end, 7)]).sum(axis=1)
    assert shared.mean() > 1.5 * anybody.mean()
    assert set(np.unique(graph.features.data)) == {1.0}


@pytest.mark.parametrize(
    ("name", "options", "sizes"),
    [
        ("cora", {}, (140, 500, 1000)),
        ("acm3025", {}, (600, 300, 2125)),
        ("dblp_heco", {}, (80, 1000, 1000)),
        ("dblp_heco", {"per_class": 60}, (240, 1000, 1000)),
    ],
)
def test_official_splits(gramme_data, name, options, sizes):
    split = datasets.official_split(name, **options)
    assert list(split) == ["train", "validation", "test"]
    assert tuple(len(part) for part in split.values()) == sizes
    together = np.concatenate(list(split.values()))
    assert np.unique(together).size == together.size
    assert 0 <= together.min() <= together.max() < datasets.info(name).nodes
    assert all(part.dtype == np.int64 for part in split.values())


def test_cora_trains_on_twenty_papers_per_class(gramme_data):
    labels = datasets.load("cora").labels[datasets.official_split("cora")["train"]]
    assert np.unique(labels.astype(str), return_counts=True)[1].tolist() == [20] * 7


def test_other_splits_are_errors(gramme_data):
    with pytest.raises(DataError, match="cora, acm3025, dblp_heco have one"):
        datasets.official_split("wine")
    with pytest.raises(DataError, match="20, 40 or 60, not 30"):
        datasets.official_split("dblp_heco", per_class=30)


@pytest.mark.filterwarnings("ignore:.*is not the file this dataset:gramme.errors.GrammeWarning")
@pytest.mark.parametrize(
    "name",
    [case.name for case in FROM_FILES if not case.options],
)
@pytest.mark.parametrize("content", [b"", b"1 2\n", b"\xff\xfe\x00", b"a,b\n", b"1 999 3 4\n"])
def test_a_file_of_nonsense_is_one_clear_error(tmp_path, monkeypatch, name, content):
    monkeypatch.setenv("GRAMME_DATA", str(tmp_path))
    for file in datasets.info(name).files:
        path = tmp_path / file.folder / file.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        datasets.load(name)
    assert isinstance(caught.value, FileFormatError)
    assert str(tmp_path) in str(caught.value)


def test_digits_and_wine_layers_complement_each_other():
    """No layer alone settles the label, and a vote over all layers does better than over any one."""
    for name in ("digits", "wine"):
        graph = datasets.load(name)
        classes = np.array(graph.classes, dtype=object)
        one_hot = (graph.labels[:, None] == classes).astype(float)
        votes = [matrix @ one_hot for matrix in graph.to_scipy().values()]
        truth = one_hot.argmax(axis=1)
        alone = [(vote.argmax(axis=1) == truth).mean() for vote in votes]
        together = (np.sum(votes, axis=0).argmax(axis=1) == truth).mean()
        assert max(alone) < 0.9 < together, (name, alone, together)


@pytest.mark.parametrize(("name", "options"), [("wine", {"bins": 1}), ("wine", {"bins": 100})])
def test_wine_takes_any_number_of_bins(name, options):
    assert datasets.load(name, **options).num_layers == 13


@pytest.mark.parametrize(
    ("name", "options"), [("wine", {"bins": 0}), ("digits", {"neighbours": 0})]
)
def test_options_that_make_no_sense(name, options):
    with pytest.raises(DataError, match=next(iter(options))):
        datasets.load(name, **options)
