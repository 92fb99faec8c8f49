"""The work of ``gramme fit --label-kind number``: fit a regression, write its folder and show what came out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from gramme._progress import part
from gramme._terminal import escape
from gramme.cli.console import out
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.regression.gramme_regressor import GrammeRegressor
from gramme.report.fit_folder import versions
from gramme.report.output_folder import output_folder
from gramme.report.page.number_page import COVERAGE, number_data, render_numbers
from gramme.report.tables import write_csv


def fit_numbers(
    graph: MultilayerGraph,
    target: Path,
    described: dict[str, Any],
    *,
    seed: int,
    overwrite: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Fit a regression on the numbers of a graph's nodes and write predictions.csv, config.json and report.html."""
    if graph.labels is None:
        raise DataError(
            "there are no numbers to learn from; say with --label which column they are"
        )
    with output_folder(target, overwrite=overwrite) as place:
        with part("Fitting a regression", 0.9):
            model = GrammeRegressor(random_state=seed).fit(graph)
        write_csv(number_table(model, graph), place.folder / "predictions.csv")
        result = described | {
            "method": "gramme-regressor",
            "nodes": graph.num_nodes,
            "training_labels": int(np.isfinite(model.out_of_fold_).sum()),
            "r2": model.r2_,
            "mean_absolute_error": model.mean_absolute_error_,
            "ingredients": dict(
                zip(model.ingredients_["ingredient"], model.ingredients_["weight"], strict=True)
            ),
            "versions": versions(),
        }
        text = json.dumps(result, indent=2, ensure_ascii=False)
        (place.folder / "config.json").write_text(text + "\n", encoding="utf-8")
        page = render_numbers(number_data(model, graph.labels, result))
        (place.folder / "report.html").write_text(page, encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(result | {"out": str(target)}, ensure_ascii=False))
    elif not quiet:
        known = result["training_labels"]
        out.print(
            escape(
                f"learned from {known:,} of {graph.num_nodes:,} nodes; on these, each predicted without its number: "
                f"R2 {model.r2_:.3f}, {model.mean_absolute_error_:.4g} off on average"
            )
        )
        out.print(escape(f"open {target / 'report.html'}"))


def number_table(model: GrammeRegressor, graph: MultilayerGraph) -> pd.DataFrame:
    """One row per node: node, known, predicted, low and high of the interval, and what was said without its number."""
    low, high = model.predict_interval(COVERAGE).T
    return pd.DataFrame(
        {
            "node": graph.nodes.to_numpy().astype(object),
            "known": pd.Series(graph.labels, dtype=object),
            "predicted": model.predict(),
            "low": low,
            "high": high,
            "out_of_fold_predicted": model.out_of_fold_,
        }
    )
