"""Graphs of the scripts in this folder: datasets by name, the right_layers sets, planted groups with noise layers."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import gramme

RIGHT_LAYERS = ("3sources", "bbc", "wikipedia", "dkpol")


def right_layers(name: str, noise: int = 0, data: Path | None = None) -> gramme.MultilayerGraph:
    """A set of Venturini et al. (ICML 2023), perhaps with its first sample of one or two noise layers."""
    folder = Path(os.environ["GRAMME_DATA"]) if data is None else data
    arrays = np.load(folder / "right_layers" / f"{name}.npz")
    labels = arrays["labels"]
    layers: dict[str, gramme.EdgeLayer] = {}
    while f"edges_{len(layers)}" in arrays:
        source, target = arrays[f"edges_{len(layers)}"]
        layers[f"layer {len(layers)}"] = gramme.EdgeLayer(labels.size, source, target)
    for place in range(len(layers), len(layers) + noise):
        source, target = arrays[f"noise{noise}_1_graph0_edges_{place}"]
        layers[f"noise {place}"] = gramme.EdgeLayer(labels.size, source, target)
    title = f"{name}+{noise}" if noise else name
    return gramme.MultilayerGraph(layers, labels=[int(one) for one in labels], name=title)


def planted(
    inside: float,
    *,
    nodes: int = 600,
    groups: int = 6,
    outside: float = 0.01,
    layers: int = 3,
    noise: int = 3,
    seed: int = 0,
) -> gramme.MultilayerGraph:
    """Groups that several layers share, beside layers of random edges."""
    random = np.random.default_rng(seed)
    group = random.integers(groups, size=nodes)
    same = group[:, None] == group[None]
    made = {}
    for place in range(layers + noise):
        share = np.where(same, inside, outside) if place < layers else np.full(same.shape, inside / 2)
        source, target = np.nonzero(np.triu(random.random(same.shape) < share, 1))
        made[f"layer {place}"] = gramme.EdgeLayer(nodes, source, target)
    name = f"planted {layers}+{noise}, {inside:g} in"
    return gramme.MultilayerGraph(made, labels=[int(one) for one in group], name=name)


def named(name: str) -> gramme.MultilayerGraph:
    """A graph by name: ``bbc``, ``bbc+2``, or a dataset of gramme."""
    base, _, noise = name.partition("+")
    if base in RIGHT_LAYERS:
        return right_layers(base, int(noise or 0))
    return gramme.datasets.load(name).replace(name=name)
