"""The work of ``gramme fit`` and ``gramme predict``: fit, estimate how good it is, write, and show."""

from __future__ import annotations

import json
from collections.abc import Iterable
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
from sklearn.base import clone

from gramme._progress import part
from gramme._runtime import one_thread_below
from gramme._text import escape, json_text
from gramme._text import share as percent
from gramme.errors import DataError, FileFormatError
from gramme.evaluation import Estimate
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
from gramme.methods.multilabel import known_label_sets, label_texts, multilabel_scores
from gramme.methods.regression.base import explained, known_numbers
from gramme.report import fill_fit_folder, layer_table, prediction_table
from gramme.report.folder import output_folder
from gramme.report.page.html import render, sentences
from gramme.report.page.label_sets_page import label_sets_data
from gramme.report.page.number_page import DEFAULT_COVERAGE, number_data
from gramme.report.result_folders import plain_parameters, versions, write_settings
from gramme.report.tables import number_table, with_columns, with_sets, write_csv

from .console import bounded_memory, messages, note, out, text_table
from .options import Output, set_parameters
from .table import describe


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
        share_value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share_value = float("nan")
    if not 0 < share_value < 1:
        raise DataError(f"{text!r} is not a share; write 20% or 0.2")
    return share_value


# What a person or a script sees after a fit.


def show_fit(result: dict[str, Any], layers: pd.DataFrame | None, output: Output, files: list[str]) -> None:
    """Show the outcome of a fit: as JSON, not at all, or in words."""
    target = output.target
    if output.as_json:
        importance_by_layer = None if layers is None else dict(zip(layers["layer"], layers["importance"], strict=True))
        typer.echo(json_text(result | {"layer_importance": importance_by_layer, "out": str(target), "files": files}))
    if output.as_json or output.quiet:
        return
    for line in sentences("fit", result):
        out.print(escape(line))
    if layers is not None:
        out.print(_layers(layers))
    for line in sentences("left_out", result.get("without_layer")):
        out.print(escape(line))
    out.print(escape(f"in {target}: {', '.join(files)}"))
    out.print(escape(f"open {target / ('report.html' if 'report.html' in files else 'predictions.csv')}"))


def _layers(layers: pd.DataFrame) -> Table:
    ordered_layers = layers.sort_values("importance", ascending=False)
    largest_importance = ordered_layers["importance"].max() or 1.0  # all are 0 if no layer joins any nodes
    leading_rows = ordered_layers.head(20).to_dict(orient="records")
    # bars give way to names, so that these break only where even a short bar leaves too little
    free_width = out.width - max(cell_len(str(layer_row["layer"])) for layer_row in leading_rows) - 14
    bar_width = min(max(free_width, 10), 30)
    table_cells = [
        (
            layer_row["layer"],
            percent(layer_row["importance"], 1),
            "█" * round(bar_width * layer_row["importance"] / largest_importance),
        )
        for layer_row in leading_rows
    ]
    table = text_table(["layer", "importance#", ""], table_cells)
    if len(ordered_layers) > 20:
        table.add_row(f"and {len(ordered_layers) - 20} more in layers.csv")
    return table


WRITING_SHARE = 0.1
"""Of a fit, which writing the model, the tables and the page counts as; it only shows how far a command is."""


