"""The neighbourhood sum, the one thing attention needs from a graph.

For a value per node and column, ``V`` of shape (rows, columns),

    S(V)_i = V_i + sum over j in N(i) of c_ij V_j,

where N(i) are the nodes that i listens to and c_ij is the weight of the edge (1 where there are none). Every kind of
layer supplies S and its transpose as cheaply as its structure allows; nothing per edge is ever stored but the
structure itself. Rows are the nodes of one layer, or the copies of the nodes in several layers stacked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.ops.bags import Bags


class NeighbourhoodSum(nn.Module, ABC):
    """S and its transpose for one structure. Plain arithmetic: gradients are the caller's business.

    A module, so that ``.to(device)`` moves it. It has no parameters and adds nothing to a ``state_dict``.

    Attributes
    ----------
    rows : int
        Rows of V.
    outputs : int
        Rows of S(V): those of V, unless only some are wanted or rows that hear the same are kept once.
    cheaper_in_part : bool
        Whether S for some of its outputs costs less than S for all, as with edges. The sums of groups serve everybody,
        unless there are millions of memberships.
    across_processes : bool
        Whether other processes take part, so that all must ask for the same sums in the same order.
    """

    rows: int
    outputs: int
    cheaper_in_part: bool = False
    across_processes: bool = False

    @abstractmethod
    def forward(self, values: Tensor) -> Tensor:
        """S(V), shape (outputs, columns), for values of shape (rows, columns)."""

    @abstractmethod
    def transposed(self, values: Tensor) -> Tensor:
        """The transpose of S, shape (rows, columns), for values of shape (outputs, columns)."""

    def range_of(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The lowest and the highest of each column over all rows that anybody can hear.

        A sum whose rows are spread over several processes asks the others here.
        """
        if not scores.numel():
            none = scores.new_zeros(scores.shape[1:])
            return none, none
        low, high = scores.aminmax(dim=0)
        return low, high

    def levels_of(self, bands: Tensor) -> list[float]:
        """The distinct numbers among all rows that anybody can hear, ascending."""
        return sorted(set(bands.flatten().tolist()))

    def anywhere(self, flag: bool) -> bool:
        """Whether something holds for some row; as with :meth:`range_of` several processes must agree."""
        return flag

    if TYPE_CHECKING:

        def __call__(self, values: Tensor) -> Tensor: ...

    def __repr__(self) -> str:
        some = "" if self.outputs == self.rows else f", {self.outputs} outputs"
        return f"{type(self).__name__}({self.rows} rows{some})"


class EdgeSum(NeighbourhoodSum):
    """S for explicit edges: each row's bag holds the row itself and its neighbours. Cost: edges x columns.

    Parameters
    ----------
    adjacency : scipy CSR, shape (rows, rows)
        Entry (i, j) is the weight with which i listens to j; the diagonal is empty.
    symmetric : bool
        Whether the matrix equals its transpose, which then needs no copy of its own.
    outputs : array of int, optional
        The rows whose sums are wanted; all if not given.
    hears_itself : bool, default=True
        Whether V_i is part of the sum; without it these are further edges for another structure.
    """

    cheaper_in_part = True

    def __init__(
        self,
        adjacency: sp.csr_array,
        *,
        symmetric: bool,
        outputs: NDArray[np.int64] | None = None,
        hears_itself: bool = True,
    ) -> None:
        super().__init__()
        self.rows = adjacency.shape[0]
        own = sp.eye_array(self.rows, format="csr")
        if outputs is not None:
            adjacency, own, symmetric = adjacency[outputs], own[outputs], False
        matrix = sp.csr_array(adjacency + own) if hears_itself else sp.csr_array(adjacency)
        self.outputs = matrix.shape[0]
        self.heard = Bags(matrix)
        self.listeners = self.heard if symmetric else Bags(sp.csr_array(matrix.T.tocsr()))

    def forward(self, values: Tensor) -> Tensor:
        return self.heard(values)

    def transposed(self, values: Tensor) -> Tensor:
        return self.listeners(values)
