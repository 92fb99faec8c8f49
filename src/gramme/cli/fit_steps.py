"""The work of ``gramme fit`` and ``gramme predict``: fit, estimate how good it is, write, and show."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from gramme._progress import part
from gramme._terminal import escape
from gramme._threads import one_thread_below
from gramme.cli.console import messages, note, out
from gramme.cli.fit_plan import FitPlan, page_seconds
from gramme.cli.heartbeat import expect, relay
from gramme.cli.memory import bounded_memory
from gramme.cli.set_steps import SetPlan, parse_share
from gramme.cli.settings import make_model
from gramme.cli.showing import Show, print_result, printer
from gramme.cli.table import describe
from gramme.cli.together import Together, is_first_process
from gramme.errors import DataError, FileFormatError
from gramme.evaluation.cross_validation import VERY_LARGE_NODE_LAYERS
from gramme.evaluation.estimated_fit import EstimatePlan, fit_with_estimate
from gramme.graph import MultilayerGraph
from gramme.graph.table_plan import TablePlan
from gramme.io.names import require_proper
from gramme.methods import GrammeRegressor, NodeClassifier, load, method
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.basis import NOTHING, prediction_basis
from gramme.methods.labels import aligned_labels
from gramme.report import (
    check_target,
    fill_fit_folder,
    layer_table,
    prediction_table,
    write_csv,
)
from gramme.report.output_folder import output_folder
from gramme.report.page.number_page import DEFAULT_COVERAGE
from gramme.report.tables import number_table, with_sets

PROCESSES_SECONDS = 10.0
"""Roughly how long processes take to start, to meet and to hear from each other; used only to show progress."""
PREDICT_SECONDS, PREDICT_SECONDS_PER_ENTRY = 0.4, 2e-6
"""Roughly how long a model takes to predict the nodes of a graph; used only to show progress."""


def estimate_plan(holdout: str | None, folds: int | None, *, wanted: bool) -> EstimatePlan:
    """The plan of the estimate from what was said on the command line."""
    if holdout is not None and folds is not None:
        raise DataError("--holdout and --folds are two ways to estimate the accuracy; choose one")
    if folds is not None and folds < 2:
        raise DataError(f"--folds {folds}: at least 2 are needed")
    if not wanted and (holdout is not None or folds is not None):
        raise DataError("--no-estimate cannot go with --holdout or --folds")
    return EstimatePlan(None if holdout is None else parse_share(holdout), folds, wanted)


def fit_graph(
    graph: MultilayerGraph,
    model: NodeClassifier,
    target: Path,
    *,
    described: dict[str, Any],
    plan: EstimatePlan,
    seed: int,
    overwrite: bool,
    show: Show,
    sets: SetPlan | None = None,
    embedding: str = "csv",
    raw_csv: bool = False,
    silent: bool = False,
) -> None:
    """Fit, estimate the accuracy, write the folder and show what came out."""
    if graph.labels is None:
        raise DataError(
            "there are no labels to learn from; name a file of them with --labels, or with --label "
            "the column or attribute that holds them"
        )
    _check_names(graph)
    if not model.attends_couplings:
        graph = (
            graph.with_coupling_layers()
        )  # so that tables and page show the layers the model sees
    # the name is taken before the work begins, so that a second run into the same place is refused at once
    with output_folder(target, overwrite=overwrite) as place:
        result, files = _fit_into(
            place.folder,
            graph,
            model,
            described,
            plan,
            seed,
            embedding,
            sets=sets,
            raw_csv=raw_csv,
            silent=silent,
        )
    show(result, layer_table(model), target, files)


def _check_names(graph: MultilayerGraph) -> None:
    """Refuse early what cannot be written as a column or a class; names of nodes are escaped."""
    labels: list[Any] = [] if graph.labels is None else list(graph.labels)
    require_proper("layer", graph.layers)
    require_proper("label", labels)


def _fit_into(
    folder: Path,
    graph: MultilayerGraph,
    model: NodeClassifier,
    described: dict[str, Any],
    plan: EstimatePlan,
    seed: int,
    embedding: str,
    *,
    sets: SetPlan | None,
    raw_csv: bool,
    silent: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Fit, estimate and fill the folder; returns the record of the fit and the names of its files."""
    if not silent:
        _say_what_was_read(graph, described.get("table"))
        _say_what_it_costs(graph, model)
    costs = FitPlan.of(graph, model, plan)
    expect(costs.seconds)
    with _bounded(graph):
        fitted = fit_with_estimate(
            model,
            graph,
            plan,
            random_state=seed,
            balanced=described.get("class_weight") == "balanced",
            stages=(
                (f"Fitting {described['method']}", costs.share(costs.fit)),
                ("Estimating the accuracy from the labelled nodes", costs.share(costs.tests)),
            ),
        )
        estimate = fitted.estimate
        with (
            part("Writing the results and the page", costs.share(costs.page)),
            one_thread_below(graph.num_entries),
        ):
            result = described | {
                "nodes": graph.num_nodes,
                "layers": graph.num_layers,
                "classes": [str(label) for label in model.classes_.tolist()],
                "training_labels": int(sum(label is not None for label in fitted.train)),
                "estimate": estimate.record(),
                "seconds": round(fitted.seconds, 2),
            }
            if sets is not None:
                result["sets"] = sets.facts(model)
            if hasattr(model, "explanation_"):  # in large data that takes a while
                result["explanation"] = model.explanation_
            files = fill_fit_folder(
                folder,
                model,
                graph,
                known=fitted.train,
                config=result,
                estimate=result["estimate"] | {"predictions": estimate.predictions(graph.nodes)},
                embedding=embedding,
                raw_csv=raw_csv,
            )
    return result, files


