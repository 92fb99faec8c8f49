"""The sums of parts equal those of the whole graph, in values, gradients and their parts, with 2, 3 and 4 processes."""

import numpy as np
import pytest
import torch
from tests.distributed.graphs import KINDS, NODES, graph, parts_of
from tests.distributed.processes import together

from gramme.distributed import read_part
from gramme.graph.canonical import in_name_order
from gramme.ops import attention, groups_sum, layers_sum, parts, spread, supra_sum
from gramme.ops.communicator import Communicator

pytestmark = pytest.mark.distributed

FAR = 30.0  # scores by which attention needs several bands
BY_PEERS = ("edges", "directed", "directed couplings")  # kinds tried with a halo too large to hold


def some_nodes() -> np.ndarray:
    return np.arange(0, NODES, 3)


def values_for(rows: int, seed: int, columns: int = 6) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(rows, columns)))


def structures(g, nodes):
    """Every structure that a network may ask a graph for, by name."""
    names = list(g.layers)
    found = {
        "all": layers_sum(g),
        "one": layers_sum(g, names[:1]),
        "some nodes": layers_sum(g, nodes=nodes),
        "supra": supra_sum(g),
        "supra of some": supra_sum(g, nodes),
    }
    grouped = groups_sum(g, names)
    return found if grouped is None else found | {"groups": grouped}


def copies(places: np.ndarray, rows: int) -> np.ndarray:
    """The rows of some nodes among stacked copies of all."""
    return (np.arange(rows // NODES)[:, None] * NODES + places).ravel()


def results(g, places, nodes_at):
    """For each structure: S, its transpose, attention (with scores that spread little and far) and its gradients."""
    found = {}
    for name, one in structures(g, nodes_at).items():
        whole_rows = one.rows // g.num_nodes * NODES
        mine = copies(places, whole_rows)
        scores = values_for(whole_rows, 2)[:, :2]
        for reach in (1.0, FAR) if name in ("all", "supra of some") else (1.0,):
            x = values_for(whole_rows, 1)[mine].view(-1, 2, 3).requires_grad_()
            t = (scores * reach)[mine].requires_grad_()
            z = attention(x, t, one)
            if name == "groups":
                z = spread(z.view(len(g.layers), -1, 2, 3), one).flatten(0, 1)
            weights = values_for(whole_rows, 3)[:, :1, None]
            nodes = mine if "some" not in name else copies(places[nodes_at], whole_rows)
            (z * weights[nodes]).sum().backward()
            found[name, reach] = [z.detach(), x.grad, t.grad]
        if name != "groups":
            found[name, "sum"] = [one(values_for(whole_rows, 4)[mine])]
    return {key: [one.numpy() for one in value] for key, value in found.items()}


def limits(kind: str, size: int) -> tuple[int, ...]:
    return (1 << 28, 0) if kind in BY_PEERS and size > 2 else (1 << 28,)


def part_results(communicator: Communicator, folders) -> dict:
    found = {}
    for kind, folder in folders.items():
        g = read_part(folder, communicator)
        here = np.flatnonzero(np.isin(g.given, some_nodes()))
        for limit in limits(kind, communicator.size):
            parts.MAX_HALO_BYTES = limit
            found[kind, limit] = results(g, g.given, here)
        parts.MAX_HALO_BYTES = 1 << 28
        found[kind, "places"] = g.given, g.given[here]
    return found


# Every kind among two processes; among more of them, every way to ask others, and every kind once.
TRIED = {2: KINDS, 3: (*BY_PEERS, "memberships"), 4: ("directed", "table", "mixed", "couplings")}


@pytest.mark.parametrize(
    ("size", "kinds"), [*TRIED.items(), *(pytest.param(size, KINDS, marks=pytest.mark.slow) for size in (3, 4))]
)
def test_sums_and_gradients_are_those_of_the_whole_graph(size, kinds, tmp_path):
    whole = {kind: graph(kind) for kind in kinds}
    folders = {kind: parts_of(g, tmp_path / kind, size) for kind, g in whole.items()}
    found = together(size, part_results, folders)
    for kind, g in whole.items():
        expected = results(g, np.arange(NODES), some_nodes())
        for one in found:
            places, chosen = one[kind, "places"]
            for limit in limits(kind, size):
                for key, arrays in expected.items():
                    for number, array in enumerate(arrays):
                        rows = places if number or "some" not in key[0] else chosen
                        total = NODES if number or "some" not in key[0] else some_nodes().size
                        at = rows if total == NODES else np.searchsorted(some_nodes(), rows)
                        stacked = (np.arange(len(array) // total)[:, None] * total + at).ravel()
                        np.testing.assert_allclose(
                            one[kind, limit][key][number],
                            array[stacked],
                            rtol=1e-11,
                            atol=1e-11,
                            err_msg=f"{kind} {limit} {key} {number}",
                        )


def test_a_graph_in_one_part_is_the_whole_graph(tmp_path):
    for kind in KINDS:
        g = graph(kind)
        part = read_part(parts_of(g, tmp_path / kind, 1))
        ordered = in_name_order(g).graph
        expected = results(ordered, np.arange(NODES), some_nodes())
        for key, arrays in results(part, part.places, some_nodes()).items():
            for one, other in zip(arrays, expected[key], strict=True):
                np.testing.assert_allclose(one, other, atol=1e-11, err_msg=f"{kind} {key}")


def test_all_that_a_sum_holds_moves_with_it_to_another_device(tmp_path):
    for kind in KINDS:
        part = read_part(parts_of(graph(kind), tmp_path / kind, 1))
        for name, one in structures(part, some_nodes()).items():
            left = [
                key
                for module in one.modules()
                for key, value in vars(module).items()
                if isinstance(value, torch.Tensor)
            ]
            assert not left, f"{kind} {name}"
