import base64
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from tests.report.page.graphs import section

from gramme.errors import FileFormatError
from gramme.report.page.html import (
    embed_json,
    escape,
    name,
    pack_floats,
    pack_integers,
    pack_shares,
    page,
    read_data,
    shorten,
)


@pytest.mark.parametrize(
    ("values", "kind"),
    [([], "u8"), ([0, 255], "u8"), ([256], "u16"), ([65536, 2], "u32")],
    ids=["none", "byte", "two-bytes", "four-bytes"],
)
def test_whole_numbers_take_the_smallest_type_and_come_back(values: list[int], kind: str) -> None:
    packed = pack_integers(np.array(values, dtype=np.int64))
    assert packed["type"] == kind
    back = np.frombuffer(
        base64.b64decode(packed["data"]), dtype="<" + kind.replace("8", "1").replace("16", "2").replace("32", "4")
    )
    assert back.tolist() == values


def test_shares_keep_four_digits_and_stay_within_0_and_1() -> None:
    packed = pack_shares(np.array([0.12344, -1, 2, np.nan]))
    back = np.frombuffer(base64.b64decode(packed["data"]), dtype="<u2") / 65535
    assert back.tolist() == pytest.approx([0.12344, 0, 1, 0], abs=1e-5)


def test_numbers_come_back_in_single_precision() -> None:
    back = np.frombuffer(base64.b64decode(pack_floats(np.array([1e-7, 3.5]))["data"]), dtype="<f4")
    assert back.tolist() == pytest.approx([1e-7, 3.5])


ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_escaped_text_has_no_character_that_means_something_in_html(text: str) -> None:
    assert not set(escape(text)) & set("<>\"'\x00")
    escape(text).encode()  # fails for lone surrogates, which no file can hold


@given(st.recursive(ANY_TEXT | st.integers() | st.booleans() | st.none(), st.lists))
def test_data_survive_and_cannot_end_their_block(value: object) -> None:
    text = embed_json({"a": value})
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text.encode()) == {"a": value}


def test_what_json_cannot_hold_becomes_null_or_text() -> None:
    values = {"a": np.float32(0.5), "b": float("nan"), "c": np.arange(2), 3: Path("x"), "e": (1, 2)}
    assert json.loads(embed_json(values)) == {"a": 0.5, "b": None, "c": [0, 1], "3": "x", "e": [1, 2]}


def test_the_policy_names_the_one_script_and_the_one_style_by_their_digests() -> None:
    text = page("t", "<main></main>", {"format": "gramme-report"})
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert "unsafe" not in policy[1]
    assert "default-src 'none'" in policy[1]
    for tag in ("script", "style"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]


def test_a_page_names_no_address_it_could_load_from() -> None:
    text = page("t", "", {"format": "gramme-report"})
    addresses = set(re.findall(r"https?://[^\s\"']+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a kind of element, never fetched


def test_the_data_of_a_page_can_be_read_back(tmp_path: Path) -> None:
    data = {"format": "gramme-report", "a": "</script><script>alert(1)</script>\u2028\ud800"}
    path = tmp_path / "a.html"
    path.write_bytes(page("t", "<main></main>", data).encode())
    assert read_data(path) == data


@pytest.mark.parametrize(
    "text",
    ["", "<html>", '<script type="application/json" id="report-data">{', '<script type="application/json" '
     'id="report-data">{"format":"other"}</script>', '<script type="application/json" id="report-data">[]</script>'],
    ids=["empty", "no-block", "cut", "other", "list"],
)  # fmt: skip
def test_another_file_is_no_page(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.html"
    path.write_text(text)
    with pytest.raises(FileFormatError, match="is not a page made by gramme"):
        read_data(path)


def test_long_names_are_shortened() -> None:
    assert len(shorten("x" * 10_000, 50)) == 50
    assert name("x" * 10_000, 50) == f"<bdi>{'x' * 49}…</bdi>"


def test_sections_without_content_are_left_out_with_their_link():
    sections = [("one", "First", Markup("<p>1</p>")), ("two", "Second", Markup(" \n"))]
    text = section("common", "frame")("report", "<i>mine</i>", Markup("<p>done</p>"), sections, "no <script>")
    assert '<a href="#one">First</a>' in text
    assert '<section id="one" aria-labelledby="one-title">' in text
    assert "two" not in text
    assert "<p>done</p>" in text
    assert "&lt;i&gt;mine" in text
    assert "no &lt;script&gt;" in text
