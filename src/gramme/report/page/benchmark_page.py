"""The page of a benchmark: every result with its interval, beside the paper's, and what they come to together."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation import Ledger, Ranking, rank_methods, summarise
from gramme.evaluation.ledger import LinkLedger
from gramme.evaluation.link_benchmark import NEGATIVES, rank_link_methods, summarise_links

from .charts import COLOURS, Series, chart, legend, rank_figure
from .fit_page import FORMAT, VERSION
from .html import escape, frame, name, page, shorten

# The sections of a benchmark's page: the table, plots per dataset, ranks, time against accuracy,
# how to repeat it.


_DASHED_AFTER = COLOURS
_GUESS = "majority"


def benchmark_body(data: dict[str, Any]) -> str:
    """Everything between the body tags but the data and the script."""
    sections = [
        ("results", "Results", _table_frame(data)),
        ("plots", "Accuracy by training percentage", plots(data)),
        ("ranks", "Ranks over all datasets", ranks(data)),
        ("time", "Time against accuracy", time(data)),
        ("failures", "Failed runs", failures(data)),
        ("repeat", "How to repeat this", repeat(data)),
    ]
    return frame(
        "report of a benchmark",
        data["name"],
        summary(data),
        sections,
        without_script="The table of results needs JavaScript, which is switched off here.",
    )


def summary(data: dict[str, Any]) -> str:
    """What was compared, in two sentences."""
    rows = data["rows"]
    datasets = sorted({row["dataset"] for row in rows})
    percents = sorted({row["train_percent"] for row in rows})
    repeats = sorted({row["repeats"] for row in rows})
    times = _many(repeats[0], "random split")
    if len(repeats) > 1:
        times = f"{repeats[0]} to {repeats[-1]} random splits"
    listed = ", ".join(name(dataset, 40) for dataset in datasets[:8]) + (
        " …" if len(datasets) > 8 else ""
    )
    shares = ", ".join(f"{percent:g}" for percent in percents)
    one = len(data["methods"]) == 1
    verb = "was run" if one else "were compared"
    whole = len(rows) == len(data["methods"]) * len(datasets) * len(percents)
    who = (
        ("It" if one else "Each") + " learned"
        if whole
        else "They learned, not each from all of these,"
    )
    scored = "was scored" if whole else "were scored"
    return (
        f'<p class="lead"><strong>{_many(len(data["methods"]), "method")}</strong> {verb} on '
        f"<strong>{_many(len(datasets), 'dataset')}</strong> ({listed}), "
        f"in {_many(data['runs'], 'run')}. {who} from {shares} % of the labels and {scored} once on all other "
        f"nodes; this was repeated for {times}{'' if one else _shared(rows)}.</p>"
    )


def _shared(rows: list[dict[str, Any]]) -> str:
    """Whether all methods had the same splits, in words."""
    counts: dict[tuple[str, float], set[int]] = {}
    for row in rows:
        counts.setdefault((row["dataset"], row["train_percent"]), set()).add(row["repeats"])
    if all(len(found) == 1 for found in counts.values()):
        return ", the same ones for every method"
    return "; a method with fewer of them has some of the same splits, and methods are compared on those they share"


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _table_frame(data: dict[str, Any]) -> str:
    return (
        "<p>Accuracy is the mean over the splits in percent, ± half of its 95 % interval. "
        "<strong>Bold</strong>: the best of its dataset and percentage, better than every other method there at the "
        "5 % level by a paired test that counts splits and nodes as samples, corrected for many comparisons. "
        f"{_unsettled(data)}{_about_columns(data)}</p>"
        '<div class="controls"><label>Training percentage <select id="percent"></select></label>'
        '<label>Filter <input id="filter" type="search" autocomplete="off" spellcheck="false" '
        'placeholder="dataset or method"></label><button type="button" id="export">Export as CSV</button></div>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of results"><table id="runs">'
        '<caption class="sr">Results per dataset, method and training percentage</caption><thead></thead>'
        '<tbody></tbody></table></div><p id="runs-count" role="status" class="faint"></p>'
    )


def _unsettled(data: dict[str, Any]) -> str:
    """In how many places no method is the best by the test, and what would tell."""
    places: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in data["rows"]:
        if _there(row["accuracy_mean"]):
            places.setdefault((row["dataset"], row["train_percent"]), []).append(row)
    contested = [rows for rows in places.values() if len(rows) > 1]
    open_places = [rows for rows in contested if not any(row["best"] for row in rows)]
    if not open_places:
        return ""
    counts = [row["repeats"] for rows in open_places for row in rows]
    most = "" if min(counts) == max(counts) else f" to {max(counts):,}"
    return (
        f"In {len(open_places):,} of {len(contested):,} comparisons none is: "
        f"{min(counts):,}{most} split{' is' if max(counts) == 1 else 's are'} too few to separate first from second; "
        "more splits or more labelled nodes would be needed. "
    )


def _about_columns(data: dict[str, Any]) -> str:
    """What the columns mean that are there only for some data."""
    told = ""
    if any(_there(row["paper_accuracy"]) for row in data["rows"]):
        told += "“Paper” is the published figure, found in the paper’s own way, so a difference is no verdict. "
    if any(_there(row["peak_mean"]) for row in data["rows"]):
        told += "“Peak” is the best epoch judged on the test nodes themselves: optimistic, for comparison only."
    return told


def plots(data: dict[str, Any]) -> str:
    """A small chart per dataset, one line per method."""
    styles = _styles(data["methods"])
    figures = []
    for dataset in sorted({row["dataset"] for row in data["rows"]}):
        rows = [
            row
            for row in data["rows"]
            if row["dataset"] == dataset and _there(row["accuracy_mean"])
        ]
        percents = sorted({row["train_percent"] for row in rows})
        series = []
        for method in data["methods"]:
            mine = sorted(
                (row for row in rows if row["method"] == method),
                key=lambda row: row["train_percent"],
            )
            if not mine:
                continue
            means = [row["accuracy_mean"] for row in mine]
            reach = [row["accuracy_ci95"] if _there(row["accuracy_ci95"]) else 0.0 for row in mine]
            style, dashed = styles[method]
            series.append(
                Series(
                    method,
                    [row["train_percent"] for row in mine],
                    means,
                    [max(0.0, mean - one) for mean, one in zip(means, reach, strict=True)],
                    [min(100.0, mean + one) for mean, one in zip(means, reach, strict=True)],
                    style=style,
                    dashed=dashed,
                )
            )
        drawn = chart(
            series,
            title=f"Accuracy of each method on {shorten(dataset, 60)} by training percentage",
            x_label="training nodes, %",
            y_label="accuracy, %",
            ticks_x=percents,
        )
        figures.append(
            f"<figure><figcaption><strong>{name(dataset, 60)}</strong></figcaption>{drawn}</figure>"
        )
    keys = [
        Series(shorten(_title(one), 60), [], [], style=styles[one][0], dashed=styles[one][1])
        for one in data["methods"]
    ]
    guess = (
        f" {_title(_GUESS).capitalize()} always answers with the most common class."
        if _GUESS in data["methods"]
        else ""
    )
    return (
        f"<p>Bars are 95 % intervals of the mean over the splits.{guess}</p>{legend(keys)}"
        f'<div class="figures">{"".join(figures)}</div>'
    )


def _title(method: str) -> str:
    return f"guessing ({_GUESS})" if method == _GUESS else method


def ranks(data: dict[str, Any]) -> str:
    """A critical-difference figure per training percentage."""
    if not data["rankings"]:
        return (
            "<p>Ranks need at least 2 methods that have been run on at least 2 datasets with the same percentage of "
            "the labels; there are too few yet.</p>"
        )
    figures = "".join(
        f"<figure><figcaption><strong>{one['train_percent']:g} % training nodes</strong>, {one['datasets']} datasets"
        + (f", Friedman p = {one['p_value']:.2g}" if _there(one["p_value"]) else "")
        + f"</figcaption>{rank_figure(one)}</figure>"
        for one in data["rankings"]
    )
    return (
        "<p>On each dataset the most accurate method has rank 1; shown is the average. Methods joined by a bar are not "
        "told apart: their ranks differ by less than the critical difference (Nemenyi, 5 %). Only datasets that every "
        f'method was run on count.</p><div class="figures">{figures}</div>'
    )


def time(data: dict[str, Any]) -> str:
    """Processor time against accuracy, means over the datasets that all methods have been run on."""
    rows = [
        row
        for row in data["rows"]
        if _there(row["accuracy_mean"]) and _there(row["cpu_seconds_mean"])
    ]
    of = {
        method: {(row["dataset"], row["train_percent"]) for row in rows if row["method"] == method}
        for method in data["methods"]
    }
    ran = [method for method in data["methods"] if of[method]]
    common = set.intersection(*(of[method] for method in ran)) if ran else set()
    if not common:
        return ""
    styles = _styles(data["methods"])
    found = []
    for method in ran:
        mine = [
            row
            for row in rows
            if row["method"] == method and (row["dataset"], row["train_percent"]) in common
        ]
        seconds = math.exp(
            sum(math.log(max(row["cpu_seconds_mean"], 1e-6)) for row in mine) / len(mine)
        )
        accuracy = sum(row["accuracy_mean"] for row in mine) / len(mine)
        found.append((accuracy, seconds, method))
    found.sort(reverse=True)
    series = [
        Series(method, [seconds], [accuracy], style=styles[method][0])
        for accuracy, seconds, method in found
    ]
    listed = "".join(
        f'<tr><td class="number">{number}</td><th scope="row">{name(method, 40)}</th>'
        f'<td class="number">{accuracy:.1f}</td><td class="number">{seconds:.3g}</td></tr>'
        for number, (accuracy, seconds, method) in enumerate(found, start=1)
    )
    drawn = chart(
        series,
        title="Mean accuracy against processor time per run, one point per method",
        x_label="processor seconds per run",
        y_label="accuracy, %",
        log_x=True,
        lines=False,
        numbered=True,
    )
    datasets = len({dataset for dataset, _ in common})
    return (
        f"<p>Up and to the left is better. Means over {_many(datasets, 'dataset')} and all percentages that every "
        f'method was run on; time is a geometric mean.</p><div class="beside"><div>{drawn}</div>'
        '<div class="scroll"><table>'
        '<caption class="sr">The points of the figure</caption><thead><tr>'
        '<th scope="col"><span class="sr">Number</span></th>'
        '<th scope="col">Method</th><th scope="col" class="number">Accuracy, %</th>'
        f'<th scope="col" class="number">Seconds</th></tr></thead><tbody>{listed}</tbody></table></div></div>'
    )


def failures(data: dict[str, Any]) -> str:
    """What went wrong, where anything did."""
    if not data["failures"]:
        return ""
    rows = "".join(
        f"<tr><td>{name(one['dataset'], 40)}</td><td>{name(one['method'], 40)}</td>"
        f'<td class="number">{one["runs"]:,}</td><td>{name(one["error"], 300)}</td></tr>'
        for one in data["failures"][:200]
    )
    return (
        '<div class="scroll"><table><caption>Runs that ended with an error; they count nowhere above.</caption>'
        "<thead><tr>"
        '<th scope="col">Dataset</th><th scope="col">Method</th><th scope="col" class="number">Runs</th>'
        f'<th scope="col">Error</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def repeat(data: dict[str, Any]) -> str:
    """The command and the versions."""
    versions = "".join(
        f"<li>{', '.join(f'{escape(key)} {escape(value)}' for key, value in one.items())}</li>"
        for one in data["versions"][:10]
    )
    return (
        f"{_commands(data)}"
        "<p>A run that the ledger holds already is not done again. Settings named after a method were changed from "
        f"their defaults.</p><p>Made with:</p><ul>{versions}</ul>"
    )


def _commands(data: dict[str, Any]) -> str:
    """The commands that filled the ledger, or one like them where it was filled from Python."""
    given = data.get("commands") or []
    told = [
        f'<pre tabindex="0"><code>{escape(shorten(one, 4000))}</code></pre>' for one in given[:20]
    ]
    if told:
        more = f"<p>and {len(given) - 20:,} more commands</p>" if len(given) > 20 else ""
        return "".join(told) + more
    return (
        "<p>These runs were asked for in Python. This command does the same where the datasets have these names and no "
        f'settings were changed:</p><pre tabindex="0"><code>{escape(shorten(data["command"], 4000))}</code></pre>'
    )


def _styles(methods: list[str]) -> dict[str, tuple[int, bool]]:
    """A colour for each method, and dashes once all colours are taken; guessing is grey and dashed."""
    styles = {
        method: (1 + place % COLOURS, place >= _DASHED_AFTER)
        for place, method in enumerate(one for one in methods if one != _GUESS)
    }
    return styles | ({_GUESS: (0, True)} if _GUESS in methods else {})


def _there(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


_SHOWN = [
    "train_percent",
    "repeats",
    "accuracy_mean",
    "accuracy_std",
    "accuracy_ci95",
    "paper_accuracy",
    "peak_mean",
    "macro_f1_mean",
    "cpu_seconds_mean",
    "missed_class_repeats",
    "failed",
    "best",
    "level_with_best",
]


def benchmark_page(ledger: Path) -> str:
    """The page of all runs in a ledger, as text."""
    with Ledger(ledger, create=False) as opened:
        runs, commands = opened.runs(), opened.commands()
    if not len(runs):
        raise DataError(f"{ledger} holds no runs yet; gramme benchmark fills it")
    return render_benchmark(benchmark_data(runs, ledger.name, commands))


def render_benchmark(data: dict[str, Any]) -> str:
    """The page as text, from its data alone."""
    return page(f"Benchmark {data['name']}", benchmark_body(data), data)


def benchmark_data(runs: pd.DataFrame, name: str, commands: Sequence[str] = ()) -> dict[str, Any]:
    """Everything the page of a benchmark shows, as plain values, from the runs of a ledger."""
    table = summarise(runs)
    # a method whose settings were changed is a competitor of its own
    changed = table["settings"].astype(str)
    full = table["method"].where(changed == "", table["method"] + " (" + changed + ")")
    rows = [
        {"dataset": dataset, "method": method, **values}
        for dataset, method, values in zip(
            table["dataset"], full, table[_SHOWN].to_dict(orient="records"), strict=True
        )
    ]
    rows.sort(
        key=lambda row: (row["dataset"], row["train_percent"], -_or_zero(row["accuracy_mean"]))
    )
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "benchmark",
        "name": name,
        "runs": len(runs),
        "rows": rows,
        "methods": _in_order(full),
        "rankings": _rankings(runs),
        "failures": failed_runs(runs),
        "versions": _versions(runs),
        "commands": list(commands),
        "command": _command(table, runs),
    }


def _in_order(names: pd.Series) -> list[str]:
    """Distinct names, ours first, then by the alphabet."""
    return sorted(set(names), key=lambda name: (not name.startswith("gramme"), name))


def _rankings(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Average ranks at each training percentage for which enough has been run."""
    found = []
    for percent in sorted(runs["train_percent"].unique()):
        try:
            ranking = rank_methods(runs, percent)
        except DataError:
            continue  # too few methods or datasets at this percentage
        found.append({"train_percent": float(percent)} | ranking_data(ranking))
    return found


