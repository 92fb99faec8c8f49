"""Embeddings learned without labels, then a classifier: the paper's baselines.

Start with ``estimator.py``, which all share; ``cache.py`` keeps embeddings on disk.
"""
