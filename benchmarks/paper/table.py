"""The results table of the paper: its seven methods and more on its datasets, ours beside the published figures.

GrAMME-SG and GrAMME-Fusion are there twice: as in the paper (random features, no weight decay, unbounded scores), and
with the defaults.

    python benchmarks/paper/table.py                the table of `make paper`
    python benchmarks/paper/table.py --more         the methods of `make paper-more`, into the same ledger
    python benchmarks/paper/table.py --write-only   tables and figures from the ledger as it is

Every run goes to build/paper/results.sqlite; a script that was killed goes on from there. Writes results.csv (one row
per dataset, method and percentage), results.md, ranks.csv and the critical-difference figures, and puts the tables into
docs/reproduction.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shared import console, graphs, guarded, options, parsed, run, runs
from write_page import refresh
from write_table import write_all

from gramme.datasets import load
from gramme.errors import GrammeError
from gramme.evaluation.benchmark import DEFAULT_TRAIN_PERCENTS

DATASETS = (
    "ckm_social",
    "leskovec_ng",
    "vickers_chan",
    "balance_scale",
    "mammography",
    "congress_votes",
)
METHODS = (
    "deepwalk",
    "node2vec",
    "line",
    "pmne-r",  # the variant whose figures the paper prints
    "mne",
    "gramme-sg-paper",
    "gramme-fusion-paper",
    "gramme-sg",
    "gramme-fusion",
    "label-propagation",
    "one-hot-logistic",
    "majority",
)
REPEATS = 20
WALKS = ("pmne-n", "pmne-c")
PEERS = ("rgcn", "gat", "han")
# Datasets, methods and realisations. The peers build every edge: one fit takes seconds on the three networks, a minute
# or two on balance_scale, and up to ten on the last two.
MORE: Sequence[tuple[Sequence[str], Sequence[str], int]] = (
    (DATASETS, ("gramme-auto",), 20),
    (("vickers_chan", "leskovec_ng", "ckm_social"), PEERS, 20),
    (DATASETS, WALKS, 20),
    (("balance_scale", "congress_votes", "mammography"), PEERS, 3),
)


def stages(more: bool) -> Sequence[tuple[Sequence[str], Sequence[str], int]]:
    """What is run one after the other."""
    return MORE if more else ((with_own(DATASETS), METHODS, REPEATS),)


def with_own(names: Sequence[str]) -> Sequence[str]:
    """The datasets, and the one that cannot be passed on where the user has put its table in place."""
    try:
        load("reinnovation")
    except GrammeError:
        console.print("reinnovation is left out: its table must be yours (gramme datasets info)")
        return names
    return (*names, "reinnovation")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--more", action="store_true", help="the remaining methods")
    parser.add_argument("--write-only", action="store_true", help="run nothing")
    parser.add_argument("--jobs", type=int, help="runs at a time; one per core if not given")
    parser.add_argument("--ledger", type=Path, help="another ledger than results.sqlite")
    chosen = parsed(parser)
    ledger = chosen.ledger or chosen.work / "results.sqlite"
    if chosen.write_only:
        written(ledger, chosen.out)
        return
    plan, train = stages(chosen.more), DEFAULT_TRAIN_PERCENTS
    if chosen.quick:
        plan = ((("balance_scale", "wine"), ("gramme-fusion", "line", "majority"), 2),)
        train = (10.0,)
    for names, methods, repeats in plan:
        run(graphs(names), methods, ledger, train=train, repeats=repeats, jobs=chosen.jobs)
        written(ledger, chosen.out)


def written(ledger: Path, out: Path) -> None:
    """Write tables and figures."""
    found = runs(ledger)
    write_all(found, out)
    refresh(out)
    failed = int((found["status"] == "failed").sum())
    if failed:
        console.print(f"{failed} runs failed: gramme results {ledger} --show failures")


if __name__ == "__main__":
    guarded(main)
