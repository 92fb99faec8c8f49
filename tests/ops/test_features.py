import numpy as np
import pandas as pd
import pytest
import torch

from gramme.graph import MembershipLayer
from gramme.ops import GroupSum, LayerFeatures, project, random_features, spread

MANY = pd.RangeIndex(20_000)
PINNED = [0.4997767, -0.17681247, -0.9719068]
PINNED_COPY = [-0.92414296, 0.08641704, 1.3754059]


def test_a_node_has_the_same_features_in_any_graph() -> None:
    some = random_features(pd.Index(["Ann", "Bo", "Cy"]), 5, seed=3)
    others = random_features(pd.Index(["Di", "Cy", "Ed", "Ann"]), 5, seed=3)
    np.testing.assert_array_equal(some[[0, 2]], others[[3, 1]])


def test_a_column_does_not_depend_on_how_many_there_are() -> None:
    names = pd.Index(["Ann", "Bo"])
    np.testing.assert_array_equal(random_features(names, 3, seed=3), random_features(names, 9, seed=3)[:, :3])


def test_names_count_by_their_text() -> None:
    np.testing.assert_array_equal(
        random_features(pd.Index([7, 12]), 4, seed=0), random_features(pd.Index(["7", "12"]), 4, 0)
    )


def test_the_numbers_never_change() -> None:
    found = random_features(pd.Index(["Ann"]), 3, seed=0)
    np.testing.assert_array_equal(found[0], np.array(PINNED, dtype=np.float32))
    other = random_features(pd.Index(["Ann"]), 3, seed=1, copy=2)
    np.testing.assert_array_equal(other[0], np.array(PINNED_COPY, dtype=np.float32))


def test_mean_0_and_variance_1() -> None:
    found = random_features(MANY, 16, seed=1).astype(np.float64)
    assert found.dtype == np.float64
    assert abs(found.mean()) < 5 / found.size**0.5
    assert abs(found.var() - 1) < 5 * 0.9 / found.size**0.5
    assert np.abs(found.mean(0)).max() < 5 / len(MANY) ** 0.5
    assert np.abs(found).max() <= 3**0.5


def test_columns_seeds_and_copies_are_unrelated() -> None:
    sets = [
        random_features(MANY, 6, seed=0),
        random_features(MANY, 6, seed=1),
        random_features(MANY, 6, seed=0, copy=1),
        random_features(MANY, 6, seed=1, copy=1),
    ]
    correlation = np.corrcoef(np.hstack(sets), rowvar=False) - np.eye(24)
    assert np.abs(correlation).max() < 5 / len(MANY) ** 0.5


def test_rows_are_unrelated() -> None:
    found = random_features(pd.RangeIndex(30), 20_000, seed=0)
    correlation = np.corrcoef(found) - np.eye(30)
    assert np.abs(correlation).max() < 5 / 20_000**0.5


def test_written_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    names = pd.RangeIndex(50)
    wanted = random_features(names, 7, seed=4)
    monkeypatch.setattr("gramme.ops.features._BLOCK", 21)
    out = np.empty((50, 7), dtype=np.float32)
    assert random_features(names, 7, seed=4, out=out) is out
    np.testing.assert_array_equal(out, wanted)


def test_nothing_asked_for() -> None:
    assert random_features(pd.Index([]), 3, seed=0).shape == (0, 3)
    assert random_features(pd.Index(["Ann"]), 0, seed=0).shape == (1, 0)


def test_any_whole_number_is_a_seed() -> None:
    names = pd.Index(["Ann"])
    for seed in (-1, 2**63, 2**70):
        assert np.isfinite(random_features(names, 2, seed)).all()


def test_names_that_no_file_can_hold_have_features_too():
    found = random_features(pd.Index(["\ud800", "\udfff", "ok"], dtype=object), 4, seed=0)
    assert np.isfinite(found).all()
    assert (found[0] != found[1]).any()


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=random, dtype=torch.float64)