def fit_stages(
    graph: MultilayerGraph, model: NodeClassifier, estimate: EstimatePlan, name: str, repeats: int = 1
) -> list[tuple[str, float]]:
    """The stages of a fit and the share of the work that each is, by how many fits there are: only to show progress."""
    fit_count = 1 + estimate.further_fits(graph, model)
    fit_share = (1 - WRITING_SHARE) / (fit_count * repeats)
    return [
        (f"Fitting {name}", fit_share),
        ("Estimating the accuracy from the labelled nodes", (fit_count - 1) * fit_share),
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
    """What was asked for besides the data and the method."""

    output: Output
    described: dict[str, Any]
    """What ``config.json`` notes of the data and the command."""
    plan: EstimatePlan
    sets: SetPlan | None = None
    embedding: str = "csv"
    given: pd.DataFrame | None = None
    """Columns of a table that ``predictions.csv`` is to repeat."""
    all_classes: bool | None = None
    """Whether it has a column for each class; by the size of the data if not given."""
    leave_one_layer_out: bool = False

    def finish(self, folder: Path, predictions: pd.DataFrame, model: Any, result: dict[str, Any]) -> None:
        """Write the model, the predictions and the settings of a fit of numbers or of several labels."""
        model.save(folder / "model.safetensors")
        write_csv(predictions, folder / "predictions.csv", raw=self.output.raw_csv)
        write_settings(folder / "config.json", result)

    def show(self, result: dict[str, Any], lines: Iterable[str]) -> None:
        """Print what came out of such a fit."""
        if self.output.as_json:
            typer.echo(json_text(result | {"out": str(self.output.target)}))
        elif not self.output.quiet:
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
    settings_record, output = request.described, request.output
    with output_folder(output.target, overwrite=output.overwrite) as place, _bounded(graph):
        if not (output.quiet or output.as_json):
            _say_what_is_ahead(graph, model, settings_record.get("table"))
        layers_left_out = _layers_left_out(graph, model, request)
        fit_stage, estimate_stage, writing_stage = fit_stages(
            graph, model, request.plan, settings_record["method"], 1 + len(layers_left_out)
        )
        estimated_fit = fit_with_estimate(
            model,
            graph,
            request.plan,
            random_state=output.seed,
            balanced=settings_record.get("class_weight") == "balanced",
            stages=(fit_stage, estimate_stage),
        )
        estimate = estimated_fit.estimate
        left_out_record = _without_each_layer(
            graph, model, request, layers_left_out, estimate, fit_stage[1] + estimate_stage[1]
        )
        with part(*writing_stage), one_thread_below(graph.num_entries):
            fit_record = settings_record | {
                "nodes": graph.num_nodes,
                "layers": graph.num_layers,
                "classes": [str(label) for label in model.classes_.tolist()],
                "training_labels": int(sum(label is not None for label in estimated_fit.train)),
                "estimate": estimate.record(),
                "seconds": round(estimated_fit.seconds, 2),
            }
            if left_out_record is not None:
                fit_record["without_layer"] = left_out_record
            if request.sets is not None:
                fit_record["sets"] = request.sets.facts(model)
            if hasattr(model, "explanation_"):  # in large data that takes a while
                fit_record["explanation"] = model.explanation_
            file_names = fill_fit_folder(
                place.folder,
                model,
                graph,
                known=estimated_fit.train,
                config=fit_record,
                estimate=fit_record["estimate"] | {"predictions": estimate.predictions(graph.nodes)},
                embedding=request.embedding,
                raw_csv=output.raw_csv,
                given=request.given,
                all_classes=request.all_classes,
            )
    show_fit(fit_record, layer_table(model), output, file_names)
    return fit_record, file_names


def _layers_left_out(graph: MultilayerGraph, model: NodeClassifier, request: FitRequest) -> list[str]:
    """The layers that a fit of its own is to do without; refused where nothing could be compared."""
    if not request.leave_one_layer_out:
        return []
    if graph.num_layers < 2:
        raise DataError("--leave-one-layer-out needs at least two layers, and the data have one")
    if not request.plan.wanted:
        raise DataError("--leave-one-layer-out compares accuracies; leave out --no-estimate")
    return list(graph.layers)


def _without_each_layer(
    graph: MultilayerGraph, model: NodeClassifier, request: FitRequest, layers: list[str], whole: Estimate, share: float
) -> dict[str, Any] | None:
    """The accuracy of a fit without each layer, on the same labels and folds as that with all layers."""
    if not layers or not whole.labels:
        return None
    layer_rows = []
    for layer in layers:
        reduced_graph = graph.select_layers([other_layer for other_layer in graph.layers if other_layer != layer])
        fit_stages_without = (f"Fitting without {layer}", share), ("", 0.0)
        balanced_classes = request.described.get("class_weight") == "balanced"
        fit_without_layer = fit_with_estimate(
            clone(model),
            reduced_graph,
            request.plan,
            random_state=request.output.seed,
            balanced=balanced_classes,
            stages=fit_stages_without,
        )
        layer_rows.append({"layer": layer} | _change(whole, fit_without_layer.estimate))
    layer_rows.sort(key=lambda row: np.inf if row["change"] is None else row["change"])
    estimate_record = whole.record()
    return {
        "balanced": estimate_record["unequal_classes"],
        "accuracy": estimate_record["balanced_accuracy" if estimate_record["unequal_classes"] else "accuracy"],
        "layers": layer_rows,
    }


def _change(whole: Estimate, part_of_layers: Estimate) -> dict[str, float | None]:
    """The accuracy without a layer and its change, with a 95 % interval over the nodes that both fits were tested on.

    Where classes are unequal every class counts alike, as in the balanced accuracy.
    """
    hits_by_node = [
        dict(zip(one.tolist(), np.equal(known, guess), strict=True))
        for one, known, guess in (
            (estimate.tested, np.array(estimate.labels, dtype=object), np.array(estimate.predicted, dtype=object))
            for estimate in (whole, part_of_layers)
        )
    ]
    tested_nodes = [tested_node for tested_node in whole.tested.tolist() if tested_node in hits_by_node[1]]
    if not tested_nodes:
        return dict.fromkeys(("accuracy", "change", "low", "high"))
    label_by_node = dict(zip(whole.tested.tolist(), map(str, whole.labels), strict=True))
    _, label_codes, class_sizes = np.unique(
        [label_by_node[tested_node] for tested_node in tested_nodes], return_inverse=True, return_counts=True
    )
    unequal_classes = whole.record()["unequal_classes"]
    node_weights = (
        1 / (class_sizes[label_codes] * class_sizes.size)
        if unequal_classes
        else np.full(len(tested_nodes), 1 / len(tested_nodes))
    )
    hits_without = np.array([hits_by_node[1][tested_node] for tested_node in tested_nodes], dtype=float)
    hit_differences = hits_without - np.array(
        [hits_by_node[0][tested_node] for tested_node in tested_nodes], dtype=float
    )
    accuracy_change = float(node_weights @ hit_differences)
    interval_half_width = 1.96 * float(np.sqrt(np.square(node_weights) @ np.square(hit_differences - accuracy_change)))
    return {
        "accuracy": float(node_weights @ hits_without),
        "change": accuracy_change,
        "low": accuracy_change - interval_half_width,
        "high": accuracy_change + interval_half_width,
    }


def _say_what_is_ahead(graph: MultilayerGraph, model: NodeClassifier, table: dict[str, Any] | None) -> None:
    """Say what was read and, of large data, which can take hours, what would be quicker."""
    known_labels = [label for label in aligned_labels(graph) if label is not None]
    for line in sentences(
        "read", graph.num_nodes, graph.num_layers, len(known_labels), len(set(known_labels)), table is not None
    ):
        messages.print(line)
    for line in [] if table is None else describe(table, graph):
        messages.print(escape(f"  {line}"))
    ensemble_members = model.get_params().get("ensemble", 1) if isinstance(model, AttentionModel) else 1
    if graph.num_nodes * graph.num_layers >= VERY_LARGE_NODE_LAYERS and ensemble_members > 1:
        messages.print(
            f"This is a lot of data, and training {ensemble_members} networks on it can take hours. With --set "
            "ensemble=1 "
            f"it takes one part in {ensemble_members} of that, with --method one-hot-logistic minutes."
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
        prediction_rows = model.predictions_frame(graph)
        prediction_rows["predicted"] = [";".join(map(str, one)) for one in prediction_rows["predicted"]]
        write_csv(prediction_rows.reset_index(), target, raw=raw_csv)
        return
    with _bounded(graph), part("Predicting", 0.9):
        if isinstance(model, GrammeRegressor):
            if sets is not None and sets.by_class:
                raise DataError("--coverage-by-class is for classes, and this model predicts numbers")
            prediction_rows = number_table(model, graph, DEFAULT_COVERAGE if sets is None else sets.coverage)
        else:
            prediction_rows = prediction_table(model, graph)
            if sets is not None:
                prediction_rows = with_sets(prediction_rows, model, graph, sets.coverage, by_class=sets.by_class)
        prediction_rows["basis"] = prediction_basis(model, graph)
    unrelated_nodes, node_count = int((prediction_rows["basis"] == NOTHING).sum()), len(prediction_rows)
    missing_ties = "no neighbour, group or feature with what the model learned from"
    if unrelated_nodes == node_count and node_count and not allow_unknown:
        raise DataError(
            f"none of the {node_count:,} nodes can be distinguished: they share {missing_ties}, so all would get "
            "much the same "
            "guess. Give data that have nodes or groups in common with those of the fit, or add --allow-unknown"
        )
    if unrelated_nodes:
        note(
            f"{unrelated_nodes:,} of {node_count:,} nodes share {missing_ties}; what is predicted for them is a "
            f"guess (basis: {NOTHING})"
        )
    temporary = target.with_name(f".{target.name[:100]}.part")
    try:
        write_csv(prediction_rows, temporary, raw=raw_csv)
        temporary.replace(target)
    except OSError as error:
        raise DataError(f"{target} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    out.print(escape(f"{len(prediction_rows):,} predictions in {target}"))


def table_record(model: Path) -> dict[str, Any] | None:
    """How the table of a fit became layers, from ``config.json`` beside the model; None if it was not a table."""
    config_path = model.with_name("config.json")
    if not config_path.is_file():
        return None
    try:
        config = json.loads(config_path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{config_path} cannot be read: {error}; take another copy") from None
    table_plan = config.get("table") if isinstance(config, dict) else None
    if not isinstance(table_plan, dict):
        return None
    try:
        TablePlan.from_record(table_plan)
    except DataError as error:
        raise FileFormatError(f"{error}; take another copy", file=config_path) from None
    missing_marks = table_plan.get("missing_values", [])
    if not isinstance(missing_marks, list) or not all(isinstance(mark, str) for mark in missing_marks):
        raise FileFormatError("'missing_values' should be a list of text; take another copy", file=config_path)
    return table_plan


# The work of ``gramme fit --label-kind number``: a regression instead of a classifier.

METHOD = "gramme-regressor"


def make_regressor(settings: Iterable[str], *, seed: int, device: str) -> GrammeRegressor:
    """The regression with the parameters the user set."""
    default_parameters = GrammeRegressor().get_params()
    chosen_parameters = set_parameters(
        METHOD, default_parameters, settings, random_state=seed, device=device, progress=False
    )
    return GrammeRegressor(**chosen_parameters)


def fit_numbers(graph: MultilayerGraph, model: GrammeRegressor, request: FitRequest) -> None:
    """Fit a regression on the numbers of a graph's nodes and write its model, predictions, settings and page."""
    if graph.labels is None:
        raise DataError("there are no numbers to learn from; say with --label which column they are")
    interval_coverage = DEFAULT_COVERAGE if request.sets is None else request.sets.coverage
    graph = graph.with_coupling_layers()  # so that table and page speak of the model's layers
    node_labels = graph.align(labels_within(graph, graph.labels, "train" if "train" in graph.masks else None), "label")
    holdout_share = request.plan.share
    holdout_split = (
        None if holdout_share is None else hold_out(node_labels, holdout_share, request.output.seed, graph.nodes)
    )
    if holdout_split is not None:
        graph = graph.replace(labels=holdout_split.train)
    with output_folder(request.output.target, overwrite=request.output.overwrite) as place:
        with part("Fitting a regression", 1 - WRITING_SHARE), keep_interrupted_fits():
            model.fit(graph)
        fit_record = request.described | {
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
            "coverage": interval_coverage,
        }
        predictions = number_table(model, graph, interval_coverage)
        if holdout_split is not None:
            fit_record["held_out"] = _held_out_record(
                model, graph, node_labels, holdout_split.held_out, interval_coverage
            )
            is_held_out = np.isin(np.arange(graph.num_nodes), holdout_split.held_out)
            predictions = predictions.assign(
                held_out=is_held_out, true_label=pd.Series(node_labels, dtype=object).where(is_held_out)
            )
        if request.given is not None:
            predictions = with_columns(predictions, request.given)
        request.finish(place.folder, predictions, model, fit_record)
        page_text = render(number_data(model, graph, fit_record))
        (place.folder / "report.html").write_text(page_text, encoding="utf-8")
    request.show(fit_record, [*sentences("numbers", fit_record), f"open {request.output.target / 'report.html'}"])


def _held_out_record(
    model: GrammeRegressor, graph: MultilayerGraph, labels: NDArray[np.object_], nodes: NDArray[np.int64], share: float
) -> dict[str, Any]:
    """How far off the predictions are on nodes that were set aside, and how many lie in their intervals."""
    known_values = known_numbers(graph, labels, least=1)
    true_numbers = known_values.values[np.isin(known_values.nodes, nodes)]
    lower_ends, upper_ends = model.predict_interval(share)[nodes].T
    return {
        "nodes": int(nodes.size),
        "r2": explained(true_numbers, model.predict()[nodes]),
        "mean_absolute_error": float(np.abs(true_numbers - model.predict()[nodes]).mean()),
        "covered": float(((lower_ends <= true_numbers) & (true_numbers <= upper_ends)).mean()),
    }


# The work of ``gramme fit --label-separator``: a model per label, a table with a column for each.


def fit_label_sets(graph: MultilayerGraph, model: NodeClassifier, request: FitRequest, separator: str) -> None:
    """Learn which of several labels each node has, and write the model, the predictions, the settings and the page."""
    if graph.labels is None:
        raise DataError("there are no labels to learn from; say with --label which column they are")
    node_labels = label_texts(graph, separator)
    plan = request.plan
    holdout_split = None if plan.share is None else hold_out(node_labels, plan.share, request.output.seed, graph.nodes)
    graph = graph.replace(labels=node_labels if holdout_split is None else holdout_split.train)
    label_set_model = MultiLabelClassifier(model)
    with output_folder(request.output.target, overwrite=request.output.overwrite) as place:
        with part("Fitting a model per label", 1 - WRITING_SHARE):
            training_mask = "train" if "train" in graph.masks else None
            label_set_model.fit(graph, mask=training_mask, separator=separator)
        known_sets = known_label_sets(graph, node_labels, separator=separator)
        tested_nodes, label_probabilities, estimate_kind = np.zeros(0, dtype=np.int64), np.zeros((0, 0)), "none"
        if holdout_split is not None:
            tested_nodes, estimate_kind = holdout_split.held_out, "holdout"
            label_probabilities = label_set_model.predict_proba()[tested_nodes].astype(np.float64)
        elif plan.wanted and model.has_out_of_fold:
            (tested_nodes, label_probabilities), estimate_kind = label_set_model.out_of_fold(), "out_of_fold"
        estimate: dict[str, Any] = {"kind": estimate_kind, "nodes": int(tested_nodes.size)}
        labelled_count = int(label_set_model.labelled_.sum())
        true_indicator = np.zeros((0, len(label_set_model.classes_)), dtype=bool)
        if tested_nodes.size:
            indicator_rows = np.searchsorted(known_sets.nodes, tested_nodes)
            indicator_columns = np.searchsorted(known_sets.labels, label_set_model.classes_)
            true_indicator = known_sets.indicator[np.ix_(indicator_rows, indicator_columns)]
            estimate |= multilabel_scores(true_indicator, label_probabilities, label_set_model.threshold)
        fit_record = request.described | {
            "label_separator": separator,
            "nodes": graph.num_nodes,
            "layers": graph.num_layers,
            "labels": label_set_model.classes_.tolist(),
            "training_labels": labelled_count,
            "estimate": estimate,
            "parameters": plain_parameters(model),
            "versions": versions(),
        }
        predictions = label_set_model.predictions_frame()
        predictions["predicted"] = [separator.join(map(str, one)) for one in predictions["predicted"]]
        predictions.insert(0, "known", pd.Series(graph.labels, index=predictions.index, dtype=object))
        if holdout_split is not None:
            predictions["held_out"] = np.isin(np.arange(graph.num_nodes), tested_nodes)
            predictions["true_label"] = pd.Series(node_labels, index=predictions.index, dtype=object).where(
                predictions["held_out"]
            )
        request.finish(place.folder, predictions.reset_index(), label_set_model, fit_record)
        page_data = label_sets_data(
            label_set_model,
            graph,
            fit_record,
            training=known_label_sets(graph, mask=training_mask, separator=separator),
            truth=true_indicator,
            test_probabilities=label_probabilities,
        )
        (place.folder / "report.html").write_text(render(page_data), encoding="utf-8")
    request.show(fit_record, [*sentences("label_sets", fit_record), f"open {request.output.target / 'report.html'}"])
