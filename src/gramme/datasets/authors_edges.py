"""The form in which the paper's authors publish edges: rows ``layer source target``, counted from 0."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gramme.datasets.text_files import read_integers
from gramme.graph import EdgeLayer, Layer

REPOSITORY = "https://github.com/udayshankars/GrAMME/raw/master/data"


def read_edge_layers(path: Path, names: Sequence[str], num_nodes: int) -> dict[str, Layer]:
    """One undirected layer per name.

    The rows hold every edge in both directions and one self loop per node and layer, so a layer's rows are its
    ``num_edges + self_loops_dropped + duplicates_merged``.
    """
    rows = read_integers(path, range(len(names)), range(num_nodes), range(num_nodes))
    return {
        name: EdgeLayer(num_nodes, *rows[rows[:, 0] == number, 1:].T)
        for number, name in enumerate(names)
    }
