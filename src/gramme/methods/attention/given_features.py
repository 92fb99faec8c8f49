"""A graph's own features, scaled so that a network can learn from them whatever their unit.

A network learns at the pace its inputs allow. Features of size 0.01 give gradients of that size, which weight decay
then outweighs: all weights go to zero and the model predicts one class. So features are scaled first, by a rule that
looks at the features alone:

- *words, tags, counts* (no negative number, at most half of the entries not zero): each column by its usual size where
  it is not zero, the square root of that, each row to length 1. What a node has counts by its share, not by how much
  the node has altogether.
- *measurements* (everything else): each column to variance 1.

Columns are centred in both cases. Where there are more of them than wanted, the leading singular directions take their
place: few labels cannot say which of a thousand columns matter, but the columns themselves say which go together.
Sparse features stay sparse up to that product, and centring is a rank-one term beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.methods.parameters import POSITIVE, Flag
from gramme.methods.saved_fields import SavedArray, SavedField, Sizes
from gramme.methods.saving import Learned, MisfitError

if TYPE_CHECKING:
    from gramme.methods.base import NodeClassifier

MAX_FILLED = 0.5  # share of entries other than zero up to which non-negative features are taken for words or counts
EXTRA_DIRECTIONS = 16  # beyond those wanted, which makes the leading ones exact
PASSES = 4  # over the features to find the directions
CHUNK_ROWS = 65_536  # rows of a dense matrix that are scaled at a time

Floats = NDArray[np.float64]
Matrix = NDArray[np.float32]
Features = Any  # a numpy array or a scipy CSR array


@dataclass(frozen=True)
class GivenFeatures:
    """How to scale features, learned from one graph's and applied to any other's.

    Attributes
    ----------
    by_row : bool
        Whether rows have length 1 (words, tags, counts) or columns variance 1 (measurements).
    scale, centre : array, shape (columns,)
        What a column is multiplied by at first, and what is taken from it at last.
    directions : array, shape (columns, kept), optional
        The leading singular directions, if not all columns are kept.
    size : float
        What makes the mean square of all numbers 1.
    """

    by_row: bool
    scale: Floats
    centre: Floats
    directions: Floats | None
    size: float

    @classmethod
    def of(cls, features: Features, most: int) -> Self:
        """Learn the scales of some features, and their ``most`` leading directions where they have more columns."""
        columns = features.shape[1]
        if not columns:
            return cls(False, np.zeros(0), np.zeros(0), None, 1.0)
        by_row = _is_counts(features)
        scale = _inverse(_usual_size(features) if by_row else _deviations(features))
        raw = cls(by_row, scale, np.zeros(columns), None, 1.0)
        centre = np.zeros(columns)
        for part in raw._parts(features):
            centre += np.asarray(part.sum(axis=0), dtype=np.float64).ravel()
        centre /= max(features.shape[0], 1)
        centred = cls(by_row, scale, centre, None, 1.0)
        directions = centred._leading(features, most) if columns > most else None
        plain = cls(by_row, scale, centre, directions, 1.0)
        size = np.sqrt(np.mean(np.square(plain.table(features), dtype=np.float64)))
        return cls(by_row, scale, centre, directions, float(1 / size) if size > 0 else 1.0)

    @property
    def columns(self) -> int:
        """Columns of what :meth:`table` returns."""
        return self.scale.size if self.directions is None else self.directions.shape[1]

    def table(self, features: Features) -> Matrix:
        """Scaled features, shape (nodes, columns)."""
        if features.shape[1] != self.scale.size:
            raise DataError(
                f"the model needs {self.scale.size} features per node; the graph has {features.shape[1]}"
            )
        found = [np.zeros((0, self.columns), dtype=np.float32)]
        for part in self._parts(features):
            if self.directions is None:
                dense = _dense(part) - self.centre
            else:
                dense = part @ self.directions - self.centre @ self.directions
            found.append((dense * self.size).astype(np.float32))
        return np.concatenate(found)

    def _parts(self, features: Features) -> Iterator[Features]:
        """The features chunk by chunk, scaled but not centred: a sparse matrix stays sparse."""
        for start in range(0, features.shape[0], CHUNK_ROWS):
            part: Features = features[start : start + CHUNK_ROWS].astype(np.float64)
            if not self.by_row:
                yield part * self.scale[None, :]
                continue
            counts: Features = sp.csr_array(part)
            sparse: Features = sp.csr_array(counts * self.scale[None, :])
            sparse.data = np.sqrt(np.maximum(sparse.data, 0))
            lengths = np.sqrt(np.asarray(sparse.multiply(sparse).sum(axis=1)).ravel())
            yield sp.csr_array(sp.diags_array(_inverse(lengths)) @ sparse)

    def _leading(self, features: Features, most: int) -> Floats:
        """The leading singular directions of the centred features, by a randomised range finder.

        N. Halko, P. G. Martinsson, J. A. Tropp, "Finding Structure with Randomness", SIAM Review 53, 2011. The start is
        fixed, so that the same features give the same directions.
        """
        rows, columns = features.shape
        wanted = min(most + EXTRA_DIRECTIONS, rows, columns)
        basis = np.random.default_rng(0).normal(size=(columns, wanted))
        basis, _ = np.linalg.qr(basis)
        small = np.zeros((wanted, wanted))
        for _ in range(PASSES):
            gathered, small = self._passed(features, basis)
            basis, _ = np.linalg.qr(gathered)
        _, small = self._passed(features, basis)
        values, turn = np.linalg.eigh(small)
        leading: Floats = basis @ turn[:, np.argsort(-values, kind="stable")[:most]]
        # the sign of a direction is arbitrary; its largest entry is positive, whatever the library underneath
        largest = np.abs(leading).argmax(axis=0)
        signs = np.where(leading[largest, np.arange(leading.shape[1])] < 0, -1.0, 1.0)
        return leading * signs

    def _passed(self, features: Features, basis: Floats) -> tuple[Floats, Floats]:
        """X' X B and B' X' X B for the centred features X, in one pass."""
        gathered = np.zeros_like(basis)
        small = np.zeros((basis.shape[1], basis.shape[1]))
        total = np.zeros(basis.shape[1])
        shift = self.centre @ basis
        for part in self._parts(features):
            reached = part @ basis - shift
            gathered += part.T @ reached
            small += reached.T @ reached
            total += reached.sum(axis=0)
        return gathered - np.outer(self.centre, total), small


