"""Eigenvectors found together, with no process that holds the graph, are those that one process finds."""

import numpy as np
import pytest
from tests.distributed.processes import together

from gramme.distributed import Communicator, assign, read_part, write_parts
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.linear import walk_profile as walk_in_parts
from gramme.methods.linear.walk_profile import WalkProfile

pytestmark = pytest.mark.distributed

NODES = 450  # more than are looked at all at once


def network() -> MultilayerGraph:
    random = np.random.default_rng(0)
    ends = random.integers(0, NODES, (2, 2000))
    return MultilayerGraph(
        {
            "advice": EdgeLayer(NODES, *ends, random.uniform(1, 2, 2000), directed=True),
            "team": MembershipLayer(NODES, *random.integers(0, NODES, (2, 900))),
        }
    )


def table() -> MultilayerGraph:
    random = np.random.default_rng(1)
    return MultilayerGraph({name: MembershipLayer.from_codes(random.integers(-1, 5, 20_100)) for name in "ab"})


def profile(communicator: Communicator, folders) -> list:
    walk_in_parts.MAX_GATHERED_ENTRIES = 0
    found = []
    for folder in folders:
        part = read_part(folder, communicator)
        one = WalkProfile.of(part, 6)
        found.append((part.places, one.values, one.table(one.placed(part))))
    return found


def test_a_network_and_a_long_table_walked_by_two_processes(tmp_path):
    graphs, folders = [network(), table()], []
    for number, g in enumerate(graphs):
        folders.append(tmp_path / str(number))
        folders[-1].mkdir()
        write_parts(g, folders[-1], assign(g, 2), 2)
    parts = together(2, profile, folders)
    for number, g in enumerate(graphs):
        alone = WalkProfile.of(g, 6)
        expected = alone.table(alone.placed(g))
        for places, values, rows in (part[number] for part in parts):
            np.testing.assert_allclose(values, alone.values, atol=1e-9)
            # the sign of an eigenvector is nobody's choice: rows are compared by their products
            some = expected[places][:40]
            np.testing.assert_allclose(rows[:40] @ rows[:40].T, some @ some.T, atol=1e-4)
