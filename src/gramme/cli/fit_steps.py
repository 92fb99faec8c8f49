"""The work of ``gramme fit`` and ``gramme predict``: fit, estimate how good it is, write, and show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.table import Table

from gramme._progress import part
from gramme._runtime import one_thread_below
from gramme._text import escape, json_text, plural, rough_number
from gramme._text import share as percent
from gramme.errors import DataError, FileFormatError
from gramme.evaluation.cross_validation import VERY_LARGE_NODE_LAYERS, EstimatePlan, fit_with_estimate
from gramme.evaluation.estimate import set_facts
from gramme.evaluation.splits import hold_out
from gramme.graph import MultilayerGraph
from gramme.graph.table import TablePlan
from gramme.io.values import require_proper
from gramme.methods import GrammeRegressor, MultiLabelClassifier, NodeClassifier
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.base import keep_interrupted_fits
from gramme.methods.explain import NOTHING, prediction_basis
from gramme.methods.labels import aligned_labels, labels_within
from gramme.methods.multilabel import known_label_sets, multilabel_scores
from gramme.methods.regression.base import explained, known_numbers
from gramme.report import fill_fit_folder, layer_table, prediction_table
from gramme.report.folder import OutputFolder, output_folder
from gramme.report.page.fit_facts import untested_classes
from gramme.report.page.html import class_text, render
from gramme.report.page.number_page import DEFAULT_COVERAGE, number_data
from gramme.report.result_folders import plain_parameters, versions, write_settings
from gramme.report.tables import number_table, with_columns, with_sets, write_csv

from .console import bounded_memory, messages, note, out
from .options import set_parameters
from .table import describe

# Prediction sets on the command line: what ``--coverage`` asks for, and what is printed about
# them.


MAX_SETS_PRINTED = 3


@dataclass(frozen=True)
class SetPlan:
    """How often a set must hold the true class, and whether in every class separately."""

    coverage: float
    by_class: bool = False

    @classmethod
    def of(cls, coverage: str | None, *, by_class: bool) -> SetPlan | None:
        """The plan from what was said on the command line; None if no sets are wanted."""
        if coverage is None:
            if by_class:
                raise DataError("--coverage-by-class needs --coverage, like --coverage 90%")
            return None
        return cls(parse_share(coverage), by_class)

    def facts(self, model: NodeClassifier) -> dict[str, Any]:
        """The record of a fitted model's sets."""
        return set_facts(model, self.coverage, by_class=self.by_class)[1]


def parse_share(text: str) -> float:
    """A share from text: 20% or 0.2.

    >>> parse_share("20%"), parse_share("0.2")
    (0.2, 0.2)
    """
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = float("nan")
    if not 0 < value < 1:
        raise DataError(f"{text!r} is not a share; write 20% or 0.2")
    return value


def sets_told(facts: dict[str, Any]) -> list[str]:
    """The lines about prediction sets: the promise, or why there is none, and how large they are."""
    share = f"{100 * facts['coverage']:g} %"
    if not facts["enough"]:
        return [
            f"sets of classes: {facts['tested']:,} labels are too few to guarantee {share} ({facts['needed']:,} are "
            "needed), so every set holds all classes"
        ]
    how = " of each class" if facts["by_class"] else ""
    sizes = {int(size): count for size, count in facts["sizes"].items()}
    total = sum(sizes.values())
    promise = f"sets of classes: they hold the true class of {share} of new nodes{how}"
    if facts["alone"]:
        right = f"is right for about {100 * facts['expected']:.0f} % of new nodes"
        if facts["expected"] == 1:  # which a few labels do not promise of all others
            right = f"was right for all {facts['tested']:,} labels tested"
        promise = f"sets of classes: the most probable class alone {right}, more than the {share} asked for{how}"
    if not total:
        return [f"{promise}; every node has a label, so there is none to give a set to"]
    single = sizes.get(1, 0)
    lines = [f"{promise}; one class for {single:,} of {total:,} nodes to predict"]
    if facts["undecided"]:
        named = [f"{' or '.join(one['classes'])} {one['nodes']:,}" for one in facts["undecided"]]
        lines.append(f"  undecided: {_first(named, MAX_SETS_PRINTED)}")
    if facts["unsettled"]:
        lines.append(f"  too few labels to guarantee it in {_first(facts['unsettled'], 5)}: every set holds that")
    return lines


