"""``gramme fit`` and ``gramme predict``: from data with a few labels to predictions for every node.

Only the commands' options stand here. The work is in ``fit_steps.py``, which is imported when it is needed: torch takes
seconds to load, and ``gramme info`` or ``--help`` should not wait for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gramme.cli.again import command_line
from gramme.cli.console import warnings_as_notes
from gramme.cli.files import show_data
from gramme.cli.options import RAW_CSV, Data, Reading, takes_reading_options
from gramme.errors import DataError

if TYPE_CHECKING:
    from gramme.cli.data import Opened

DEFAULT_METHOD = "gramme-auto"


@takes_reading_options
def fit(
    context: typer.Context,
    data: Data,
    target: Path | None = typer.Option(
        None, "--out", help="Folder to write the results to.", show_default=False
    ),
    method_name: str = typer.Option(
        DEFAULT_METHOD, "--method", help="Which method; see gramme methods."
    ),
    holdout: str | None = typer.Option(
        None, "--holdout", help="Share of the labels to set aside for an honest accuracy, like 20%."
    ),
    folds: int | None = typer.Option(
        None,
        "--folds",
        help="Without --holdout: fits to estimate the accuracy with (5 where not said).",
    ),
    estimate: bool = typer.Option(
        True, "--estimate/--no-estimate", help="Whether to estimate the accuracy at all."
    ),
    class_weight: Literal["balanced"] | None = typer.Option(
        None,
        "--class-weight",
        help="balanced: count every class alike, so that rare ones are found more often.",
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
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Only show what becomes of the data, and learn nothing."
    ),
    *,
    read: Reading,
) -> None:
    """Learn from the labelled nodes of DATA and predict all the others.

    Writes predictions.csv, report.html, model.safetensors, embedding.csv, layers.csv, history.csv and config.json to
    the folder. The accuracy is estimated from the labelled nodes with 5 more fits, or on the labels that --holdout
    sets aside.
    """
    from gramme.cli.data import open_data

    if dry_run:
        show_data([data], read, as_json=as_json)
        return
    if target is None:
        raise DataError(
            "say with --out which folder to write the results to, or --dry-run to only look"
        )
    from gramme.cli import fit_steps

    plan = fit_steps.EstimatePlan.of(holdout, folds, wanted=estimate)
    fit_steps.check_target(target, overwrite=overwrite)
    chosen = fit_steps.method(method_name)
    silent = quiet or as_json
    model = fit_steps.make_model(chosen, settings, random_state=seed, device=device, progress=False)
    with warnings_as_notes(silent=quiet):
        opened = open_data(data, read)
        if not quiet:
            opened.tell()
        if read.label_kind == "number":
            _fit_numbers(
                opened, context, data, target, method_name, seed, overwrite, quiet, as_json
            )
            return
        fit_steps.fit_graph(
            opened.graph,
            model,
            target,
            described={
                "data": " ".join(data) or " ".join(read.relation or ()),
                "method": chosen.name,
                "seed": seed,
                "command": command_line(context),
            }
            | ({} if opened.table is None else {"table": opened.table})
            | ({"reading": list(opened.notes)} if opened.notes else {})
            | ({} if class_weight is None else {"class_weight": class_weight}),
            plan=plan,
            seed=seed,
            embedding=embedding,
            raw_csv=raw_csv,
            overwrite=overwrite,
            show=fit_steps.printer(as_json=as_json, quiet=quiet),
            silent=silent,
        )


def _fit_numbers(
    opened: Opened,
    context: typer.Context,
    data: list[str],
    target: Path,
    method_name: str,
    seed: int,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    if method_name != DEFAULT_METHOD:
        raise DataError(
            f"{method_name} predicts classes; leave --method out with --label-kind number"
        )
    from gramme.cli.number_steps import fit_numbers

    fit_numbers(
        opened.graph,
        target,
        {"data": " ".join(data), "seed": seed, "command": command_line(context)},
        seed=seed,
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
        False, "--allow-unknown", help="Predict also where the model knows nothing of any node."
    ),
    raw_csv: bool = typer.Option(False, "--raw-csv", help=RAW_CSV),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace the file if it exists."),
    *,
    read: Reading,
) -> None:
    """Predict the nodes of DATA, which may be new, with a model that was fitted before.

    The last column, basis, says what a prediction rests on: neighbours, groups or features that the model knows, or
    nothing. After a fit on a table DATA is another table with the same columns; numbers are cut where they were cut
    then.
    """
    if target.is_dir():
        raise DataError(f"{target} is a folder; name a file to write, like {target / 'new.csv'}")
    if target.exists() and not overwrite:
        raise DataError(f"{target} exists already; name another file or say --overwrite")
    if model_path.is_dir():
        model_path = model_path / "model.safetensors"
    from gramme.cli import fit_steps
    from gramme.cli.data import open_again

    with warnings_as_notes():
        model = fit_steps.load(model_path)
        opened = open_again(data, fit_steps.table_record(model_path), read)
        opened.tell()
        fit_steps.write_predictions(
            model, opened.graph, target, allow_unknown=allow_unknown, raw_csv=raw_csv
        )
