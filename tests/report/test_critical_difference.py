import pytest

from gramme.errors import DataError
from gramme.evaluation import average_ranks
from gramme.report.critical_difference import critical_difference_figure, write_critical_difference

RANKING = average_ranks(
    [[90, 80, 70, 10], [95, 85, 75, 20], [60, 61, 50, 30]] * 4, ["a", "b$_x", "c", "d"]
)


def test_it_shows_every_method_the_critical_difference_and_a_bar_per_group():
    axes = critical_difference_figure(RANKING, "at 10 %").axes[0]
    texts = [text.get_text() for text in axes.texts]
    for method, rank in zip(RANKING.methods, RANKING.ranks, strict=True):
        assert any(method in text and f"{rank:.2f}" in text for text in texts)
    assert any("critical difference 1.35 (12 datasets)" in text for text in texts)
    bars = [line for line in axes.lines if line.get_linewidth() == 3]
    assert len(bars) == len(RANKING.groups()) > 0
    assert axes.get_title() == "at 10 %"


@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")]
)
def test_files(tmp_path, ending, start):
    path = tmp_path / f"ranks.{ending}"
    write_critical_difference(RANKING, path)
    assert path.read_bytes().startswith(start)


def test_wrong_names(tmp_path):
    with pytest.raises(DataError, match=r"\.png, \.pdf or \.svg"):
        write_critical_difference(RANKING, tmp_path / "ranks.doc")
    with pytest.raises(DataError, match="there is no folder"):
        write_critical_difference(RANKING, tmp_path / "no" / "ranks.png")