# What a person or a script sees after a fit.

MAX_CLASSES_PRINTED = 8  # classes whose recall is printed, the rarest first

Show = Callable[[dict[str, Any], pd.DataFrame | None, Path, list[str]], None]


def printer(*, as_json: bool, quiet: bool) -> Show:
    """How the outcome of a fit is shown: as JSON, not at all, or in words."""

    def show(result: dict[str, Any], layers: pd.DataFrame | None, target: Path, files: list[str]) -> None:
        if as_json:
            shares = None if layers is None else dict(zip(layers["layer"], layers["importance"], strict=True))
            typer.echo(json_text(result | {"layer_importance": shares, "out": str(target), "files": files}))
        elif not quiet:
            _print_result(result, layers, target, files)

    return show


def _print_result(result: dict[str, Any], layers: pd.DataFrame | None, target: Path, files: list[str]) -> None:
    predicted = result["nodes"] - result["training_labels"]
    if predicted:
        known = f"{result['training_labels']:,} of {result['nodes']:,} nodes in {result['seconds']:.1f} s"
        whom = f"{known} and predicted the other {predicted:,}"
    else:
        known = f"all {result['nodes']:,} nodes in {result['seconds']:.1f} s"
        whom = f"{known}; every node has a label, so there is none left to predict"
    lines = [f"{result['method']} on {result['data']}: learned from {whom}"]
    lines += accuracy_told(result["estimate"], result.get("classes", ()))
    lines += sets_told(result["sets"]) if "sets" in result else []
    lines += [f"made of: {result['explanation']}"] if "explanation" in result else []
    for line in lines:
        out.print(escape(line))
    if layers is not None:
        out.print(_layers(layers))
    out.print(escape(f"in {target}: {', '.join(files)}"))
    out.print(escape(f"open {target / ('report.html' if 'report.html' in files else 'predictions.csv')}"))


def accuracy_told(estimate: dict[str, Any], classes: Sequence[str] = ()) -> list[str]:
    """The lines about how good a fit is; if classes are unequal, balanced accuracy and recall come first."""
    if estimate["kind"] == "none":
        return [f"accuracy: not known ({estimate['note']})"]
    where = {
        "holdout": f"on {estimate['nodes']:,} held-out nodes",
        "cross-validation": f"by cross-validation on {estimate['nodes']:,} labelled nodes",
        "cross-fitting": f"by cross-fitting on {estimate['nodes']:,} labelled nodes",
    }[estimate["kind"]]
    low, high = estimate["accuracy_ci95"]
    plain = f"{percent(estimate['accuracy'], 1)} (95 % interval {percent(low, 1)} to {percent(high, 1)})"
    lines = [f"accuracy {where}: {plain}"]
    if estimate["unequal_classes"]:
        low, high = estimate["balanced_accuracy_ci95"]
        rarest = sorted(estimate["recall"].items(), key=lambda one: one[1]["nodes"])
        recalls = [f"{class_text(label)}: {one['found']:,} of {one['nodes']:,}" for label, one in rarest]
        lines = [
            f"balanced accuracy {where}: {percent(estimate['balanced_accuracy'], 1)} "
            f"(95 % interval {percent(low, 1)} to {percent(high, 1)})",
            f"  identified of each class: {_first(recalls)}",
            f"  accuracy: {plain}",
        ]
    untested = untested_classes(estimate, classes)
    if untested:
        some = _first(list(map(class_text, untested)))
        lines.append(f"  {len(untested)} of {len(classes)} classes were not tested, for lack of labels: {some}")
    guess = estimate["guess"]
    if estimate["against_guess"] != "better":
        word = "no better" if estimate["against_guess"] == "no better" else "not clearly better"
        always = f"{word} than always saying {guess['class']!r}, which"
        right = f"is right for {percent(guess['accuracy'], 1)}"
        if estimate["unequal_classes"]:
            blind = 1 / len(estimate["recall"])
            lines.append(f"  by balanced accuracy {always} has {percent(blind, 1)} and {right}")
        else:
            lines.append(f"  {always} {right}")
    return [*lines, f"  {estimate['note']}"]


