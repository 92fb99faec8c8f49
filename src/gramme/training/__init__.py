"""The training loop, its callbacks and what it is trained on."""

from gramme.training.callbacks import EarlyStopping, History, Progress, joined_history
from gramme.training.loop import Callback, State, evaluate, train
from gramme.training.progress import ProgressDisplay
from gramme.training.task import Task

__all__ = [
    "Callback",
    "EarlyStopping",
    "History",
    "Progress",
    "ProgressDisplay",
    "State",
    "Task",
    "evaluate",
    "joined_history",
    "train",
]
