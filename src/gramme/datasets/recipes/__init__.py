"""How each dataset becomes a graph: one module per family of datasets."""