def ranking_data(ranking: Ranking) -> dict[str, Any]:
    """Average ranks as plain values, as :func:`gramme.report.page.charts.rank_figure` draws them."""
    return {
        "methods": ranking.methods,
        "ranks": ranking.ranks.tolist(),
        "datasets": ranking.datasets,
        "p_value": ranking.p_value,
        "critical_difference": ranking.critical_difference,
        "groups": [list(group) for group in ranking.groups()],
    }


def failed_runs(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """How many runs ended with which error, by dataset and method."""
    failed = runs[runs["status"] != "done"]
    counted = (
        failed.groupby(["dataset", "method", "error"], dropna=False).size().reset_index(name="runs")
    )
    rows: list[dict[str, Any]] = counted.to_dict(orient="records")  # type: ignore[assignment]
    return [row | {"error": str(row["error"]), "runs": int(row["runs"])} for row in rows]


def _versions(runs: pd.DataFrame) -> list[dict[str, str]]:
    """The distinct sets of versions that runs were made with."""
    found = []
    for text in runs["versions"].unique().tolist():
        try:
            versions = json.loads(text)
        except ValueError:
            versions = {"unknown": str(text)}
        found.append(versions if isinstance(versions, dict) else {"unknown": str(versions)})
    return found


def _command(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """A command for runs that were asked for in Python: does the same but for settings that were changed."""
    parts = ["gramme", "benchmark"]
    for option, values in (
        ("--datasets", sorted(set(table["dataset"]))),
        ("--methods", sorted(set(table["method"]))),
        ("--train", [f"{value:g}" for value in sorted(set(table["train_percent"]))]),
    ):
        parts += [option, ",".join(map(str, values))]
    parts += ["--repeats", str(int(runs["realisation"].max()) + 1), "--out", "results.sqlite"]
    return shlex.join(parts)


def _or_zero(value: float) -> float:
    return value if value == value else 0.0


# The page of a benchmark of links: means over the layers, then each layer, with the protocol it
# was done by.


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
        "rankings": _rankings_link_benchmark_page(rows),
        "failures": failed_runs(rows[rows["negatives"] == NEGATIVES[0]]),
        "versions": sorted({str(version) for version in rows["version"]}),
        "command": _command_link_benchmark_page(rows),
    }


def _rankings_link_benchmark_page(rows: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    for kind in NEGATIVES:
        try:
            found.append({"negatives": kind} | ranking_data(rank_link_methods(rows, kind)))
        except DataError:
            continue  # too few methods or layers
    return found


def _command_link_benchmark_page(rows: pd.DataFrame) -> str:
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
