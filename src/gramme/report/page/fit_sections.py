"""The sections of a fit's page, in the order of a reader's questions: what, how certain, why, who, how to repeat it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from .charts import Series, bar, chart, legend
from .fit_accuracy import accuracy_section, doubts_told, headline
from .html import escape, frame, name, shorten, soft_name
from .layer_comparison import stories_section
from .network import ONE_SIZE_NODES, network_section, search_box, zoom_buttons
from .node_details import leading_groups_section

# How to repeat a fit: the command, the settings, the versions, and what to cite.


CITATION = (
    "U. S. Shanthamallu, J. J. Thiagarajan, H. Song and A. Spanias. GrAMME: Semi-Supervised Learning using "
    "Multi-layered Graph Attention Models. IEEE Transactions on Neural Networks and Learning Systems, 2019. "
    "doi:10.1109/TNNLS.2019.2948797"
)

_APART = {"parameters", "versions", "command", "estimate", "classes", "accuracy_ci95", "reading"}


def settings_section(data: dict[str, Any]) -> str:
    """The command that repeats the fit, its settings, versions and citation."""
    config = data["config"]
    versions = config.get("versions") or {}
    general = {key.replace("_", " "): value for key, value in config.items() if key not in _APART}
    told = ", ".join(f"{escape(key)} {escape(value)}" for key, value in versions.items())
    return (
        "<h3>The same result again</h3>"
        f'<pre tabindex="0"><code>{escape(shorten(command(config), 4000))}</code></pre>'
        + (f"<p>Made with {told}. {_sameness(config)}</p>" if told else "")
        + _reading(config.get("reading"))
        + _definitions("About this fit", general)
        + _definitions("Parameters of the method", config.get("parameters") or {})
        + _layers(data["graph"]["layers"])
        + f"<h3>Citation</h3><p>If this helped your work, please cite:</p><blockquote>{escape(CITATION)}</blockquote>"
    )


def _sameness(config: dict[str, Any]) -> str:
    """What has to be the same for the same result."""
    budget = (config.get("parameters") or {}).get("budget")
    if budget is None:
        return "The same seed, data and versions give the same result."
    return (
        f"How much is trained in the budget of {escape(str(budget))} depends on how fast and how busy the machine is: "
        "where that is the same, the same seed, data and versions give the same result."
    )


def command(config: dict[str, Any]) -> str:
    """The command line of a fit: as it was given where that is known, else from what was noted.

    >>> command({"data": "my votes.csv", "method": "gramme-fusion", "seed": 3})
    "gramme fit 'my votes.csv' --method gramme-fusion --seed 3 --out result"
    """
    given = config.get("command")
    if given:
        try:
            words = [str(word) for word in given] if isinstance(given, list) else shlex.split(given)
        except ValueError:  # changed by hand
            return str(given)
        return shlex.join(_to_another_folder(words))
    words = ["gramme", "fit", str(config.get("data", "DATA"))]
    for option in ("method", "holdout", "seed"):
        if config.get(option) is not None:
            words += [f"--{option}", str(config[option])]
    return shlex.join([*words, "--out", str(config.get("out", "result"))])


def _to_another_folder(words: list[str]) -> list[str]:
    """A command that writes beside the results of the first run, which would be refused in their place.

    >>> _to_another_folder(["gramme", "fit", "votes.csv", "--out", "result/", "--seed", "1"])
    ['gramme', 'fit', 'votes.csv', '--out', 'result-again', '--seed', '1']
    """
    return [
        word.rstrip("/") + "-again" if place and words[place - 1] == "--out" else word
        for place, word in enumerate(words)
    ]


def _reading(notes: Any, most: int = 50) -> str:
    """What was found out while the data were read, such as labels that mean "not known"."""
    if not isinstance(notes, list) or not notes:
        return ""
    items = "".join(f"<li>{escape(shorten(str(one), 400))}</li>" for one in notes[:most])
    return f"<h3>How the data were read</h3><ul>{items}</ul>"


def _definitions(title: str, values: dict[str, Any]) -> str:
    if not values:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(shorten(key, 60))}</th><td>{_value(value)}</td></tr>'
        for key, value in values.items()
    )
    return (
        f'<details><summary>{title}</summary><div class="scroll"><table class="facts"><caption class="sr">{title}'
        f"</caption><tbody>{rows}</tbody></table></div></details>"
    )


def _layers(layers: list[dict[str, Any]]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{name(layer["name"], 80)}</th><td class="number">{layer["present"]:,}</td>'
        f'<td class="number">{"" if layer["groups"] is None else format(layer["groups"], ",")}</td>'
        f'<td class="number">{layer["edges"]:,}</td></tr>'
        for layer in layers[:500]
    )
    more = f"<p>and {len(layers) - 500:,} further layers</p>" if len(layers) > 500 else ""
    return (
        "<details><summary>The layers of the data</summary>"
        '<div class="scroll"><table><caption class="sr">The layers of the data</caption><thead><tr>'
        '<th scope="col">Layer</th><th scope="col" class="number">Nodes</th><th scope="col" class="number">Groups</th>'
        '<th scope="col" class="number">Edges</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{more}</details>"
    )


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"<bdi>{escape(shorten(text, 500))}</bdi>"


ATTENTION = "gramme-fusion"
"""The ingredient of a mixture that is trained in epochs."""
_SHOWN_LAYERS = 20


def page_title(data: dict[str, Any]) -> str:
    """The title of the page: method and data."""
    return f"{_method(data)} on {_data(data)}"


def fit_body(data: dict[str, Any]) -> str:
    """Everything between the body tags but the data and the script."""
    from .before_labels import next_labels_section  # which needs the format of the page of a fit

    sections = [
        ("accuracy", "How sure", accuracy_section(data)),
        ("layers", "Which layers matter", layers_section(data)),
        ("network", "The network", picture_section(data)),
        ("map", "Map of the nodes", map_section(data)),
        ("look", "Nodes to look at", table_section(data)),
        ("training", "Training", training_section(data)),
        ("next", "What to label next", next_labels_section(data)),
        ("settings", "Settings and how to repeat this", settings_section(data)),
    ]
    return frame(
        "report of a fit",
        _data(data),
        summary(data),
        sections,
        without_script="The network, the map of the nodes and their table need JavaScript, which is switched off here. "
        "Everything else is below.",
    )


def summary(data: dict[str, Any]) -> str:
    """What was done, in two sentences."""
    graph, labels = data["graph"], data["labels"]
    layers = [name(layer["name"], 60) for layer in graph["layers"]]
    listed = ", ".join(layers[:4]) + (f" and {len(layers) - 4:,} more" if len(layers) > 4 else "")
    kinds = "1 layer" if len(layers) == 1 else f"{len(layers):,} layers"
    classes = [name(label, 40) for label in labels["classes"]]
    which = ", ".join(classes[:6]) + (" …" if len(classes) > 6 else "")
    rest = graph["nodes"] - labels["learned"]
    target = f"the other {rest:,} nodes" if rest else "all of them, which had labels already"
    return (
        f'<p class="headline">{headline(data["estimate"])}</p>'
        f'<p class="lead"><strong>{escape(_method(data))}</strong> learned from the labels of '
        f"<strong>{labels['learned']:,}</strong> of {graph['nodes']:,} nodes, "
        f"joined by {kinds} of relations ({listed}). "
        f"It then predicted which of {len(classes)} classes ({which}) each node belongs to, "
        f"with a probability, for {target}.{_balanced(data)}</p>"
    )


def _balanced(data: dict[str, Any]) -> str:
    if data["config"].get("class_weight") != "balanced":
        return ""
    return (
        " Every class counts alike, however rare it is: the probabilities are those of nodes among which all classes "
        "are equally frequent."
    )


def layers_section(data: dict[str, Any]) -> str:
    """Bars with the spread over the ensemble, and what an automatic method relied on."""
    parts = []
    if data.get("explanation"):
        parts.append(f"<p>{escape(data['explanation'])}</p>")
    if data.get("ingredients"):
        parts.append(_ingredients(data["ingredients"]))
    layers = data.get("layers")
    if layers:
        parts.append(_bars(layers, data.get("members")))
    if not parts:
        parts.append(
            "<p>This method does not tell layers apart, so it cannot say which of them matter.</p>"
        )
    return "".join(parts) + leading_groups_section(data) + stories_section(data)


def _bars(layers: dict[str, list[Any]], members: int | None) -> str:
    spread = layers.get("spread") or [None] * len(layers["layer"])
    rows = sorted(
        zip(layers["layer"], layers["importance"], spread, strict=True),
        key=lambda row: -(row[1] or 0),
    )
    longest = max((row[1] or 0) + (row[2] or 0) for row in rows) or 1.0
    lines = [
        f'<tr><th scope="row">{soft_name(layer, 60)}</th><td class="wide">'
        f"{bar((share or 0) / longest, None if not wide else wide / longest)}</td>"
        f'<td class="number">{share or 0:.1%}'
        + (f' <span class="faint">± {wide:.1%}</span>' if wide is not None else "")
        + "</td></tr>"
        for layer, share, wide in rows
    ]
    told = (
        f" The whisker is one standard deviation over the {members:d} networks of the ensemble: where it is wide, the "
        "networks do not agree."
        if members and layers.get("spread")
        else ""
    )
    head = (
        '<thead><tr><th scope="col">Layer</th><th scope="col" class="wide">'
        '<span class="sr">Bar</span></th><th scope="col" class="number">Share</th></tr></thead>'
    )
    caption = "<caption>How much the predictions rest on each layer; the shares add up to 100 %."
    if not any(row[1] for row in rows):
        caption = "<caption>The predictions rest on no layer: none joins a node to what is known."
    table = (
        f'<div class="scroll"><table class="bars">{caption}{told}</caption>{head}'
        f"<tbody>{''.join(lines[:_SHOWN_LAYERS])}</tbody></table></div>"
    )
    if len(lines) > _SHOWN_LAYERS:
        hidden = "".join(lines[_SHOWN_LAYERS:])
        table += (
            f"<details><summary>{len(lines) - _SHOWN_LAYERS:,} further layers</summary>"
            f'<div class="scroll"><table class="bars"><caption class="sr">Further layers</caption>{head}'
            f"<tbody>{hidden}</tbody></table></div></details>"
        )
    return table


def _ingredients(table: dict[str, list[Any]]) -> str:
    columns = list(table)
    head = "".join(f'<th scope="col">{escape(column.replace("_", " "))}</th>' for column in columns)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{_cell(value, column)}</td>" for column, value in zip(columns, row, strict=True)
        )
        + "</tr>"
        for row in zip(*table.values(), strict=True)
    )
    tested = (
        " Accuracy and log loss are those of each alone, on labelled nodes predicted by a copy that had not learned "
        "from their labels; a lower log loss is better."
        if "accuracy" in columns
        else ""
    )
    return (
        '<div class="scroll"><table class="made-of"><caption>'
        f"What the prediction is made of; the weights add up to 100 %.{tested}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Any, column: str) -> str:
    if isinstance(value, float) and column in ("weight", "accuracy"):
        return "–" if value != value else f"{value:.1%}"
    if isinstance(value, float):
        return "–" if value != value else f"{value:.3f}"
    return escape("" if value is None else shorten(value, 200))


def picture_section(data: dict[str, Any]) -> str:
    """The network, coloured by the same choice as the map; nothing for a page from before there was one."""
    drawn = data.get("network")
    if not drawn or not data["nodes"]["count"]:
        return ""
    sizes = ""
    if data["nodes"]["count"] <= ONE_SIZE_NODES:
        sizes = '<label>Size by <select id="network-size"></select></label>'
    colours = '<label>Colour by <select id="network-colour"></select></label>'
    return (
        network_section(drawn, total=data["nodes"]["total"], colours=colours, sizes=sizes)
        + '<p id="network-chosen" role="status"></p>'
    )


def map_section(data: dict[str, Any]) -> str:
    """The frame of the map; its script fills it."""
    nodes, drawn = data["nodes"], data["map"]
    if not nodes["count"]:
        return "<p>The graph has no nodes.</p>"
    notes = []
    if nodes["count"] < nodes["total"]:
        notes.append(
            f"Shown are {nodes['count']:,} of {nodes['total']:,} nodes: the least certain, those whose label is in "
            "doubt, and a random sample of the others. Neighbours outside the sample are not listed."
        )
    if nodes.get("shortened"):
        notes.append("Long names are shortened; predictions.csv has them whole.")
    held, all_layers = len(data["neighbourhoods"]), len(data["graph"]["layers"])
    if held < all_layers:
        notes.append(
            f"Colours and neighbours are there for the {held:,} most important of {all_layers:,} layers."
        )
    what = {
        "mixture": "Each point is a node, placed by what the ingredients of the prediction say about it, each counted "
        "by its weight in the mixture: nodes that lie near each other are predicted alike, for like reasons.",
        "embedding": "Each point is a node, placed by what the model learned about it (its embedding).",
        "probabilities": "This method has no embedding, so nodes are placed by their predicted probabilities.",
    }[drawn["source"]]
    toggle = ""
    if "before" in drawn:
        toggle = (
            '<fieldset class="choice"><legend>Training</legend>'
            '<label><input type="radio" name="when" value="before"> before</label>'
            '<label><input type="radio" name="when" value="after" checked> after</label></fieldset>'
        )
        what += f" Before training it knew only {escape(drawn['start'])}."
    return (
        f'<p>{what} <span id="map-how">{escape(drawn["how"])}</span></p>'
        + "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
        + '<div class="controls"><label>Colour by <select id="colour"></select></label>'
        + toggle
        + f"{search_box('')}{zoom_buttons('')}</div>"
        '<div class="stage"><div class="canvas"><canvas id="scatter" tabindex="0" role="img" '
        'aria-label="Map of the nodes. Arrow keys move it, plus and minus zoom, 0 shows all. '
        'The table below lists nodes as text." aria-describedby="map-keys"></canvas>'
        '<div id="tip" class="tip" role="status" hidden></div></div><ul id="legend" class="legend"></ul>'
        '<p class="faint keys" id="map-keys">Drag to move; wheel, pinch or + and − to zoom; 0 shows all. '
        "Select a point to see its neighbours.</p></div>"
        '<div id="panel" class="panel" aria-live="polite"><h3>A node and its neighbours</h3>'
        "<p>Select a point in the map, find a node by name, or pick one from the table below.</p></div>"
    )


def table_section(data: dict[str, Any]) -> str:
    """The frame of the table of nodes; its script fills it."""
    if not data["nodes"]["count"]:
        return ""
    return (
        f"<p>Where the model is least certain, a look by hand helps most. {doubts_told(data['estimate'])}</p>"
        '<div class="controls"><label>Show <select id="view"><option value="uncertain">least certain</option>'
        '<option value="doubtful">likely mislabelled</option><option value="all">all nodes</option></select></label>'
        '<label>Filter <input id="filter" type="search" autocomplete="off" spellcheck="false" '
        'placeholder="node, label or prediction"></label>'
        '<button type="button" id="export">Export as CSV</button></div>'
        '<div class="scroll" tabindex="0" role="region" aria-label="Table of nodes"><table id="nodes">'
        '<caption id="nodes-caption"></caption><thead></thead><tbody></tbody></table></div>'
        '<p><button type="button" id="more" hidden>Show more</button> <span id="nodes-count" role="status"></span></p>'
    )


def training_section(data: dict[str, Any]) -> str:
    """Curves of the loss and of accuracies over the epochs."""
    history = data.get("history")
    if not history:
        return ""
    across = next((key for key in ("epoch", "iteration", "step") if key in history), None)
    places = history.get(across) if across else None
    count = len(next(iter(history.values())))
    figures = []
    columns = [key for key in history if key not in (across, "member")]
    accuracies = [key for key in columns if "accuracy" in key or "f1" in key]
    for keys, title, percent in (
        ([key for key in columns if key not in accuracies], "Loss", False),
        (accuracies, "Accuracy", True),
    ):
        series = []
        for style, key in enumerate(keys, start=1):
            points = [
                (x, float(y))
                for x, y in zip(places or range(1, count + 1), history[key], strict=True)
                if isinstance(y, (int, float)) and not isinstance(y, bool)
            ]
            if points:
                x, y = zip(*points, strict=True)
                series.append(Series(key.replace("_", " "), x, y, style=style))
        if series:
            drawn = chart(
                series,
                title=f"{title} over the {across or 'step'}s of training",
                x_label=across or "step",
                y_label=title,
                percent=percent,
            )
            keys_told = legend(series) if len(series) > 1 else ""
            figures.append(f"<figure><figcaption>{title}{keys_told}</figcaption>{drawn}</figure>")
    if not figures:
        return ""
    return (
        f"<p>{_whose_training(data)}A loss that has levelled off means that further training would change little. "
        "Accuracy here is on the nodes that were learned from, so it says nothing about new ones.</p>"
        f'<div class="figures">{"".join(figures)}</div>'
    )


def _whose_training(data: dict[str, Any]) -> str:
    """In a mixture only attention is trained in epochs: that the curves are about that part of it."""
    made_of = data.get("ingredients") or {}
    weights = dict(zip(made_of.get("ingredient", []), made_of.get("weight", []), strict=False))
    if ATTENTION not in weights:
        return ""
    return (
        f"These curves are about attention alone, which has {weights[ATTENTION]:.1%} of the mixture; the other "
        "ingredients are not trained in epochs. "
    )


def _method(data: dict[str, Any]) -> str:
    return str(data["config"].get("method") or data["method"])


def _data(data: dict[str, Any]) -> str:
    """The data's name: that of the graph, or of the file without its folder and ending."""
    return data_name(data["config"].get("data"), data["graph"].get("name"))


def data_name(given: Any, graph_name: str | None = None) -> str:
    """What a reader would call the data: a file or folder by its name alone, anything else as it was given.

    >>> data_name("ties/2024 by week"), data_name("balance_scale"), data_name(None, "club")
    ('ties/2024 by week', 'balance_scale', 'club')
    """
    if not given:
        return str(graph_name or "a graph")
    path = Path(str(given))
    try:
        if path.is_dir():
            return path.name or str(given)
        if path.is_file():
            return path.stem
        several = [Path(word) for word in str(given).split()]
        if len(several) > 1 and all(one.is_file() for one in several):
            return ", ".join(one.stem for one in several)
        return str(given)
    except OSError:  # too long for a file's name
        return str(given)
