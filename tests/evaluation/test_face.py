"""A ledger's pictures are tested where they are drawn: tests/plots/test_results.py."""

from gramme.evaluation import Ledger
from gramme.evaluation.face import LedgerFace


def test_every_ledger_can_be_drawn():
    assert issubclass(Ledger, LedgerFace)
