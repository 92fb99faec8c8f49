"""Known labels spread to neighbours.

Start with ``label_propagation.py``; ``series.py`` has the arithmetic, ``settings_choice.py`` how the settings
are chosen on the training labels.
"""
