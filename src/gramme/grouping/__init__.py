"""Before there are labels: what groups are there (:func:`groups`), and whom to ask first (:func:`ask`).

Both look at all layers at once and learn from the layers themselves how much each counts. Memberships stay
memberships.
"""

from gramme.grouping.communities import groups
from gramme.grouping.found_groups import Groups
from gramme.grouping.label_choice import Cover, ask, cover

__all__ = ["Cover", "Groups", "ask", "cover", "groups"]
