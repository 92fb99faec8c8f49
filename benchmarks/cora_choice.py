"""How the settings of benchmarks/cora.py were chosen: by the 500 validation nodes of Cora, no test node is looked at.

    GRAMME_DATA=... python benchmarks/cora_choice.py [--networks 4] [--only readout]

Prints for each setting the loss and the accuracy on the validation nodes, of single networks (mean and standard
deviation) and of all of them together, and the CPU seconds of the whole.
"""

from __future__ import annotations

import argparse
import time

import cora
import numpy as np
import torch

import gramme
from gramme.training import evaluate

CHOICES: dict[str, dict[str, object]] = {
    "as chosen": {},
    "readout: a classifier after the last hop": {"readout": "linear"},
    "before: classifier, sum 20, 64 columns, slower": {
        "readout": "linear",
        "entry_sum": 20.0,
        "hidden_dim": 64,
        "learning_rate": 0.005,
    },
    "entry sum 20": {"entry_sum": 20.0},
    "learning rate 0.01": {"learning_rate": 0.01},
    "weight decay 0.0005": {"weight_decay": 5e-4},
    "columns: 64": {"hidden_dim": 64},
    "hops: 3": {"depth": 3},
}


def judged(
    graph: gramme.MultilayerGraph,
    split: dict[str, np.ndarray],
    networks: int,
    settings: dict[str, object],
) -> tuple[np.ndarray, np.ndarray]:
    """Loss and accuracy on the validation nodes: of each network, and of all together."""
    nodes = split["validation"]
    model = gramme.GrammeFusion(
        **(cora.SETTINGS | settings | {"ensemble": networks}),
        epochs=cora.EPOCHS,
        patience=cora.PATIENCE,
        random_state=100,
        progress=False,
    )
    model.fit(graph, cora.part(graph, split["train"]), validation=cora.part(graph, nodes))
    truth = np.array([model.classes_.tolist().index(label) for label in graph.labels[nodes]])
    order, found = model._fitted_order(), []
    for network, features, plan in model._each_batch(order.graph):
        shares = evaluate(network, features, plan).scores.double().softmax(-1).numpy()
        found += [order.to_given(shares[:, one])[nodes] for one in range(shares.shape[1])]

    def figures(shares: np.ndarray) -> tuple[float, float]:
        own = shares[np.arange(nodes.size), truth]
        return float(-np.log(own).mean()), float(100 * (shares.argmax(axis=1) == truth).mean())

    return np.array([figures(one) for one in found]), np.array(figures(np.mean(found, axis=0)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, default=4)
    parser.add_argument("--only", default="", help="settings whose name begins like this")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    graph, split = cora.load()
    for name, settings in CHOICES.items():
        if not name.startswith(chosen.only):
            continue
        started = time.process_time()
        each, together = judged(graph, split, chosen.networks, settings)
        loss, accuracy = each.mean(axis=0)
        spread = each[:, 1].std(ddof=1) if len(each) > 1 else float("nan")
        print(
            f"{name}: loss {loss:.3f}, accuracy {accuracy:.1f} ± {spread:.1f}; together "
            f"{together[0]:.3f}, {together[1]:.1f}; {time.process_time() - started:.0f} CPU s",
            flush=True,
        )


if __name__ == "__main__":
    main()
