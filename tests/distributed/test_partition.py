"""Assignments are balanced, and communities keep neighbours together."""

import numpy as np
import pytest

from gramme.datasets import load
from gramme.distributed import ASSIGNMENTS, assign, write_parts
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph


def planted(nodes=2000, blocks=20, seed=0):
    """Edges within blocks 97 times in a hundred; the blocks are spread over the order of the nodes."""
    random = np.random.default_rng(seed)
    block = random.permutation(np.arange(nodes) % blocks)
    order = np.argsort(block, kind="stable").reshape(blocks, -1)
    source = random.integers(0, nodes, 8 * nodes)
    near = order[block[source], random.integers(0, nodes // blocks, source.size)]
    far = random.integers(0, nodes, source.size)
    target = np.where(random.random(source.size) < 0.97, near, far)
    return MultilayerGraph({"edges": EdgeLayer(nodes, source, target)}), block


@pytest.mark.parametrize("how", ASSIGNMENTS)
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_every_part_has_its_share(how, parts):
    g, _ = planted()
    owner = assign(g, parts, how)
    sizes = np.bincount(owner, minlength=parts)
    assert owner.shape == (g.num_nodes,)
    assert sizes.size == parts
    assert sizes.max() <= 1.2 * g.num_nodes / parts


def test_communities_have_a_far_smaller_halo(tmp_path):
    g, _ = planted()
    share = {}
    for how in ASSIGNMENTS:
        folder = tmp_path / how
        folder.mkdir()
        share[how] = write_parts(g, folder, assign(g, 4, how), 4).halo_share
    assert share["communities"] < 0.5 * share["random"]
    assert share["communities"] < 0.5 * share["contiguous"]


def test_small_groups_keep_their_members_together():
    random = np.random.default_rng(0)
    teams = random.permutation(np.arange(400) % 40)
    g = MultilayerGraph({"team": MembershipLayer.from_codes(teams)})
    owner = assign(g, 4)
    together = [len(set(owner[teams == team].tolist())) == 1 for team in range(40)]
    assert np.mean(together) > 0.9


def test_the_same_seed_gives_the_same_parts():
    g = load("synthetic", nodes=300)
    assert (assign(g, 3, random_state=1) == assign(g, 3, random_state=1)).all()