def expect_processes(graph: MultilayerGraph, model: NodeClassifier, plan: EstimatePlan) -> None:
    """Say how long a fit in several processes may take, until the first of them says it better."""
    expect(PROCESSES_SECONDS + FitPlan.of(graph, model, plan).seconds)
    relay("Starting the processes", 0.0, 1.0)


def _say_what_was_read(graph: MultilayerGraph, table: dict[str, Any] | None) -> None:
    known = [label for label in aligned_labels(graph) if label is not None]
    what = "rows" if table is not None else "nodes"
    messages.print(
        escape(
            f"{graph.num_nodes:,} {what}, {_counted(graph.num_layers, 'layer')}; {len(known):,} {what} have a label "
            f"({_counted(len(set(known)), 'class', 'es')}), {graph.num_nodes - len(known):,} do not"
        )
    )
    for line in [] if table is None else describe(table, graph):
        messages.print(escape(f"  {line}"))


def _counted(number: int, thing: str, ending: str = "s") -> str:
    return f"{number:,} {thing}{'' if number == 1 else ending}"


def _say_what_it_costs(graph: MultilayerGraph, model: NodeClassifier) -> None:
    """Large data can take hours: say beforehand what would be quicker."""
    members = model.get_params().get("ensemble", 1) if isinstance(model, AttentionModel) else 1
    if graph.num_nodes * graph.num_layers >= VERY_LARGE_NODE_LAYERS and members > 1:
        messages.print(
            f"This is a lot of data, and training {members} networks on it can take hours. With --set ensemble=1 "
            f"it takes one part in {members} of that, with --method one-hot-logistic minutes."
        )


def _bounded(graph: MultilayerGraph) -> AbstractContextManager[None]:
    return bounded_memory(
        f"it does not hold {graph.num_nodes:,} nodes in {graph.num_layers:,} layers with these settings; fewer "
        "columns, --set hidden_dim=8, or --method label-propagation need less"
    )


def write_predictions(
    model: NodeClassifier | GrammeRegressor,
    graph: MultilayerGraph,
    target: Path,
    *,
    allow_unknown: bool = False,
    raw_csv: bool = False,
    sets: SetPlan | None = None,
) -> None:
    """Predict the nodes of a graph and write a table of them; the file appears whole or not at all."""
    expect(PREDICT_SECONDS + PREDICT_SECONDS_PER_ENTRY * graph.num_entries)
    with _bounded(graph), part("Predicting", 0.9):
        if isinstance(model, GrammeRegressor):
            if sets is not None and sets.by_class:
                raise DataError(
                    "--coverage-by-class is for classes, and this model predicts numbers"
                )
            table = number_table(model, graph, DEFAULT_COVERAGE if sets is None else sets.coverage)
        else:
            table = prediction_table(model, graph)
            if sets is not None:
                table = with_sets(table, model, graph, sets.coverage, by_class=sets.by_class)
        table["basis"] = prediction_basis(model, graph)
    _say_who_is_unknown(int((table["basis"] == NOTHING).sum()), len(table), allow_unknown)
    temporary = target.with_name(f".{target.name[:100]}.part")
    try:
        write_csv(table, temporary, raw=raw_csv)
        temporary.replace(target)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    out.print(escape(f"{len(table):,} predictions in {target}"))


def _say_who_is_unknown(strangers: int, nodes: int, allowed: bool) -> None:
    what = "no neighbour, group or feature with what the model learned from"
    if strangers == nodes and nodes and not allowed:
        raise DataError(
            f"none of the {nodes:,} nodes can be told from another: they share {what}, so all would get much the same "
            "guess. Give data that have nodes or groups in common with those of the fit, or add --allow-unknown"
        )
    if strangers:
        note(
            f"{strangers:,} of {nodes:,} nodes share {what}; what is predicted for them is a guess (basis: {NOTHING})"
        )


def table_record(model: Path) -> dict[str, Any] | None:
    """How the table of a fit became layers, from ``config.json`` beside the model; None if it was not a table."""
    path = model.with_name("config.json")
    if not path.is_file():
        return None
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}; take another copy") from None
    record = config.get("table") if isinstance(config, dict) else None
    if not isinstance(record, dict):
        return None
    try:
        TablePlan.from_record(record)
    except DataError as error:
        raise FileFormatError(f"{error}; take another copy", file=path) from None
    marks = record.get("missing_values", [])
    if not isinstance(marks, list) or not all(isinstance(mark, str) for mark in marks):
        raise FileFormatError(
            "'missing_values' should be a list of text; take another copy", file=path
        )
    return record


__all__ = [
    "EstimatePlan",
    "FitPlan",
    "Together",
    "is_first_process",
    "SetPlan",
    "check_target",
    "expect_processes",
    "estimate_plan",
    "fit_graph",
    "load",
    "make_model",
    "method",
    "page_seconds",
    "parse_share",
    "print_result",
    "printer",
    "table_record",
    "write_predictions",
]
