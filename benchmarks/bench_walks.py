"""What DeepWalk costs, walks and training together, beside the training alone after a plain networkx walk generator.

    python benchmarks/bench_walks.py [--dataset acm3025] [--walks 8] [--length 40] [--repeats 3]

Both train gensim's skip-gram with the same settings on as many walks of the same length, with one worker. Ours must
cost no more CPU than 1.1 times what the other spends on training alone: walks are all but free. The default makes 8 of
the usual 80 walks per node to finish soon; walks and training grow in proportion, and what is made once per layer
counts ten times as much as with 80.
"""

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

import networkx as nx
from gensim.models import Word2Vec

from gramme import datasets
from gramme.graph import EdgeLayer, Layer
from gramme.methods.embedding.deepwalk import walk_vectors
from gramme.ops.kernels import Walks

DIM, WINDOW, NEGATIVE = 128, 10, 5
GENSIM: dict[str, Any] = {
    "vector_size": DIM,
    "window": WINDOW,
    "negative": NEGATIVE,
    "sg": 1,
    "hs": 0,
    "sample": 0,
    "min_count": 0,
    "workers": 1,
    "epochs": 1,
    "seed": 1,
}


def networkx_walks(graph: "nx.Graph[int]", walks: int, length: int) -> list[list[str]]:
    """Uniform walks from every node, the straightforward way."""
    rng = random.Random(0)
    nodes = list(graph)
    found = []
    for _ in range(walks):
        rng.shuffle(nodes)
        for node in nodes:
            walk = [node]
            while len(walk) < length:
                neighbours = list(graph.neighbors(walk[-1]))
                if not neighbours:
                    break
                walk.append(rng.choice(neighbours))
            found.append([str(one) for one in walk])
    return found


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def explicit(layer: Layer) -> "nx.Graph[int]":
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(layer.num_nodes))
    edges = layer.to_edges()
    graph.add_edges_from(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    return graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="acm3025")
    parser.add_argument("--walks", type=int, default=8)
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    graph = datasets.load(options.dataset)
    settings = {
        "dim": DIM,
        "window": WINDOW,
        "walks_per_node": options.walks,
        "walk_length": options.length,
        "epochs": 1,
        "negative": NEGATIVE,
        "p": 1.0,
        "q": 1.0,
    }
    Walks.of([EdgeLayer(2, [0], [1])], length=2).one_pass(0)  # compiled, or read from disk, once
    print(f"{graph}: {options.walks} walks of {options.length} per node and layer, one worker")

    def only_walks() -> None:
        for layer in graph.layers.values():
            walks = Walks.of([layer], length=options.length)
            for number in range(options.walks):
                walks.one_pass(number)

    plain = 0.0
    corpora = []
    for layer in graph.layers.values():
        whole = explicit(layer)
        spent, sentences = cpu(
            lambda whole=whole: networkx_walks(whole, options.walks, options.length)
        )
        plain += spent
        corpora.append(sentences)
    # The two take turns, and the least of several runs counts: other programs only ever add to it
    made, ours, training = [], [], []
    for _ in range(options.repeats):
        made.append(cpu(only_walks)[0])
        ours.append(cpu(lambda: walk_vectors(graph, settings, 0))[0])
        training.append(cpu(lambda: [Word2Vec(sentences, **GENSIM) for sentences in corpora])[0])
    print(f"gramme    walks alone         {min(made):8.2f} CPU seconds")
    print(f"gramme    walks and training  {min(ours):8.2f} CPU seconds")
    print(f"networkx  walks alone         {plain:8.2f} CPU seconds")
    print(f"networkx  training alone      {min(training):8.2f} CPU seconds")
    print(
        f"ratio     ours / their training alone  {min(ours) / min(training):.3f} (wanted: at most 1.1)"
    )
    print(f"ratio     their walks / ours           {plain / min(made):.0f}")


if __name__ == "__main__":
    main()
