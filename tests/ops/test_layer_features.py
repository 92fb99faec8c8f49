import torch

from gramme.ops import LayerFeatures, project


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
