"""A graph's own features, scaled so that a network can learn from them whatever their unit.

The size of its inputs decides how fast a network learns. Features of size 0.01 give gradients of that size. Weight
decay then outweighs them, all weights go to zero, and the model predicts one class. So features are scaled first, by a
rule that looks only at the features:

- *words, tags, counts* (no negative number, at most half of the entries not zero): each column by its usual size where
  it is not zero, the square root of that, each row to length 1. What a node has counts by its share, not by how much
  the node has altogether.
- *measurements* (everything else): each column to variance 1.

Where words or counts have more columns than wanted, they stay as they are, entries in a sparse matrix, up to the first
product (:mod:`gramme.ops.features`). Their size then decides how fast a network learns. Adam moves each weight
by about the learning rate, whatever the gradient, so that a step moves what a node is projected to by the learning rate
times the sum of its entries. That sum is therefore made the same for all features, on average: where it is large, a
network has learned its few labels by heart before it has learned which words go together.

In all other cases columns are centred. Where there are more of them than wanted, the leading singular directions take
their place; centring is a rank-one term beside the sparse product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.distributed import SINGLE_PROCESS, Communicator
from gramme.errors import DataError
from gramme.methods.params import POSITIVE, Flag
from gramme.methods.persistence import Learned, MisfitError, SavedArray, SavedField, Sizes, checked

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator

ENTRY_SUM = 20.0  # what a node's entries sum to on average; chosen on training labels, docs/evidence/choices.md

Matrix = NDArray[np.float32]
Features = Any  # a numpy array or a scipy CSR array


@dataclass(frozen=True)
class GivenFeatures:
    """How to scale features, learned from one graph's and applied to any other's.

    ``by_row``: Whether rows have length 1 (words, tags, counts) or columns variance 1 (measurements); ``scale``,
    ``centre`` (columns,): What a column is multiplied by at first, and what is taken from it at last; ``directions``
    (columns, kept): The leading singular directions, if not all columns are kept; ``size``: What makes the mean square
    of all numbers 1, or the mean sum of a row's entries what it should be; ``entries``: Whether they stay entries of a
    sparse matrix.
    """

    by_row: bool
    scale: Floats
    centre: Floats
    directions: Floats | None
    size: float
    entries: bool = False

    @classmethod
    def of(
        cls,
        features: Features,
        most: int,
        communicator: Communicator = SINGLE_PROCESS,
        *,
        may_be_sparse: bool = False,
        entry_sum: float = ENTRY_SUM,
    ) -> Self:
        """Learn the scales of some features; where several processes have rows of them, all learn from all rows.

        Where they have more than ``most`` columns, words and counts stay sparse if they may, and a node's entries sum
        to ``entry_sum`` on average; of others so many leading directions are kept.
        """
        columns = features.shape[1]
        if not columns:
            return cls(False, np.zeros(0), np.zeros(0), None, 1.0)
        row_count = int(communicator.all_sum(features.shape[0]))
        by_row = _is_counts(features, row_count, communicator)
        scale = _inverse(
            _usual_size(features, communicator) if by_row else _deviations(features, row_count, communicator)
        )
        raw = cls(by_row, scale, np.zeros(columns), None, 1.0)
        if by_row and may_be_sparse and columns > most:
            entry_total = float(communicator.all_sum(sum(float(part.sum()) for part in raw._parts(features))))
            wanted_total = entry_sum * row_count
            return cls(
                True, scale, raw.centre, None, wanted_total / entry_total if entry_total > 0 else 1.0, entries=True
            )
        centre = np.zeros(columns)
        for feature_chunk in raw._parts(features):
            centre += np.asarray(feature_chunk.sum(axis=0), dtype=np.float64).ravel()
        centre = communicator.all_sum(centre) / max(row_count, 1)
        centred = cls(by_row, scale, centre, None, 1.0)
        directions = centred._leading(features, row_count, most, communicator) if columns > most else None
        plain = cls(by_row, scale, centre, directions, 1.0)
        squares = np.square(plain.table(features), dtype=np.float64)
        if communicator.alone:
            size = np.sqrt(np.mean(squares))
        else:
            size = np.sqrt(communicator.all_sum(float(squares.sum())) / max(row_count * squares.shape[1], 1))
        return cls(by_row, scale, centre, directions, float(1 / size) if size > 0 else 1.0)

    @property
    def columns(self) -> int:
        """Columns of what :meth:`table` returns."""
        return self.scale.size if self.directions is None else self.directions.shape[1]

    def table(self, features: Features) -> Matrix:
        """Scaled features, shape (nodes, columns)."""
        self._check_columns(features)
        scaled_chunks = [np.zeros((0, self.columns), dtype=np.float32)]
        for feature_chunk in self._parts(features):
            if self.directions is None:
                dense = _dense(feature_chunk) - self.centre
            else:
                dense = feature_chunk @ self.directions - self.centre @ self.directions
            scaled_chunks.append((dense * self.size).astype(np.float32))
        return np.concatenate(scaled_chunks)

    def sparse(self, features: Features) -> Any:
        """Scaled features that stay entries, as a CSR array (nodes, columns) of float32."""
        self._check_columns(features)
        scaled_chunks = [(feature_chunk * self.size).astype(np.float32) for feature_chunk in self._parts(features)]
        empty = sp.csr_array((0, self.scale.size), dtype=np.float32)
        return sp.csr_array(sp.vstack([empty, *scaled_chunks], format="csr"))

    def _check_columns(self, features: Features) -> None:
        if features.shape[1] != self.scale.size:
            raise DataError(f"the model needs {self.scale.size} features per node; the graph has {features.shape[1]}")

    def _parts(self, features: Features) -> Iterator[Features]:
        """The features chunk by chunk, scaled but not centred: a sparse matrix stays sparse."""
        chunk = 65_536  # rows of a dense matrix that are scaled at a time
        for chunk_start in range(0, features.shape[0], chunk):
            feature_chunk: Features = features[chunk_start : chunk_start + chunk].astype(np.float64)
            if not self.by_row:
                yield feature_chunk * self.scale[None, :]
                continue
            count_chunk: Features = sp.csr_array(feature_chunk)
            sparse: Features = sp.csr_array(count_chunk * self.scale[None, :])
            sparse.data = np.sqrt(np.maximum(sparse.data, 0))
            lengths = np.sqrt(np.asarray(sparse.multiply(sparse).sum(axis=1)).ravel())
            yield sp.csr_array(sp.diags_array(_inverse(lengths)) @ sparse)

    def _leading(self, features: Features, rows: int, most: int, communicator: Communicator) -> Floats:
        """The leading singular directions of the centred features, by a randomised range finder.

        N. Halko, P. G. Martinsson, J. A. Tropp, "Finding Structure with Randomness", SIAM Review 53, 2011. The start is
        fixed, so that the same features give the same directions.
        """
        column_count = features.shape[1]
        direction_count = min(most + 16, rows, column_count)  # a few more make the leading ones exact
        basis = np.random.default_rng(0).normal(size=(column_count, direction_count))
        basis, _ = np.linalg.qr(basis)
        small = np.zeros((direction_count, direction_count))
        for _ in range(4):
            gathered, small = self._passed(features, basis, communicator)
            basis, _ = np.linalg.qr(gathered)
        _, small = self._passed(features, basis, communicator)
        values, turn = np.linalg.eigh(small)
        leading: Floats = basis @ turn[:, np.argsort(-values, kind="stable")[:most]]
        # the sign of a direction is arbitrary; its largest entry is positive, whatever the library underneath
        largest = np.abs(leading).argmax(axis=0)
        signs = np.where(leading[largest, np.arange(leading.shape[1])] < 0, -1.0, 1.0)
        return leading * signs

    def _passed(self, features: Features, basis: Floats, communicator: Communicator) -> tuple[Floats, Floats]:
        """X' X B and B' X' X B for the centred features X, in one pass."""
        gathered = np.zeros_like(basis)
        small = np.zeros((basis.shape[1], basis.shape[1]))
        projected_total = np.zeros(basis.shape[1])
        shift = self.centre @ basis
        for feature_chunk in self._parts(features):
            reached = feature_chunk @ basis - shift
            gathered += feature_chunk.T @ reached
            small += reached.T @ reached
            projected_total += reached.sum(axis=0)
        gathered, small, projected_total = (
            communicator.all_sum(process_sum) for process_sum in (gathered, small, projected_total)
        )
        return gathered - np.outer(self.centre, projected_total), small


