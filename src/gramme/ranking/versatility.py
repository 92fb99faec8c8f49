"""Versatility: eigenvector, Katz, hub and authority centrality of the supra graph, summed over a node's copies.

A node that bridges layers is found this way although it leads in no single one. All four follow De Domenico,
Solé-Ribalta, Omodei, Gómez, Arenas: Ranking in interconnected multilayer networks reveals versatile nodes, Nature
Communications 6, 6868 (2015). Being listened to counts: where edges have a direction, a node gains from those whose
edges point to it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigs, eigsh

from gramme.ranking.convergence import warn_unless
from gramme.ranking.supra_product import SupraProduct

KATZ_SHARE = 0.5
"""The attenuation of Katz centrality as a share of the largest that converges, 1 over the leading eigenvalue."""
MAX_STEPS = 5000
TOLERANCE = 1e-10
_DENSE = 64

Values = NDArray[np.float64]
Product = Callable[[Values], Values]


def leading_of_supra(supra: SupraProduct) -> tuple[float, Values]:
    """The leading eigenvalue and eigenvector of the transposed supra adjacency, which two measures begin with."""
    return leading(supra.transposed, supra, symmetric=not supra.directed)


def eigenvector_versatility(
    supra: SupraProduct, leads: tuple[float, Values] | None = None
) -> Values:
    """The leading eigenvector of the transposed supra adjacency, summed over copies; the largest entry is 1.

    ``leads`` is what :func:`leading_of_supra` found, if it has been found already.
    """
    return _per_node(supra, (leads or leading_of_supra(supra))[1])


def katz_versatility(
    supra: SupraProduct,
    share: float = KATZ_SHARE,
    leads: tuple[float, Values] | None = None,
) -> Values:
    """Walks of all lengths that end at a node, each step counted less: ``(1 - a M^T)^-1 1``, summed over copies.

    Parameters
    ----------
    supra : SupraProduct
    share : float, default=0.5
        The attenuation ``a`` as a share of its upper bound, 1 over the leading eigenvalue of M.
    leads : tuple, optional
        What :func:`leading_of_supra` found, if it has been found already.
    """
    largest = (leads or leading_of_supra(supra))[0]
    attenuation = share / largest if largest > 0 else 0.0
    start = supra.present.astype(np.float64)
    found = start.copy()
    change = 0.0
    for _ in range(MAX_STEPS):
        following = start + attenuation * supra.transposed(found)
        change = float(np.abs(following - found).max(initial=0.0))
        found = following
        if change <= TOLERANCE * found.max(initial=1.0):
            break
    warn_unless(change <= TOLERANCE * found.max(initial=1.0), "katz", MAX_STEPS)
    return _per_node(supra, found)


def hubs_and_authorities(supra: SupraProduct) -> tuple[Values, Values]:
    """Hub and authority versatility: leading eigenvectors of ``M M^T`` and ``M^T M``, summed over copies."""
    _, authority = leading(
        lambda values: supra.transposed(supra.times(values)), supra, symmetric=True
    )
    return _per_node(supra, supra.times(authority)), _per_node(supra, authority)


def leading(product: Product, supra: SupraProduct, *, symmetric: bool) -> tuple[float, Values]:
    """The leading eigenvalue of a product that keeps values positive, and its eigenvector, of shape (layers, nodes).

    Where several eigenvectors share that eigenvalue, the one nearest to all copies being equal.
    """
    shape = supra.shape
    size = shape[0] * shape[1]
    start = supra.present.astype(np.float64).ravel()
    if not size or not start.any():
        return 0.0, np.zeros(shape)

    def flat(values: Values) -> Values:
        return product(values.reshape(shape)).ravel()

    if size <= _DENSE:
        value, vector = _dense_leading(flat, start, symmetric)
    else:
        operator = LinearOperator((size, size), matvec=flat, dtype=np.float64)
        value, vector = _arpack_leading(operator, start, symmetric)
    if value <= 1e-12:
        return 0.0, np.zeros(shape)
    vector = vector * np.sign(vector.sum() or 1.0)
    return value, np.maximum(vector, 0.0).reshape(shape)


def _arpack_leading(
    operator: LinearOperator, start: Values, symmetric: bool
) -> tuple[float, Values]:
    try:
        if symmetric:
            values, vectors = eigsh(operator, k=1, which="LA", v0=start, maxiter=MAX_STEPS)
        else:
            values, vectors = eigs(operator, k=1, which="LR", v0=start, maxiter=MAX_STEPS)
    except ArpackNoConvergence:
        warn_unless(False, "the leading eigenvector", MAX_STEPS)
        vector = start / np.linalg.norm(start)
        for _ in range(100):
            vector = operator.matvec(vector) + vector
            vector /= np.linalg.norm(vector)
        return float(vector @ operator.matvec(vector)), vector
    return float(np.real(values[0])), np.real(vectors[:, 0])


def _dense_leading(flat: Product, start: Values, symmetric: bool) -> tuple[float, Values]:
    matrix = np.stack([flat(row) for row in np.eye(start.size)], axis=1)
    if symmetric:
        values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
        same = values > values[-1] - 1e-9 * max(abs(values[-1]), 1.0)
        return float(values[-1]), vectors[:, same] @ (vectors[:, same].T @ start)
    found, directions = np.linalg.eig(matrix)
    best = int(np.argmax(found.real))
    return float(found[best].real), directions[:, best].real


def _per_node(supra: SupraProduct, copies: Values) -> Values:
    total: Values = np.where(supra.present, copies, 0.0).sum(axis=0)
    largest = total.max(initial=0.0)
    if largest <= 0:
        return total
    # what a solver leaves of a zero is not importance
    scaled: Values = np.where(total > 1e-12 * largest, total / largest, 0.0)
    return scaled
