"""How large the tests marked `slow` are: whole, or with GRAMME_SLOW_SHARE=0.02 a sample of them, as in CI."""

import os


def sample(full: int, least: int = 1) -> int:
    """The size of a slow test: `full`, or the share of it that is asked for, but never below `least`."""
    return max(least, round(full * float(os.environ.get("GRAMME_SLOW_SHARE", "1"))))