class SavedScales(SavedField):
    """How the graph's own features are scaled; a model without features has None in its place."""

    columns = "given columns"
    arrays: ClassVar[dict[str, SavedArray]] = {
        "scale": SavedArray("given scale", np.float64, (columns,), low=0),
        "centre": SavedArray("given centre", np.float64, (columns,)),
        "directions": SavedArray("given directions", np.float64, (columns, "given directions")),
    }

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        scales: GivenFeatures | None = getattr(model, self.attribute)
        if scales is None:
            return
        learned.record[self.name] = {"by_row": scales.by_row, "size": scales.size, "entries": scales.entries}
        for part_name, field in self.arrays.items():
            if getattr(scales, part_name) is not None:
                learned.tensors[field.name] = torch.from_numpy(np.ascontiguousarray(getattr(scales, part_name)))

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        setattr(model, self.attribute, None)
        if self.name not in learned.record:
            return
        scales_record = learned.record[self.name]
        scale_parts: dict[str, Any] = {
            "by_row": checked(Flag(), "by_row", scales_record["by_row"]),
            "size": checked(POSITIVE, "size", scales_record["size"]),
            "entries": checked(Flag(), "entries", scales_record.get("entries", False)),  # older files have none
            "directions": None,
        }
        for part_name, field in self.arrays.items():
            if field.name in learned.tensors:
                scale_parts[part_name] = field.array(learned.tensors[field.name], sizes)
            elif part_name != "directions":
                raise MisfitError(f"{field.name} is missing")
        setattr(model, self.attribute, GivenFeatures(**scale_parts))