def _first(words: list[str], most: int = MAX_CLASSES_PRINTED) -> str:
    """The first of some words with commas between, and whether there are more."""
    return ", ".join(words[:most]) + (", ..." if len(words) > most else "")


MIN_BAR, MAX_BAR = 10, 30  # characters of the longest bar
NUMBER_COLUMN = 14  # characters between a layer's name and its bar


def _layers(layers: pd.DataFrame) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("layer", overflow="fold")
    table.add_column("importance", justify="right")
    table.add_column("")
    ordered = layers.sort_values("importance", ascending=False)
    longest = ordered["importance"].max() or 1.0  # all are 0 if no layer joins any nodes
    rows = ordered.head(20).to_dict(orient="records")
    names = [escape(str(row["layer"])) for row in rows]
    # bars give way to names, so that these break only where even a short bar leaves too little
    room = out.width - max(cell_len(name) for name in names) - NUMBER_COLUMN
    bars = min(max(room, MIN_BAR), MAX_BAR)
    for name, row in zip(names, rows, strict=True):
        bar = "█" * round(bars * row["importance"] / longest)
        table.add_row(name, percent(row["importance"], 1), bar)
    if len(ordered) > 20:
        table.add_row(f"and {len(ordered) - 20} more in layers.csv")
    return table


WRITING_SHARE = 0.1
"""Of a fit, which writing the model, the tables and the page counts as; it only shows how far a command is."""


def fit_stages(
    graph: MultilayerGraph, model: NodeClassifier, estimate: EstimatePlan, name: str
) -> list[tuple[str, float]]:
    """The stages of a fit and the share of the work that each is, by how many fits there are: only to show progress."""
    fits = 1 + estimate.further_fits(graph, model)
    one = (1 - WRITING_SHARE) / fits
    return [
        (f"Fitting {name}", one),
        ("Estimating the accuracy from the labelled nodes", (fits - 1) * one),
        ("Writing the results and the page", WRITING_SHARE),
    ]


def estimate_plan(holdout: str | None, folds: int | None, *, wanted: bool) -> EstimatePlan:
    """The plan of the estimate from what was said on the command line."""
    if holdout is not None and folds is not None:
        raise DataError("--holdout and --folds are two ways to estimate the accuracy; choose one")
    if folds is not None and folds < 2:
        raise DataError(f"--folds {folds}: at least 2 are needed")
    if not wanted and (holdout is not None or folds is not None):
        raise DataError("--no-estimate cannot go with --holdout or --folds")
    return EstimatePlan(None if holdout is None else parse_share(holdout), folds, wanted)


@dataclass(frozen=True)
class FitRequest:
    """What was asked for besides the data and the method.

    Attributes
    ----------
    target : Path
        The folder to write.
    described : dict
        What ``config.json`` notes of the data and the command.
    plan : EstimatePlan
    given : DataFrame, optional
        Columns of a table that ``predictions.csv`` is to repeat.
    all_classes : bool, optional
        Whether it has a column for each class; by the size of the data if not given.
    """

    target: Path
    described: dict[str, Any]
    plan: EstimatePlan
    sets: SetPlan | None = None
    seed: int = 0
    embedding: str = "csv"
    raw_csv: bool = False
    overwrite: bool = False
    quiet: bool = False
    as_json: bool = False
    given: pd.DataFrame | None = None
    all_classes: bool | None = None

    def output(self) -> AbstractContextManager[OutputFolder]:
        """The folder to fill; its name is taken before the work, so that a second run into it is refused at once."""
        return output_folder(self.target, overwrite=self.overwrite)

    def finish(self, place: OutputFolder, predictions: pd.DataFrame, model: Any, result: dict[str, Any]) -> None:
        """Write the model, the predictions and the settings of a fit of numbers or of several labels."""
        model.save(place.folder / "model.safetensors")
        write_csv(predictions, place.folder / "predictions.csv", raw=self.raw_csv)
        write_settings(place.folder / "config.json", result)

    def show(self, result: dict[str, Any], lines: Iterable[str]) -> None:
        """Print what came out of such a fit."""
        if self.as_json:
            typer.echo(json_text(result | {"out": str(self.target)}))
        elif not self.quiet:
            for line in lines:
                out.print(escape(line))


