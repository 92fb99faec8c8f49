"""Who matters: how important each node is over all layers, how sure that is, and whom to tell first.

Every measure works on products with the layers (:class:`LayerProduct`), so memberships never become edges: a million
rows with ten columns have their PageRank in seconds. Where edges have a direction, being listened to counts: a node
gains from those whose edges point to it, and news goes from it to them.
"""

from .influence import influence
from .products import LayerProduct, SupraProduct
from .rank_nodes import DEFAULT_MEASURES, MEASURES, Measure, layer_influences, rank, rank_spread

__all__ = [
    "DEFAULT_MEASURES",
    "MEASURES",
    "LayerProduct",
    "Measure",
    "SupraProduct",
    "influence",
    "layer_influences",
    "rank",
    "rank_spread",
]
