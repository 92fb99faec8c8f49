"""How to repeat a fit: the command, the settings, the versions, and what to cite."""

from __future__ import annotations

import json
import shlex
from typing import Any

from gramme.report.page.html import escape, name, shorten

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
