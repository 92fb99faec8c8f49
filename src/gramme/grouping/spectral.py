"""Where nodes lie: the leading eigenvectors of all layers together.

With the ties of all layers in one matrix W (weighted, see ``layer_weights``) and degrees d, the vectors are those of

    D^(-1/2) W D^(-1/2)      with D = diag(d + half of the mean degree).

The addition keeps small, loosely tied parts from having eigenvectors of their own (T. Qin, K. Rohe, "Regularized spectral
clustering under the degree-corrected stochastic blockmodel", NIPS 2013). Rows are scaled to length 1, so that what
counts is to which groups a node leans and not how many ties it has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

Floats = NDArray[np.float64]

DENSE_NODES = 400
"""Nodes up to which all eigenvectors are computed at once."""
ADDED_DEGREE = 0.5
"""Share of the mean degree that is added; chosen on 3sources, bbc, wikipedia, dkpol and seven datasets, six pools each."""
TOLERANCE = 1e-3
RESTARTS = 50


def spectral_coordinates(ties: sp.csr_array, dimensions: int) -> Floats:
    """A row of length 1 per node, 0 for a node without ties; shape (nodes, dimensions)."""
    count = ties.shape[0]
    degree = np.asarray(ties.sum(axis=1))
    mean = float(degree.sum()) / max(int((degree > 0).sum()), 1)
    scale = np.where(degree > 0, 1 / np.sqrt(degree + ADDED_DEGREE * mean), 0.0)
    dimensions = min(dimensions, count)
    if count <= max(DENSE_NODES, 2 * dimensions):
        step = ties.toarray() * scale[:, None] * scale[None]
        _, vectors = np.linalg.eigh(step)
        vectors = vectors[:, ::-1][:, :dimensions]
    else:
        vectors = _lanczos(ties, scale, dimensions)
    vectors = np.where(degree[:, None] > 0, vectors, 0.0)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    coordinates: Floats = np.divide(
        vectors, length, out=np.zeros_like(vectors), where=length > 1e-12
    )
    return coordinates


def _lanczos(ties: sp.csr_array, scale: Floats, dimensions: int) -> Floats:
    count = ties.shape[0]

    def step(vector: Floats) -> Floats:
        flat = vector.reshape(-1)
        moved: Floats = scale * (ties @ (scale * flat))
        return moved

    operator = LinearOperator((count, count), matvec=step, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=count)
    values: Any
    vectors: Any
    try:
        values, vectors = eigsh(
            operator, dimensions, which="LA", v0=start, tol=TOLERANCE, maxiter=RESTARTS
        )
    except ArpackNoConvergence as stopped:
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    order = np.argsort(-values)
    found: Floats = np.asarray(vectors)[:, order]
    return found
