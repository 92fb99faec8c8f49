"""What processes tell each other arrives whole, of any kind and number."""

import numpy as np
import pytest
import torch
from tests.distributed.processes import together

from gramme.distributed import SINGLE_PROCESS, Communicator

pytestmark = pytest.mark.distributed


def conversation(communicator: Communicator) -> dict:
    rank, size = communicator.rank, communicator.size
    rows = np.arange(rank * 2, dtype=np.float32).reshape(rank, 2)
    send = [1 + target for target in range(size)]
    receive = [1 + rank] * size
    values = torch.full((sum(send), 3), rank + 0.1)
    before = communicator.sent
    came = communicator.finish(communicator.exchange(values, send, receive))
    return {
        "sent": communicator.sent - before,
        "came": came[:, 0].numpy(),
        "gathered": communicator.gather(rows),
        "to first": communicator.gather_to_first(np.full((rank, 2), rank, dtype=np.int16)),
        "from first": communicator.broadcast(np.arange(5, dtype=np.int32) if rank == 0 else None, np.int32),
        "texts": communicator.gather_text("é" * rank),
        "total": communicator.all_sum(np.array([1.5, rank])),
        "number": communicator.all_sum(rank),
        "largest": communicator.all_max(-rank),
        "any": (communicator.any(rank == 1), communicator.any(False)),
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


def test_a_process_alone_is_its_own_answer():
    rows = np.arange(3)
    assert SINGLE_PROCESS.gather(rows)[0] is rows
    assert SINGLE_PROCESS.gather_to_first(rows)[0] is rows
    assert SINGLE_PROCESS.all_sum(rows) is rows
    assert SINGLE_PROCESS.gather_text("é") == ["é"]
    assert SINGLE_PROCESS.broadcast(rows) is rows
    assert SINGLE_PROCESS.any(True)
    assert SINGLE_PROCESS.sent == 0
