"""GrammeAuto, the mixture that is the default.

Start with ``gramme_auto.py``; ``ingredients.py`` lists what is mixed, ``mixing.py`` has the arithmetic.
"""
