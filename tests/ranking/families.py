"""The Florentine families: marriages and business ties among fifteen families (Padgett), as a graph of two layers."""

import networkx as nx

from gramme.graph import EdgeLayer, MultilayerGraph

BUSINESS = """
Barbadori-Ginori Barbadori-Medici Barbadori-Peruzzi Bischeri-Guadagni Bischeri-Lamberteschi Bischeri-Peruzzi
Castellani-Lamberteschi Castellani-Peruzzi Ginori-Medici Guadagni-Lamberteschi Lamberteschi-Peruzzi Medici-Pazzi
Medici-Salviati Medici-Tornabuoni
"""


def florentine_families() -> MultilayerGraph:
    marriages = list(nx.florentine_families_graph().edges)
    business = [tuple(pair.split("-")) for pair in BUSINESS.split()]
    names = sorted({name for pair in marriages + business for name in pair})
    place = {name: number for number, name in enumerate(names)}
    layers = {
        layer: EdgeLayer(15, [place[a] for a, _ in pairs], [place[b] for _, b in pairs])
        for layer, pairs in (("marriage", marriages), ("business", business))
    }
    return MultilayerGraph(layers, nodes=names)
