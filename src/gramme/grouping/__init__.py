"""Before there are labels: what groups are there (:func:`groups`), and whom to ask first (:func:`ask`).

Both look at all layers at once and learn from the layers themselves how much each counts. Memberships stay
memberships.
"""

from .communities import groups
from .found_groups import Groups
from .label_choice import Cover, ask, cover

__all__ = ["Cover", "Groups", "ask", "cover", "groups"]
