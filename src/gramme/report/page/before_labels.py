"""The pages of ``gramme groups`` and ``gramme ask``, and the folders that they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.evaluation.learning_curve import MIN_LABELS, learning_curve
from gramme.graph import MultilayerGraph
from gramme.grouping import Groups, ask
from gramme.grouping.found_groups import STABLE_SHARE, value_words
from gramme.io.atomic import write_files
from gramme.report.folder import output_folder
from gramme.report.tables import write_csv

from .charts import bar
from .fit_page import FORMAT, VERSION
from .html import command_and_versions, escape, frame, name, page, shorten
from .network import marked_network, plain_network_section

NEXT_NODES, NEXT_DIVISIONS, MAX_NEXT_ENTRIES = 5, 4, 50_000
"""For the page of a fit: nodes to label next, divisions of the labels for the learning curve, and nodes, memberships
and ends of edges up to which they are looked for; both take a second there."""
SHOWN_GROUPS = 40
"""Groups, or chosen nodes, that a page lists; the tables beside it have all."""
SHOWN_NAMES = 12
"""Nodes that are named for each of them."""
CSV_NAMES = 20
"""Nodes that a cell of ``ask.csv`` names."""


def write_groups(
    folder: Path,
    found: Groups,
    *,
    config: dict[str, Any],
    overwrite: bool = False,
    raw_csv: bool = False,
) -> list[str]:
    """Write ``groups.csv``, ``layers.csv``, the settings and the page to a folder; returns the names of the files."""
    from gramme.report.result_folders import check_target, versions, write_settings

    check_target(folder, overwrite=overwrite)
    with output_folder(folder, overwrite=overwrite) as place:
        target = place.folder
        write_csv(found.to_frame(), target / "groups.csv", raw=raw_csv)
        write_csv(found.layer_support_.reset_index(), target / "layers.csv", raw=raw_csv)
        record = config | {"versions": versions()}
        write_settings(target / "config.json", record)
        text = render_groups(groups_data(found, config=record))
        (target / "report.html").write_text(text, encoding="utf-8")
        files = sorted(path.name for path in target.iterdir())
    return files


def write_ask(
    folder: Path,
    graph: MultilayerGraph,
    chosen: pd.DataFrame,
    *,
    labelled: NDArray[np.bool_],
    curve: pd.DataFrame | None,
    config: dict[str, Any],
    overwrite: bool = False,
    raw_csv: bool = False,
) -> list[str]:
    """Write ``ask.csv``, the settings and the page to a folder; returns the names of the files.

    Parameters
    ----------
    chosen : DataFrame
        As :func:`gramme.ask` gives it.
    labelled : array of bool, shape (nodes,)
    curve : DataFrame or None
        As :func:`gramme.evaluation.learning_curve.learning_curve` gives it.
    """
    from gramme.report.result_folders import check_target, versions, write_settings

    check_target(folder, overwrite=overwrite)
    with output_folder(folder, overwrite=overwrite) as place:
        target = place.folder
        write_csv(ask_table(chosen), target / "ask.csv", raw=raw_csv)
        record = config | {"versions": versions()}
        write_settings(target / "config.json", record)
        data = ask_data(graph, chosen, labelled=labelled, curve=curve, config=record)
        (target / "report.html").write_text(render_ask(data), encoding="utf-8")
        files = sorted(path.name for path in target.iterdir())
    return files


def write_groups_page(found: Groups, path: Any) -> Path:
    """Write the page of some groups alone; called as ``groups.report(path)``."""
    target = Path(path)
    text = render_groups(groups_data(found, config={"data": found.graph.name or "a graph"}))
    write_files({target: text}, overwrite=True)
    return target


def ask_table(chosen: pd.DataFrame) -> pd.DataFrame:
    """The table of ``ask.csv``: node, an empty label to fill in, why, and whom it stands for in words."""
    return pd.DataFrame(
        {
            "node": chosen["node"],
            "label": "",
            "why": chosen["why"],
            "stands_for": [_in_words(names, CSV_NAMES) for names in chosen["stands_for"]],
        }
    )


def _in_words(names: list[Any], most: int) -> str:
    others = names[1:]
    text = "; ".join(str(one) for one in others[:most])
    more = len(others) - most
    return f"{text}; and {more:,} more" if more > 0 else text


def groups_data(found: Groups, *, config: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the page of some groups shows."""
    graph, table = found.graph, found.over_represented_
    groups = []
    for group in range(min(found.count_, SHOWN_GROUPS)):
        members = np.flatnonzero(found.labels_ == group)
        sure = found.stability_.to_numpy()[members]
        first = members[np.argsort(-sure, kind="stable")][:SHOWN_NAMES]
        mine = table[table["group"] == group].head(4)
        groups.append(
            {
                "group": group,
                "nodes": int(members.size),
                "stability": float(sure.mean()),
                "words": [value_words(row) for _, row in mine.iterrows()],
                "members": [str(graph.nodes[one]) for one in first],
            }
        )
    codes = np.where(found.isolated_, 0, found.labels_ + 1)
    support = found.layer_support_
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "groups",
        "name": str(config.get("data") or graph.name or "the graph"),
        "config": dict(config),
        "nodes": graph.num_nodes,
        "count": found.count_,
        "isolated": int(found.isolated_.sum()),
        "verdict": found.verdict,
        "has_groups": found.has_groups_,
        "seed_agreement": found.seed_agreement_,
        "resampled_agreement": found.resampled_agreement_,
        "overlap": found.overlap_,
        "groups": groups,
        "layers": [
            {"name": str(layer), **{key: float(value) for key, value in row.items()}}
            for layer, row in support.iterrows()
        ],
        "picture": marked_network(graph, codes, [f"group {one}" for one in range(found.count_)]),
    }


