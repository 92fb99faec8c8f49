"""The paper's attention models, GrAMME-Fusion and GrAMME-SG.

Start with ``estimator.py``, which both share; ``gramme_fusion.py`` and ``gramme_sg.py`` add what is their own. The
networks are in ``gramme.nn``, their training is in ``gramme.training``.
"""
