"""Neighbourhood sums, the exact attention on top of them, and the random features: all compiled speed lives here."""

from gramme.ops.attention import attention
from gramme.ops.features import random_features
from gramme.ops.neighbourhood import EdgeSum, MembershipSum, NeighbourhoodSum
from gramme.ops.stacked import SupraSum, layers_sum, stack, supra_sum

__all__ = [
    "EdgeSum",
    "MembershipSum",
    "NeighbourhoodSum",
    "SupraSum",
    "attention",
    "layers_sum",
    "random_features",
    "stack",
    "supra_sum",
]
