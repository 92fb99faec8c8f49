"""Who matters: how important each node is over all layers, how sure that is, and whom to tell first.

Every measure works on products with the layers (:class:`LayerProduct`), so memberships never become edges: a million
rows with ten columns have their PageRank in seconds. Where edges have a direction, being listened to counts: a node
gains from those whose edges point to it, and news goes from it to them.
"""

from gramme.ranking.influence import influence
from gramme.ranking.layer_product import LayerProduct
from gramme.ranking.measures import DEFAULT_MEASURES, MEASURES, Measure
from gramme.ranking.rank_nodes import layer_influences, rank
from gramme.ranking.spread import rank_spread
from gramme.ranking.supra_product import SupraProduct

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
