"""Every sentence of the templates with very small and large numbers: singular, plural, and the words for tables."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.report.page.graphs import section, two_blocks

import gramme
import gramme.report.page.benchmark_page
import gramme.report.page.links_page  # these give the templates their functions
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeRegressor, LabelPropagation, MultiLabelClassifier
from gramme.methods.multilabel import known_label_sets
from gramme.ranking import influence, layer_influences, rank
from gramme.report.page import fit_data
from gramme.report.page.before_labels import ask_data, groups_data
from gramme.report.page.html import render
from gramme.report.page.label_sets_page import label_sets_data
from gramme.report.page.number_page import number_data
from gramme.report.page.rank_page import rank_data

THINGS = "node|layer|class|label|row|column|method|dataset|pair|link|run|split|group|edge|measure"
ONE_OF_MANY = re.compile(rf"(?<![\d.,] )(?<![\d.,])\b1 (?:\w+ed )?(?:{THINGS})(?:s|es)\b")
MANY_OF_ONE = re.compile(rf"\b(?:0|[2-9]|[1-9][\d,]+) (?:\w+ed )?(?:{THINGS})\b(?! of relations)")


def text_of(page: str) -> str:
    body = page[page.index("<main") : page.index("</main>")]
    body = re.sub(r"<(?:pre|code)\b.*?</(?:pre|code)>|</?(?:td|th|li|dd|dt)\b[^>]*>", " | ", body, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", body)))


def fit_page(count: int, labelled: int, classes: int, layers: int, **config) -> str:
    codes = np.arange(count) % 3
    graph = MultilayerGraph(
        {f"way {k}": MembershipLayer.from_codes(codes) for k in range(layers)},
        labels=[f"c{node % classes}" if node < labelled else None for node in range(count)],
    )
    estimate = {
        "kind": "holdout",
        "accuracy": 0.5,
        "accuracy_ci95": [0.1, 0.9],
        "nodes": labelled,
        "recall": {"c0": {"nodes": 1, "found": 1, "recall": 1.0}},
        "confusion": {"classes": ["c0"], "counts": [[labelled]]},
        "label_thresholds": {"c0": 0.5},
    }
    return render(fit_data(LabelPropagation().fit(graph), graph, estimate=estimate, config=config))


def label_sets_page(graph: MultilayerGraph) -> dict[str, Any]:
    """The data of a page about several labels per node, all known nodes taken for tested ones."""
    known = known_label_sets(graph, separator=";")
    model = MultiLabelClassifier(LabelPropagation()).fit(graph, separator=";")
    estimate = {"kind": "holdout", "nodes": known.nodes.size, "macro_f1": 0.5, "micro_f1": 0.9, "exact": 0.5}
    shares = model.predict_proba()[known.nodes].astype(float)
    unseen = {"training": known, "truth": known.indicator, "test_probabilities": shares}
    return label_sets_data(model, graph, {"estimate": estimate}, **unseen)


def pages(count: int) -> dict[str, str]:
    """A page of each kind about a graph of this size."""
    ring = np.arange(count)
    graph = MultilayerGraph({"tie": EdgeLayer(count, ring, (ring + 1) % count)}, name="ring")
    numbers = graph.replace(labels=[*map(float, range(count - 1)), None])
    regressor = GrammeRegressor(ingredients=["propagation"], random_state=0).fit(numbers)
    chosen = gramme.ask(graph, count=1)
    link = {"layer": "tie", "source": "0", "target": "1", "probability": 0.5, "score": 0.5, "why": "near"}
    row = {"dataset": "ring", "method": "gat", "train_percent": 10.0, "repeats": 1, "accuracy_mean": 50.0}
    row |= {"accuracy_ci95": 1.0, "cpu_seconds_mean": 1.0, "paper_accuracy": None, "peak_mean": None, "best": False}
    layer = {"layer": "tie", "roc_auc": 0.7, "best": 0.6, "calibration_error": 0.1, "pairs": 1, "ingredients": []}
    several = graph.replace(labels=["x;y", "", *[None] * (count - 4), "x", "y"])
    return {
        "label sets": render(label_sets_page(several)),
        "numbers": render(number_data(regressor, numbers, {})),
        "groups": render(groups_data(gramme.groups(graph, repeats=2), config={})),
        "ask": render(ask_data(graph, chosen, labelled=ring < 1, curve=None, config={})),
        "rank": render(
            rank_data(
                graph,
                rank(graph, ["degree"]),
                seeds=influence(graph, 1, worlds=10),
                layers=layer_influences(graph),
                config={"model": "cascade", "probability": 0.1},
            )
        ),
        "links": render(
            {
                "kind": "links",
                "name": "ring",
                "config": {},
                "nodes": count,
                "total": 1,
                "links": [link],
                "layers": [layer],
                "explanation": "",
                "expected": [{"layer": None, "count": 0.5, "low": 0, "high": 1, "shown": 1}],
                "missing_share": 0.2,
            }
        ),
        "benchmark": render(
            {
                "kind": "benchmark",
                "name": "b",
                "rows": [row] * (1 if count < 9 else 2),
                "methods": ["gat"],
                "runs": 1,
                "rankings": [],
                "failures": [],
                "versions": [],
                "command": "",
            }
        ),
    }


@pytest.mark.parametrize("count", [6, 30])
def test_singular_and_plural_on_every_page(count: int) -> None:
    every = pages(count) | {
        "one left": fit_page(count, count - 1, 2, 1),
        "all known": fit_page(count, count, 2, 2),
        "two labels": fit_page(count, 2, 2, 1),
    }
    for kind, page in every.items():
        text = text_of(page)
        assert not ONE_OF_MANY.findall(text), kind
        assert not MANY_OF_ONE.findall(text), kind
        assert "  " not in text


def test_one_remaining_node_and_one_tested_label_are_said_so() -> None:
    text = text_of(fit_page(4, 3, 2, 1))
    assert "for the one remaining node" in text
    assert "joined by 1 layer of relations" in text
    assert "1 node was tested" in section("fit", "meaning")({"accuracy": 1.0, "accuracy_ci95": [0.2, 1], "nodes": 1})


def test_a_page_about_a_table_speaks_of_rows_and_columns() -> None:
    plain = text_of(fit_page(30, 20, 2, 2))
    table = text_of(fit_page(30, 20, 2, 2, table={"label": "kind"}, label="kind of <b>node</b>"))
    assert "nodes" in plain
    told = re.sub(r"The network .*?Training|The layers of the data.*|About this fit.*", "", table)
    assert "for the other 10 rows" in table
    assert "Which columns matter" in table
    assert "alike in 2 columns (way 0, way 1)" in table
    assert "kind of <b>node</b>" in table, "a name of the user's stays as it is"
    assert not re.search(r"\bnodes\b", told.split("Rows to look at")[0])


def test_names_of_files_and_ids_do_not_change_in_a_page_about_a_table() -> None:
    page = fit_page(30, 20, 2, 2, table={"label": "kind"})
    for kept in ('id="nodes"', 'id="layers"', 'href="#layers"', "predictions.csv"):
        assert kept in page
    assert "columns.csv" not in page


def test_templates_hold_no_python_and_are_read_in_one_sitting() -> None:
    folder = Path(gramme.__file__).parent / "report" / "templates"
    assert {path.stem for path in folder.glob("*.j2")} >= {
        "fit",
        "numbers",
        "links",
        "rank",
        "groups",
        "ask",
        "benchmark",
        "label_sets",
    }
    assert sum(len(path.read_text("utf-8").splitlines()) for path in folder.glob("*.j2")) < 1280


def test_a_graph_of_two_classes_has_all_answers_on_the_first_screen() -> None:
    graph = two_blocks()
    model = LabelPropagation().fit(graph)
    text = text_of(render(fit_data(model, graph, config={"label": "side"})))
    first = text[: text.index("How sure")]
    for words in ("Predicted", "side", "How good", "Keep in mind", "Next", "--holdout"):
        assert words in first or words == "--holdout"


def test_the_table_of_a_curve_is_there_for_one_more_label() -> None:
    curve = pd.DataFrame({"labels": [1, 2], "more": [0, 1], "accuracy": [0.5, 0.6], "low": 0.1, "high": 1.0})
    assert "1 more" in section("ask", "curve_table")(curve.to_dict(orient="records"))
