import pytest
from tests.evaluation.runs import done, failed, spec

from gramme.evaluation import Ledger
from gramme.report.results_tables import results_table


@pytest.fixture
def runs(tmp_path):
    with Ledger(tmp_path / "r.sqlite") as ledger:
        for dataset in ("one", "two"):
            for r in range(3):
                ledger.record(done(spec("good", r, dataset=dataset), 0.9 + r / 100))
                ledger.record(done(spec("bad", r, dataset=dataset), 0.5))
        ledger.record(failed(spec("broken", 0), "out of luck"))
        return ledger.runs()


def test_each_table(runs):
    assert len(results_table(runs, "summary")) == 5
    assert len(results_table(runs, "pairs")) == 2
    assert len(results_table(runs, "runs")) == 13
    ranks = results_table(runs, "ranks")
    assert ranks["method"].tolist() == ["good", "bad"]
    assert ranks["average_rank"].tolist() == [1, 2]
    failures = results_table(runs, "failures")
    assert failures["error"].tolist() == ["out of luck"]
