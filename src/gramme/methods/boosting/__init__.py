"""Gradient boosting on numbers and group statistics. Start with ``table_boosting.py``."""
