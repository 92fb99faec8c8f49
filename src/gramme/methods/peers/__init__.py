"""Networks of PyTorch Geometric, to compare with: GAT, R-GCN and HAN."""
