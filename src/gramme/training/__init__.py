"""The training loop, its callbacks and what it is trained on; ``ensemble.py`` trains a whole ensemble with it."""

from gramme.training.callbacks import EarlyStopping, History, Progress, joined_history
from gramme.training.ensemble import Settings, TrainedEnsemble, train_ensemble
from gramme.training.lessons import Lessons, held_out_labels
from gramme.training.loop import Callback, State, evaluate, train
from gramme.training.progress import ProgressDisplay
from gramme.training.task import NumberTask, Task

__all__ = [
    "Callback",
    "EarlyStopping",
    "History",
    "Lessons",
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
