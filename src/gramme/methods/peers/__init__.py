"""Graph networks of PyTorch Geometric to compare with. Start with ``estimator.py``."""
