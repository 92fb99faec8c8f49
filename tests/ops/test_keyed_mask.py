"""A mask depends on seed, call, key and column, on nothing else, and keeps the share it should."""

import torch

from gramme.ops.keyed_mask import _on_device, keyed_mask

LIKE = torch.zeros(1, dtype=torch.float64)


def test_the_share_that_is_kept_and_its_size():
    mask = keyed_mask(None, 2000, 50, 3, 0, 0.7, LIKE)
    assert set(mask.unique().tolist()) == {0.0, 1 / 0.7}
    assert abs(float((mask > 0).double().mean()) - 0.7) < 0.01
    assert abs(float((mask > 0).double().mean(0).std())) < 0.05


def test_rows_belong_to_their_keys():
    whole = keyed_mask(None, 40, 8, 1, 2, 0.5, LIKE)
    some = torch.tensor([39, 0, 17])
    assert torch.equal(keyed_mask(some, 3, 8, 1, 2, 0.5, LIKE), whole[some])


def test_seed_and_call_change_it():
    first = keyed_mask(None, 40, 8, 1, 0, 0.5, LIKE)
    assert not torch.equal(first, keyed_mask(None, 40, 8, 1, 1, 0.5, LIKE))
    assert not torch.equal(first, keyed_mask(None, 40, 8, 2, 0, 0.5, LIKE))


def test_a_graphics_card_would_draw_the_same():
    from gramme.ops.counter_random import derived_seed

    kept = keyed_mask(None, 60, 9, 5, 7, 0.4, LIKE) > 0
    start, below = int(derived_seed(5, 7)), int(0.4 * 2**53)
    assert torch.equal(_on_device(None, 60, 9, start, below, LIKE) > 0, kept)
