"""The torch modules: attention hops, fusion heads, and the two networks of the paper."""

from gramme.nn.hop import ACTIVATIONS, AttentionHop
from gramme.nn.networks import (
    FusionNetwork,
    Network,
    Output,
    SGNetwork,
    Shape,
    Structure,
    SupraFusion,
)
from gramme.nn.random import MemberRandom
from gramme.nn.weights import KINDS, ScalingFactors

__all__ = [
    "ACTIVATIONS",
    "KINDS",
    "AttentionHop",
    "MemberRandom",
    "FusionNetwork",
    "Network",
    "Output",
    "SGNetwork",
    "ScalingFactors",
    "Shape",
    "Structure",
    "SupraFusion",
]
