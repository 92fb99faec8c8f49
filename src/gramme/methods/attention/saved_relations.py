"""Networks over relations in a model's file: their sizes, weights, shares, and the names of what they know.

Nodes are kept as positions among the nodes of the model, which its file has once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from gramme.errors import DataError
from gramme.methods.attention.relation_models import LabelInputs, LearnedInputs, RelationModel
from gramme.methods.attention.relations import RelationPool
from gramme.methods.linear.one_hot import LayerColumns
from gramme.methods.params import Number, WholeNumber
from gramme.methods.persistence import Learned, MisfitError, SavedField, Sizes, check_weights
from gramme.nn.relations import LabelNetwork, TableNetwork

if TYPE_CHECKING:
    from gramme.methods.base import GraphEstimator

MAX_HOPS, MAX_COLUMNS = 64, 4096
"""More than any network over relations has."""


class SavedRelations(SavedField):
    """A :class:`~gramme.methods.attention.relations.RelationPool`, or nothing."""

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        pool: RelationPool | None = getattr(model, self.attribute)
        if pool is None:
            return
        entries: list[dict[str, Any]] = []
        for place, one in enumerate(pool.models):
            start = f"{self.name}.{place}."
            learned.tensors |= {
                f"{start}{name}": value.detach().clone() for name, value in one.network.state_dict().items()
            }
            if isinstance(one, LabelInputs):
                entries.append({"kind": "labels", "hops": one.network.hops})
                nodes = model.nodes_.get_indexer(one.names)
                learned.tensors[f"{self.name}.known.{place}"] = torch.from_numpy(nodes.copy())
                learned.tensors[f"{self.name}.codes.{place}"] = torch.from_numpy(one.codes.copy())
            elif isinstance(one, LearnedInputs):
                groups = []
                for view, columns in enumerate(one.columns):
                    if columns.kind == "groups":
                        groups.append(columns.record())
                        continue
                    nodes = model.nodes_.get_indexer(columns.names)
                    key = f"{self.name}.sources.{place}.{view}"
                    learned.tensors[key] = torch.from_numpy(nodes.copy())
                entries.append({"kind": "learned", "groups": groups})
        learned.record[self.name] = {
            "layout": [[int(part) for part in view] for view in pool.models[0].layout],
            "models": entries,
            "shares": pool.shares,
            "fixed_share": pool.fixed_share,
            "exponent": pool.exponent,
        }

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = learned.record.get(self.name)
        if entry is None:
            setattr(model, self.attribute, None)
            return
        wanted = {"layout", "models", "shares", "fixed_share", "exponent"}
        if not isinstance(entry, dict) or set(entry) != wanted:
            raise self.misfit(f"a record of {', '.join(sorted(wanted))}", entry)
        layout = self._layout(entry["layout"], sizes)
        models, shares = entry["models"], entry["shares"]
        if not isinstance(models, list) or not isinstance(shares, list) or not models:
            raise self.misfit("lists of models and shares", models)
        if len(models) != len(shares):
            raise self.misfit("a share for each model", shares)
        found = [self._model(place, one, layout, model, learned, sizes) for place, one in enumerate(models)]
        numbers = [self._number(one, 0, 1 + 1e-6) for one in shares]
        fixed = self._number(entry["fixed_share"], 0, 1 + 1e-6)
        exponent = self._number(entry["exponent"], 0, 100)
        setattr(model, self.attribute, RelationPool(found, numbers, fixed, exponent))

    def _number(self, value: Any, low: float, high: float) -> float:
        try:
            return float(Number(low, high).check_saved(self.name, value))
        except DataError as error:
            raise MisfitError(str(error)) from error

    def _layout(self, entry: Any, sizes: Sizes) -> list[tuple[int, bool, bool]]:
        found: list[tuple[int, bool, bool]] = []
        for view in entry if isinstance(entry, list) else [None]:
            if (
                not isinstance(view, list)
                or len(view) != 3
                or not all(isinstance(part, int) for part in view)
                or not 0 <= view[0] < sizes["layers"]
            ):
                raise self.misfit("such that a view has a layer and two flags", view)
            found.append((int(view[0]), bool(view[1]), bool(view[2])))
        return found

    def _model(
        self,
        place: int,
        entry: Any,
        layout: list[tuple[int, bool, bool]],
        model: GraphEstimator,
        learned: Learned,
        sizes: Sizes,
    ) -> RelationModel:
        start = f"{self.name}.{place}."
        state = {name.removeprefix(start): value for name, value in learned.tensors.items() if name.startswith(start)}
        for name, value in state.items():
            if not value.is_floating_point() or not bool(value.isfinite().all()):
                raise MisfitError(f"the weights {name} must be finite numbers")
        kind = entry.get("kind") if isinstance(entry, dict) else None
        table = state.get("labels" if kind == "labels" else "table")
        if kind not in ("labels", "learned") or table is None or table.dim() != 2:
            raise self.misfit("models with labels or learned rows as inputs", entry)
        columns = int(table.shape[1])
        if not 0 < columns <= MAX_COLUMNS:
            raise self.misfit(f"of at most {MAX_COLUMNS} columns", columns)
        bound = getattr(model, "score_bound", None)
        shared: dict[str, Any] = {"columns": columns, "dropout": 0.0, "score_bound": bound}
        if kind == "labels":
            hops = self._whole(entry.get("hops"), MAX_HOPS)
            label_network = self._loaded(
                lambda: LabelNetwork(
                    len(layout),
                    sum(groups for _, _, groups in layout),
                    sizes["classes"],
                    hops=hops,
                    generator=torch.Generator(),
                    **shared,
                ),
                state,
            )
            nodes = self._positions(f"{self.name}.known.{place}", learned, sizes["nodes"])
            codes = self._positions(f"{self.name}.codes.{place}", learned, sizes["classes"])
            if nodes.size != codes.size:
                raise self.misfit("such that every known node has a class", nodes.size)
            return LabelInputs(layout, label_network, model.nodes_[nodes], codes)
        named = self._columns(place, entry.get("groups"), layout, model, learned, sizes)
        rows = sum(len(one.names) for one in named)
        table_network = self._loaded(
            lambda: TableNetwork(rows, sizes["classes"], generator=torch.Generator(), **shared), state
        )
        return LearnedInputs(layout, table_network, named)

    def _columns(
        self,
        place: int,
        groups: Any,
        layout: list[tuple[int, bool, bool]],
        model: GraphEstimator,
        learned: Learned,
        sizes: Sizes,
    ) -> list[LayerColumns]:
        records = iter(groups if isinstance(groups, list) else [])
        found = []
        for view, (layer, _, grouped) in enumerate(layout):
            name = model.layer_order_[layer]
            if grouped:
                found.append(LayerColumns.from_record(next(records, None), self, name))
                continue
            key = f"{self.name}.sources.{place}.{view}"
            nodes = self._positions(key, learned, sizes["nodes"])
            found.append(LayerColumns(name, "edges", pd.Index(model.nodes_[nodes])))
        return found

    def _loaded(self, make: Any, state: dict[str, Tensor]) -> Any:
        """A network with weights from a file, once they are known to be of its shape."""
        network = make()
        check_weights(state, {name: one.shape for name, one in network.state_dict().items()})
        network.load_state_dict(state)
        network.eval()
        return network

    def _whole(self, value: Any, most: int) -> int:
        try:
            found = int(WholeNumber().check_saved(self.name, value))
        except DataError as error:
            raise MisfitError(str(error)) from error
        if found > most:
            raise self.misfit(f"at most {most} hops", found)
        return found

    def _positions(self, key: str, learned: Learned, size: int) -> Any:
        tensor = learned.tensors.get(key)
        if tensor is None or tensor.dim() != 1 or tensor.dtype != torch.int64:
            raise MisfitError(f"{key} must be a list of whole numbers")
        found = tensor.numpy().astype(np.int64)
        if found.size and not 0 <= int(found.min()) <= int(found.max()) < size:
            raise MisfitError(f"{key} must be from 0 to {size - 1}")
        return found
