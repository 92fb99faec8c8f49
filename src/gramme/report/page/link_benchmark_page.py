"""The page of a benchmark of links: means over the layers, then each layer, with the protocol it was done by."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation.link_ledger import LinkLedger
from gramme.evaluation.link_splits import NEGATIVES
from gramme.evaluation.link_summary import rank_link_methods, summarise_links
from gramme.report.page.benchmark_page import failed_runs, ranking_data
from gramme.report.page.benchmark_sections import failures
from gramme.report.page.fit_page import FORMAT, VERSION
from gramme.report.page.frame import frame
from gramme.report.page.html import escape, name, page, shorten
from gramme.report.page.rank_figure import rank_figure

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
        "rankings": _rankings(rows),
        "failures": failed_runs(rows[rows["negatives"] == NEGATIVES[0]]),
        "versions": sorted({str(version) for version in rows["version"]}),
        "command": _command(rows),
    }


def _rankings(rows: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    for kind in NEGATIVES:
        try:
            found.append({"negatives": kind} | ranking_data(rank_link_methods(rows, kind)))
        except DataError:
            continue  # too few methods or layers
    return found


def _command(rows: pd.DataFrame) -> str:
    """A command that does the same where the datasets have these names."""
    parts = ["gramme", "benchmark", "--task", "links"]
    for option, column in (("--datasets", "dataset"), ("--methods", "method")):
        parts += [option, ",".join(sorted(set(rows[column])))]
    parts += ["--repeats", str(int(rows["realisation"].max()) + 1), "--out", "links.sqlite"]
    return shlex.join(parts)


def _body(data: dict[str, Any]) -> str:
    rows = data["rows"]
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    sections = [("means", "Mean over the layers", _tables(rows, datasets, means=True))]
    sections.append(("layers", "Layer by layer", _tables(rows, datasets, means=False)))
    sections += [
        ("ranks", "Ranks over all layers", _ranks(data)),
        ("failures", "Failed runs", failures(data)),
        ("repeat", "How to repeat this", _repeat(data)),
    ]
    methods = {row["method"] for row in rows}
    lead = (
        f'<p class="lead"><strong>{len(methods)}</strong> ways to predict links were compared on {len(datasets)} '
        f"{'dataset' if len(datasets) == 1 else 'datasets'}. Protocol: {escape('; '.join(data['protocols']))}; an "
        "undirected edge is held out in both directions, and an edge that another layer repeats may be found by that. "
        "Unlinked pairs were drawn once for all: uniformly, or matched by degrees, which is harder. "
        "<strong>Bold</strong>: the best ROC-AUC of its table, better than every other method there at the 5 % level "
        "by a paired test that knows that splits overlap, corrected for many comparisons.</p>"
    )
    return frame(
        "benchmark of links",
        data["name"],
        lead,
        sections,
        without_script="Everything is below; scripts only change the theme.",
    )


def _ranks(data: dict[str, Any]) -> str:
    if not data["rankings"]:
        return "<p>Ranks need at least 2 methods that have been run on at least 2 layers; there are too few yet.</p>"
    figures = "".join(
        f"<figure><figcaption><strong>Unlinked pairs {one['negatives']}</strong>, {one['datasets']} layers"
        + (f", Friedman p = {one['p_value']:.2g}" if one["p_value"] == one["p_value"] else "")
        + f"</figcaption>{rank_figure(one)}</figure>"
        for one in data["rankings"]
    )
    return (
        "<p>In each layer the method with the highest ROC-AUC has rank 1; shown is the average. Methods joined by a "
        "bar are not told apart: their ranks differ by less than the critical difference (Nemenyi, 5 %). Layers of one "
        "dataset are not independent of each other, so the true difference is larger.</p>"
        f'<div class="figures">{figures}</div>'
    )


def _repeat(data: dict[str, Any]) -> str:
    return (
        f'<pre tabindex="0"><code>{escape(shorten(data["command"], 4000))}</code></pre><p>A run that the ledger holds '
        f"already is not done again. Made with gramme {escape(', '.join(data['versions']))}.</p>"
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
    if column == "cpu_seconds":
        return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
    if column != "roc_auc":
        return f"{value:.1f}"
    half = row.get("roc_auc_ci95")
    shown = f"<strong>{value:.1f}</strong>" if row["best"] else f"{value:.1f}"
    return shown + (f' <span class="faint">± {half:.1f}</span>' if half == half else "")
