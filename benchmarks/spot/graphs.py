"""Ten small graphs for ``runs.py``, one for each thing that a graph can have; always the same."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import gramme
from gramme import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph

CLASS_NAMES = ("amber", "blue", "cyan")


def class_codes(num_nodes: int, seed: int, shares: tuple[float, ...] = (0.4, 0.35, 0.25)) -> NDArray[np.int64]:
    """A class for every node."""
    return np.random.default_rng(seed).choice(len(shares), size=num_nodes, p=shares)


def class_names(codes: NDArray[np.int64], seed: int, known: float = 0.45) -> NDArray[np.object_]:
    """The classes' names, None for the nodes whose class is to be predicted."""
    labels = np.array(CLASS_NAMES, dtype=object)[codes]
    labels[np.random.default_rng(seed + 1000).random(len(codes)) > known] = None
    return labels


def node_names(num_nodes: int) -> list[str]:
    """Names that do not sort as their positions do."""
    return [f"n{(17 * position) % num_nodes}" for position in range(num_nodes)]


def random_edges(
    codes: NDArray[np.int64], seed: int, degree: float = 4.0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random pairs of nodes, four times as many within a class as chance would give."""
    random = np.random.default_rng(seed)
    alike = codes[:, None] == codes[None, :]
    chance = np.where(alike, 4.0, 1.0)
    chance *= degree / chance.sum(axis=1).mean()
    source, target = np.nonzero(np.triu(random.random(alike.shape) < chance, 1))
    return source, target


def edge_layer(codes: NDArray[np.int64], seed: int, *, directed: bool = False, weighted: bool = False) -> EdgeLayer:
    """A layer of random edges; directed ones point either way."""
    source, target = random_edges(codes, seed)
    random = np.random.default_rng(seed + 1)
    if directed:
        turned = random.random(source.size) < 0.5
        source, target = np.where(turned, target, source), np.where(turned, source, target)
    weight = random.integers(1, 9, source.size) / 2 if weighted else None
    return EdgeLayer(len(codes), source, target, weight, directed=directed)


def group_layer(codes: NDArray[np.int64], seed: int, groups: int = 6) -> MembershipLayer:
    """A layer of groups that hold two classes at most; a tenth of the nodes is in none, some in two."""
    random = np.random.default_rng(seed)
    members = np.flatnonzero(random.random(len(codes)) < 0.9)
    group = (2 * codes[members] + random.integers(0, 3, members.size)) % groups
    second = members[random.random(members.size) < 0.2]
    return MembershipLayer(
        len(codes), np.concatenate([members, second]), np.concatenate([group, random.integers(0, groups, second.size)])
    )


def plain_edges() -> MultilayerGraph:
    codes = class_codes(60, 1)
    layers = {"talk": edge_layer(codes, 2), "play": edge_layer(codes, 3)}
    return MultilayerGraph(layers, nodes=node_names(60), labels=class_names(codes, 1))


def groups() -> MultilayerGraph:
    codes = class_codes(70, 4)
    layers = {"club": group_layer(codes, 5), "town": group_layer(codes, 6, 9), "talk": edge_layer(codes, 7)}
    return MultilayerGraph(layers, nodes=node_names(70), labels=class_names(codes, 4))


def directed() -> MultilayerGraph:
    codes = class_codes(50, 8)
    layers = {"asks": edge_layer(codes, 9, directed=True), "knows": edge_layer(codes, 10)}
    return MultilayerGraph(layers, nodes=node_names(50), labels=class_names(codes, 8))


def weighted() -> MultilayerGraph:
    codes = class_codes(55, 11)
    layers = {
        "calls": edge_layer(codes, 12, weighted=True),
        "pays": edge_layer(codes, 13, weighted=True, directed=True),
    }
    return MultilayerGraph(layers, nodes=node_names(55), labels=class_names(codes, 11))


def couplings() -> MultilayerGraph:
    codes = class_codes(40, 14)
    layers = {"grid": edge_layer(codes, 15), "web": edge_layer(codes, 16)}
    source, target = random_edges(codes, 17, 2.0)
    coupling = Coupling(40, source, target, np.random.default_rng(18).integers(1, 4, source.size))
    return MultilayerGraph(
        layers, nodes=node_names(40), labels=class_names(codes, 14), couplings={("grid", "web"): coupling}
    )


def relation_tables() -> dict[tuple[str, str], pd.DataFrame]:
    """Who wrote which paper, and where it appeared."""
    codes = class_codes(48, 19)
    random = np.random.default_rng(20)
    authors = 5 * codes[:, None] + random.integers(0, 8, (48, 2))
    writing = pd.DataFrame(
        {
            "paper": [f"p{paper}" for paper in np.repeat(np.arange(48), 2)],
            "author": [f"a{author}" for author in authors.ravel()],
        }
    )
    venues = 2 * codes + random.integers(0, 3, 48)
    appearing = pd.DataFrame(
        {"paper": [f"p{paper}" for paper in range(48)], "venue": [f"v{venue}" for venue in venues]}
    )
    return {("paper", "author"): writing.drop_duplicates(), ("paper", "venue"): appearing}


def relation_labels() -> dict[str, str]:
    """The papers whose field is known."""
    labels = class_names(class_codes(48, 19), 19)
    return {f"p{paper}": label for paper, label in enumerate(labels) if label is not None}


def kinds() -> MultilayerGraph:
    return MultilayerGraph.from_relations(relation_tables(), target="paper", labels=relation_labels())


def views() -> MultilayerGraph:
    codes = class_codes(45, 21)
    random = np.random.default_rng(22)
    measured = {
        "shape": codes[:, None] * [1.0, -0.5] + random.normal(size=(45, 2)),
        "sound": codes[:, None] * [0.3, 0.0, 1.0] + random.normal(size=(45, 3)),
    }
    return MultilayerGraph.from_views(measured, k=5, nodes=node_names(45), labels=class_names(codes, 21))


def features() -> MultilayerGraph:
    codes = class_codes(60, 23)
    noise = np.random.default_rng(24).normal(size=(60, 4))
    return MultilayerGraph(
        {"talk": edge_layer(codes, 25), "club": group_layer(codes, 26)},
        nodes=node_names(60),
        labels=class_names(codes, 23),
        features=codes[:, None] * [1.0, -1.0, 0.5, 0.0] + noise,
    )


def rare_class() -> MultilayerGraph:
    codes = class_codes(80, 27, (0.7, 0.24, 0.06))
    layers = {"talk": edge_layer(codes, 28), "club": group_layer(codes, 29)}
    return MultilayerGraph(layers, nodes=node_names(80), labels=class_names(codes, 27, 0.6))


def number_table() -> pd.DataFrame:
    """A table of people: numbers, words and dates, cells that are missing, a class and a number to predict."""
    codes = class_codes(75, 30)
    random = np.random.default_rng(31)
    age = np.round(20 + 12 * codes + random.normal(0, 8, 75), 1)
    income = np.round(1000 + 700 * codes + random.normal(0, 500, 75))
    table = pd.DataFrame(
        {
            "person": [f"q{row}" for row in range(75)],
            "age": age,
            "income": income,
            "city": np.array(["Ulm", "Bonn", "Köln", "Trier"])[(codes + random.integers(0, 2, 75)) % 4],
            "joined": pd.to_datetime("2015-01-01") + pd.to_timedelta(random.integers(0, 2500, 75), "D"),
            "party": class_names(codes, 30, 0.5),
            "score": np.round(3 * codes + age / 20 + random.normal(0, 0.5, 75), 2),
        }
    )
    table.loc[random.random(75) < 0.1, "income"] = np.nan
    table.loc[random.random(75) < 0.5, "score"] = np.nan
    return table


def numbers() -> MultilayerGraph:
    table = number_table().drop(columns="score")
    return MultilayerGraph.from_table(
        table, label="party", id="person", bins={"age": 4}, knn={"income": 5}, dates={"joined": "year"}
    )


SPOT_GRAPHS: dict[str, Callable[[], MultilayerGraph]] = {
    "edges": plain_edges,
    "groups": groups,
    "directed": directed,
    "weighted": weighted,
    "couplings": couplings,
    "kinds": kinds,
    "views": views,
    "features": features,
    "rare": rare_class,
    "numbers": numbers,
}


def write_spot_files(folder: Path) -> None:
    """The graphs as files, and the tables that some were made from."""
    for name, make in SPOT_GRAPHS.items():
        gramme.write(make(), folder / f"{name}.npz")
    number_table().to_csv(folder / "people.csv", index=False)
    for (_, other), pairs in relation_tables().items():
        pairs.to_csv(folder / f"{other}.csv", index=False)
    pd.Series(relation_labels(), name="field").rename_axis("paper").to_csv(folder / "fields.csv")
    graph = plain_edges()
    rows = [
        (name, graph.nodes[source], graph.nodes[target])
        for name, layer in graph.layers.items()
        for edges in [layer.to_edges()]
        for source, target in zip(edges.source, edges.target, strict=True)
    ]
    pd.DataFrame(rows, columns=["layer", "source", "target"]).to_csv(folder / "talk.csv", index=False)
    labels = pd.DataFrame({"node": graph.nodes, "label": graph.labels})
    labels.dropna().to_csv(folder / "colours.csv", index=False)
