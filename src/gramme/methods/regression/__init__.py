"""Numbers as labels. Start with ``base.py``; ``gramme_regressor.py`` mixes the others."""