def views(members: int, same: bool) -> torch.Tensor:
    """Features of three layers: columns 0 and 1 of the first, 2 to 4 of the second, all of the third."""
    features = numbers(3, 6, 1 if same else members, 5).expand(3, 6, members, 5)
    features = features.clone() if not same else features[:, :, :1].clone().expand(3, 6, members, 5)
    first = features[:, :, :1] if same else features
    first[0, :, :, 2:] = 0
    first[1, :, :, :2] = 0
    return features


def test_products_and_gradients_are_those_of_the_whole_tensor() -> None:
    for members, same in ((1, True), (3, True), (3, False)):
        whole = views(members, same)
        kept = LayerFeatures(whole)
        assert [used.tolist() for used in kept.used] == [[0, 1], [2, 3, 4], [0, 1, 2, 3, 4]]
        assert kept.parts[0].shape == (6, 1 if same else members, 2)
        assert torch.equal(kept.dense(), whole)
        weights = [numbers(members, 3, 5, out, seed=out).requires_grad_() for out in (4, 2)]
        slopes = [numbers(3, 6, members, out, seed=9 + out) for out in (4, 2)]
        results = []
        for features in (whole, kept):
            found = project(features, *weights)
            total = sum((one * slope).sum() for one, slope in zip(found, slopes, strict=True))
            results.append([*found, *torch.autograd.grad(total, weights)])
        for one, other in zip(*results, strict=True):
            torch.testing.assert_close(one, other)


def test_the_features_of_some_layers() -> None:
    whole = views(2, same=False)
    some = LayerFeatures(whole)[[2, 0]]
    assert some.shape == (2, 6, 2, 5)
    assert some.dim() == 4
    assert torch.equal(some.dense(), whole[[2, 0]])


def test_a_layer_whose_features_are_all_zero() -> None:
    whole = views(1, same=True).clone()
    whole[1] = 0
    weight = numbers(1, 3, 5, 2)
    assert not project(LayerFeatures(whole), weight)[0][1].any()


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("members", "layers"), [(1, 1), (1, 3), (2, 1), (3, 2)])
def test_products_in_order(shared: bool, members: int, layers: int) -> None:
    features = numbers(*([] if shared else [layers]), 5, members, 4)
    weights = [numbers(members, layers, 4, out, seed=out) for out in (6, 2)]
    pattern = "nmi,mlio->lnmo" if shared else "lnmi,mlio->lnmo"
    for found, weight in zip(project(features, *weights), weights, strict=True):
        assert found.is_contiguous()
        torch.testing.assert_close(found, torch.einsum(pattern, features, weight))


@pytest.mark.parametrize("shared", [True, False])
def test_gradients_by_finite_differences(shared: bool) -> None:
    features = numbers(*([] if shared else [2]), 3, 2, 3).requires_grad_()
    weights = [numbers(2, 2, 3, out, seed=out).requires_grad_() for out in (4, 1)]
    assert torch.autograd.gradcheck(project, (features, *weights))


def test_a_result_that_is_not_used_has_no_gradient() -> None:
    features, weights = numbers(3, 1, 2), [numbers(1, 1, 2, 2).requires_grad_() for _ in range(2)]
    project(features, *weights)[0].sum().backward()
    assert weights[0].grad is not None
    assert weights[1].grad is None or not weights[1].grad.any()


def test_each_member_is_given_its_group_s_row() -> None:
    layers = [MembershipLayer.from_codes([0, 1, 0, -1]), MembershipLayer.from_codes([0, 0, 0, 0])]
    groups = GroupSum([layer.incidence() for layer in layers])
    values = numbers(2, groups.size, 2, 3).requires_grad_()
    found = spread(values, groups)
    assert found.shape == (2, 4, 2, 3)
    assert torch.equal(found.flatten(0, 1), values.flatten(0, 1)[groups.member_of])
    assert torch.autograd.gradcheck(lambda v: spread(v, groups), (values,))
