"""``gramme demo`` and ``gramme methods``: the main job on embedded data, and what there is to choose from."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer

import gramme
from gramme._text import escape

from .console import loading, messages, out, text_table, warnings_as_notes
from .fit import DEFAULT_METHOD

HELD_OUT = "70%"
"""The share of the labels that the demo sets aside."""
FIT = ("gramme", "fit", "balance_scale", "--method", DEFAULT_METHOD, "--holdout", HELD_OUT)
"""The command that does the same, which the page of the demo names."""


def demo(
    target: Path = typer.Option(Path("gramme-demo"), "--out", help="Folder to write to."),
    seed: int = typer.Option(0, "--seed", help="The same seed gives the same result."),
) -> None:
    """Do what gramme fit does, on the embedded balance_scale data: learn from 30 % of the labels, predict the rest."""
    with loading():
        from gramme.methods import method
        from gramme.report import check_target

        from .fit_steps import FitRequest, estimate_plan, fit_graph
        from .options import Output

    check_target(target, overwrite=True)
    graph = gramme.datasets.load("balance_scale")
    messages.print(escape(repr(graph)))
    messages.print(
        f"Each layer joins the {graph.num_nodes} scales that are alike in one attribute. Learning which way a scale "
        f"tips; the labels of {HELD_OUT} of them are held out."
    )
    with warnings_as_notes():
        command = shlex.join([*FIT, "--seed", str(seed), "--out", str(target)])
        described = {"data": "balance_scale", "method": DEFAULT_METHOD, "seed": seed, "command": command}
        plan = estimate_plan(HELD_OUT, None, wanted=True)
        request = FitRequest(Output(target, seed, overwrite=True), described, plan)
        fit_graph(graph, method(DEFAULT_METHOD).estimator(random_state=seed), request)


def methods() -> None:
    """All methods, a line each, and what they need."""
    from gramme.methods import METHODS

    rows = [(one.name, one.about, f"gramme[{one.extra}]" if one.extra else "") for one in METHODS.values()]
    out.print(text_table(["method", "what it does", "needs"], rows))
