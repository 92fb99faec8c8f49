"""Neighbourhood sums, the exact attention on top of them, and the random features: all compiled speed lives here."""

from .attention import (
    ACTIVATIONS,
    Activation,
    attention,
    attention_hop,
    attention_sums,
    fuse_heads,
    hop_fits,
)
from .features import Features, LayerFeatures, SparseFeatures, project, random_features
from .neighbourhood import EdgeSum, GroupSum, MembershipSum, NeighbourhoodSum, SparseRowSum, spread
from .pooled_groups import PooledGroups, pooled_means
from .stacked import BringsSums, SideBySide, SupraSum, groups_sum, layers_sum, stack, supra_sum

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "SparseRowSum",
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
