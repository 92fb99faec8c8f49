"""What the user has: the multi-layered graph, its two kinds of layer, and builders.

Conventions all rooms rely on:

- Nodes have names, in the order of ``graph.nodes``; layers and arrays speak of their positions.
- A layer is over all nodes of the graph but may hold only some (``layer.present``). An absent node
  has no edges there, no self loop and no copy in the supra graph; a node that is present without
  edges is alone but there.
- No layer has self loops or repeated edges; the models add one self loop per node present. An
  undirected edge counts once, with ``source < target``.
- In a directed layer node i listens to the nodes its edges point to: row i of ``to_scipy()``.
- Two nodes of a :class:`MembershipLayer` have one edge per group they share, in counts, degrees and
  models alike; :meth:`~MembershipLayer.to_edges` makes that number the weight.
- Weights are positive; unweighted edges weigh 1. Labels are any hashable value, None where unknown.
- Memberships may have weights: two nodes are then joined by the sum over shared groups of the product of both.
- A coupling joins a node in one layer to a node in another (``graph.couplings``); pillars between the copies of a node
  are implied. Layers may have features of their own (``graph.layer_features``).
- Graphs and layers do not change once made: ``graph.replace(...)`` makes a new one. They pickle, and
  a deep copy is the object itself.
"""

from .coupling import Coupling
from .edge_layer import EdgeLayer
from .layer import Layer
from .membership_layer import MembershipLayer
from .multilayer import MultilayerGraph, checked_graph, sorted_labels

__all__ = ["Coupling", "EdgeLayer", "Layer", "MembershipLayer", "MultilayerGraph", "checked_graph", "sorted_labels"]