def _is_counts(features: Features, rows: int, communicator: Communicator) -> bool:
    """Whether features look like words, tags or counts rather than measurements."""
    stored_entries: NDArray[Any] = features if isinstance(features, np.ndarray) else features.data
    if communicator.any(bool(stored_entries.size and stored_entries.min() < 0)):
        return False
    filled = communicator.all_sum(np.count_nonzero(stored_entries))
    return bool(filled <= 0.5 * rows * features.shape[1])


def _largest(features: Features, communicator: Communicator) -> Floats:
    """The largest entry of each column, whatever its sign."""
    column_maxima: Floats = communicator.all_max(_dense(abs(features).max(axis=0)).astype(np.float64).ravel())
    return column_maxima


def _usual_size(features: Features, communicator: Communicator) -> Floats:
    """The root mean square of each column's entries other than zero."""
    largest = _largest(features, communicator)
    sparse = sp.csr_array(sp.csr_array(features).astype(np.float64) * _inverse(largest)[None, :])
    filled = communicator.all_sum(np.bincount(sparse.indices[sparse.data != 0], minlength=sparse.shape[1]))
    squares = communicator.all_sum(np.bincount(sparse.indices, sparse.data**2, minlength=sparse.shape[1]))
    usual_sizes: Floats = largest * np.sqrt(squares / np.maximum(filled, 1))
    return usual_sizes


def _deviations(features: Features, rows: int, communicator: Communicator) -> Floats:
    """The standard deviation of each column; 0 for a column that is the same everywhere."""
    largest = _largest(features, communicator)
    matrix: Features = features.astype(np.float64) * _inverse(largest)[None, :]  # no overflow
    if communicator.alone:
        mean = np.asarray(matrix.mean(axis=0)).ravel()
    else:
        mean = communicator.all_sum(np.asarray(matrix.sum(axis=0), dtype=np.float64).ravel()) / max(rows, 1)
    if isinstance(matrix, np.ndarray) and communicator.alone:
        deviation = matrix.std(axis=0)
    elif isinstance(matrix, np.ndarray):
        deviation = np.sqrt(communicator.all_sum(((matrix - mean) ** 2).sum(axis=0)) / max(rows, 1))
    else:
        squares = np.asarray(matrix.multiply(matrix).sum(axis=0), dtype=np.float64).ravel()
        square = communicator.all_sum(squares) / max(rows, 1)
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
    return largest * np.where(deviation <= 1e-7, 0.0, deviation)


def _dense(matrix: Features) -> NDArray[Any]:
    dense_matrix: NDArray[Any] = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return dense_matrix


def _inverse(numbers: Floats) -> Floats:
    """One over each number, 0 where it is 0."""
    inverse_numbers: Floats = np.divide(1, numbers, out=np.zeros_like(numbers), where=numbers > 0)
    return inverse_numbers
