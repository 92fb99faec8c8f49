"""The page of a benchmark of links: means over the layers, then each layer, with the protocol it was done by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation.link_benchmark import summarise_links
from gramme.evaluation.link_ledger import LinkLedger
from gramme.report.page.fit_page import FORMAT, VERSION
from gramme.report.page.frame import frame
from gramme.report.page.html import escape, name, page

_COLUMNS = {
    "roc_auc": "ROC-AUC",
    "average_precision": "Average precision",
    "hits_at_20": "Hits at 20",
    "calibration_error": "Calibration error",
    "cpu_seconds": "CPU seconds",
}


def link_benchmark_page(ledger: Path) -> str:
    """The page of all rows in a ledger of links."""
    with LinkLedger(ledger, create=False) as opened:
        rows = opened.rows()
    if not len(rows):
        raise DataError(f"{ledger} holds no runs yet; gramme benchmark --task links fills it")
    data = link_benchmark_data(rows, ledger.name)
    return page(f"Links: {data['name']}", _body(data), data)


def link_benchmark_data(rows: pd.DataFrame, title: str) -> dict[str, Any]:
    """Everything the page shows, as plain values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "link-benchmark",
        "name": title,
        "runs": len(rows),
        "protocols": sorted(set(rows["protocol"])),
        "rows": summarise_links(rows).to_dict(orient="records"),
    }


def _body(data: dict[str, Any]) -> str:
    rows = data["rows"]
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    sections = [("means", "Mean over the layers", _tables(rows, datasets, means=True))]
    sections.append(("layers", "Layer by layer", _tables(rows, datasets, means=False)))
    methods = {row["method"] for row in rows}
    lead = (
        f'<p class="lead"><strong>{len(methods)}</strong> ways to predict links were compared on {len(datasets)} '
        f"{'dataset' if len(datasets) == 1 else 'datasets'}. Protocol: {escape('; '.join(data['protocols']))}; an "
        "undirected edge is held out in both directions, and an edge that another layer repeats may be found by that. "
        "Unlinked pairs were drawn once for all: uniformly, or matched by degrees, which is harder.</p>"
    )
    return frame(
        "benchmark of links",
        data["name"],
        lead,
        sections,
        without_script="Everything is below; scripts only change the theme.",
    )


def _tables(rows: list[dict[str, Any]], datasets: list[str], *, means: bool) -> str:
    parts = []
    for dataset in datasets:
        for kind in ("uniform", "degree-matched"):
            mine = [
                row
                for row in rows
                if row["dataset"] == dataset
                and row["negatives"] == kind
                and (row["layer"] == "mean") == means
            ]
            if mine:
                parts.append(_table(dataset, kind, mine, means))
    return "".join(parts)


def _table(dataset: str, kind: str, rows: list[dict[str, Any]], means: bool) -> str:
    heads = "".join(f'<th scope="col" class="number">{title}</th>' for title in _COLUMNS.values())
    layer_head = "" if means else '<th scope="col">Layer</th>'
    body = "".join(
        "<tr>"
        + ("" if means else f"<td>{name(row['layer'], 40)}</td>")
        + f'<th scope="row">{escape(row["method"])}</th>'
        + "".join(f'<td class="number">{_number(row, column)}</td>' for column in _COLUMNS)
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(dataset)}, {kind}"><table>'
        f"<caption>{name(dataset, 60)}, unlinked pairs {kind}; in percent but for the seconds</caption>"
        f'<thead><tr>{layer_head}<th scope="col">Method</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _number(row: dict[str, Any], column: str) -> str:
    value = row[column]
    if value is None or value != value:
        return "–"
    half = row.get("roc_auc_ci95")
    if column == "roc_auc" and half is not None and half == half:
        return f'{value:.1f} <span class="faint">± {half:.1f}</span>'
    return f"{value:.1f}"
