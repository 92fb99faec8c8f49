"""Writing the sections of an ``mpx`` file."""

from __future__ import annotations

from collections.abc import Iterator

from gramme.errors import DataError
from gramme.graph import Coupling, EdgeLayer
from gramme.io.delimited import format_row
from gramme.io.losses import TextGraph
from gramme.io.weights import format_number


def sections_of(text: TextGraph) -> str:
    """The whole file."""
    return "".join(_lines(text))


def _lines(text: TextGraph) -> Iterator[str]:
    several = bool(text.graph.couplings)
    yield f"#VERSION\n3.0\n\n#TYPE\n{'multilayer' if several else 'multiplex'}\n\n"
    features = text.features() or None
    header = [] if text.labels is None else ["label,STRING\n"]
    header += [f"feature_{number},NUMERIC\n" for number in range(1, len((features or [[]])[0]) + 1)]
    if header:
        yield "#ACTOR ATTRIBUTES\n" + "".join(header) + "\n"
    parts: list[tuple[list[str], EdgeLayer | Coupling]] = [
        ([name, name][: 1 + several], layer) for name, layer in text.edges()
    ]
    parts += [([first, second], coupling) for first, second, coupling in text.couplings()]
    weighted = [names for names, part in parts if part.weighted]
    if weighted:
        yield (
            "#EDGE ATTRIBUTES\n"
            + "".join(_row(*names, "weight", "NUMERIC") for names in weighted)
            + "\n"
        )
    yield "#LAYERS\n"
    for names, part in parts:
        yield _row(*names, "DIRECTED" if part.directed else "UNDIRECTED")
    yield "\n#ACTORS\n"
    for place, node in enumerate(text.nodes):
        label = [] if text.labels is None else [text.labels[place]]
        yield _row(node, *label, *(features[place] if features else ()))
    if several or not all(layer.holds_all_nodes for layer in text.layers.values()):
        yield "\n#NODES\n"
        for name, layer in text.edges():
            yield from (_row(text.nodes[node], name) for node in layer.present.nonzero()[0])
    yield "\n#EDGES\n"
    for names, part in parts:
        ends = zip(part.source.tolist(), part.target.tolist(), strict=True)
        weights = None if part.weight is None else part.weight.tolist()
        for row, (source, target) in enumerate(ends):
            weight = () if weights is None else (format_number(weights[row]),)
            start, end = text.nodes[source], text.nodes[target]
            if several:
                yield _row(start, names[0], end, names[1], *weight)
            else:
                yield _row(start, end, names[0], *weight)


def _row(*values: str) -> str:
    for value in values:
        if "\n" in value or "\r" in value:
            raise DataError(
                f"the format 'mpx' cannot hold the line end in {value!r}; 'csv' and 'npz' can"
            )
    first = values[0]
    row = format_row(values, ",")
    # A first cell that looks like a heading or a comment is protected by quotes.
    if first.startswith(("#", "--")) and not row.startswith('"'):
        row = f'"{first}"' + row[len(first) :]
    return row
