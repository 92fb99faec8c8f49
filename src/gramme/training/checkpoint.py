"""Checkpoints: a training that was cut off resumes where it was, and ends with the same bits.

Within :func:`checkpoints` every training of the process keeps its weights, the optimiser's state, what its callbacks
know and how many dropout masks were drawn, every few minutes and at its end. Trainings are told apart by their order,
which the same command repeats. One process writes for all, since all of this is the same everywhere; files are
safetensors, and each replaces the one before in one step.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
import warnings
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

from gramme._text import rough_duration
from gramme.errors import DataError, GrammeError, GrammeWarning
from gramme.ops.communicator import Communicator

if TYPE_CHECKING:
    from gramme.nn import Network

    from .loop import Adam, Callback, State

CHECKPOINT_SECONDS = 120.0
"""Between two checkpoints of a training; ``GRAMME_CHECKPOINT_SECONDS`` changes it."""
FORMAT = "gramme checkpoint 1"
MARKER = "gramme-checkpoints.txt"
"""A folder without this file is not ours."""


class Keeper:
    """Keeps and brings back the trainings of one command.

    ``communicator``: Of which the first process writes and reads; ``data``: A digest of the graph and the labels:
    trainings on others are not gone on with.
    """

    def __init__(self, folder: Path, communicator: Communicator, data: str = "") -> None:
        self.folder, self.communicator, self.data = folder, communicator, data
        self.every = float(os.environ.get("GRAMME_CHECKPOINT_SECONDS", CHECKPOINT_SECONDS))
        self.trainings = 0

    def next_training(self, network: Network, epochs: int, settings: Sequence[float]) -> Training:
        """The place of the next training in the folder."""
        shapes = [(name, tuple(weight_tensor.shape)) for name, weight_tensor in network.named_parameters()]
        print_of = hashlib.sha256(repr((shapes, epochs, *settings, self.data)).encode()).hexdigest()
        self.trainings += 1
        return Training(self, self.folder / f"training-{self.trainings:04d}.safetensors", print_of)


class Training:
    """One training's file."""

    def __init__(self, keeper: Keeper, path: Path, fingerprint: str) -> None:
        self.keeper, self.path, self.fingerprint = keeper, path, fingerprint
        self._saved_at = time.monotonic()

    def restore(self, state: State, optimiser: Adam, callbacks: Sequence[Callback]) -> bool:
        """Bring back what was kept; returns whether the training had ended."""
        communicator = self.keeper.communicator
        data = None
        if communicator.first:
            file_bytes = self.path.read_bytes() if self.path.is_file() else b""
            data = np.frombuffer(file_bytes, dtype=np.uint8)
        raw = communicator.broadcast(data).tobytes()
        if not raw:
            return False
        try:
            tensors = load(raw)
            record = json.loads(bytes(tensors.pop("record").tolist()))
            if record["format"] != FORMAT or record["fingerprint"] != self.fingerprint:
                raise ValueError("it is of another fit: of other data, labels or settings")
            network = state.network
            network.load_state_dict(_under(tensors, "network."))
            for name, state_tensor in optimiser.state().items():
                state_tensor.copy_(tensors[f"adam.{name}"])
            network.random.calls = int(record["calls"])
            state.epoch = int(record["epoch"])
            for callback_number, callback in enumerate(callbacks):
                callback.restore(_under(tensors, f"callback.{callback_number}."), record["callbacks"][callback_number])
            return bool(record["ended"])
        except (ValueError, KeyError, RuntimeError, TypeError, IndexError) as error:
            raise DataError(
                f"the checkpoint {self.path} does not fit: {error}; leave out --resume to begin anew"
            ) from None
        except Exception as error:  # safetensors has an exception of its own
            raise DataError(
                f"the checkpoint {self.path} is damaged: {error}; leave out --resume to begin anew"
            ) from None

    def keep(self, state: State, optimiser: Adam, callbacks: Sequence[Callback], *, ended: bool = False) -> None:
        """Write a checkpoint if it is time for one, or the training has ended."""
        due = time.monotonic() - self._saved_at >= self.keeper.every
        if not self.keeper.communicator.first or not (due or ended):
            return
        tensors: dict[str, Tensor] = {
            f"network.{name}": weight_tensor for name, weight_tensor in state.network.state_dict().items()
        }
        tensors |= {f"adam.{name}": weight_tensor for name, weight_tensor in optimiser.state().items()}
        records = []
        for callback_number, callback in enumerate(callbacks):
            callback_tensors, callback_record = callback.kept_state()
            tensors |= {
                f"callback.{callback_number}.{name}": weight_tensor for name, weight_tensor in callback_tensors.items()
            }
            records.append(callback_record)
        record = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "epoch": state.epoch,
            "calls": state.network.random.calls,
            "ended": ended,
            "callbacks": records,
        }
        text = json.dumps(record).encode()
        tensors["record"] = torch.frombuffer(bytearray(text), dtype=torch.uint8)
        _write(self.path, save({name: weight_tensor.contiguous().cpu() for name, weight_tensor in tensors.items()}))
        self._saved_at = time.monotonic()


_current: ContextVar[Keeper | None] = ContextVar("keeper", default=None)


def current_keeper() -> Keeper | None:
    """Where trainings are kept; None outside :func:`checkpoints`."""
    return _current.get()


@contextlib.contextmanager
def checkpoints(folder: Path, communicator: Communicator, *, resume: bool, data: str = "") -> Iterator[Keeper]:
    """Within this, trainings are kept in a folder, which is gone once all went well.

    ``resume``: Go on from what the folder holds; else it is emptied first; ``data``: A digest of the graph and the
    labels; a checkpoint of others is refused.
    """
    if communicator.first:
        _take(folder, resume=resume)
    keeper = Keeper(folder, communicator, data)
    token = _current.set(keeper)
    try:
        yield keeper
    finally:
        _current.reset(token)
    if communicator.first:
        shutil.rmtree(folder, ignore_errors=True)


def _take(folder: Path, *, resume: bool) -> None:
    """Make the folder, or take over one that an earlier fit left; one that is not ours is never touched."""
    marker = folder / MARKER
    try:
        if folder.exists() and not marker.is_file() and any(folder.iterdir()):
            raise DataError(
                f"{folder} is in the way of checkpoints and not gramme's own; move it, or name another result"
            )
        if resume:
            _say_what_is_kept(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        if not marker.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            marker.write_text(f"{FORMAT}\n", encoding="utf-8")
    except OSError as error:
        raise GrammeError(f"{folder} cannot be made for checkpoints: {error}") from error


def _say_what_is_kept(folder: Path) -> None:
    written_times = [path.stat().st_mtime for path in folder.glob("*.safetensors")]
    if written_times:
        ago = rough_duration(max(time.time() - max(written_times), 1.0))
        resume_message = f"going on from the last checkpoint in {folder}, {ago} old"
    else:
        resume_message = f"there is no checkpoint in {folder}, so the fit begins anew"
    warnings.warn(resume_message, GrammeWarning, stacklevel=5)


def _under(tensors: dict[str, Tensor], start: str) -> dict[str, Tensor]:
    return {name.removeprefix(start): some_tensor for name, some_tensor in tensors.items() if name.startswith(start)}


def _write(path: Path, data: bytes) -> None:
    """Replace a file in one step, once its bytes are on the disk."""
    fresh = path.with_suffix(".part")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
