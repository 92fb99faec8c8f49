"""Small fits of links, for tests of what is around them; those of attention and of trees train them in full."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def short_fits() -> Iterator[None]:
    """Few epochs, one member and few trees."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gramme.links.attention.EPOCHS", 3)
        patch.setattr("gramme.links.attention.MEMBERS", 1)
        patch.setattr("gramme.links.mixture.NUM_TREES", 20)
        yield