def fit_graph(graph: MultilayerGraph, model: NodeClassifier, request: FitRequest) -> tuple[dict[str, Any], list[str]]:
    """Fit, estimate the accuracy, write the folder and show what came out; returns the record of it and the files."""
    if graph.labels is None:
        raise DataError(
            "there are no labels to learn from; name a file of them with --labels, or with --label "
            "the column or attribute that holds them"
        )
    # what cannot be written as a column or a class is refused early; names of nodes are escaped
    require_proper("layer", graph.layers)
    require_proper("label", list(graph.labels))
    if not model.supports_couplings:
        graph = graph.with_coupling_layers()  # so that tables and page show the layers the model sees
    described = request.described
    with request.output() as place, _bounded(graph):
        if not (request.quiet or request.as_json):
            _say_what_is_ahead(graph, model, described.get("table"))
        fitting, testing, writing = fit_stages(graph, model, request.plan, described["method"])
        fitted = fit_with_estimate(
            model,
            graph,
            request.plan,
            random_state=request.seed,
            balanced=described.get("class_weight") == "balanced",
            stages=(fitting, testing),
        )
        estimate = fitted.estimate
        with part(*writing), one_thread_below(graph.num_entries):
            result = described | {
                "nodes": graph.num_nodes,
                "layers": graph.num_layers,
                "classes": [str(label) for label in model.classes_.tolist()],
                "training_labels": int(sum(label is not None for label in fitted.train)),
                "estimate": estimate.record(),
                "seconds": round(fitted.seconds, 2),
            }
            if request.sets is not None:
                result["sets"] = request.sets.facts(model)
            if hasattr(model, "explanation_"):  # in large data that takes a while
                result["explanation"] = model.explanation_
            files = fill_fit_folder(
                place.folder,
                model,
                graph,
                known=fitted.train,
                config=result,
                estimate=result["estimate"] | {"predictions": estimate.predictions(graph.nodes)},
                embedding=request.embedding,
                raw_csv=request.raw_csv,
                given=request.given,
                all_classes=request.all_classes,
            )
    printer(as_json=request.as_json, quiet=request.quiet)(result, layer_table(model), request.target, files)
    return result, files


def _say_what_is_ahead(graph: MultilayerGraph, model: NodeClassifier, table: dict[str, Any] | None) -> None:
    """Say what was read and, of large data, which can take hours, what would be quicker."""
    known = [label for label in aligned_labels(graph) if label is not None]
    what = "rows" if table is not None else "nodes"
    messages.print(
        f"{graph.num_nodes:,} {what}, {plural(graph.num_layers, 'layer')}; {len(known):,} {what} have a label "
        f"({plural(len(set(known)), 'class', 'es')}), {graph.num_nodes - len(known):,} do not"
    )
    for line in [] if table is None else describe(table, graph):
        messages.print(escape(f"  {line}"))
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
    model: NodeClassifier | GrammeRegressor | MultiLabelClassifier,
    graph: MultilayerGraph,
    target: Path,
    *,
    allow_unknown: bool = False,
    raw_csv: bool = False,
    sets: SetPlan | None = None,
) -> None:
    """Predict the nodes of a graph and write a table of them; the file appears whole or not at all."""
    if isinstance(model, MultiLabelClassifier):
        table = model.predictions_frame(graph)
        table["predicted"] = [";".join(map(str, one)) for one in table["predicted"]]
        write_csv(table.reset_index(), target, raw=raw_csv)
        return
    with _bounded(graph), part("Predicting", 0.9):
        if isinstance(model, GrammeRegressor):
            if sets is not None and sets.by_class:
                raise DataError("--coverage-by-class is for classes, and this model predicts numbers")
            table = number_table(model, graph, DEFAULT_COVERAGE if sets is None else sets.coverage)
        else:
            table = prediction_table(model, graph)
            if sets is not None:
                table = with_sets(table, model, graph, sets.coverage, by_class=sets.by_class)
        table["basis"] = prediction_basis(model, graph)
    strangers, nodes = int((table["basis"] == NOTHING).sum()), len(table)
    what = "no neighbour, group or feature with what the model learned from"
    if strangers == nodes and nodes and not allow_unknown:
        raise DataError(
            f"none of the {nodes:,} nodes can be distinguished: they share {what}, so all would get much the same "
            "guess. Give data that have nodes or groups in common with those of the fit, or add --allow-unknown"
        )
    if strangers:
        note(f"{strangers:,} of {nodes:,} nodes share {what}; what is predicted for them is a guess (basis: {NOTHING})")
    temporary = target.with_name(f".{target.name[:100]}.part")
    try:
        write_csv(table, temporary, raw=raw_csv)
        temporary.replace(target)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    out.print(escape(f"{len(table):,} predictions in {target}"))


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
        raise FileFormatError("'missing_values' should be a list of text; take another copy", file=path)
    return record


