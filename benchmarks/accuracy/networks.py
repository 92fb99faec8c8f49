"""Networks of different kinds to try links on: real ones from a data folder, and synthetic ones made from a seed.

``networks(folder)`` maps a name to a function that loads or makes the graph; nothing is read before it is called.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import gramme
from gramme import EdgeLayer, MultilayerGraph
from gramme.graph import Layer

Loader = Callable[[], MultilayerGraph]


def networks(folder: Path) -> dict[str, Loader]:
    """Every network that can be had with this data folder, small ones first.

    WordNet's files (Debian's wordnet-base) are looked for in its folder ``wordnet``, then where Debian puts them.
    """
    found: dict[str, Loader] = {
        "vickers_chan": partial(gramme.datasets.load, "vickers_chan"),
        "kapferer": partial(_multiplex, folder / "dedomenico/Kapferer-Tailor-Shop_multiplex.edges"),
        "lazega": partial(_multiplex, folder / "lazega_lawyers/Lazega-Law-Firm_multiplex.edges"),
        "lazega_directed": partial(
            _multiplex, folder / "lazega_lawyers/Lazega-Law-Firm_multiplex.edges", directed=True
        ),
        "leskovec_ng": partial(gramme.datasets.load, "leskovec_ng"),
        "ckm_social": partial(gramme.datasets.load, "ckm_social"),
        "celegans": partial(_multiplex, folder / "dedomenico/Celegans-Connectome_multiplex.edges"),
        "celegans_directed": partial(
            _multiplex, folder / "dedomenico/Celegans-Connectome_multiplex.edges", directed=True
        ),
        "xenopus": partial(_multiplex, folder / "dedomenico/Xenopus-Genetic_multiplex.edges"),
        "pierreauger": partial(_multiplex, folder / "dedomenico/Pierreauger_multiplex.edges"),
        "plasmodium": partial(_multiplex, folder / "dedomenico/Plasmodium-Genetic_multiplex.edges"),
        **{f"synthetic_{name}": make for name, make in SYNTHETIC.items()},
        "cora": partial(_edges_only, "cora"),
        "acm_authors": partial(_layers_alone, partial(gramme.datasets.load, "acm_heco"), ["PAP"]),
        "wordnet_parts": partial(_layers_alone, partial(_wordnet, folder / "wordnet"), ["part", "substance"]),
        "wordnet_antonyms": partial(_layers_alone, partial(_wordnet, folder / "wordnet"), ["antonym", "also"]),
        "arabidopsis": partial(_multiplex, folder / "dedomenico/Arabidopsis-Genetic_multiplex.edges"),
        "gatne_amazon": partial(_gatne, folder / "gatne_amazon"),
        "gatne_twitter": partial(_gatne, folder / "gatne_twitter"),
    }
    return found


def _multiplex(path: Path, *, directed: bool = False) -> MultilayerGraph:
    graph: MultilayerGraph = gramme.read(path, directed=directed)
    return graph


def _wordnet(folder: Path) -> MultilayerGraph:
    return gramme.datasets.load("wordnet", **({"path": folder} if folder.is_dir() else {}))


def _layers_alone(load: Loader, layers: list[str]) -> MultilayerGraph:
    """Some layers of a graph, without attributes and without the nodes that have no edge in any of them."""
    graph = load().select_layers(layers)
    linked = np.unique(np.concatenate([ends for layer in graph.layers.values() for ends in _ends(layer)]))
    return graph.replace(features=None).subgraph(graph.nodes[linked])


def _ends(layer: Layer) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    edges = layer.to_edges()
    return edges.source, edges.target


def _edges_only(name: str) -> MultilayerGraph:
    graph = gramme.datasets.load(name)
    edges = [name for name, layer in graph.layers.items() if layer.made_of == "edges"]
    return graph.select_layers(edges)


def _gatne(folder: Path) -> MultilayerGraph:
    """All edges of GATNE's three files; ``test.txt`` and ``valid.txt`` mark pairs without an edge by 0."""
    parts = []
    for name in ("train", "valid", "test"):
        rows = pd.read_csv(folder / f"{name}.txt", sep=r"\s+", header=None, dtype=str, quoting=csv.QUOTE_NONE)
        parts.append(rows[rows[3] == "1"].iloc[:, :3] if name != "train" else rows.iloc[:, :3])
    table = pd.concat(parts)
    table.columns = pd.Index(["layer", "source", "target"])
    return MultilayerGraph.from_edges(table.drop_duplicates())