def render_groups(data: dict[str, Any]) -> str:
    """The page of groups as text, from its data alone."""
    sections = [
        ("groups", "The groups", _groups_section(data)),
        ("network", "The network", plain_network_section(data)),
        ("layers", "Which layers support them", _layers_section(data)),
        ("sure", "How far to trust them", _trust_section(data)),
        ("next", "What to do with them", _next_section(data)),
        (
            "repeat",
            "How to repeat this",
            command_and_versions(data["config"], f"gramme groups {data['name']} --out groups"),
        ),
    ]
    body = frame(
        "groups",
        data["name"],
        f'<p class="lead">{escape(data["verdict"])}</p>',
        sections,
        without_script="The network needs JavaScript, which is switched off here. Everything else is below.",
    )
    return page(f"Groups in {data['name']}", body, data)


def _groups_section(data: dict[str, Any]) -> str:
    rows = []
    for group in data["groups"]:
        words = "<br>".join(escape(shorten(one, 120)) for one in group["words"])
        members = ", ".join(name(one, 40) for one in group["members"])
        more = group["nodes"] - len(group["members"])
        others = f" and {more:,} more" if more > 0 else ""
        rows.append(
            f'<tr><th scope="row">{group["group"]}</th><td class="number">{group["nodes"]:,}</td>'
            f'<td class="number">{group["stability"]:.0%}</td><td>{words}</td><td>{members}{others}</td></tr>'
        )
    left = data["count"] - len(data["groups"])
    note = f'<p class="note">{left:,} smaller groups are in groups.csv.</p>' if left > 0 else ""
    caption = (
        "Stability is the share of repetitions in which two members stay together. More frequent than elsewhere: "
        "values, and labels where there are some, that chance does not explain. Of the members, the most stable are "
        "named; groups.csv has all."
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Groups"><table>'
        f'<caption>{caption}</caption><thead><tr><th scope="col">Group</th><th scope="col" class="number">Nodes</th>'
        '<th scope="col" class="number">Stability</th><th scope="col">More frequent than elsewhere</th>'
        f'<th scope="col">Members</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>{note}'
    )


def _layers_section(data: dict[str, Any]) -> str:
    ordered = sorted(data["layers"], key=lambda layer: -layer["part"])[:SHOWN_GROUPS]
    largest = ordered[0]["part"] if ordered else 0.0
    rows = "".join(
        f'<tr><th scope="row">{name(layer["name"], 60)}</th><td class="wide">'
        f"{bar(layer['part'] / (largest or 1.0))}</td>"
        f'<td class="number">{layer["part"]:.0%}</td><td class="number">{layer["inside"]:.0%}</td>'
        f'<td class="number">{layer["expected"]:.0%}</td></tr>'
        for layer in ordered
    )
    silent = [layer["name"] for layer in data["layers"] if layer["part"] < 0.01]
    told = ""
    if silent and data["has_groups"]:
        some = ", ".join(name(one, 40) for one in silent[:5])
        more = f" and {len(silent) - 5} more" if len(silent) > 5 else ""
        told = f"<p>These layers say next to nothing about the groups: {some}{more}.</p>"
    return (
        '<div class="scroll"><table class="bars"><caption>The share of the groups that each layer supports: its '
        "ties inside groups beyond those its degrees lead one to expect, times its weight. How much a layer counts is "
        'learned from the layers.</caption><thead><tr><th scope="col">Layer</th><th scope="col" class="wide">'
        '<span class="sr">Bar</span></th><th scope="col" class="number">Share</th><th scope="col" class="number">Ties '
        'inside</th><th scope="col" class="number">Expected</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{told}"
    )


