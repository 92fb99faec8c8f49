"""``gramme fit`` and ``gramme predict``: from data with a few labels to predictions for every node.

Only the commands' options stand here. The work is in ``fit_steps.py``, which is imported when it is needed: torch takes
seconds to load, and ``gramme info`` or ``--help`` should not wait for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from gramme.cli import options
from gramme.cli.console import warnings_as_notes
from gramme.errors import DataError

DEFAULT_METHOD = "gramme-auto"


def fit(
    context: typer.Context,
    data: options.Data,
    target: Path = typer.Option(..., "--out", help="Folder to write the results to."),
    method_name: str = typer.Option(
        DEFAULT_METHOD, "--method", help="Which method; see gramme methods."
    ),
    labels: options.Labels = None,
    labels_format: options.LabelsFormat = None,
    label: options.Label = None,
    is_table: options.IsTable = False,
    id_column: options.Id = None,
    columns: options.Columns = None,
    bins: options.Bins = None,
    quantiles: options.Quantiles = None,
    knn: options.Knn = None,
    split: options.Split = None,
    missing: options.Missing = None,
    missing_group: options.MissingGroup = False,
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
    settings: list[str] = typer.Option(
        [], "--set", help="A parameter of the method as name=value; may be repeated."
    ),
    seed: int = typer.Option(0, "--seed", min=0, help="The same seed gives the same result."),
    device: str = typer.Option("auto", "--device", help="auto, cpu or cuda."),
    embedding: Literal["csv", "parquet", "none"] = typer.Option(
        "csv", "--embedding", help="How to write the nodes' embedding."
    ),
    source_format: options.SourceFormat = None,
    directed: options.Directed = None,
    encoding: options.Encoding = "utf-8",
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier result."),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
) -> None:
    """Learn from the labelled nodes of DATA and predict all the others.

    Writes predictions.csv, report.html, model.safetensors, embedding.csv, layers.csv, history.csv and config.json to
    the folder. How good the predictions are is estimated from the labelled nodes by 5 further fits, or on those that
    --holdout sets aside.
    """
    from gramme.cli import fit_steps
    from gramme.cli.data import open_fit_data

    said = options.TableOptions(
        id=id_column,
        columns=columns or [],
        bins=bins or [],
        quantiles=quantiles or [],
        knn=knn or [],
        split=split or [],
        missing=missing or [],
        missing_group=missing_group,
    )
    if said.used() and not is_table:
        raise DataError(f"{', '.join(said.used())} can be said of a table only; add --table")
    plan = fit_steps.EstimatePlan.of(holdout, folds, wanted=estimate)
    fit_steps.check_target(target, overwrite=overwrite)
    chosen = fit_steps.method(method_name)
    silent = quiet or as_json
    model = fit_steps.make_model(
        chosen, settings, random_state=seed, device=device, progress=False if silent else None
    )
    with warnings_as_notes(silent=quiet):
        graph, table = open_fit_data(
            data,
            said if is_table else None,
            format=source_format,
            labels=labels,
            labels_format=labels_format,
            label=label,
            directed=directed,
            encoding=encoding,
        )
        fit_steps.fit_graph(
            graph,
            model,
            target,
            described={
                "data": data,
                "method": chosen.name,
                "seed": seed,
                "command": fit_steps.command_line(context),
            }
            | ({} if table is None else {"table": table}),
            plan=plan,
            seed=seed,
            embedding=embedding,
            overwrite=overwrite,
            show=fit_steps.printer(as_json=as_json, quiet=quiet),
            silent=silent,
        )


def predict(
    model_path: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A folder of gramme fit, or a model in one.")
    ],
    data: options.Data,
    target: Path = typer.Option(..., "--out", help="CSV file to write."),
    labels: options.Labels = None,
    labels_format: options.LabelsFormat = None,
    label: options.Label = None,
    source_format: options.SourceFormat = None,
    directed: options.Directed = None,
    encoding: options.Encoding = "utf-8",
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace the file if it exists."),
) -> None:
    """Predict the nodes of DATA, which may be new, with a model that was fitted before.

    After a fit on a table DATA is another table with the same columns; numbers are cut where they were cut then.
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
        graph = open_again(
            data,
            fit_steps.table_record(model_path),
            format=source_format,
            labels=labels,
            labels_format=labels_format,
            label=label,
            directed=directed,
            encoding=encoding,
        )
        fit_steps.write_predictions(model, graph, target)
