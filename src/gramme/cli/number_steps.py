"""The work of ``gramme fit --label-kind number``: fit a regression, write its folder and show what came out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import typer

from gramme._numbers import rough_number
from gramme._progress import part
from gramme._terminal import escape, json_text
from gramme.cli.console import out
from gramme.cli.fit_plan import page_seconds
from gramme.cli.heartbeat import expect
from gramme.cli.settings import set_parameters
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods import GrammeRegressor
from gramme.methods.saving import to_json
from gramme.report.fit_folder import versions
from gramme.report.output_folder import output_folder
from gramme.report.page.number_page import DEFAULT_COVERAGE, number_data, render_numbers
from gramme.report.tables import number_table, write_csv

METHOD = "gramme-regressor"


def make_regressor(settings: Iterable[str], *, seed: int, device: str) -> GrammeRegressor:
    """The regression with the parameters the user set."""
    known = GrammeRegressor().get_params()
    chosen = set_parameters(
        METHOD, known, settings, random_state=seed, device=device, progress=False
    )
    return GrammeRegressor(**chosen)


def fit_numbers(
    graph: MultilayerGraph,
    model: GrammeRegressor,
    target: Path,
    described: dict[str, Any],
    *,
    coverage: float | None = None,
    raw_csv: bool,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Fit a regression on the numbers of a graph's nodes and write its model, predictions, settings and page."""
    if graph.labels is None:
        raise DataError(
            "there are no numbers to learn from; say with --label which column they are"
        )
    share = DEFAULT_COVERAGE if coverage is None else coverage
    graph = graph.with_coupling_layers()  # so that table and page speak of the model's layers
    fit, writing = model.expected_seconds(graph), page_seconds(graph.num_nodes, 0)
    expect(fit + writing)
    with output_folder(target, overwrite=overwrite) as place:
        with part("Fitting a regression", fit / (fit + writing)):
            model.fit(graph)
        result = described | number_record(model, graph) | {"coverage": share}
        model.save(place.folder / "model.safetensors")
        write_csv(number_table(model, graph, share), place.folder / "predictions.csv", raw=raw_csv)
        text = json.dumps(result, indent=2, ensure_ascii=False)
        (place.folder / "config.json").write_text(text + "\n", encoding="utf-8")
        page = render_numbers(number_data(model, graph, result))
        (place.folder / "report.html").write_text(page, encoding="utf-8")
    if as_json:
        typer.echo(json_text(result | {"out": str(target)}))
    elif not quiet:
        known = result["training_labels"]
        out.print(
            escape(
                f"learned from {known:,} of {graph.num_nodes:,} nodes; on these, each predicted without its number: "
                f"R2 {model.r2_:.3f}, {rough_number(model.mean_absolute_error_)} off on average"
            )
        )
        out.print(escape(f"open {target / 'report.html'}"))


def number_record(model: GrammeRegressor, graph: MultilayerGraph) -> dict[str, Any]:
    """What is noted of a fit in config.json."""
    return {
        "method": METHOD,
        "nodes": graph.num_nodes,
        "layers": graph.num_layers,
        "training_labels": int(np.isfinite(model.out_of_fold_).sum()),
        "r2": model.r2_,
        "mean_absolute_error": model.mean_absolute_error_,
        "ingredients": dict(
            zip(model.ingredients_["ingredient"], model.ingredients_["weight"], strict=True)
        ),
        "parameters": {key: to_json(value, key) for key, value in model.get_params().items()},
        "versions": versions(),
    }
