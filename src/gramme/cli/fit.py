"""``gramme fit`` and ``gramme predict``: from data with a few labels to predictions for every node.

Only the commands' options stand here. The work is in ``fitting.py``, which is imported when it is needed: torch takes
seconds to load, and ``gramme info`` or ``--help`` should not wait for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramme.cli import data as reading
from gramme.cli.console import warnings_as_notes
from gramme.errors import DataError


def fit(
    data: reading.Data,
    target: Path = typer.Option(..., "--out", help="Folder to write the results to."),
    method_name: str = typer.Option(
        "gramme-fusion", "--method", help="Which method; see gramme methods."
    ),
    labels: reading.Labels = None,
    labels_format: reading.LabelsFormat = None,
    label: reading.Label = None,
    holdout: str | None = typer.Option(
        None, "--holdout", help="Share of the labels to set aside for an honest accuracy, like 20%."
    ),
    settings: list[str] = typer.Option(
        [], "--set", help="A parameter of the method as name=value; may be repeated."
    ),
    seed: int = typer.Option(0, "--seed", help="The same seed gives the same result."),
    device: str = typer.Option("auto", "--device", help="auto, cpu or cuda."),
    source_format: reading.SourceFormat = None,
    directed: reading.Directed = None,
    encoding: reading.Encoding = "utf-8",
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an earlier result."),
    quiet: bool = typer.Option(False, "--quiet", help="Print nothing but errors."),
    as_json: bool = typer.Option(False, "--json", help="Print a JSON object for scripts."),
) -> None:
    """Learn from the labelled nodes of DATA and predict all the others.

    Writes model.safetensors, predictions.csv, embedding.csv, layers.csv, history.csv and config.json to the folder.
    """
    from gramme.cli import fitting

    fitting.check_target(target, overwrite=overwrite)
    chosen = fitting.method(method_name)
    with warnings_as_notes():
        graph, _ = reading.open_data(
            data,
            format=source_format,
            labels=labels,
            labels_format=labels_format,
            label=label,
            directed=directed,
            encoding=encoding,
        )
        fitting.fit_graph(
            graph,
            fitting.make_model(
                chosen,
                settings,
                random_state=seed,
                device=device,
                progress=False if quiet or as_json else None,
            ),
            target,
            described={"data": data, "method": chosen.name, "seed": seed},
            share=None if holdout is None else fitting.parse_share(holdout),
            seed=seed,
            overwrite=overwrite,
            show=fitting.printer(as_json=as_json, quiet=quiet),
        )


def predict(
    model_path: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model, or a folder of gramme fit.")
    ],
    data: reading.Data,
    target: Path = typer.Option(..., "--out", help="CSV file to write."),
    labels: reading.Labels = None,
    labels_format: reading.LabelsFormat = None,
    label: reading.Label = None,
    source_format: reading.SourceFormat = None,
    directed: reading.Directed = None,
    encoding: reading.Encoding = "utf-8",
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace the file if it exists."),
) -> None:
    """Predict the nodes of DATA, which may be new, with a model that was fitted before."""
    if target.exists() and not overwrite:
        raise DataError(f"{target} exists already; name another file or say --overwrite")
    if model_path.is_dir():
        model_path = model_path / "model.safetensors"
    from gramme.cli import fitting

    with warnings_as_notes():
        model = fitting.load(model_path)
        graph, _ = reading.open_data(
            data,
            format=source_format,
            labels=labels,
            labels_format=labels_format,
            label=label,
            directed=directed,
            encoding=encoding,
        )
        fitting.write_predictions(model, graph, target)
