"""The script for folders of HeCo's layout: views, protocols, and a CSV that others can read."""

import csv
import io
from pathlib import Path

import numpy as np
from tests.scripts import run_script

SCRIPT = Path(__file__).resolve().parents[1] / "benchmarks" / "published" / "heco.py"
NODES = 90


def folder(place, relations=True):
    """Papers of three classes with mostly their own authors and venues; no features."""
    place.mkdir()
    random = np.random.default_rng(0)
    labels = np.arange(NODES) % 3
    source, target = random.integers(NODES, size=(2, 1500))
    kept = (source < target) & (labels[source] == labels[target])
    arrays = {
        "edges_0": np.stack([source[kept], target[kept]]),
        "layer_names": np.array(["PAP"]),
        "labels": labels,
        "num_nodes": np.array(NODES),
        "directed": np.array(False),
    }
    order = random.permutation(NODES)
    for per_class in (2, 4):
        train = np.concatenate([order[labels[order] == one][:per_class] for one in range(3)])
        rest = order[~np.isin(order, train)]
        arrays |= {f"train_{per_class}": train}
        arrays |= {f"val_{per_class}": rest[:20], f"test_{per_class}": rest[20:]}
    np.savez(place / "graph.npz", **arrays)
    if relations:
        author = 20 * labels + random.integers(20, size=NODES)
        np.savez(place / "relations.npz", paper_author=np.stack([np.arange(NODES), author]))
    return place


def ran(*arguments):
    return run_script(SCRIPT, "--methods", "label-propagation", *arguments)


def printed(*arguments):
    run = ran(*arguments)
    assert run.returncode == 0, run.stderr
    return list(csv.DictReader(io.StringIO(run.stdout))), run.stderr


def test_both_views_and_all_protocols(tmp_path):
    rows, told = printed(
        *("--data", folder(tmp_path / "papers"), "--data", folder(tmp_path / "edges_only", False)),
        *("--per-class", "2,4", "--protocol", "all", "--repeats", "2"),
    )
    assert list(rows[0]) == (
        ["dataset", "labels_per_class", "method", "view", "macro_f1", "micro_f1", "cpu_seconds", "protocol"]
    )
    found = [(row["dataset"], row["labels_per_class"], row["view"], row["protocol"]) for row in rows]
    protocols = ("train-only", "published", "resampled")
    assert found == [
        (name, count, view, protocol)
        for name, views in (("papers", ("edges", "relations")), ("edges_only", ("edges",)))
        for view in views
        for count in "24"
        for protocol in protocols
    ]
    assert all(0 <= float(row["macro_f1"]) <= 100 for row in rows)
    assert all(float(row["macro_f1"]) > 90 for row in rows if row["view"] == "edges")
    assert "edges_only: no relations.npz" in told
    assert "95 % interval" in told


def test_what_cannot_be_run_is_said_and_does_not_end_the_rest(tmp_path):
    papers = folder(tmp_path / "papers")
    # the last papers have no author
    pairs = np.stack([np.arange(NODES - 5), np.arange(NODES - 5) % 3])
    np.savez(papers / "relations.npz", paper_author=pairs)
    unclear = folder(tmp_path / "unclear")
    np.savez(unclear / "relations.npz", paper_author=np.stack([np.arange(NODES)] * 2))
    run = ran(
        *("--data", tmp_path / "nowhere", "--data", unclear, "--data", papers),
        *("--view", "relations", "--per-class", "2,3"),
    )
    assert run.returncode == 1
    rows = list(csv.DictReader(io.StringIO(run.stdout)))
    assert [(row["dataset"], row["labels_per_class"]) for row in rows] == [("papers", "2")]
    assert "nowhere" in run.stderr
    assert "unclear: no view of relations: which kind of node has the 90 labels?" in run.stderr
    assert "papers 3 label-propagation relations: graph.npz has no train_3, val_3" in run.stderr
    assert "Traceback" not in run.stderr
