"""All layers on top of each other, for measures that count edges: who hears whom how often, who shares which group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gramme.graph import Layer


@dataclass(frozen=True)
class AllLayers:
    """Edges of several layers added up, and the groups of all membership layers side by side.

    Attributes
    ----------
    heard : scipy CSR, shape (nodes, nodes)
        Entry (i, j) counts in how many layers i listens to j; weights do not count.
    groups : scipy CSR of ones, shape (nodes, groups)
        Who is in which group of any layer.
    """

    heard: sp.csr_array
    groups: sp.csr_array

    @classmethod
    def of(cls, layers: Iterable[Layer], num_nodes: int) -> AllLayers:
        """Put layers on top of each other."""
        heard = sp.csr_array((num_nodes, num_nodes))
        groups = []
        for layer in layers:
            incidence = layer.incidence()
            if incidence is not None:
                incidence.data = np.ones_like(incidence.data)
                groups.append(incidence)
            else:
                pattern = layer.to_scipy()
                pattern.data = np.ones_like(pattern.data)
                heard = sp.csr_array(heard + pattern)
        beside = sp.hstack(groups, format="csr") if groups else sp.csr_array((num_nodes, 0))
        return cls(heard, sp.csr_array(beside))

    @property
    def told(self) -> sp.csr_array:
        """Entry (i, j) counts in how many layers j listens to i."""
        return sp.csr_array(self.heard.T.tocsr())
