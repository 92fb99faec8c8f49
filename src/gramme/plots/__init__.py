"""Pictures with matplotlib: the network, what a model learned, and results.

Everything here is called on the object it shows: ``graph.plot()``, ``model.plot_layers()``, ``ledger.plot_results()``.
Axes go in (``ax=``) and come out, so that a picture can stand beside others and be changed. matplotlib is imported when
the first picture is drawn. The same data give the same picture.
"""

from .models import (
    plot_confusion,
    plot_embedding,
    plot_history,
    plot_ingredients,
    plot_layers,
    plot_predictions,
    plot_reliability,
)
from .network import plot_graph
from .results import plot_results

__all__ = [
    "plot_confusion",
    "plot_embedding",
    "plot_graph",
    "plot_history",
    "plot_ingredients",
    "plot_layers",
    "plot_predictions",
    "plot_reliability",
    "plot_results",
]
