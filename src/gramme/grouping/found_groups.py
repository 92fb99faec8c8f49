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
        mean_stability = self.stability_.groupby(self.labels_).mean()
        return mean_stability.rename_axis("group").rename("stability")

    @cached_property
    def overlap_(self) -> dict[str, float] | None:
        """How far the groups agree with the known labels."""
        labels = self.graph.labels
        if labels is None:
            return None
        is_known = np.array([label is not None for label in labels])
        if is_known.sum() < 2:
            return None
        from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

        label_codes = pd.factorize(pd.Series(labels[is_known], dtype=object))[0]
        known_groups = self.labels_[is_known]
        return {
            "adjusted_rand": float(adjusted_rand_score(label_codes, known_groups)),
            "normalised_mutual_information": float(normalized_mutual_info_score(label_codes, known_groups)),
        }

    @cached_property
    def over_represented_(self) -> pd.DataFrame:
        """Values and labels that are more frequent in a group than elsewhere; see ``over_represented``."""
        return over_represented(self.graph, np.where(self.isolated_, self.count_, self.labels_))

    def summary(self) -> pd.DataFrame:
        """One row per group: ``nodes``, ``stability``, and in words what is more frequent in it than elsewhere.

        Isolated nodes share one last row, ``isolated``.
        """
        frequent_values = self.over_represented_
        summary_rows = []
        for group_number in range(self.count_):
            in_group = self.labels_ == group_number
            group_values = frequent_values[frequent_values["group"] == group_number]
            summary_rows.append(
                {
                    "group": str(group_number),
                    "nodes": int(in_group.sum()),
                    "stability": float(self.group_stability_[group_number]),
                    "more_frequent": "; ".join(value_words(row) for _, row in group_values.head(3).iterrows()),
                }
            )
        if self.isolated_.any():
            isolated_row = {"nodes": int(self.isolated_.sum()), "stability": float("nan")}
            summary_rows.append({"group": "isolated", **isolated_row, "more_frequent": ""})
        return pd.DataFrame(summary_rows).set_index("group")

    def to_frame(self) -> pd.DataFrame:
        """The table of ``groups.csv``: node, group, stability, the group in each layer, then labels if some are known.

        So the file can be the ``--labels`` of ``gramme fit``, with its groups as a layer (``--layers-from group``).
        """
        group_table = pd.DataFrame(
            {"node": list(self.graph.nodes), "group": self.labels_, "stability": self.stability_.to_numpy().round(4)}
        )
        taken_columns = {*group_table.columns, "label"}
        for layer_name in self.layer_labels_:
            column_name = str(layer_name)
            while column_name in taken_columns:
                column_name = f"{column_name} (layer)"
            taken_columns.add(column_name)
            group_table[column_name] = self.layer_labels_[layer_name].to_numpy()
        if self.graph.labels is not None:
            group_table["label"] = self.graph.labels
        return group_table

    def as_layer(self) -> MembershipLayer:
        """The groups as a layer, for a model.

        ``graph.replace(layers={**graph.layers, "groups": found.as_layer()})`` is the graph with it.
        """
        return MembershipLayer.from_codes(np.where(self.isolated_, -1, self.labels_))

    @property
    def verdict(self) -> str:
        """In one or two sentences: how many groups, how sure, or that there are none."""
        chance_text = f"{self.chance_qualities_.mean():.2f}"
        if self.has_groups_:
            num_stable = int((self.group_stability_.head(self.count_) >= STABLE_SHARE).sum())
            count_text = "One group" if self.count_ == 1 else f"{self.count_} groups"
            stability_text = (
                f"{num_stable} of them stable"
                if num_stable
                else "none of them stable: nodes at their borders change sides"
            )
            verdict_text = (
                f"{count_text}, {stability_text}. The layers divide with a modularity of {self.best_quality_:.2f}, "
                f"randomised ones with {chance_text}."
            )
        else:
            verdict_text = (
                f"The data show no groups: the best division has a modularity of {self.best_quality_:.2f}, and "
                f"randomised graphs with the same degrees reach {chance_text}."
            )
        num_isolated = int(self.isolated_.sum())
        if num_isolated:
            isolated_words = "node is" if num_isolated == 1 else "nodes are"
            verdict_text += f" {num_isolated:,} {isolated_words} joined to nobody and not in any group."
        return verdict_text

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
    value_sources = [("layer", name, layer.as_groups()) for name, layer in graph.layers.items()]
    if graph.labels is not None:
        value_sources.insert(0, ("label", "label", MembershipLayer.from_values(graph.labels)))
    value_rows: list[tuple[Any, ...]] = []
    for source_kind, source_name, layer in value_sources:
        if layer is not None:
            value_rows.extend(_compared(group, source_kind, source_name, layer))
    table = pd.DataFrame(value_rows, columns=COLUMNS)
    sort_columns = ["group", "probability", "members"]
    return table.sort_values(sort_columns, ascending=[True, True, False], ignore_index=True)


def _compared(group: Ints, kind: str, name: str, layer: MembershipLayer) -> Iterator[tuple[Any, ...]]:
    num_nodes = group.size
    num_groups = int(group.max()) + 1
    value_pattern = layer.incidence()
    value_pattern.data = np.ones_like(value_pattern.data)
    is_known = np.diff(value_pattern.indptr) > 0
    member_matrix = sp.csr_array((np.ones(num_nodes), (np.arange(num_nodes), group)), shape=(num_nodes, num_groups))
    shared_counts = (member_matrix.T @ value_pattern).tocoo()
    group_sizes = np.bincount(group[is_known], minlength=num_groups)
    value_counts = np.asarray(value_pattern.sum(axis=0))
    num_known = int(is_known.sum())
    # one member with a value is an anecdote
    is_frequent = shared_counts.data >= 2
    group_index, value_index, num_having = (
        shared_counts.row[is_frequent],
        shared_counts.col[is_frequent],
        shared_counts.data[is_frequent],
    )
    if not num_having.size:
        return
    probability = hypergeom.sf(num_having - 1, num_known, value_counts[value_index], group_sizes[group_index])
    for entry_index in np.flatnonzero(probability < CHANCE / max(shared_counts.nnz, 1)):
        group_number, value_number = int(group_index[entry_index]), int(value_index[entry_index])
        num_elsewhere = num_known - group_sizes[group_number]
        yield (
            group_number,
            kind,
            name,
            layer.group_names[value_number],
            int(num_having[entry_index]),
            float(num_having[entry_index] / group_sizes[group_number]),
            float((value_counts[value_number] - num_having[entry_index]) / num_elsewhere) if num_elsewhere else 0.0,
            float(probability[entry_index]),
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
