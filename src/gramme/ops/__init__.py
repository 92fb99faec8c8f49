"""Neighbourhood sums, the exact attention on top of them, and the random features: all compiled speed lives here."""

from gramme._runtime import ask_for_large_pages

from .attention import (
    ACTIVATIONS,
    Activation,
    attention,
    attention_hop,
    attention_sums,
    featured_attention_sums,
    fuse_heads,
    hop_fits,
)
from .edge_features import EdgeScales, Entries, EntrySum, edge_scales
from .features import Features, LayerFeatures, SparseFeatures, project, random_features
from .neighbourhood import (
    EdgeSum,
    GroupSum,
    MembershipSum,
    NeighbourhoodSum,
    SparseRowSum,
    in_plain_torch,
    plain_torch,
    spread,
)
from .pooled_groups import PooledGroups, pooled_means
from .stacked import SideBySide, SupraSum, groups_sum, layers_sum, stack, supra_sum

ask_for_large_pages()

__all__ = [
    "ACTIVATIONS",
    "Activation",
    "SparseRowSum",
    "EdgeScales",
    "EdgeSum",
    "Entries",
    "EntrySum",
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
    "edge_scales",
    "featured_attention_sums",
    "fuse_heads",
    "groups_sum",
    "hop_fits",
    "in_plain_torch",
    "layers_sum",
    "plain_torch",
    "pooled_means",
    "project",
    "random_features",
    "spread",
    "stack",
    "supra_sum",
]
