"""The torch modules: attention hops, fusion heads, and the two networks of the paper."""

from gramme.nn.hop import COMBINE, AttentionHop
from gramme.nn.networks import FusionNetwork, Network, SGNetwork
from gramme.nn.random import MemberRandom
from gramme.nn.shape import Output, Shape, Structure
from gramme.nn.supra_fusion import SupraFusion
from gramme.nn.weights import KINDS, ScalingFactors
from gramme.ops import ACTIVATIONS

__all__ = [
    "ACTIVATIONS",
    "COMBINE",
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
