"""Files in and out: :func:`read`, :func:`write` and :func:`inspect`, one module per format."""

from gramme.io.files import inspect, read, write
from gramme.io.registry import FORMATS, Format, find_format, register_format
from gramme.io.report import ReadReport

__all__ = [
    "FORMATS",
    "Format",
    "ReadReport",
    "find_format",
    "inspect",
    "read",
    "register_format",
    "write",
]
