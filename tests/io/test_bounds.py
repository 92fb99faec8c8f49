"""Reading takes time in proportion to the file: what would be quadratic ends in seconds."""

import contextlib
import json
import time

import pytest

from gramme.errors import GrammeError
from gramme.io import inspect

SECONDS = 20
MANY = 20_000


def many_layers(count: int) -> str:
    return "layer,source,target\n" + "".join(f"l{n},a,b\n" for n in range(count))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("header.csv", "(" * 300_000 + ",b\n1,2\n"),
        ("wide.csv", ",".join(f"c{n}" for n in range(100_000)) + "\n1\n"),
        ("cells.csv", "source,target,note\n" + "a,b,1" + " " * 300_000 + "x\n"),
        ("links.json", json.dumps([{"source": n, "target": n + 1, "w": 1} for n in range(MANY)])),
        ("elements.json", json.dumps({"elements": [{"data": {"id": str(n)}} for n in range(MANY)]})),
        ("d3.json", json.dumps({"nodes": [{"name": f"n{n}"} for n in range(MANY)],
                                "links": [{"source": n, "target": 0} for n in range(1, MANY)]})),
        ("list.dl", f"dl n={MANY} format=edgelist1\nlabels: " + " ".join(f"n{n}" for n in range(MANY))
         + "\ndata:\n" + "".join(f"n{n} n{n + 1}\n" for n in range(MANY - 1))),
        ("deep.gml", "graph [ node [ id 1 " + "x [ " * 40 + "] " * 42),
    ],
    ids=lambda value: value if len(value) < 20 else "",
)  # fmt: skip
def test_no_file_takes_long(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    start = time.process_time()
    with contextlib.suppress(GrammeError):
        inspect(tmp_path / name)
    assert time.process_time() - start < SECONDS


def test_many_layers_in_several_files(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(many_layers(3000))
    start = time.process_time()
    graph, _ = inspect([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert graph.num_layers == 6000
    assert time.process_time() - start < SECONDS
