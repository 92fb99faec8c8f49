import base64

import numpy as np
import pytest

from gramme.report.page.pack import pack_floats, pack_integers, pack_shares


@pytest.mark.parametrize(
    ("values", "kind"),
    [([], "u8"), ([0, 255], "u8"), ([256], "u16"), ([65536, 2], "u32")],
    ids=["none", "byte", "two-bytes", "four-bytes"],
)
def test_whole_numbers_take_the_smallest_type_and_come_back(values: list[int], kind: str) -> None:
    packed = pack_integers(np.array(values, dtype=np.int64))
    assert packed["type"] == kind
    back = np.frombuffer(
        base64.b64decode(packed["data"]),
        dtype="<" + kind.replace("8", "1").replace("16", "2").replace("32", "4"),
    )
    assert back.tolist() == values


def test_shares_keep_four_digits_and_stay_within_0_and_1() -> None:
    packed = pack_shares(np.array([0.12344, -1, 2, np.nan]))
    back = np.frombuffer(base64.b64decode(packed["data"]), dtype="<u2") / 65535
    assert back.tolist() == pytest.approx([0.12344, 0, 1, 0], abs=1e-5)


def test_numbers_come_back_in_single_precision() -> None:
    back = np.frombuffer(base64.b64decode(pack_floats(np.array([1e-7, 3.5]))["data"]), dtype="<f4")
    assert back.tolist() == pytest.approx([1e-7, 3.5])
