"""Too little memory ends in a message: neither in a traceback nor in a process that the system kills without a word.

Linux promises more memory than there is and kills a process that takes it at its word. Within :func:`bounded_memory`
the promise is limited to what is free, so that a request for more fails and can be told to the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gramme._memory import free_bytes, kibibytes
from gramme.errors import DataError

# torch has no error class of its own for either
_WORDS = ("alloc", "overflow")


@contextmanager
def bounded_memory(advice: str, *, most: int | None = None) -> Iterator[None]:
    """Within this a lack of memory is a :class:`DataError` that gives the advice.

    Parameters
    ----------
    advice : str
        What needs less.
    most : int, optional
        Bytes that may be taken beyond what is in use; what is free if not given. On other systems than Linux there
        is no limit but what the system sets.
    """
    try:
        with _limited(most):
            yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not any(word in str(error) for word in _WORDS):
            raise
        raise DataError(f"the memory is too small: {advice}") from error


@contextmanager
def _limited(most: int | None) -> Iterator[None]:
    try:
        import resource

        import torch

        if torch.cuda.is_available():  # its driver reserves addresses far beyond the memory it uses
            raise OSError
        used, free = 1024 * kibibytes("self/status", "VmData"), free_bytes()
        if free is None:
            raise OSError
        before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    except (ImportError, OSError, ValueError):
        yield
        return
    wanted = used + (free if most is None else most)
    bounds = [one for one in (before, hard, wanted) if one != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))