# The work of ``gramme fit --label-kind number``: a regression instead of a classifier.

METHOD = "gramme-regressor"


def make_regressor(settings: Iterable[str], *, seed: int, device: str) -> GrammeRegressor:
    """The regression with the parameters the user set."""
    known = GrammeRegressor().get_params()
    chosen = set_parameters(METHOD, known, settings, random_state=seed, device=device, progress=False)
    return GrammeRegressor(**chosen)


def fit_numbers(graph: MultilayerGraph, model: GrammeRegressor, request: FitRequest) -> None:
    """Fit a regression on the numbers of a graph's nodes and write its model, predictions, settings and page."""
    if graph.labels is None:
        raise DataError("there are no numbers to learn from; say with --label which column they are")
    share = DEFAULT_COVERAGE if request.sets is None else request.sets.coverage
    graph = graph.with_coupling_layers()  # so that table and page speak of the model's layers
    labels = graph.align(labels_within(graph, graph.labels, "train" if "train" in graph.masks else None), "label")
    holdout = request.plan.share
    split = None if holdout is None else hold_out(labels, holdout, request.seed, graph.nodes)
    if split is not None:
        graph = graph.replace(labels=split.train)
    with request.output() as place:
        with part("Fitting a regression", 1 - WRITING_SHARE), keep_interrupted_fits():
            model.fit(graph)
        result = request.described | {
            "method": METHOD,
            "nodes": graph.num_nodes,
            "layers": graph.num_layers,
            "training_labels": int(np.isfinite(model.out_of_fold_).sum()),
            "r2": model.r2_,
            "mean_absolute_error": model.mean_absolute_error_,
            "ingredients": dict(zip(model.ingredients_["ingredient"], model.ingredients_["weight"], strict=True)),
            "layer_importance": model.layer_importance_.to_dict(),
            "explanation": model.explanation_,
            "parameters": plain_parameters(model),
            "versions": versions(),
            "coverage": share,
        }
        lines = [
            f"learned from {result['training_labels']:,} of {graph.num_nodes:,} nodes; on these, each predicted "
            f"without its number: R2 {model.r2_:.3f}, {rough_number(model.mean_absolute_error_)} off on average"
        ]
        table = number_table(model, graph, share)
        if split is not None:
            found = result["held_out"] = _held_out_record(model, graph, labels, split.held_out, share)
            lines.append(
                f"on {found['nodes']:,} nodes set aside: R2 {found['r2']:.3f}, "
                f"{rough_number(found['mean_absolute_error'])} off on average; {percent(found['covered'])} lie in "
                f"their {percent(share)} interval"
            )
            aside = np.isin(np.arange(graph.num_nodes), split.held_out)
            table = table.assign(held_out=aside, true_label=pd.Series(labels, dtype=object).where(aside))
        if request.given is not None:
            table = with_columns(table, request.given)
        request.finish(place, table, model, result)
        page = render(number_data(model, graph, result))
        (place.folder / "report.html").write_text(page, encoding="utf-8")
    request.show(result, [*lines, model.explanation_, f"open {request.target / 'report.html'}"])


