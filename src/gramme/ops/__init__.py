"""Neighbourhood sums, the exact attention on top of them, and the random features: all compiled speed lives here."""

from gramme.ops.attention import attention, attention_sums
from gramme.ops.attention_hop import attention_hop, hop_fits
from gramme.ops.bags import Bags
from gramme.ops.features import random_features
from gramme.ops.heads import ACTIVATIONS, Activation, fuse_heads
from gramme.ops.layer_features import LayerFeatures
from gramme.ops.memberships import GroupSum, MembershipSum
from gramme.ops.neighbourhood import EdgeSum, NeighbourhoodSum
from gramme.ops.pooled_groups import PooledGroups, pooled_means
from gramme.ops.projection import Features, project
from gramme.ops.sparse_features import SparseFeatures
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
    "LayerFeatures",
    "MembershipSum",
    "NeighbourhoodSum",
    "PooledGroups",
    "SideBySide",
    "SparseFeatures",
    "SupraSum",
    "attention",
    "attention_hop",
    "attention_sums",
    "fuse_heads",
    "groups_sum",
    "hop_fits",
    "layers_sum",
    "pooled_means",
    "project",
    "random_features",
    "spread",
    "stack",
    "supra_sum",
]
