"""The page of a benchmark of links shows the summary, with the protocol, and no name as markup."""

import pytest
from tests.links.graphs import planted_links
from tests.report.page.graphs import HOSTILE

from gramme.errors import DataError
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.evaluation.link_ledger import LinkLedger
from gramme.report.page.html import read_data
from gramme.report.page.link_benchmark_page import link_benchmark_page


def test_means_and_layers_are_those_of_the_summary(tmp_path):
    ledger = tmp_path / "links.sqlite"
    table = link_benchmark({HOSTILE[0]: planted_links(30)}, ["repeated"], out=ledger)
    text = link_benchmark_page(ledger)
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    data = read_data(path)
    assert [row["roc_auc"] for row in data["rows"]] == table["roc_auc"].tolist()
    assert data["protocols"] == ["edges of one layer held out, other layers visible"]
    body = text[: text.index('<script type="application/json"')]
    assert HOSTILE[0] not in body
    assert body.count("<table>") == 4, "means and layers, for both kinds of unlinked pairs"


def test_an_empty_ledger_is_said_to_be_empty(tmp_path):
    with LinkLedger(tmp_path / "links.sqlite"):
        pass
    with pytest.raises(DataError, match="holds no runs yet"):
        link_benchmark_page(tmp_path / "links.sqlite")
