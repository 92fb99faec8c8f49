"""Files in and out: :func:`read`, :func:`write` and :func:`inspect`, one module per format."""

from .api import inspect, read, write
from .parsed import ReadReport
from .registry import FORMATS, Format, find_format, register_format
from .relations import inspect_relations, read_relations

__all__ = [
    "FORMATS",
    "Format",
    "ReadReport",
    "find_format",
    "inspect",
    "inspect_relations",
    "read",
    "read_relations",
    "register_format",
    "write",
]
