"""What is said about pairs and layers: reasons, and the calibration error without the part that chance adds."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links import Evidence, column_names
from gramme.links.evidence import family
from gramme.links.explain import (
    calibration_bins,
    calibration_error,
    changes,
    link_calibration_error,
    named_reasons,
    network_parts,
    reasons,
)
from gramme.links.mixture import LayerMixture, Line, fitted_trees

COLUMNS = len(column_names())


def offices() -> MultilayerGraph:
    """Two offices of five who all talk, one of whom writes to one of the other; three of each are in a choir."""
    one = [(a, b) for office in (0, 5) for a in range(office, office + 5) for b in range(a) if b >= office]
    talk = [pair for pair in one if pair != (4, 0)]
    names = ["Ann", "Bo", "Cy", "Di", "Ed", "Flo", "Gil", "Hal", "Ida", "Jo"]
    layers = {
        "talk": EdgeLayer(10, *np.array(talk).T),
        "mail": EdgeLayer(10, [0, 0, 4, 4, 2], [1, 2, 1, 2, 7], directed=True),
        "choir": MembershipLayer(10, [0, 4, 8, 9], [0, 0, 1, 1], ["alto", "bass"]),
    }
    return MultilayerGraph(layers, nodes=names)


def test_reasons_name_people_with_layers_and_groups():
    graph = offices()
    found = named_reasons(Evidence(graph, "talk"), graph.positions(["Ed", "Ann", "Jo", "Ann"]).reshape(2, 2))
    assert found["common neighbours"] == ["both linked with Bo and Di in talk", ""]
    assert found["groups in common"] == ["both in alto (choir)", ""]
    assert found["paths of length 3"][1] == "joined by way of Hal and Cy"
    mail = graph.select_layers(["mail"])
    (said,) = named_reasons(Evidence(mail, "mail"), graph.positions(["Ed", "Ann"])[None])["common neighbours"]
    assert said == "both linked to Bo and Cy in mail"


def test_a_link_bridges_parts_closes_triangles_or_shortens_a_path():
    graph = offices()
    evidence = Evidence(graph, "talk")
    part = network_parts(evidence, 0)
    assert [set(part[:5]), set(part[5:])] in ([{0}, {1}], [{1}, {0}])
    pairs = graph.positions(["Ed", "Ann", "Jo", "Ann"]).reshape(2, 2)
    assert changes(evidence, pairs, part) == ["closes 3 triangles", "bridges two parts"]
    ring = MultilayerGraph({"ring": EdgeLayer(6, np.arange(6), (np.arange(6) + 1) % 6)})
    assert changes(Evidence(ring, "ring"), np.array([[0, 3], [0, 2]]), np.zeros(6)) == [
        "shortens a path",
        "closes 1 triangle",
    ]
    full = MultilayerGraph({"full": MembershipLayer.from_codes([0] * 8).to_edges()})
    assert not network_parts(Evidence(full, "full"), 0).any(), "it does not fall into parts"


def pairs_told_by(column: str) -> tuple[np.ndarray, np.ndarray]:
    """Evidence of 600 pairs, and whether they are linked, which one column alone tells."""
    rows = np.random.default_rng(3).normal(size=(600, COLUMNS))
    return rows, rows[:, column_names().index(column)] > 0


@pytest.mark.parametrize("parts", [("line",), ("trees",), ("line", "trees")])
def test_the_reason_is_what_tells_the_links_whatever_the_mixture_is_made_of(parts):
    rows, linked = pairs_told_by("own_adamic_adar")
    made = {"line": Line.fitted(rows, linked, 1.0), "trees": fitted_trees(rows, linked, 0)}
    mixture = LayerMixture(
        {part: made[part] for part in parts},
        {part: 1 / len(parts) for part in parts},
        typical=np.median(rows[~linked], axis=0),
    )
    clear = rows[:, column_names().index("own_adamic_adar")]
    said = reasons(mixture, rows[clear > 0.7])
    assert all(said), "no pair is without a reason"
    assert np.mean([one.startswith("common neighbours") for one in said]) > 0.9
    unlikely = reasons(mixture, rows[clear < -0.7])
    assert np.mean([one.startswith("common neighbours") for one in unlikely]) < 0.3


def test_what_a_kind_adds_to_a_line_is_its_columns_times_their_weights():
    rows, linked = pairs_told_by("repeated")
    line = Line.fitted(rows, linked, 0.1)
    mixture = LayerMixture({"line": line}, {"line": 1.0}, typical=line.mean)
    families = np.array([family(name) for name in column_names()])
    kinds = [families == "linked in other layers", families == "common neighbours"]
    each = (rows - line.mean) / line.scale * line.weight
    expected = np.stack([each[:, mine].sum(axis=1) for mine in kinds], axis=1)
    assert mixture.contributions(rows, kinds) == pytest.approx(expected)
    said = {"linked in other layers": ["linked in mail"] * 2, "common neighbours": ["", "both linked with Ann in talk"]}
    strong = rows[:1] + np.where(kinds[0], 3.0, 0.0)
    assert reasons(mixture, strong, said)[0].startswith("linked in mail")
    mixture.typical = None
    assert reasons(mixture, rows[:2]) == ["", ""], "a file without a typical pair has no reasons"


def plain(bins: np.ndarray) -> float:
    """The calibration error as it comes, chance included."""
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum())


@pytest.mark.parametrize("bins", [5, 10])
def test_pairs_are_counted_in_so_many_bins_of_equal_width(bins):
    start = np.arange(bins) / bins
    probability = np.append(np.repeat(start + 0.05 / bins, 2), start + 0.95 / bins)
    linked = np.append(np.tile([True, False], bins), np.ones(bins, dtype=bool))
    found = calibration_bins(linked, probability, bins)
    assert found[:, 0].tolist() == [3] * bins
    np.testing.assert_allclose(found[:, 1], 3 * start + 1.05 / bins)
    assert found[:, 2].tolist() == [2] * bins
    certain = calibration_bins(np.array([True]), np.array([1.0]), bins)
    assert certain[-1].tolist() == [1, 1, 1], "certainty is in the last bin"


def test_perfect_probabilities_of_few_pairs_look_less_wrong_than_by_the_plain_formula():
    random = np.random.default_rng(0)
    told, untold = [], []
    for _ in range(200):
        probability = random.random(150)
        bins = calibration_bins(random.random(150) < probability, probability)
        told.append(plain(bins))
        untold.append(calibration_error(bins))
    assert np.mean(told) > 0.07, "150 pairs in ten bins: chance alone shows that much"
    assert np.mean(untold) < 0.65 * np.mean(told)


def test_an_error_that_is_large_against_chance_stays_what_it_is():
    random = np.random.default_rng(1)
    truth = random.random(20_000)
    linked = random.random(20_000) < truth
    bins = calibration_bins(linked, 0.8 * truth)
    assert calibration_error(bins) == pytest.approx(plain(bins), abs=1e-3)
    assert link_calibration_error(linked, 0.8 * truth) == calibration_error(bins)


def test_the_part_of_chance_is_that_of_a_simulation():
    bins = np.array([[30.0, 4.5, 6.0], [40.0, 20.0, 17.0], [0.0, 0.0, 0.0], [25.0, 24.0, 25.0]])
    pairs, expected, linked = bins[bins[:, 0] > 0].T
    share = linked / pairs
    gap = expected / pairs - share
    noise = np.random.default_rng(2).normal(size=(200_000, 3)) * np.sqrt(share * (1 - share) / pairs)
    simulated = np.abs(gap + noise).mean(axis=0) - np.abs(gap)
    right = ((np.abs(gap) - simulated) * pairs).sum() / pairs.sum()
    assert calibration_error(bins) == pytest.approx(right, abs=3e-4)
    assert calibration_error(bins) < plain(bins)