def _blocks(
    nodes: int,
    groups: int,
    inside: float,
    outside: float,
    *,
    layers: int = 2,
    directed: bool = False,
    alike: float = 0.5,
    seed: int = 0,
) -> MultilayerGraph:
    """Layers of a block model; pairs of the layer before are linked again with the chance ``alike``."""
    random = np.random.default_rng(seed)
    group = random.integers(0, groups, nodes)
    chance = np.where(group[:, None] == group[None], inside, outside)
    found, before = {}, np.zeros((nodes, nodes), dtype=bool)
    for number in range(layers):
        linked = random.random((nodes, nodes)) < chance
        again = before & (random.random((nodes, nodes)) < alike)
        before = linked | again
        found[f"layer{number}"] = _layer(before, directed=directed)
    return MultilayerGraph(found)


def _layer(linked: NDArray[np.bool_], *, directed: bool) -> EdgeLayer:
    linked = linked.copy()
    np.fill_diagonal(linked, False)
    source, target = np.nonzero(linked if directed else np.triu(linked))
    return EdgeLayer(len(linked), source, target, directed=directed)


def _bipartite(nodes: int, degree: float, seed: int = 0) -> MultilayerGraph:
    """Links between two halves only, by popularity and by place on a line."""
    random = np.random.default_rng(seed)
    half = nodes // 2
    popular = random.pareto(2.0, nodes) + 0.3
    place = random.random(nodes)
    near = np.exp(-20 * (place[:half, None] - place[None, half:]) ** 2)
    rate = popular[:half, None] * popular[None, half:] * near
    rate *= degree * half / rate.sum()
    linked = np.zeros((nodes, nodes), dtype=bool)
    linked[:half, half:] = random.random(rate.shape) < 1 - np.exp(-rate)
    return MultilayerGraph({"buys": _layer(linked, directed=False)})


def _geometric(nodes: int, degree: float, *, layers: int = 1, seed: int = 0) -> MultilayerGraph:
    """Near nodes of a square are linked, a few far ones as well: many closed triangles."""
    random = np.random.default_rng(seed)
    place = random.random((nodes, 2))
    far = ((place[:, None] - place[None]) ** 2).sum(axis=2)
    near = far < degree / (np.pi * nodes)
    found = {}
    for number in range(layers):
        kept = near & (random.random(near.shape) < 0.7)
        stray = random.random(near.shape) < 0.5 / nodes
        found[f"layer{number}"] = _layer(np.triu(kept | stray), directed=False)
    return MultilayerGraph(found)


def _scale_free(nodes: int, each: int, seed: int = 0) -> MultilayerGraph:
    """Preferential attachment: no groups, a few hubs."""
    random = np.random.default_rng(seed)
    ends = list(range(each))
    source, target = [], []
    for node in range(each, nodes):
        chosen = {ends[place] for place in random.integers(0, len(ends), each)}
        source += [node] * len(chosen)
        target += sorted(chosen)
        ends += [*sorted(chosen), *([node] * len(chosen))]
    return MultilayerGraph({"follows": EdgeLayer(nodes, source, target)})


SYNTHETIC: dict[str, Loader] = {
    "tiny": partial(_blocks, 30, 2, 0.4, 0.05),
    "dense": partial(_blocks, 80, 3, 0.6, 0.2),
    "dense_directed": partial(_blocks, 70, 3, 0.5, 0.1, directed=True),
    "sparse_blocks": partial(_blocks, 400, 10, 0.15, 0.002),
    "small_blocks": partial(_blocks, 300, 30, 0.7, 0.002),
    "no_structure": partial(_blocks, 150, 1, 0.05, 0.05, layers=1),
    "copied_layers": partial(_blocks, 200, 1, 0.02, 0.02, layers=3, alike=0.8),
    "directed_blocks": partial(_blocks, 200, 5, 0.2, 0.01, directed=True),
    "bipartite": partial(_bipartite, 400, 8.0),
    "geometric": partial(_geometric, 300, 10.0),
    "geometric_layers": partial(_geometric, 200, 8.0, layers=3),
    "scale_free": partial(_scale_free, 500, 3),
    "large_blocks": partial(_blocks, 2000, 40, 0.2, 0.0005, layers=1),
}
