"""Small fits of links, for tests of what is around them; those of trees grow them in full."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def short_fits() -> Iterator[None]:
    """Few trees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gramme.links.mixture.NUM_TREES", 20)
        yield