def _trust_section(data: dict[str, Any]) -> str:
    stable = sum(group["stability"] >= STABLE_SHARE for group in data["groups"])
    told = (
        f"<p>With other random seeds the groups agree to {data['seed_agreement']:.2f}, with resampled ties and layers "
        f"to {data['resampled_agreement']:.2f} (adjusted Rand index: 1 is the same division, 0 chance). "
        f"{stable} of the {len(data['groups'])} groups listed stay together in {STABLE_SHARE:.0%} of the repetitions "
        "or more.</p>"
    )
    overlap = data["overlap"]
    if overlap:
        told += (
            f"<p>With the known labels, which took no part in finding them, the groups agree to "
            f"{overlap['adjusted_rand']:.2f} (adjusted Rand index; normalised mutual information "
            f"{overlap['normalised_mutual_information']:.2f}).</p>"
        )
    return told


def _next_section(data: dict[str, Any]) -> str:
    source = escape(shorten(data["name"], 200))
    return (
        "<p>Groups say who belongs together, not what they are. A few labels do: choose whom to ask, fill in the "
        "labels, and predict the rest.</p>"
        f'<pre tabindex="0"><code>gramme ask {source} --count 20 --out ask\n'
        f"gramme fit {source} --labels ask/ask.csv --out result</code></pre>"
    )


