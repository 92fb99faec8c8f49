"""Networks of PyTorch Geometric, to compare with: GAT, R-GCN and HAN.

Start with ``estimator.py``, which all three share; ``network.py`` fits their networks to the project's training loop.
"""
