"""The training loop, its callbacks and what it is trained on; ``ensemble.py`` trains a whole ensemble with it.

Stable for use outside are :class:`Callback` and :class:`State`, for ``fit(callbacks=...)`` of the attention models, and
:class:`Task` with :data:`Loss`, for ``fit(loss=...)``.
"""

from .ensemble import ProgressDisplay, TrainedEnsemble, TrainingTargets, held_out_labels, train_ensemble
from .loop import (
    Callback,
    ChangingTask,
    EarlyStopping,
    History,
    Loss,
    NumberTask,
    Progress,
    Settings,
    State,
    Task,
    evaluate,
    joined_history,
    train,
)

__all__ = [
    "Callback",
    "ChangingTask",
    "EarlyStopping",
    "History",
    "Loss",
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
