"""``gramme fit`` and ``gramme predict``: from data with a few labels to predictions for every node.

Only the commands' options are here. The work is in ``fit_steps.py``, which is imported when it is needed: torch takes
seconds to load, and ``gramme info`` or ``--help`` should not wait for it.
"""

# ruff: noqa: RUF009  # `option` makes a field

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gramme.errors import DataError

from .console import check_new_file, check_not_read, loading, warnings_as_notes
from .files import show_data
from .options import (
    RAW_CSV,
    Data,
    Output,
    OverwriteFile,
    Reading,
    Sets,
    command_line,
    make_model,
    option,
    takes_options,
)

DEFAULT_METHOD = "gramme-auto"
_PROCESSES = "Several processes"


def methods_beginning(start: str) -> list[str]:
    """The methods whose names begin with what was typed, for completion in the shell."""
    from gramme.methods import names

    return [name for name in names() if name.startswith(start)]


_processes = functools.partial(option, panel="Several processes")


@dataclass(frozen=True)
class FitOptions:
    """What to fit, and how to estimate how good it is."""

    method: str = option("Which method; see gramme methods.", default=DEFAULT_METHOD, autocompletion=methods_beginning)
    holdout: str | None = option("Share of the labels to set aside for an honest accuracy, like 20%.")
    folds: int | None = option("Estimate the accuracy with this many further fits, whatever the method.")
    estimate: bool = option("Whether to estimate the accuracy at all.", "--estimate/--no-estimate", default=True)
    leave_one_layer_out: bool = option("Fit once more without each layer, and say how accurate that is.", default=False)
    class_weight: Literal["balanced"] | None = option(
        "balanced: count every class alike, so that rare ones are found more often."
    )
    budget: str | None = option(
        "About how long the fit may take, like 90s, 10m or 1h; to keep to it, ingredients are left out and attention "
        "is trained less."
    )
    label_separator: str | None = option("What stands between the labels of a node that has several, like ';' in a;b.")
    settings: list[str] = option("A parameter of the method as name=value; may be repeated.", "--set", default=[])
    device: str = option("auto, cpu or cuda.", default="auto")
    embedding: Literal["auto", "csv", "parquet", "none"] = option(
        "How to write the nodes' embedding; auto: as CSV, but for large data.", default="auto"
    )
    all_classes: bool = option("Write a probability for every class, also of many nodes and classes.", default=False)
    keep_columns: bool = option("With --table: repeat its columns in predictions.csv.", default=False)
    workers: int | None = _processes("Fit in this many processes, each with its part of the graph.", min=1)
    backend: Literal["local", "ray"] = _processes(
        "With --workers: processes of this machine, or a Ray cluster's.", default="local"
    )
    resume: bool = _processes("Resume a fit with workers that was cut off, from its checkpoints.", default=False)
    dry_run: bool = option("Only show how the data are read, and learn nothing.", default=False)


