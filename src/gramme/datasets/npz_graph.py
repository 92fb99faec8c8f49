"""Graphs stored as one ``graph.npz`` of plain arrays, without pickled objects.

``edges_<k>`` (2 x edges, every undirected edge once), ``layer_names``, ``labels``, ``num_nodes``, ``directed``,
``features_{data,indices,indptr,shape}`` (CSR, if there are any), and index arrays of the source's split.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import FileFormatError
from gramme.graph import EdgeLayer, Layer, MultilayerGraph


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """All arrays of the file; pickled ones are refused."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise
    # zip files, compressed bytes and the arrays' headers, which are Python text, have many ways to be wrong
    except Exception as error:
        raise FileFormatError(
            f"this is not an archive of plain arrays ({error})", file=path
        ) from error


def read_graph(path: Path, name: str) -> MultilayerGraph:
    """The graph of a ``graph.npz``; labels are the numbers of the source."""
    arrays = read_arrays(path)
    try:
        count = int(arrays["num_nodes"])
        if len(arrays["labels"]) != count:  # before anything of that size is made
            raise ValueError(f"{len(arrays['labels'])} labels were given for {count} nodes")
        layers: dict[str, Layer] = {
            str(layer): EdgeLayer(
                count, *arrays[f"edges_{number}"], directed=bool(arrays["directed"])
            )
            for number, layer in enumerate(arrays["layer_names"])
        }
        features = _features(arrays) if "features_shape" in arrays else None
        return MultilayerGraph(layers, labels=arrays["labels"], features=features, name=name)
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=path) from error
    except (TypeError, ValueError, IndexError, OverflowError, MemoryError) as error:
        raise FileFormatError(f"the arrays do not make a graph ({error})", file=path) from error


def _features(arrays: dict[str, NDArray[Any]]) -> sp.csr_array:
    parts = tuple(arrays[f"features_{part}"] for part in ("data", "indices", "indptr"))
    features = sp.csr_array(parts, shape=tuple(arrays["features_shape"].tolist()))
    features.check_format(full_check=True)
    return features


def read_positions(path: Path, **names: str) -> dict[str, NDArray[np.int64]]:
    """Index arrays of the file, as int64 by the names they are wanted under."""
    arrays = read_arrays(path)
    try:
        return {wanted: arrays[stored].astype(np.int64) for wanted, stored in names.items()}
    except KeyError as error:
        raise FileFormatError(f"the array {error} is missing", file=path) from error
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"the positions are not numbers ({error})", file=path) from error
