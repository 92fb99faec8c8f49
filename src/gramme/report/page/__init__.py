"""The page that a person can send to a colleague: one HTML file about a fit or about a benchmark."""

from .fit_page import fit_data, write_fit_page
from .html import read_data, render

__all__ = ["fit_data", "read_data", "render", "write_fit_page"]
