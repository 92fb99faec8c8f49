"""GrammeAuto, the mixture that is the default. Start with ``gramme_auto.py``; ``mixing.py`` has the arithmetic."""
