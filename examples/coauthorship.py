"""Co-authorship: a PyTorch Geometric HeteroData goes in, predictions come out.

A hundred and twenty authors of three fields are joined in three ways: they wrote a paper together, they met at a
conference, they cite each other. One author in six has a field in ``y``, the others have -1. This script

1. makes such a ``HeteroData``, as you may have it from a pipeline of your own;
2. makes a graph of it, in which every relation is a layer;
3. fits, and says which relation the predictions rely on;
4. writes the predictions as a table and puts them back beside ``y`` for whatever comes next in PyG.

    python examples/coauthorship.py [FOLDER]

It needs PyTorch Geometric: pip install "gramme[pyg]".
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import gramme

try:
    from torch_geometric.data import HeteroData
except ImportError:
    print('This example needs PyTorch Geometric: pip install "gramme[pyg]". Nothing was done.')
    sys.exit(0)

FIELDS = ["graphs", "language", "vision"]
AUTHORS, KNOWN_EVERY = 120, 6
# For each relation, edges per author and the share of them that stays within a field.
RELATIONS = {"wrote_with": (2, 0.6), "met_at": (6, 0.1), "cites": (3, 0.4)}


def made_up() -> tuple[HeteroData, torch.Tensor]:
    """Authors of one node type with three relations and few labels, and the true fields."""
    random = np.random.default_rng(1)
    field = random.integers(len(FIELDS), size=AUTHORS)
    data = HeteroData()
    data["author"].num_nodes = AUTHORS
    data["author"].names = [f"author {number + 1}" for number in range(AUTHORS)]
    data["author"].y = torch.full((AUTHORS,), -1)
    data["author"].y[::KNOWN_EVERY] = torch.from_numpy(field[::KNOWN_EVERY])
    for relation, (count, share) in RELATIONS.items():
        source = np.repeat(np.arange(AUTHORS), count)
        target = random.integers(AUTHORS, size=source.size)
        for place in np.flatnonzero(random.random(source.size) < share):
            target[place] = random.choice(np.flatnonzero(field == field[source[place]]))
        edges = torch.from_numpy(np.stack([source, target]))
        if relation != "cites":  # writing and meeting go both ways
            edges = torch.cat([edges, edges.flip(0)], dim=1)
        data["author", relation, "author"].edge_index = edges
    return data, torch.from_numpy(field)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data, truth = made_up()
    print(data)

    # From here on it is what you would do with a HeteroData of your own. Who has edges both ways is undirected.
    graph = gramme.MultilayerGraph.from_pyg(data, name="co-authorship")
    print(f"\n{graph}")

    model = gramme.GrammeAuto(random_state=0).fit(graph)
    predicted = model.predict()
    probability = model.predict_proba()

    importance = model.layer_importance_.sort_values(ascending=False)
    print("\nWhat the predictions rely on (shares of 1):")
    print(importance.round(2).to_string())

    # Back into the HeteroData, beside y.
    data["author"].predicted = torch.tensor(predicted.astype(int))
    data["author"].probability = torch.from_numpy(probability)
    unknown = data["author"].y < 0
    right = (data["author"].predicted == truth)[unknown].float().mean()
    print(f"\n{right:.0%} of the {int(unknown.sum())} hidden fields are predicted rightly.")

    table = pd.DataFrame(probability, columns=FIELDS).round(3)
    table.insert(0, "author", graph.nodes)
    table.insert(1, "predicted", [FIELDS[int(field)] for field in predicted])
    table.to_csv(folder / "predictions.csv", index=False)
    torch.save(data.to_dict(), folder / "data_with_predictions.pt")
    gramme.write(graph, folder / "coauthorship.npz")
    print(f"Written to {folder}: predictions.csv, data_with_predictions.pt, coauthorship.npz")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="coauthorship-")))
