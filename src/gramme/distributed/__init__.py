"""One graph over several processes, on one machine or many: each owns some of the nodes, in all layers.

Estimators run on a :class:`PartGraph` as on a whole graph; what crosses the border of a process is in
``gramme/ops/parts.py`` (neighbourhood sums) and ``gramme/ops/communicator.py`` (everything else).
"""

from gramme.ops.communicator import SINGLE_PROCESS, Communicator, communicator_of

from .indexing import gather_rows, gather_sparse_rows, global_positions, local_index, node_count
from .launch import is_one_of_several, join
from .part_graph import PartGraph
from .partition import ASSIGNMENTS, assign
from .storage import Manifest, read_manifest, read_part, whole_graph, write_parts

__all__ = [
    "SINGLE_PROCESS",
    "ASSIGNMENTS",
    "Manifest",
    "PartGraph",
    "Communicator",
    "assign",
    "local_index",
    "is_one_of_several",
    "join",
    "node_count",
    "global_positions",
    "read_manifest",
    "read_part",
    "gather_rows",
    "gather_sparse_rows",
    "whole_graph",
    "communicator_of",
    "write_parts",
]
