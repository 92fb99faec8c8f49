"""Embeddings learned without labels, then a classifier: the paper's baselines. Start with ``estimator.py``."""
