"""The three ways to find eigenvectors agree."""

import numpy as np
import scipy.sparse as sp

from gramme.methods.linear import walk_eigenvectors
from gramme.methods.linear.walk_eigenvectors import leading


def table(rows=300, groups=7, seed=0):
    """A random table as the walk sees it: memberships scaled so that the first eigenvalue is 1."""
    random = np.random.default_rng(seed)
    members = sp.csr_array(np.eye(groups)[random.integers(0, groups, rows)])
    other = sp.csr_array(np.eye(groups)[random.integers(0, groups, rows)])
    joined = sp.csr_array(sp.hstack([members, other]))
    mass = joined @ joined.sum(axis=0)
    scaled = sp.csr_array(sp.diags_array(1 / np.sqrt(mass)) @ joined)
    first = np.sqrt(mass)
    return scaled, first / np.linalg.norm(first)


def test_all_at_once_by_iteration_and_by_groups(monkeypatch):
    members, first = table()
    none = sp.csr_array((300, 300))
    expected, vectors = leading(none, members, first, 4)
    monkeypatch.setattr(walk_eigenvectors, "DENSE_NODES", 100)
    values, found = leading(none, members, first, 4)
    monkeypatch.setattr(walk_eigenvectors, "LONG_TABLE_ROWS", 200)
    by_groups, others = leading(none, members, first, 4)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_allclose(by_groups, expected, atol=1e-9)
    for each in (found, others):
        np.testing.assert_allclose(np.abs((vectors * each).sum(axis=0)), 1, atol=1e-4)
