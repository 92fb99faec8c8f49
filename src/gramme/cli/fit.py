"""``gramme fit`` and ``gramme predict``: from data with a few labels to predictions for every node.

Only the commands' options are here. The work is in ``fit_steps.py``, which is imported when it is needed: torch takes
seconds to load, and ``gramme info`` or ``--help`` should not wait for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gramme.errors import DataError

from .console import check_not_read, loading, warnings_as_notes
from .files import show_data
from .options import (
    AsJson,
    Coverage,
    CoverageByClass,
    Data,
    Overwrite,
    Quiet,
    RawCsv,
    Reading,
    Seed,
    command_line,
    make_model,
    takes_reading_options,
)

DEFAULT_METHOD = "gramme-auto"
_PROCESSES = "Several processes"


def methods_beginning(start: str) -> list[str]:
    """The methods whose names begin with what was typed, for completion in the shell."""
    from gramme.methods import names

    return [name for name in names() if name.startswith(start)]


@takes_reading_options
def fit(
    context: typer.Context,
    data: Data,
    target: Path | None = typer.Option(None, "--out", help="Folder to write the results to.", show_default=False),
    method_name: str = typer.Option(
        DEFAULT_METHOD, "--method", help="Which method; see gramme methods.", autocompletion=methods_beginning
    ),
    holdout: str | None = typer.Option(
        None, "--holdout", help="Share of the labels to set aside for an honest accuracy, like 20%."
    ),
    folds: int | None = typer.Option(
        None, "--folds", help="Estimate the accuracy with this many further fits, whatever the method."
    ),
    estimate: bool = typer.Option(True, "--estimate/--no-estimate", help="Whether to estimate the accuracy at all."),
    coverage: Coverage = None,
    coverage_by_class: CoverageByClass = False,
    class_weight: Literal["balanced"] | None = typer.Option(
        None,
        "--class-weight",
        help="balanced: count every class alike, so that rare ones are found more often.",
        show_default=False,
    ),
    budget: str | None = typer.Option(
        None,
        "--budget",
        help="About how long the fit may take, like 90s, 10m or 1h; to keep to it, ingredients are left out and "
        "attention is trained less.",
        show_default=False,
    ),
    label_separator: str | None = typer.Option(
        None,
        "--label-separator",
        help="What stands between the labels of a node that has several, like ';' in a;b.",
        show_default=False,
    ),
    settings: list[str] = typer.Option([], "--set", help="A parameter of the method as name=value; may be repeated."),
    seed: Seed = 0,
    device: str = typer.Option("auto", "--device", help="auto, cpu or cuda."),
    embedding: Literal["auto", "csv", "parquet", "none"] = typer.Option(
        "auto", "--embedding", help="How to write the nodes' embedding; auto: as CSV, but for large data."
    ),
    all_classes: bool = typer.Option(
        False, "--all-classes", help="Write a probability for every class, also of many nodes and classes."
    ),
    keep_columns: bool = typer.Option(
        False, "--keep-columns", help="With --table: repeat its columns in predictions.csv."
    ),
    raw_csv: RawCsv = False,
    overwrite: Overwrite = False,
    workers: int | None = typer.Option(
        None,
        "--workers",
        min=1,
        help="Fit in this many processes, each with its part of the graph.",
        show_default=False,
        rich_help_panel=_PROCESSES,
    ),
    backend: Literal["local", "ray"] = typer.Option(
        "local",
        "--backend",
        help="With --workers: processes of this machine, or a Ray cluster's.",
        rich_help_panel=_PROCESSES,
    ),
    resume: bool = typer.Option(
        False,
        "--resume",
        help="Resume a fit with workers that was cut off, from its checkpoints.",
        rich_help_panel=_PROCESSES,
    ),
    quiet: Quiet = False,
    as_json: AsJson = False,
    dry_run: bool = typer.Option(False, "--dry-run", help="Only show how the data are read, and learn nothing."),
    *,
    read: Reading,
) -> None:
    """Learn from the labelled nodes of DATA and predict all the others.

    Writes predictions.csv, report.html, model.safetensors, embedding.csv, layers.csv, history.csv and config.json to
    the folder. The accuracy is estimated from the labelled nodes, or on the labels that --holdout sets aside. The
    default method estimates it during the fit; other methods need 5 more fits.
    """
    if dry_run:
        show_data([data], read, as_json=as_json)
        return
    if target is None:
        raise DataError("say with --out which folder to write the results to, or --dry-run to only look")
    with loading():
        from gramme.methods import method
        from gramme.report import check_target

        from . import fit_steps
        from .data import open_data
        from .distributed_fit import DistributedFit, is_first_process
        from .table import given_columns

    if keep_columns and not (read.is_table and len(data) == 1):
        raise DataError("--keep-columns repeats the columns of a table; it goes with --table")
    plan = fit_steps.estimate_plan(holdout, folds, wanted=estimate)
    sets = fit_steps.SetPlan.of(coverage, by_class=coverage_by_class)
    if is_first_process():
        check_target(target, overwrite=overwrite)
        check_not_read(target, data, read)
    together = DistributedFit.of(data, read, workers, backend, resume=resume)
    described = {
        "data": " ".join(data) or " ".join(read.relation or ()),
        "seed": seed,
        "command": command_line(context),
    }
    numbers = read.label_kind == "number"
    wanted = [*settings, *([] if budget is None else [f"budget={budget}"])]
    model: Any
    if numbers:
        refused = {
            f"--method {method_name}": method_name != DEFAULT_METHOD,
            "--folds": folds,
            "--no-estimate": not estimate,
            "--class-weight": class_weight,
            "--coverage-by-class": coverage_by_class,
        }
        _refuse(refused, "is for classes; leave it out with --label-kind number")
        model = fit_steps.make_regressor(wanted, seed=seed, device=device)
    else:
        chosen = method(method_name)
        if budget is not None and "budget" not in chosen.create().get_params():
            raise DataError(f"--budget is for {DEFAULT_METHOD}; {chosen.name} has no such setting")
        model = make_model(chosen, wanted, random_state=seed, device=device, progress=False)
        described |= {"method": chosen.name} | ({} if class_weight is None else {"class_weight": class_weight})
    if label_separator is not None:
        alone = {
            "--workers": workers,
            "--coverage": coverage,
            "--folds": folds,
            "--class-weight": class_weight,
            "--label-kind number": numbers,
        }
        _refuse(alone, "is for one label per node; leave it out with --label-separator")
    job = None
    if together is not None:
        job = together.job(
            target=str(target),
            method=chosen.name,
            settings=wanted,
            seed=seed,
            device=device,
            holdout=plan.share,
            folds=plan.folds,
            estimate=plan.wanted,
            coverage=None if sets is None else sets.coverage,
            coverage_by_class=coverage_by_class,
            embedding=embedding,
            raw_csv=raw_csv,
            overwrite=overwrite,
            quiet=quiet,
            as_json=as_json,
            described=described,
        )
        if together.in_parts:
            together.run(job)
            return
    with warnings_as_notes(silent=quiet):
        opened = open_data(data, read)
        if not quiet:
            opened.tell()
        described |= opened.described(read.label)
        request = fit_steps.FitRequest(
            target,
            described,
            plan,
            sets=sets,
            seed=seed,
            embedding=embedding,
            raw_csv=raw_csv,
            overwrite=overwrite,
            quiet=quiet,
            as_json=as_json,
            given=given_columns(Path(data[0]), read) if keep_columns else None,
            all_classes=all_classes or None,
        )
        if together is not None and job is not None:
            together.run_on(job, opened.graph, described)
        elif label_separator is not None:
            fit_steps.fit_label_sets(opened.graph, model, request, label_separator)
        elif numbers:
            fit_steps.fit_numbers(opened.graph, model, request)
        else:
            fit_steps.fit_graph(opened.graph, model, request)


def _refuse(options: dict[str, Any], reason: str) -> None:
    """Refuse the first option that was given."""
    for option, given in options.items():
        if given:
            raise DataError(f"{option} {reason}")


@takes_reading_options
def predict(
    model_path: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder of gramme fit, or a model in one.")],
    data: Data,
    target: Path = typer.Option(..., "--out", help="CSV file to write."),
    allow_unknown: bool = typer.Option(
        False, "--allow-unknown", help="Predict even if the model knows nothing about any node."
    ),
    coverage: Coverage = None,
    coverage_by_class: CoverageByClass = False,
    raw_csv: RawCsv = False,
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace the file if it exists."),
    *,
    read: Reading,
) -> None:
    """Predict the nodes of DATA, known or new, with a model that was fitted before.

    The last column, basis, says what a prediction is based on: neighbours, groups or features that the model knows, or
    nothing. After a fit on a table, DATA is another table with the same columns; numbers are cut at the same places as
    in the fit.
    """
    if target.is_dir():
        raise DataError(f"{target} is a folder; name a file to write, like {target / 'new.csv'}")
    if target.exists() and not overwrite:
        raise DataError(f"{target} exists already; name another file or say --overwrite")
    if model_path.is_dir():
        model_path = model_path / "model.safetensors"
    check_not_read(target, [model_path, *data], read)
    with loading():
        from gramme.methods import load

        from . import fit_steps
        from .data import open_again

    with warnings_as_notes():
        model = load(model_path)
        opened = open_again(data, fit_steps.table_record(model_path), read)
        opened.tell()
        fit_steps.write_predictions(
            model,
            opened.graph,
            target,
            allow_unknown=allow_unknown,
            raw_csv=raw_csv,
            sets=fit_steps.SetPlan.of(coverage, by_class=coverage_by_class),
        )
