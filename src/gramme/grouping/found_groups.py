"""The groups that were found, with how sure they are, what they are made of and what to do with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import hypergeom

from gramme._types import Floats, Ints
from gramme.graph import MembershipLayer, MultilayerGraph

STABLE_SHARE = 0.9
"""Stability from which on a group is called stable."""
CHANCE = 0.01
"""Probability of a coincidence among all values that are compared, below which a value is called over-represented."""
COLUMNS = ["group", "kind", "name", "value", "members", "share", "share_elsewhere", "probability"]


@dataclass(eq=False, repr=False)
class Groups:
    """What :func:`gramme.groups` found.

    Attributes
    ----------
    graph : MultilayerGraph
    labels_ : array of int, shape (nodes,)
        The group of each node from 0, the largest first; isolated nodes come last, each a group of its own.
    layer_labels_ : DataFrame
        The group of each node in each layer; missing where it has no ties there.
    stability_ : Series
        For each node, the share of repetitions in which a pair of it and a member of its group stays together.
    group_stability_ : Series
        Its mean over the members of each group.
    layer_part_ : Series
        How much of the groups each layer supports, summing to 1: its ties inside groups beyond those expected.
    layer_weights_ : Series
        How much each layer counted; larger where its ties keep to groups more strictly. A mapping of it can be passed
        to :class:`~gramme.methods.LabelPropagation`.
    layer_support_ : DataFrame
        For each layer ``weight`` (summing to 1), ``part``, the share of its ties ``inside`` groups and the share
        ``expected`` by degrees.
    quality_ : float
        Modularity of the groups over all layers.
    best_quality_ : float
        The highest modularity of any division, at whatever resolution.
    chance_qualities_ : array of float
        The same for randomised graphs, one number for each.
    resolution_ : float
        The resolution that was used.
    has_groups_ : bool
        Whether the graph can be divided clearly better than randomised graphs can.
    seed_agreement_, resampled_agreement_ : float
        Mean adjusted Rand index of partitions found with other seeds, and of resampled ties and layers.
    overlap_ : dict or None
        ``adjusted_rand`` and ``normalised_mutual_information`` with the labels that are known; None without labels.
    isolated_ : array of bool, shape (nodes,)
    """

    graph: MultilayerGraph
    labels_: Ints
    layer_labels_: pd.DataFrame
    stability_: pd.Series
    layer_support_: pd.DataFrame
    layer_weights_: pd.Series
    quality_: float
    best_quality_: float
    chance_qualities_: Floats
    seed_agreement_: float
    resampled_agreement_: float
    resolution_: float
    has_groups_: bool
    isolated_: NDArray[np.bool_]

    @property
    def layer_part_(self) -> pd.Series:
        """How much of the groups each layer supports."""
        return self.layer_support_["part"]

    @property
    def count_(self) -> int:
        """Groups, isolated nodes not counted."""
        return int(np.unique(self.labels_[~self.isolated_]).size)

    @cached_property
    def group_stability_(self) -> pd.Series:
        """The mean stability of the members of each group."""
        found = self.stability_.groupby(self.labels_).mean()
        return found.rename_axis("group").rename("stability")

    @cached_property
    def overlap_(self) -> dict[str, float] | None:
        """How far the groups agree with the known labels."""
        labels = self.graph.labels
        if labels is None:
            return None
        known = np.array([label is not None for label in labels])
        if known.sum() < 2:
            return None
        from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

        codes = pd.factorize(pd.Series(labels[known], dtype=object))[0]
        group = self.labels_[known]
        return {
            "adjusted_rand": float(adjusted_rand_score(codes, group)),
            "normalised_mutual_information": float(normalized_mutual_info_score(codes, group)),
        }

    @cached_property
    def over_represented_(self) -> pd.DataFrame:
        """Values and labels that are more frequent in a group than elsewhere; see ``over_represented``."""
        return over_represented(self.graph, np.where(self.isolated_, self.count_, self.labels_))

    def summary(self) -> pd.DataFrame:
        """One row per group: ``nodes``, ``stability``, and in words what is more frequent in it than elsewhere.

        Isolated nodes share one last row, ``isolated``.
        """
        table = self.over_represented_
        rows = []
        for group in range(self.count_):
            inside = self.labels_ == group
            mine = table[table["group"] == group]
            rows.append(
                {
                    "group": str(group),
                    "nodes": int(inside.sum()),
                    "stability": float(self.group_stability_[group]),
                    "more_frequent": "; ".join(value_words(row) for _, row in mine.head(3).iterrows()),
                }
            )
        if self.isolated_.any():
            alone = {"nodes": int(self.isolated_.sum()), "stability": float("nan")}
            rows.append({"group": "isolated", **alone, "more_frequent": ""})
        return pd.DataFrame(rows).set_index("group")

    def to_frame(self) -> pd.DataFrame:
        """The table of ``groups.csv``: node, group, stability, the group in each layer, then labels if some are known.

        So the file can be the ``--labels`` of ``gramme fit``, with its groups as a layer (``--layers-from group``).
        """
        table = pd.DataFrame(
            {"node": list(self.graph.nodes), "group": self.labels_, "stability": self.stability_.to_numpy().round(4)}
        )
        taken = {*table.columns, "label"}
        for name in self.layer_labels_:
            column = str(name)
            while column in taken:
                column = f"{column} (layer)"
            taken.add(column)
            table[column] = self.layer_labels_[name].to_numpy()
        if self.graph.labels is not None:
            table["label"] = self.graph.labels
        return table

    def as_layer(self) -> MembershipLayer:
        """The groups as a layer, for a model.

        ``graph.replace(layers={**graph.layers, "groups": found.as_layer()})`` is the graph with it.
        """
        return MembershipLayer.from_codes(np.where(self.isolated_, -1, self.labels_))

    @property
    def verdict(self) -> str:
        """In one or two sentences: how many groups, how sure, or that there are none."""
        chance = f"{self.chance_qualities_.mean():.2f}"
        if self.has_groups_:
            stable = int((self.group_stability_.head(self.count_) >= STABLE_SHARE).sum())
            groups = "One group" if self.count_ == 1 else f"{self.count_} groups"
            sure = f"{stable} of them stable" if stable else "none of them stable: nodes at their borders change sides"
            text = (
                f"{groups}, {sure}. The layers divide with a modularity of {self.best_quality_:.2f}, randomised "
                f"ones with {chance}."
            )
        else:
            text = (
                f"The data show no groups: the best division has a modularity of {self.best_quality_:.2f}, and "
                f"randomised graphs with the same degrees reach {chance}."
            )
        alone = int(self.isolated_.sum())
        if alone:
            are = "node is" if alone == 1 else "nodes are"
            text += f" {alone:,} {are} joined to nobody and not in any group."
        return text

    def plot(self, **settings: Any) -> Any:
        """The network with each node in the colour of its group; settings as for ``graph.plot``."""
        return self.graph.plot(colour=self.group_names(), **settings)

    def group_names(self) -> list[str]:
        """The group of each node as a word: ``group 0``, and ``isolated`` for a node that is joined to nobody."""
        return [
            "isolated" if alone else f"group {group}"
            for group, alone in zip(self.labels_.tolist(), self.isolated_.tolist(), strict=True)
        ]

    def report(self, path: Any) -> Any:
        """Write the page of ``gramme groups``: the network coloured by group, and what each group is."""
        from gramme.report.page.before_labels import write_groups_page

        return write_groups_page(self, path)

    def __repr__(self) -> str:
        """How many groups of how many nodes."""
        return (
            f"Groups({self.count_} groups of {int((~self.isolated_).sum()):,} nodes, modularity {self.quality_:.2f}, "
            f"{int(self.isolated_.sum()):,} isolated)"
        )


def over_represented(graph: MultilayerGraph, group: Ints) -> pd.DataFrame:
    """Values and labels that are more frequent in a group than chance explains, the most striking first.

    Groups come from the layers, so the values of a membership layer that shaped them are among what is found: this
    describes groups and tests nothing about that layer. A row per group and value: ``group``, ``kind`` ("layer" or
    "label"), ``name`` of the layer, ``value``, ``members`` of the group that have it, their ``share`` of the group's
    members of whom a value is known, ``share_elsewhere`` among other nodes, and the ``probability`` of as many by
    chance (hypergeometric; those kept are below 1 % divided by the number of comparisons).
    """
    sources = [("layer", name, layer.as_groups()) for name, layer in graph.layers.items()]
    if graph.labels is not None:
        sources.insert(0, ("label", "label", MembershipLayer.from_values(graph.labels)))
    rows: list[tuple[Any, ...]] = []
    for kind, name, layer in sources:
        if layer is not None:
            rows.extend(_compared(group, kind, name, layer))
    table = pd.DataFrame(rows, columns=COLUMNS)
    order = ["group", "probability", "members"]
    return table.sort_values(order, ascending=[True, True, False], ignore_index=True)


def _compared(group: Ints, kind: str, name: str, layer: MembershipLayer) -> Iterator[tuple[Any, ...]]:
    nodes = group.size
    count = int(group.max()) + 1
    inside = layer.incidence()
    inside.data = np.ones_like(inside.data)
    known = np.diff(inside.indptr) > 0
    member = sp.csr_array((np.ones(nodes), (np.arange(nodes), group)), shape=(nodes, count))
    both = (member.T @ inside).tocoo()
    sizes = np.bincount(group[known], minlength=count)
    having = np.asarray(inside.sum(axis=0))
    total = int(known.sum())
    # one member with a value is an anecdote
    worth = both.data >= 2
    row, column, found = both.row[worth], both.col[worth], both.data[worth]
    if not found.size:
        return
    probability = hypergeom.sf(found - 1, total, having[column], sizes[row])
    for place in np.flatnonzero(probability < CHANCE / max(both.nnz, 1)):
        one, value = int(row[place]), int(column[place])
        elsewhere = total - sizes[one]
        yield (
            one,
            kind,
            name,
            layer.group_names[value],
            int(found[place]),
            float(found[place] / sizes[one]),
            float((having[value] - found[place]) / elsewhere) if elsewhere else 0.0,
            float(probability[place]),
        )


def value_words(row: Any) -> str:
    """One over-represented value as words.

    >>> value_words(pd.Series({"kind": "layer", "name": "sex", "value": "girl", "share": 1.0, "share_elsewhere": 0.2}))
    'sex girl: 100 % (elsewhere 20 %)'
    """
    return (
        f"{row['name']} {row['value']}: {round(100 * row['share'])} % "
        f"(elsewhere {round(100 * row['share_elsewhere'])} %)"
    )
