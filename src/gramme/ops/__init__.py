"""Neighbourhood sums, the exact attention on top of them, and the random features: all compiled speed lives here."""

from gramme.ops.attention import attention, attention_sums
from gramme.ops.bags import Bags
from gramme.ops.features import random_features
from gramme.ops.heads import ACTIVATIONS, Activation, fuse_heads
from gramme.ops.memberships import GroupSum, MembershipSum
from gramme.ops.neighbourhood import EdgeSum, NeighbourhoodSum
from gramme.ops.pooled_groups import PooledGroups, pooled_means
from gramme.ops.projection import project
from gramme.ops.sparse_features import Features, SparseFeatures
from gramme.ops.spread import spread
from gramme.ops.stacked import BringsSums, SideBySide, groups_sum, layers_sum, stack
from gramme.ops.supra import SupraSum, supra_sum

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "Bags",
    "BringsSums",
    "EdgeSum",
    "Features",
    "GroupSum",
    "MembershipSum",
    "NeighbourhoodSum",
    "PooledGroups",
    "SideBySide",
    "SparseFeatures",
    "SupraSum",
    "attention",
    "attention_sums",
    "fuse_heads",
    "groups_sum",
    "layers_sum",
    "pooled_means",
    "project",
    "random_features",
    "spread",
    "stack",
    "supra_sum",
]
