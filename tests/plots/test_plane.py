import numpy as np
import pytest

from gramme.plots.plane import MAX_TSNE_NODES, components, plane


def blobs(each: int, columns: int = 6) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), each)
    return 8 * np.eye(3, columns)[groups] + random.normal(size=(3 * each, columns)), groups


def separation(places: np.ndarray, groups: np.ndarray) -> float:
    """Distance of the nearest two group means over the mean distance within groups."""
    means = np.array([places[groups == group].mean(axis=0) for group in range(3)])
    within = np.mean([np.linalg.norm(places[groups == g] - means[g], axis=1).mean() for g in range(3)])
    between = min(np.linalg.norm(means[a] - means[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    return float(between / within)


@pytest.mark.parametrize("each", [40, 400], ids=["t-SNE", "components"])
def test_groups_in_many_dimensions_are_apart_in_the_plane(each: int) -> None:
    rows, groups = blobs(each)
    found = plane(rows)
    assert separation(found.places, groups) > 3
    assert ("t-SNE" in found.how) == (3 * each <= MAX_TSNE_NODES)
    assert np.array_equal(found.places, plane(rows).places)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("columns", [0, 1, 5])
def test_any_size_gives_a_place_for_each_row(rows: int, columns: int) -> None:
    found = plane(np.random.default_rng(1).normal(size=(rows, columns)))
    assert found.places.shape == (rows, 2)
    assert np.isfinite(found.places).all()
    assert ((found.places >= -1e-9) & (found.places <= 1 + 1e-9)).all()


def test_equal_rows_are_spread_and_the_page_says_why() -> None:
    found = plane(np.full((50, 4), 0.25))
    assert "alike" in found.how
    assert len(np.unique(found.places.round(6), axis=0)) == 50


def test_one_direction_goes_from_left_to_right() -> None:
    values = np.linspace(0, 1, 60)
    found = plane(np.column_stack([values, 1 - values]))
    assert "one direction" in found.how
    order = np.argsort(found.places[:, 0])
    assert order.tolist() in (list(range(60)), list(range(60))[::-1])


def test_values_that_are_no_numbers_and_outliers_do_not_squeeze_the_rest() -> None:
    rows = np.random.default_rng(0).normal(size=(5000, 3))
    rows[0] = np.nan
    rows[1] = 1e6
    places = plane(rows).places
    assert np.isfinite(places).all()
    assert np.ptp(np.quantile(places, [0.05, 0.95], axis=0), axis=0).min() > 0.2


def test_components_equal_a_singular_value_decomposition() -> None:
    for shape in ((30, 5), (5, 30)):
        rows = np.random.default_rng(2).normal(size=shape)
        centred = rows - rows.mean(axis=0)
        left, strength, _ = np.linalg.svd(centred, full_matrices=False)
        expected = np.abs(left * strength)[:, :3]
        assert np.allclose(np.abs(components(rows, 3)), expected)
