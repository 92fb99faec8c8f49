"""``benchmarks/published/gatne.py`` on a small folder of GATNE's layout."""

from pathlib import Path

import numpy as np
import pandas as pd
from tests.links.graphs import planted_links
from tests.links.short import short_fits
from tests.scripts import run_script

from gramme.links import unlinked_pairs

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "published" / "gatne.py"


def test_a_folder_is_scored_by_edge_type_with_their_mean_last(tmp_path):
    graph = planted_links(60)
    random = np.random.default_rng(0)
    train, test = [], []
    for number, layer in enumerate(graph.layers.values(), start=1):
        order = random.permutation(layer.num_edges)
        hidden, seen = order[: layer.num_edges // 5], order[layer.num_edges // 5 :]
        train += [f"{number} {layer.source[e]} {layer.target[e]}" for e in seen]
        test += [f"{number} {layer.source[e]} {layer.target[e]} 1" for e in hidden]
        unlinked = unlinked_pairs(layer.to_scipy(), len(hidden), random, directed=False)
        test += [f"{number} {a} {b} 0" for a, b in unlinked]
    (tmp_path / "train.txt").write_text("\n".join(train) + "\n")
    (tmp_path / "test.txt").write_text("\n".join(test) + "\n")
    with short_fits():
        ended = run_script(SCRIPT, "--data", tmp_path)
    assert ended.returncode == 0, ended.stderr
    (tmp_path / "out.csv").write_text(ended.stdout)
    table = pd.read_csv(tmp_path / "out.csv")
    assert list(table.columns) == ["dataset", "edge_type", "method", "roc_auc", "pr_auc", "f1", "cpu_seconds"]
    assert table["edge_type"].tolist() == ["1", "2", "mean"]
    assert table["roc_auc"].iloc[-1] > 75
    assert abs(table["roc_auc"].iloc[-1] - table["roc_auc"].iloc[:2].mean()) < 0.01


def test_names_types_and_pairs_that_are_unusual_are_served(tmp_path):
    """Names that look like missing values or quotes, an edge twice, one to itself, a type with one edge, new nodes."""
    graph = planted_links(40)
    layer = graph.layers["talk"]
    names = ["NA", 'a"b', "null", *(f"node/{place}" for place in range(3, 40))]
    edges = [(names[a], names[b]) for a, b in zip(layer.source, layer.target, strict=True)]
    random = np.random.default_rng(0)
    random.shuffle(edges)
    away = unlinked_pairs(layer.to_scipy(), 20, random, directed=False)
    train = [f"likes {a} {b}" for a, b in edges[20:]]
    train += [train[0], "likes NA NA", "rare NA null"]
    test = [f"likes {a} {b} 1" for a, b in edges[:20]]
    test += [f"likes {names[a]} {names[b]} 0" for a, b in away]
    test += ["likes stranger NA 0", "rare NA node/4 1", "rare NA node/5 0", "all NA null 1"]
    (tmp_path / "train.txt").write_text("\n".join(train) + "\n")
    (tmp_path / "test.txt").write_text("\n".join(test) + "\n")
    (tmp_path / "valid.txt").write_text("likes NA newcomer 0\n")
    with short_fits():
        ended = run_script(SCRIPT, "--data", tmp_path)
    assert ended.returncode == 0, ended.stderr
    rows = [line.split(",") for line in ended.stdout.splitlines()[1:]]
    assert [row[1] for row in rows] == ["likes", "rare", "mean"]
    assert float(rows[0][3]) > 60
    assert float(rows[1][3]) == 50
    assert "edge type rare: fewer than 2 edges" in ended.stderr
    assert "edge type all: its test pairs need both answers" in ended.stderr