class SavedScales(SavedField):
    """How the graph's own features are scaled; a model without features has None in its place."""

    columns = "given columns"
    arrays: ClassVar[dict[str, SavedArray]] = {
        "scale": SavedArray("given scale", np.float64, (columns,), low=0),
        "centre": SavedArray("given centre", np.float64, (columns,)),
        "directions": SavedArray("given directions", np.float64, (columns, "given directions")),
    }

    def save(self, model: NodeClassifier, learned: Learned) -> None:
        scales: GivenFeatures | None = getattr(model, self.attribute)
        if scales is None:
            return
        learned.record[self.name] = {"by_row": scales.by_row, "size": scales.size}
        for part, field in self.arrays.items():
            if getattr(scales, part) is not None:
                learned.tensors[field.name] = torch.from_numpy(
                    np.ascontiguousarray(getattr(scales, part))
                )

    def load(self, model: NodeClassifier, learned: Learned, sizes: Sizes) -> None:
        setattr(model, self.attribute, None)
        if self.name not in learned.record:
            return
        entry = learned.record[self.name]
        found: dict[str, Any] = {"directions": None}
        try:
            found["by_row"] = Flag().check("by_row", entry["by_row"])
            found["size"] = POSITIVE.check("size", entry["size"])
        except (TypeError, KeyError, DataError) as error:
            raise self.misfit("by_row and size of the scaled features", entry) from error
        for part, field in self.arrays.items():
            if field.name in learned.tensors:
                found[part] = field.array(learned.tensors[field.name], sizes)
            elif part != "directions":
                raise MisfitError(f"{field.name} is missing")
        setattr(model, self.attribute, GivenFeatures(**found))


def _is_counts(features: Features) -> bool:
    """Whether features look like words, tags or counts rather than measurements."""
    numbers: NDArray[Any] = features if isinstance(features, np.ndarray) else features.data
    if numbers.size and numbers.min() < 0:
        return False
    filled = np.count_nonzero(numbers)
    return bool(filled <= MAX_FILLED * features.shape[0] * features.shape[1])


def _largest(features: Features) -> Floats:
    """The largest entry of each column, whatever its sign."""
    return _dense(abs(features).max(axis=0)).astype(np.float64).ravel()


def _usual_size(features: Features) -> Floats:
    """The root mean square of each column's entries other than zero."""
    largest = _largest(features)
    sparse = sp.csr_array(sp.csr_array(features).astype(np.float64) * _inverse(largest)[None, :])
    filled = np.bincount(sparse.indices[sparse.data != 0], minlength=sparse.shape[1])
    squares = np.bincount(sparse.indices, sparse.data**2, minlength=sparse.shape[1])
    sizes: Floats = largest * np.sqrt(squares / np.maximum(filled, 1))
    return sizes


def _deviations(features: Features) -> Floats:
    """The standard deviation of each column; 0 for a column that is the same everywhere."""
    largest = _largest(features)
    matrix: Features = features.astype(np.float64) * _inverse(largest)[None, :]  # no overflow
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    if isinstance(matrix, np.ndarray):
        deviation = matrix.std(axis=0)
    else:
        square = np.asarray(matrix.multiply(matrix).mean(axis=0)).ravel()
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
    return largest * np.where(deviation <= 1e-7, 0.0, deviation)


def _dense(matrix: Features) -> NDArray[Any]:
    found: NDArray[Any] = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return found


def _inverse(numbers: Floats) -> Floats:
    """One over each number, 0 where it is 0."""
    found: Floats = np.divide(1, numbers, out=np.zeros_like(numbers), where=numbers > 0)
    return found
