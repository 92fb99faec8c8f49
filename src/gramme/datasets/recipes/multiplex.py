"""Vickers-Chan: 29 pupils of a seventh grade and whom they name as friends and work mates."""

from __future__ import annotations

import numpy as np

from gramme.datasets.readers import read_edge_layers, read_integers, read_lines
from gramme.datasets.record import Paths
from gramme.graph import EdgeLayer, Layer, MultilayerGraph

# CKM social: physicians of four cities, and whom they ask, talk with and call a friend.
PHYSICIANS = 241
CKM_SOCIAL_LAYERS = ("advice", "discussion", "friend")


def build_ckm_social(paths: Paths) -> MultilayerGraph:
    """Nominations as undirected edges; nodes are numbered 0 to 240 as in the file."""
    layer_codes = read_integers(paths["ckm_social.multilayer.labels"], range(4), expected=PHYSICIANS)[:, 0]
    return MultilayerGraph(
        read_edge_layers(paths["ckm_social.multilayer.edges"], CKM_SOCIAL_LAYERS, PHYSICIANS),
        labels=[f"city {code + 1}" for code in layer_codes],
        name="ckm_social",
    )


# Leskovec-Ng: who wrote papers with whom around two researchers, in four spans of five years.
RESEARCHERS = 191
LESKOVEC_NG_LAYERS = ("1995-1999", "2000-2004", "2005-2009", "2010-2014")
# The author index settles the codes: Andrew Ng himself has 0, Jure Leskovec 1.
LABELS = ("Ng", "Leskovec")


def build_leskovec_ng(paths: Paths) -> MultilayerGraph:
    """Co-authorships as edges; a node is named by the researcher."""
    layer_codes = read_integers(paths["Leskovec-Ng.multilayer.labels"], range(len(LABELS)), expected=RESEARCHERS)[:, 0]
    return MultilayerGraph(
        read_edge_layers(paths["Leskovec-Ng.multilayer.edges"], LESKOVEC_NG_LAYERS, RESEARCHERS),
        nodes=read_lines(paths["authorindex.txt"], expected=RESEARCHERS),
        labels=[LABELS[code] for code in layer_codes],
        name="leskovec_ng",
    )


PUPILS = 29
VICKERS_CHAN_LAYERS = ("get_on", "best_friends", "work_with")


def build_vickers_chan(paths: Paths, *, directed: bool = False) -> MultilayerGraph:
    """Nominations as edges; a pupil is named by the number in the source, 1 to 29."""
    numbers = range(1, PUPILS + 1)
    table_rows = read_integers(
        paths["Vickers-Chan-7thGraders_multiplex.edges"],
        range(1, 1 + len(VICKERS_CHAN_LAYERS)),
        numbers,
        numbers,
        range(1, 2),
    )
    layer, source, target, _ = table_rows.T
    graph_layers: dict[str, Layer] = {
        layer_name: EdgeLayer(
            PUPILS, source[layer == layer_number] - 1, target[layer == layer_number] - 1, directed=directed
        )
        for layer_number, layer_name in enumerate(VICKERS_CHAN_LAYERS, start=1)
    }
    pupils = np.arange(1, PUPILS + 1)
    node_labels = ["boy" if pupil <= 12 else "girl" for pupil in pupils]
    return MultilayerGraph(graph_layers, nodes=pupils, labels=node_labels, name="vickers_chan")
