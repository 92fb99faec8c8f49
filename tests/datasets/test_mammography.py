from pathlib import Path

import pytest

from gramme import datasets
from gramme.errors import DataError
from gramme.graph import MembershipLayer


def test_mammography_groups(gramme_data: Path):
    paper = datasets.load("mammography").layers["age"]
    plain = datasets.load("mammography", recipe="plain").layers["age"]
    assert isinstance(paper, MembershipLayer)
    assert isinstance(plain, MembershipLayer)
    assert sorted(plain.group_names) == ["18-33", "34-49", "50-65", "66-81", "82-97"]
    assert dict(zip(paper.group_names, paper.sizes, strict=True))["unknown"] == 5
    with pytest.raises(DataError, match="did you mean 'plain'"):
        datasets.load("mammography", recipe="plane")
