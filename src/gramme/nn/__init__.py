"""The torch modules: attention for a model of your own, and the two networks of the paper.

Public are :class:`WeightedAttention` and :func:`structure`. The rest serves the estimators of ``gramme.methods``: start
with ``formula.py``, which says what is computed, then ``networks.py`` and ``plan.py``.
"""

from gramme.nn.formula import HEAD_COMBINATIONS
from gramme.nn.hop import AttentionHop
from gramme.nn.networks import FusionNetwork, Network, SGNetwork
from gramme.nn.plan import Plan, fusion_plan, supra_plan
from gramme.nn.random import MemberRandom, ShapesOnly
from gramme.nn.shape import READOUTS, Output, Shape
from gramme.nn.structure import structure
from gramme.nn.supra_fusion import SupraFusion, levelled
from gramme.nn.weighted_attention import WeightedAttention
from gramme.nn.weights import HEAD_WEIGHTS, ScalingFactors
from gramme.ops import ACTIVATIONS

__all__ = [
    "ACTIVATIONS",
    "HEAD_COMBINATIONS",
    "HEAD_WEIGHTS",
    "READOUTS",
    "AttentionHop",
    "FusionNetwork",
    "MemberRandom",
    "Network",
    "Output",
    "Plan",
    "SGNetwork",
    "ScalingFactors",
    "Shape",
    "ShapesOnly",
    "SupraFusion",
    "WeightedAttention",
    "fusion_plan",
    "levelled",
    "structure",
    "supra_plan",
]
