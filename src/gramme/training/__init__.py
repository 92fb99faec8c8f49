"""The training loop, its callbacks and what it is trained on; ``ensemble.py`` trains a whole ensemble with it."""

from .callbacks import EarlyStopping, History, Progress, joined_history
from .ensemble import (
    ProgressDisplay,
    Settings,
    TrainedEnsemble,
    TrainingTargets,
    held_out_labels,
    train_ensemble,
)
from .loop import Callback, NumberTask, State, Task, evaluate, train

__all__ = [
    "Callback",
    "EarlyStopping",
    "History",
    "TrainingTargets",
    "NumberTask",
    "Progress",
    "ProgressDisplay",
    "Settings",
    "State",
    "Task",
    "TrainedEnsemble",
    "evaluate",
    "held_out_labels",
    "joined_history",
    "train",
    "train_ensemble",
]