@takes_options
def fit(
    context: typer.Context, data: Data, output: Output, asked: FitOptions, wanted_sets: Sets, *, read: Reading
) -> None:
    """Learn from the labelled nodes of DATA and predict all the others.

    Writes predictions.csv, report.html, model.safetensors, embedding.csv, layers.csv, history.csv and config.json to
    the folder. The accuracy is estimated from the labelled nodes, or on the labels that --holdout sets aside. The
    default method estimates it during the fit; other methods need 5 more fits.
    """
    if asked.dry_run:
        show_data([data], read, as_json=output.as_json)
        return
    target_folder = output.target
    with loading():
        from gramme.methods import method
        from gramme.report import check_target

        from . import fit_steps
        from .data import open_data
        from .distributed_fit import DistributedFit, check_method, is_first_process
        from .table import given_columns

    predicts_numbers, several_labels = read.label_kind == "number", asked.label_separator is not None
    together = DistributedFit.of(data, read, asked.workers, asked.backend, resume=asked.resume)
    chosen_method = method(asked.method)
    one_table = read.is_table and len(data) == 1
    repeats_columns = "repeats the columns of a table; it goes with --table"
    not_numbers = "is for classes; leave it out with --label-kind number"
    one_label = "is for one label per node, without --label-separator"
    for refused, option_name, reason in (
        (asked.keep_columns and not one_table, "--keep-columns", repeats_columns),
        (predicts_numbers and asked.method != DEFAULT_METHOD, f"--method {asked.method}", not_numbers),
        (predicts_numbers and asked.folds, "--folds", not_numbers),
        (predicts_numbers and not asked.estimate, "--no-estimate", not_numbers),
        (predicts_numbers and asked.class_weight, "--class-weight", not_numbers),
        (predicts_numbers and wanted_sets.coverage_by_class, "--coverage-by-class", not_numbers),
        (predicts_numbers and asked.leave_one_layer_out, "--leave-one-layer-out", not_numbers),
        (several_labels and asked.workers, "--workers", one_label),
        (several_labels and wanted_sets.coverage, "--coverage", one_label),
        (several_labels and asked.folds, "--folds", one_label),
        (several_labels and asked.class_weight, "--class-weight", one_label),
        (several_labels and asked.leave_one_layer_out, "--leave-one-layer-out", one_label),
        (several_labels and predicts_numbers, "--label-kind number", one_label),
        (together and asked.leave_one_layer_out, "--leave-one-layer-out", "is for a fit in one process"),
    ):
        if refused:
            raise DataError(f"{option_name} {reason}")
    estimate_plan = fit_steps.estimate_plan(asked.holdout, asked.folds, wanted=asked.estimate)
    if is_first_process():
        check_target(target_folder, overwrite=output.overwrite)
        check_not_read(target_folder, data, read)
    settings_record = {
        "data": " ".join(data) or " ".join(read.relation or ()),
        "seed": output.seed,
        "command": command_line(context),
    }
    fit_request = fit_steps.FitRequest(
        output,
        settings_record,
        estimate_plan,
        sets=fit_steps.SetPlan.of(wanted_sets.coverage, by_class=wanted_sets.coverage_by_class),
        embedding=asked.embedding,
        all_classes=asked.all_classes or None,
        leave_one_layer_out=asked.leave_one_layer_out,
    )
    all_settings = [*asked.settings, *([] if asked.budget is None else [f"budget={asked.budget}"])]
    model: Any
    if predicts_numbers:
        model = fit_steps.make_regressor(all_settings, seed=output.seed, device=asked.device)
    else:
        if asked.budget is not None and "budget" not in chosen_method.create().get_params():
            raise DataError(f"--budget is for {DEFAULT_METHOD}; {chosen_method.name} has no such setting")
        model = make_model(chosen_method, all_settings, random_state=output.seed, device=asked.device, progress=False)
        settings_record |= {"method": chosen_method.name} | (
            {} if asked.class_weight is None else {"class_weight": asked.class_weight}
        )
    if together is not None:
        from .parts_fit import FitJob

        check_method(chosen_method.name)
        fit_job = FitJob(
            str(together.folder), fit_request, chosen_method.name, all_settings, asked.device, asked.resume
        )
        if together.in_parts:
            together.run(fit_job)
            return
    with warnings_as_notes(silent=output.quiet):
        opened_data = open_data(data, read, quiet=output.quiet)
        settings_record |= opened_data.described(read.label)
        if asked.keep_columns:
            fit_request = replace(fit_request, given=given_columns(Path(data[0]), read))
        if together is not None:
            together.run_on(fit_job, opened_data.graph)
        elif asked.label_separator is not None:
            fit_steps.fit_label_sets(opened_data.graph, model, fit_request, asked.label_separator)
        elif predicts_numbers:
            fit_steps.fit_numbers(opened_data.graph, model, fit_request)
        else:
            fit_steps.fit_graph(opened_data.graph, model, fit_request)


@takes_options
def predict(
    model_path: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder of gramme fit, or a model in one.")],
    data: Data,
    wanted_sets: Sets,
    target: Path = typer.Option(..., "--out", help="CSV file to write."),
    allow_unknown: bool = typer.Option(
        False, "--allow-unknown", help="Predict even if the model knows nothing about any node."
    ),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
    overwrite: OverwriteFile = False,
    *,
    read: Reading,
) -> None:
    """Predict the nodes of DATA, known or new, with a model that was fitted before.

    The last column, basis, says what a prediction is based on: neighbours, groups or features that the model knows, or
    nothing. After a fit on a table, DATA is another table with the same columns; numbers are cut at the same places as
    in the fit.
    """
    check_new_file(target, "new.csv", overwrite=overwrite)
    if model_path.is_dir():
        model_path = model_path / "model.safetensors"
    check_not_read(target, [model_path, *data], read)
    with loading():
        from gramme.methods import load

        from . import fit_steps
        from .data import open_again

    with warnings_as_notes():
        model = load(model_path)
        opened_data = open_again(data, fit_steps.table_record(model_path), read)
        fit_steps.write_predictions(
            model,
            opened_data.graph,
            target,
            allow_unknown=allow_unknown,
            raw_csv=raw_csv,
            sets=fit_steps.SetPlan.of(wanted_sets.coverage, by_class=wanted_sets.coverage_by_class),
        )
