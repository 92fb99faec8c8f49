"""Numbers as labels: a mixture of propagation and ridge regressions. Start with ``gramme_regressor.py``."""
