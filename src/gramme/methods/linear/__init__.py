"""Logistic regressions on what a graph says about a node.

Its groups (``one_hot_logistic.py``), where walks from it lead (``spectral_logistic.py``), its neighbourhood's features
(``neighbourhood_logistic.py``). Start with ``logistic.py``, which they share.
"""
