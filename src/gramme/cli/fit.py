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
from .options import RAW_CSV, Data, Reading, command_line, takes_reading_options

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
    target: Path | None = typer.Option(
        None, "--out", help="Folder to write the results to.", show_default=False
    ),
    method_name: str = typer.Option(
        DEFAULT_METHOD,
        "--method",
        help="Which method; see gramme methods.",
        autocompletion=methods_beginning,
    ),
    holdout: str | None = typer.Option(
        None, "--holdout", help="Share of the labels to set aside for an honest accuracy, like 20%."
    ),
    folds: int | None = typer.Option(
        None,
        "--folds",
        help="Estimate the accuracy with this many further fits, whatever the method.",
    ),
    estimate: bool = typer.Option(
        True, "--estimate/--no-estimate", help="Whether to estimate the accuracy at all."
    ),
    coverage: str | None = typer.Option(
        None,
        "--coverage",
        help="Also give every node a set of classes that holds the true one this often, like 90%.",
        show_default=False,
    ),
    coverage_by_class: bool = typer.Option(
        False, "--coverage-by-class", help="Keep the promise of --coverage in every class."
    ),
    class_weight: Literal["balanced"] | None = typer.Option(
        None,
        "--class-weight",
        help="balanced: count every class alike, so that rare ones are found more often.",
        show_default=False,
    ),
    budget: str | None = typer.Option(
        None,
        "--budget",
        help="About how long the fit may take, like 90s, 10m or 1h; attention is trained less to keep to it.",
        show_default=False,
    ),
    settings: list[str] = typer.Option(
        [], "--set", help="A parameter of the method as name=value; may be repeated."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same result."),
    device: str = typer.Option("auto", "--device", help="auto, cpu or cuda."),
    embedding: Literal["csv", "parquet", "none"] = typer.Option(
        "csv", "--embedding", help="How to write the nodes' embedding."
    ),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier result."),
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
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Only show how the data are read, and learn nothing."
    ),
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
        raise DataError(
            "say with --out which folder to write the results to, or --dry-run to only look"
        )
    with loading():
        from . import fit_steps
        from .data import open_data

    plan = fit_steps.estimate_plan(holdout, folds, wanted=estimate)
    sets = fit_steps.SetPlan.of(coverage, by_class=coverage_by_class)
    if fit_steps.is_first_process():
        fit_steps.check_target(target, overwrite=overwrite)
        check_not_read(target, data, read)
    together = fit_steps.DistributedFit.of(data, read, workers, backend, resume=resume)
    silent = quiet or as_json
    if read.label_kind == "number":
        _fit_numbers(
            context,
            data,
            target,
            settings,
            refused={
                f"--method {method_name}": method_name != DEFAULT_METHOD,
                "--holdout": holdout,
                "--folds": folds,
                "--no-estimate": not estimate,
                "--class-weight": class_weight,
                "--budget": budget,
                "--coverage-by-class": coverage_by_class,
            },
            coverage=None if sets is None else sets.coverage,
            seed=seed,
            device=device,
            raw_csv=raw_csv,
            overwrite=overwrite,
            quiet=quiet,
            as_json=as_json,
            read=read,
        )
        return
    chosen = fit_steps.method(method_name)
    if budget is not None and "budget" not in chosen.estimator().get_params():
        raise DataError(f"--budget is for {DEFAULT_METHOD}; {chosen.name} has no such setting")
    wanted = [*settings, *([] if budget is None else [f"budget={budget}"])]
    model = fit_steps.make_model(chosen, wanted, random_state=seed, device=device, progress=False)
    described = {
        "data": " ".join(data) or " ".join(read.relation or ()),
        "method": chosen.name,
        "seed": seed,
        "command": command_line(context),
    } | ({} if class_weight is None else {"class_weight": class_weight})
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
        described |= {} if opened.table is None else {"table": opened.table}
        described |= {"reading": list(opened.notes)} if opened.notes else {}
        if together is not None and job is not None:
            together.run_on(job, opened.graph, described)
            return
        fit_steps.fit_graph(
            opened.graph,
            model,
            target,
            described=described,
            plan=plan,
            sets=sets,
            seed=seed,
            embedding=embedding,
            raw_csv=raw_csv,
            overwrite=overwrite,
            show=fit_steps.printer(as_json=as_json, quiet=quiet),
            silent=silent,
        )


def _fit_numbers(
    context: typer.Context,
    data: list[str],
    target: Path,
    settings: list[str],
    *,
    refused: dict[str, Any],
    coverage: float | None,
    seed: int,
    device: str,
    raw_csv: bool,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
    read: Reading,
) -> None:
    """Do the same for labels that are numbers, with a regression."""
    for option, given in refused.items():
        if given:
            raise DataError(f"{option} is for classes; leave it out with --label-kind number")
    with loading():
        from .data import open_data
        from .fit_steps import fit_numbers, make_regressor

    model = make_regressor(settings, seed=seed, device=device)
    with warnings_as_notes(silent=quiet):
        opened = open_data(data, read)
        if not quiet:
            opened.tell()
        fit_numbers(
            opened.graph,
            model,
            target,
            {
                "data": " ".join(data) or " ".join(read.relation or ()),
                "seed": seed,
                "command": command_line(context),
            }
            | ({} if opened.table is None else {"table": opened.table})
            | ({"reading": list(opened.notes)} if opened.notes else {}),
            coverage=coverage,
            raw_csv=raw_csv,
            overwrite=overwrite,
            quiet=quiet,
            as_json=as_json,
        )


@takes_reading_options
def predict(
    model_path: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A folder of gramme fit, or a model in one.")
    ],
    data: Data,
    target: Path = typer.Option(..., "--out", help="CSV file to write."),
    allow_unknown: bool = typer.Option(
        False, "--allow-unknown", help="Predict even if the model knows nothing about any node."
    ),
    coverage: str | None = typer.Option(
        None,
        "--coverage",
        help="Also a set of classes that holds the true one this often, like 90%.",
        show_default=False,
    ),
    coverage_by_class: bool = typer.Option(
        False, "--coverage-by-class", help="Keep the promise of --coverage in every class."
    ),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
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
        from . import fit_steps
        from .data import open_again

    with warnings_as_notes():
        model = fit_steps.load(model_path)
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
