"""Every dataset, built whole: sizes, classes, and the paper's edge count where it can be had."""

import pytest
from tests.datasets.cases import BROUGHT, EMBEDDED, FROM_FILES, Case

from gramme import datasets
from gramme.errors import DataError, FileFormatError


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


@pytest.mark.parametrize("case", [case for case in [*EMBEDDED, *FROM_FILES] if not case.options], ids=by_id)
def test_the_record_states_the_size(case):
    record = datasets.info(case.name)
    stated = (record.nodes, record.layers, record.classes)
    assert stated == (case.nodes, len(case.edges), len(case.classes))


def test_other_splits_are_errors(gramme_data):
    with pytest.raises(DataError, match="cora, acm3025, acm_heco, dblp_heco have one"):
        datasets.official_split("wine")


@pytest.mark.filterwarnings("ignore:.*is not the file this dataset:gramme.errors.GrammeWarning")
@pytest.mark.parametrize("name", [case.name for case in FROM_FILES if not case.options])
@pytest.mark.parametrize("content", [b"", b"1 2\n", b"\xff\xfe\x00", b"a,b\n", b"1 999 3 4\n"])
def test_a_file_of_nonsense_is_one_clear_error(tmp_path, monkeypatch, name, content):
    monkeypatch.setenv("GRAMME_DATA", str(tmp_path))
    monkeypatch.setenv("GRAMME_ANY_CHECKSUM", "1")  # else cora's pickles are not even opened
    for file in datasets.info(name).files:
        path = tmp_path / file.folder / file.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        datasets.load(name)
    assert isinstance(caught.value, FileFormatError)
    assert str(tmp_path) in str(caught.value)