def _held_out_record(
    model: GrammeRegressor, graph: MultilayerGraph, labels: NDArray[np.object_], nodes: NDArray[np.int64], share: float
) -> dict[str, Any]:
    """How far off the predictions are on nodes that were set aside, and how many lie in their intervals."""
    values = known_numbers(graph, labels, least=1)
    truth = values.values[np.isin(values.nodes, nodes)]
    low, high = model.predict_interval(share)[nodes].T
    return {
        "nodes": int(nodes.size),
        "r2": explained(truth, model.predict()[nodes]),
        "mean_absolute_error": float(np.abs(truth - model.predict()[nodes]).mean()),
        "covered": float(((low <= truth) & (truth <= high)).mean()),
    }


# The work of ``gramme fit --label-separator``: a model per label, a table with a column for each.


def fit_label_sets(graph: MultilayerGraph, model: NodeClassifier, request: FitRequest, separator: str) -> None:
    """Learn which of several labels each node has, and write the model, the predictions and the settings."""
    if graph.labels is None:
        raise DataError("there are no labels to learn from; say with --label which column they are")
    labels = np.array([None if one is None else str(one) for one in graph.align(graph.labels, "label")], dtype=object)
    labels[labels == ""] = None
    plan = request.plan
    split = None if plan.share is None else hold_out(labels, plan.share, request.seed, graph.nodes)
    graph = graph.replace(labels=labels if split is None else split.train)
    several = MultiLabelClassifier(model)
    with request.output() as place:
        with part("Fitting a model per label", 1 - WRITING_SHARE):
            several.fit(graph, mask="train" if "train" in graph.masks else None, separator=separator)
        every = known_label_sets(graph, labels, separator=separator)
        nodes, shares, kind = np.zeros(0, dtype=np.int64), np.zeros((0, 0)), "none"
        if split is not None:
            nodes, kind = split.held_out, "holdout"
            shares = several.predict_proba()[nodes].astype(np.float64)
        elif plan.wanted and model.has_out_of_fold:
            (nodes, shares), kind = several.out_of_fold(), "out_of_fold"
        estimate: dict[str, Any] = {"kind": kind, "nodes": int(nodes.size)}
        learned = int(several.labelled_.sum())
        said = f"learned {len(several.classes_)} labels from {learned:,} of {graph.num_nodes:,} nodes"
        if nodes.size:
            rows = np.searchsorted(every.nodes, nodes)
            columns = np.searchsorted(every.labels, several.classes_)
            estimate |= multilabel_scores(every.indicator[np.ix_(rows, columns)], shares, several.threshold)
            how = "set aside" if kind == "holdout" else "each predicted without its labels"
            said += (
                f"; on {nodes.size:,} nodes, {how}: macro-F1 {estimate['macro_f1']:.3f}, "
                f"micro-F1 {estimate['micro_f1']:.3f}, ranking loss {estimate['ranking_loss']:.3f}"
            )
        result = request.described | {
            "label_separator": separator,
            "nodes": graph.num_nodes,
            "layers": graph.num_layers,
            "labels": several.classes_.tolist(),
            "training_labels": learned,
            "estimate": estimate,
            "parameters": plain_parameters(model),
            "versions": versions(),
        }
        table = several.predictions_frame()
        table["predicted"] = [separator.join(map(str, one)) for one in table["predicted"]]
        table.insert(0, "known", pd.Series(graph.labels, index=table.index, dtype=object))
        if split is not None:
            table["held_out"] = np.isin(np.arange(graph.num_nodes), nodes)
            table["true_label"] = pd.Series(labels, index=table.index, dtype=object).where(table["held_out"])
        request.finish(place, table.reset_index(), several, result)
    request.show(result, [said, f"predictions in {request.target / 'predictions.csv'}"])
