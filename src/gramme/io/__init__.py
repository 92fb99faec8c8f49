"""Files in and out: :func:`read`, :func:`write` and :func:`inspect`, one module per format."""

from gramme.io.files import inspect, read, write
from gramme.io.registry import FORMATS, Format, find_format, register_format
from gramme.io.relations import inspect_relations, read_relations
from gramme.io.report import ReadReport

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
