"""The paper's datasets and some more as multi-layered graphs, one recipe per file.

>>> from gramme import datasets
>>> graph = datasets.load("balance_scale")
>>> graph.num_nodes, graph.num_layers, graph.classes
(625, 4, ['B', 'L', 'R'])
"""

from .record import DataFile, DatasetInfo
from .registry import download, info, load, names, official_split, where

__all__ = ["DataFile", "DatasetInfo", "download", "info", "load", "names", "official_split", "where"]