def ask_data(
    graph: MultilayerGraph,
    chosen: pd.DataFrame,
    *,
    labelled: NDArray[np.bool_],
    curve: pd.DataFrame | None,
    config: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything the page of chosen nodes shows; parameters as for :func:`write_ask`."""
    codes = np.zeros(graph.num_nodes, dtype=np.int64)
    for place, names in enumerate(chosen["stands_for"]):
        codes[graph.positions(names)] = place + 1
    asked = graph.positions(chosen["node"])
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "ask",
        "name": str(config.get("data") or graph.name or "the graph"),
        "config": dict(config),
        "nodes": graph.num_nodes,
        "labelled": int(labelled.sum()),
        "covered": int((codes > 0).sum()),
        "count": len(chosen),
        "chosen": [
            {
                "node": str(row["node"]),
                "why": row["why"],
                "size": len(row["stands_for"]),
                "some": [str(one) for one in row["stands_for"][1 : SHOWN_NAMES + 1]],
            }
            for row in chosen.head(SHOWN_GROUPS).to_dict(orient="records")
        ],
        "curve": None if curve is None else curve.to_dict(orient="records"),
        "picture": marked_network(
            graph,
            codes,
            [str(one) for one in chosen["node"]],
            marked=asked,
            labelled=labelled,
        ),
    }


def next_labels(
    graph: MultilayerGraph, labels: NDArray[np.object_], known: NDArray[np.bool_]
) -> dict[str, Any] | None:
    """Whom to label next, and what that would bring, for the page of a fit; None for large graphs and complete labels.

    Parameters
    ----------
    graph : MultilayerGraph
    labels : array of object, shape (nodes,)
        What was learned from, None where there was nothing.
    known : array of bool, shape (nodes,)
        Which nodes have a label, learned from or set aside.
    """
    left = int((~known).sum())
    if not left or graph.num_entries > MAX_NEXT_ENTRIES:
        return None
    bare = graph.replace(labels=None)
    marks = ["known" if one else None for one in known.tolist()]
    try:
        chosen = ask(bare, marks, count=min(NEXT_NODES, left))
        curve = None
        if known.sum() >= MIN_LABELS:
            curve = learning_curve(bare, labels, divisions=NEXT_DIVISIONS)
    except DataError:  # no ties, or labels of one class: nothing to say
        return None
    return {
        "chosen": [
            {
                "node": str(row["node"]),
                "size": len(row["stands_for"]),
                "some": [str(one) for one in row["stands_for"][1 : SHOWN_NAMES + 1]],
            }
            for row in chosen.to_dict(orient="records")
        ],
        "curve": None if curve is None else curve.to_dict(orient="records"),
    }


def next_labels_section(data: dict[str, Any]) -> str:
    """The end of the page of a fit: whom to label next; nothing for a page from before there was this."""
    found = data.get("next_labels")
    if not found:
        return ""
    count = len(found["chosen"])
    which = "this node" if count == 1 else f"these {count} nodes"
    told = (
        f"<p>Should you label more, label {which} first: no label covers their surroundings well. "
        "<code>gramme ask</code> chooses as many as you like.</p>"
    )
    return told + _chosen_section(found | {"count": count}) + _curve_section(found)


def render_ask(data: dict[str, Any]) -> str:
    """The page of chosen nodes as text, from its data alone."""
    sections = [
        ("ask", "Whom to ask", _chosen_section(data)),
        ("network", "The network", plain_network_section(data)),
        ("curve", "What more labels would bring", _curve_section(data)),
        ("next", "What to do now", _fill_in_section(data)),
        (
            "repeat",
            "How to repeat this",
            command_and_versions(data["config"], f"gramme ask {data['name']} --out ask"),
        ),
    ]
    known = (
        "none of which has a label yet"
        if not data["labelled"]
        else f"{data['labelled']:,} of which have a label"
    )
    nodes = "one node" if data["count"] == 1 else f"{data['count']:,} nodes"
    lead = (
        f'<p class="lead">Label these <strong>{nodes}</strong> next. They were chosen to cover the network of '
        f"{data['nodes']:,} nodes, {known}: each stands for the nodes that are nearer to it than to any other chosen "
        "or labelled one.</p>"
    )
    body = frame(
        "whom to ask",
        data["name"],
        lead,
        sections,
        without_script="The network needs JavaScript, which is switched off here. Everything else is below.",
    )
    return page(f"Whom to ask in {data['name']}", body, data)


def _chosen_section(data: dict[str, Any]) -> str:
    rows = []
    for row in data["chosen"]:
        some = ", ".join(name(one, 40) for one in row["some"])
        more = row["size"] - 1 - len(row["some"])
        others = f" and {more:,} more" if more > 0 else ""
        rows.append(
            f'<tr><th scope="row">{name(row["node"], 60)}</th><td class="number">{row["size"]:,}</td>'
            f"<td>{some}{others}</td></tr>"
        )
    left = data["count"] - len(data["chosen"])
    note = f'<p class="note">{left:,} more are in ask.csv.</p>' if left > 0 else ""
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Chosen nodes"><table>'
        "<caption>Nodes to ask, those that stand for most first. The nodes nearest to each are named.</caption>"
        '<thead><tr><th scope="col">Node</th><th scope="col" class="number">Stands for</th>'
        '<th scope="col">Nearest to it</th></tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table></div>{note}"
    )


def _curve_section(data: dict[str, Any]) -> str:
    if not data["curve"]:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{"now" if not row["more"] else str(row["more"]) + " more"}</th>'
        f'<td class="number">{row["labels"]:,}</td><td class="wide">{bar(row["accuracy"])}</td>'
        f'<td class="number">{row["accuracy"]:.0%}</td>'
        f'<td class="number">{row["low"]:.0%} to {row["high"]:.0%}</td></tr>'
        for row in data["curve"]
    )
    return (
        '<div class="scroll"><table class="bars"><caption>Expected accuracy of label propagation, from models that '
        "learn from fewer labels, with its 90 % interval. It holds for further labels of random nodes; nodes chosen to "
        'cover the network bring more at first.</caption><thead><tr><th scope="col">Labels</th><th scope="col" '
        'class="number">In all</th><th scope="col" class="wide"><span class="sr">Bar</span></th><th scope="col" '
        'class="number">Accuracy</th><th scope="col" class="number">Interval</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _fill_in_section(data: dict[str, Any]) -> str:
    source = escape(shorten(data["name"], 200))
    return (
        "<p>Fill in the column <code>label</code> of ask.csv; rows without a label are left out. Then predict the "
        "labels of all other nodes, or ask again with what you know by then.</p>"
        f'<pre tabindex="0"><code>gramme fit {source} --labels ask.csv --out result\n'
        f"gramme ask {source} --labels ask.csv --count {data['count']} --out ask2</code></pre>"
    )
