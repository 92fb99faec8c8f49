"""The page that a person can send to a colleague: one HTML file about a fit or about a benchmark."""

from .fit_page import Section, fit_data, register_section, write_fit_page
from .html import read_data, render

__all__ = ["Section", "fit_data", "read_data", "register_section", "render", "write_fit_page"]
