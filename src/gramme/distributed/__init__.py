"""One graph over several processes, on one machine or many: each owns some of the nodes, in all layers.

Estimators run on a :class:`PartGraph` as on a whole graph; what crosses the border of a process is in ``part_sums.py``
(neighbourhood sums) and ``world.py`` (everything else).
"""

from gramme.distributed.asking import here, node_count, places_of, rows_at, sparse_rows_at
from gramme.distributed.manifest import Manifest, read_manifest
from gramme.distributed.part_graph import PartGraph
from gramme.distributed.partition import ASSIGNMENTS, assign
from gramme.distributed.parts_folder import write_parts
from gramme.distributed.process_group import in_world, join
from gramme.distributed.read_part import read_part
from gramme.distributed.whole_graph import whole_graph
from gramme.distributed.world import ALONE, World, world_of

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
