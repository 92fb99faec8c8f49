"""Which links are missing: evidence for pairs of nodes, weighed by edges set aside, with a probability and a reason."""

from gramme.links.evidence import Evidence, column_names
from gramme.links.examples import unlinked_pairs
from gramme.links.gramme_links import GrammeLinks
from gramme.links.pair_scores import PathScores

__all__ = ["Evidence", "GrammeLinks", "PathScores", "column_names", "unlinked_pairs"]
