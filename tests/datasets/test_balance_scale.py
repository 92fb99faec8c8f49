from pathlib import Path

from gramme import datasets
from gramme.graph import MembershipLayer


def test_balance_scale_is_the_published_file(gramme_data: Path):
    graph = datasets.load("balance_scale")
    columns = []
    for layer in graph.layers.values():
        assert isinstance(layer, MembershipLayer)
        columns.append(layer.group_names[layer.codes()])
    rows = zip(graph.labels, *columns, strict=True)
    made = "".join(",".join(map(str, row)) + "\n" for row in rows)
    assert made == (gramme_data / "balance_scale" / "balance-scale.data").read_text()
