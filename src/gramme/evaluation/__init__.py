"""How far to trust a number: held-out labels, intervals, and the benchmark of methods over many random splits."""

from gramme.evaluation.benchmark import benchmark
from gramme.evaluation.cross_fitting import fitted_estimate
from gramme.evaluation.cross_validation import cross_validate
from gramme.evaluation.estimate import Estimate, holdout_estimate
from gramme.evaluation.estimated_fit import EstimatedFit, EstimatePlan, fit_with_estimate
from gramme.evaluation.holdout import Holdout, hold_out
from gramme.evaluation.intervals import accuracy_interval
from gramme.evaluation.ledger import Ledger
from gramme.evaluation.one_run import RunResult, RunSpec
from gramme.evaluation.paper_results import PAPER_ACCURACY, paper_accuracy
from gramme.evaluation.splits import Split, random_split
from gramme.evaluation.statistics import (
    Ranking,
    average_ranks,
    corrected_t_test,
    holm,
    paired_test,
)
from gramme.evaluation.summary import compare_pairs, rank_methods, summarise

__all__ = [
    "Estimate",
    "EstimatePlan",
    "EstimatedFit",
    "Holdout",
    "Ledger",
    "PAPER_ACCURACY",
    "Ranking",
    "RunResult",
    "RunSpec",
    "Split",
    "accuracy_interval",
    "average_ranks",
    "benchmark",
    "compare_pairs",
    "corrected_t_test",
    "cross_validate",
    "fit_with_estimate",
    "fitted_estimate",
    "hold_out",
    "holm",
    "holdout_estimate",
    "paired_test",
    "paper_accuracy",
    "random_split",
    "rank_methods",
    "summarise",
]
