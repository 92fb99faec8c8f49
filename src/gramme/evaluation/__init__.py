"""How far to trust a number: held-out labels, intervals, and the benchmark of methods over many random splits."""

from .benchmark import benchmark
from .cross_validation import EstimatedFit, EstimatePlan, cross_validate, fit_with_estimate, fitted_estimate
from .estimate import Estimate, holdout_estimate
from .ledger import Ledger
from .metrics import accuracy_interval
from .run import RunResult, RunSpec
from .splits import Holdout, Split, hold_out, random_split
from .statistics import Ranking, average_ranks, corrected_t_test, holm, paired_test
from .summary import PAPER_ACCURACY, compare_pairs, paper_accuracy, rank_methods, summarise

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
