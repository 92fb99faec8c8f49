from gramme import datasets
from gramme.evaluation import PAPER_ACCURACY, paper_accuracy
from gramme.methods import names


def test_seven_datasets_seven_methods_three_percentages():
    assert len(PAPER_ACCURACY) == 7 * 7 * 3
    for dataset, method, percent in PAPER_ACCURACY:
        assert dataset in datasets.names()
        assert method in names()
        assert percent in (10, 20, 30)


def test_some_figures_of_the_papers_table():
    assert paper_accuracy("vickers_chan", "deepwalk", 10) == 72.0
    assert paper_accuracy("balance_scale", "gramme-fusion", 30) == 88.72
    assert paper_accuracy("reinnovation", "line", 20) == 55.21
    assert paper_accuracy("congress_votes", "pmne-r", 30) == 99.77
    assert paper_accuracy("wine", "deepwalk", 10) is None
    assert paper_accuracy("balance_scale", "deepwalk", 40) is None
