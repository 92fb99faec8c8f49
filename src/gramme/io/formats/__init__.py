"""One module per file format, each with ``read`` and ``write``; ``gramme/io/registry.py`` lists them."""
