"""A layer as the products every measure needs: its adjacency, and the transpose, times values of the nodes.

Memberships stay memberships: with the incidence B the adjacency is ``B B^T`` without its diagonal, so a product costs
the memberships and never the edges they imply.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.graph import Layer

Values = NDArray[np.float64]


class LayerProduct:
    """``A @ v`` and ``A.T @ v`` for the adjacency A of a layer; row i holds the nodes that i listens to.

    Parameters
    ----------
    layer : Layer

    Attributes
    ----------
    present : array of bool, shape (nodes,)
        Which nodes the layer holds.
    out_strength, in_strength : array of float, shape (nodes,)
        The weights of the edges that leave and that reach each node; the same where edges have no direction.

    Examples
    --------
    >>> from gramme.graph import MembershipLayer
    >>> room = LayerProduct(MembershipLayer.from_values(["a", "b", "b", "b"]))
    >>> room.times(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [0.0, 7.0, 6.0, 5.0]
    """

    def __init__(self, layer: Layer) -> None:
        self.num_nodes = layer.num_nodes
        self.present = np.asarray(layer.present)
        self.directed = layer.directed
        self._incidence: Any = None
        groups = layer.as_groups()
        if groups is not None:
            self._incidence = groups.incidence()
            self._alone = np.flatnonzero(layer.degrees() == 0)
            self._codes = None
            if groups.single and groups.weight is None:
                # the common case, a column of a table: groups are added up and looked up, nodes in none are group 0
                self._codes = groups.codes() + 1
                self._groups = groups.num_groups + 1
            self._incidence_transposed = sp.csr_array(self._incidence.T.tocsr())
            # a node is not its own neighbour: what it gives to its groups comes back and is taken off again
            self._own = np.asarray(self._incidence.multiply(self._incidence).sum(axis=1)).ravel()
        else:
            self._forward = layer.to_scipy()
            self._backward = (
                sp.csr_array(self._forward.T.tocsr()) if layer.directed else self._forward
            )
        ones = np.ones(self.num_nodes)
        self.out_strength = self.times(ones)
        self.in_strength = self.transposed(ones) if layer.directed else self.out_strength

    def times(self, values: Values) -> Values:
        """What each node hears: the sum over the nodes its edges point to."""
        if self._incidence is None:
            return np.asarray(self._forward @ values)
        if self._codes is not None:
            sums: Values = np.asarray(
                np.bincount(self._codes, weights=values, minlength=self._groups), dtype=np.float64
            )
            sums[0] = 0.0
            shared: Values = sums[self._codes]
            shared -= self._own * values
        else:
            shared = self._shared(values)
        # what rounding leaves of the subtraction is not a neighbour
        shared[self._alone] = 0.0
        return shared

    def _shared(self, values: Values) -> Values:
        own = self._own * values
        return np.asarray(self._incidence @ (self._incidence_transposed @ values)) - own

    def transposed(self, values: Values) -> Values:
        """What each node is told: the sum over the nodes whose edges point to it."""
        if self._incidence is not None:
            return self.times(values)
        return np.asarray(self._backward @ values)
