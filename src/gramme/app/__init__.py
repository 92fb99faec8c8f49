"""The app: a page on one's own machine to look at a network, label a few nodes, fit, and send what came out.

``gramme app`` starts it. ``server`` listens on loopback and guards every request, ``routes`` answers them, ``project``
is the folder of plain files behind them, ``roles`` and ``reading`` say what each file and column is, ``jobs`` runs the
command line in processes of their own (``worker``), and ``views`` turns graph and results into what a page shows.
"""
