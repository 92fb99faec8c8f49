"""A Ray to work on: the one this program is connected to, that of $RAY_ADDRESS, or a local one while it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramme.errors import import_extra


def import_ray(purpose: str) -> Any:
    """The module; where it is absent, an error says what needs it and how to install it."""
    # Ray warns about a default of its own that will change; it has no bearing on work without GPUs.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    return import_extra("ray", "ray", purpose)


@contextmanager
def connected_ray(purpose: str, cpus: int, *, talks: bool = False) -> Iterator[Any]:
    """Ray, connected; what was not connected before is left with the context.

    Parameters
    ----------
    purpose : str
        What needs Ray, for the error where it is not installed.
    cpus : int
        How many tasks a local Ray runs side by side.
    talks : bool, default=False
        Whether what the tasks print is shown here.
    """
    ray = import_ray(purpose)
    ours = not ray.is_initialized()
    if ours and os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=talks)
    elif ours:
        ray.init(
            num_cpus=cpus, include_dashboard=False, log_to_driver=talks, configure_logging=False
        )
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()
