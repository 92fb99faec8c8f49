"""The torch modules: attention for a model of your own, and the two networks of the paper.

Public are :class:`WeightedAttention` and :func:`structure`. The rest serves the estimators of ``gramme.methods``: start
with ``attention.py``, which says what is computed, then ``networks.py`` and ``plan.py``.
"""

from gramme.ops import ACTIVATIONS

from .attention import HEAD_COMBINATIONS, HEAD_WEIGHTS, AttentionHop, MemberRandom, ScalingFactors, ShapesOnly
from .networks import FittedNetworks, FusionNetwork, Network, SGNetwork, SupraFusion, levelled
from .plan import READOUTS, SCORES, Output, Plan, Shape, fusion_plan, supra_plan
from .weighted_attention import WeightedAttention, structure

__all__ = [
    "ACTIVATIONS",
    "HEAD_COMBINATIONS",
    "HEAD_WEIGHTS",
    "READOUTS",
    "SCORES",
    "AttentionHop",
    "FittedNetworks",
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
