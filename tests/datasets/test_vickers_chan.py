from pathlib import Path

from gramme import datasets


def test_vickers_labels_are_those_of_the_data_folder(gramme_data: Path):
    graph = datasets.load("vickers_chan")
    codes = (gramme_data / "vickers_chan" / "vickers_chan.labels").read_text().split()
    assert [{"0": "boy", "1": "girl"}[code] for code in codes] == graph.labels.tolist()
    assert graph.nodes.tolist() == list(range(1, 30))
