"""What the server of processes.py imports before it forks: all that commands and fits in its processes will need.

Some of it is imported by the commands only when it is used; a process that is killed at once should not spend its short
life on that.
"""

import gc

import networkx  # noqa: F401
import numba
import pandas  # noqa: F401
import safetensors.numpy  # noqa: F401
import sklearn.linear_model
import sklearn.manifold  # noqa: F401
import torch  # noqa: F401

import gramme.cli.analysis
import gramme.cli.benchmark_steps
import gramme.cli.fit_steps
import gramme.distributed
import gramme.links
import gramme.methods.attention.gramme_fusion
import gramme.methods.linear.one_hot_logistic
import gramme.methods.majority
import gramme.methods.propagation.label_propagation
import gramme.report.page.fit_page
import gramme.training  # noqa: F401
from gramme.cli.app import _commands

_commands()
numba.njit(lambda: 0)()  # the first function of a process makes numba load the rest of itself
gc.freeze()  # no process looks through it for garbage, which would also copy it
