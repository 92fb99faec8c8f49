"""Which links are missing: evidence for pairs of nodes, weighed by edges set aside, with a probability and a reason."""

from .estimator import GrammeLinks
from .evidence import Evidence, column_names
from .pair_scores import PathScores
from .sampling import unlinked_pairs

__all__ = ["Evidence", "GrammeLinks", "PathScores", "column_names", "unlinked_pairs"]
