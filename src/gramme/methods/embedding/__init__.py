"""Embeddings learned without labels, then a classifier: the paper's baselines. ``base.py`` has what all share."""
