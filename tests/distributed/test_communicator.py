"""What processes tell each other arrives whole, of any kind and number."""

import numpy as np
import pytest
import torch
from tests.distributed.processes import together

from gramme.distributed import ALONE, World

pytestmark = pytest.mark.distributed


def conversation(world: World) -> dict:
    rank, size = world.rank, world.size
    rows = np.arange(rank * 2, dtype=np.float32).reshape(rank, 2)
    send = [1 + target for target in range(size)]
    receive = [1 + rank] * size
    values = torch.full((sum(send), 3), rank + 0.1)
    before = world.sent
    came = world.finish(world.exchange(values, send, receive), values.dtype)
    return {
        "sent": world.sent - before,
        "came": came[:, 0].numpy(),
        "gathered": world.gathered(rows),
        "to first": world.to_first(np.full((rank, 2), rank, dtype=np.int16)),
        "from first": world.from_first(
            np.arange(5, dtype=np.int32) if rank == 0 else None, np.int32
        ),
        "texts": world.texts("é" * rank),
        "total": world.total(np.array([1.5, rank])),
        "number": world.total(rank),
        "largest": world.largest(-rank),
        "any": (world.any(rank == 1), world.any(False)),
    }


def test_three_processes_hear_the_same():
    for rank, heard in enumerate(together(3, conversation)):
        assert heard["came"] == pytest.approx(np.repeat([0.1, 1.1, 2.1], 1 + rank))
        assert heard["sent"] == (6 - (1 + rank)) * 3 * 4
        assert [one.shape for one in heard["gathered"]] == [(0, 2), (1, 2), (2, 2)]
        assert heard["gathered"][2].tolist() == [[0, 1], [2, 3]]
        assert heard["from first"].tolist() == [0, 1, 2, 3, 4]
        assert heard["texts"] == ["", "é", "éé"]
        assert heard["total"].tolist() == [4.5, 3]
        assert (heard["number"], heard["largest"], heard["any"]) == (3, 0, (True, False))
        if rank == 0:
            assert [one.tolist() for one in heard["to first"]] == [[], [[1, 1]], [[2, 2], [2, 2]]]
        else:
            assert heard["to first"] is None


def test_rows_in_bfloat16_take_half_the_bytes_and_lose_digits():
    plain, short = together(2, conversation), together(2, conversation, wire="bfloat16")
    assert short[0]["sent"] * 2 == plain[0]["sent"]
    assert short[1]["came"] == pytest.approx(plain[1]["came"], rel=1e-2)
    assert short[1]["came"].tolist() != plain[1]["came"].tolist()


def test_a_process_alone_is_its_own_answer():
    rows = np.arange(3)
    assert ALONE.gathered(rows)[0] is rows
    assert ALONE.to_first(rows)[0] is rows
    assert ALONE.total(rows) is rows
    assert ALONE.any(True)
    assert ALONE.sent == 0
