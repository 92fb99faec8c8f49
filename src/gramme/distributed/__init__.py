"""One graph over several processes, on one machine or many: each owns some of the nodes, in all layers.

Estimators run on a :class:`PartGraph` as on a whole graph; what crosses the border of a process is in ``part_sums.py``
(neighbourhood sums) and ``world.py`` (everything else).
"""

from .communicator import ALONE, World, world_of
from .indexing import here, node_count, places_of, rows_at, sparse_rows_at
from .launch import in_world, join
from .part_graph import PartGraph
from .partition import ASSIGNMENTS, assign
from .storage import Manifest, read_manifest, read_part, whole_graph, write_parts

__all__ = [
    "ALONE",
    "ASSIGNMENTS",
    "Manifest",
    "PartGraph",
    "World",
    "assign",
    "here",
    "in_world",
    "join",
    "node_count",
    "places_of",
    "read_manifest",
    "read_part",
    "rows_at",
    "sparse_rows_at",
    "whole_graph",
    "world_of",
    "write_parts",
]
