"""The answers of the API over a real server: what the page is built on."""

import csv
from pathlib import Path

import pytest
from tests.app.people import write_office
from tests.app.serving import Served, running

pytestmark = pytest.mark.app


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("routes")
    paths = write_office(folder, labelled=12)
    with running(folder / "project", str(paths[0]), str(paths[1]), "--labels", str(paths[2])) as one:
        assert one.wait_open()["open"]
        yield one


def test_state_leaves_out_what_is_known(served: Served) -> None:
    state = served.ask("GET", "/api/state")
    assert state["labelled"] == 12
    assert state["counts"] == {"Blue": 4, "Green": 4, "Red": 4}
    brief = served.ask("GET", f"/api/state?since={state['version']}")
    assert set(brief) == {"version", "jobs", "loading"}


def test_files_show_what_was_read_and_the_command(served: Served) -> None:
    found = served.ask("GET", "/api/files")
    assert [file["role"] for file in found["current"]] == ["edges", "edges", "nodes"]
    assert found["facts"]["nodes"] == 60
    assert found["facts"]["command"].startswith("gramme fit data/advice.csv data/lunch.csv")
    assert "wine" in [one["name"] for one in found["datasets"]]


def test_files_are_dropped_looked_at_and_forgotten(served: Served) -> None:
    served.ask("PUT", "/api/files/new.csv", b"from,to\na,b\nb,c\n")
    (guess,) = served.ask("GET", "/api/files")["incoming"]
    assert (guess["name"], guess["role"]) == ("new.csv", "edges")
    told = served.ask("POST", "/api/inspect", {"files": [{"name": "new.csv", "role": "edges", "columns": {}}]})
    assert (told["nodes"], told["command"]) == (3, "gramme fit new.csv --out result")
    status, answer = served.try_(
        "POST", "/api/inspect", {"files": [{"name": "new.csv", "role": "nodes", "columns": {}}]}
    )
    assert status == 200 or "problem" in answer
    served.ask("DELETE", "/api/files/new.csv")
    assert served.ask("GET", "/api/files")["incoming"] == []
    assert served.try_("PUT", "/api/files/empty.csv", b"")[0] == 400


def test_nodes_are_listed_sorted_and_searched(served: Served) -> None:
    found = served.ask("GET", "/api/nodes?query=ann&limit=3&sort=name&descending=1")
    assert found["total"] == 5
    assert [row["name"] for row in found["rows"]] == ["Ann Eve", "Ann Day", "Ann Cole"]
    assert served.ask("GET", "/api/nodes?only=labelled")["total"] == 12
    for wrong in ("limit=-1", "offset=x", "limit=99999999999999999999999"):
        assert served.try_("GET", f"/api/nodes?{wrong}")[0] == 400
    assert served.try_("GET", "/api/nodes/60")[0] == 400
    node = served.ask("GET", "/api/nodes/0")
    assert node["name"] == "Ann Ash"
    assert [layer["layer"] for layer in node["layers"]] == ["advice", "lunch", "gender"]
    assert all(one["name"] for one in node["layers"][0]["nodes"])


def test_fits_are_kept_shown_and_compared(served: Served) -> None:
    first = served.job("fit", method="label-propagation")["result"]
    served.ask("POST", "/api/labels", {"changes": [[30, "Red"], [31, "Green"], [32, "Blue"]]})
    second = served.job("fit", method="label-propagation")["result"]
    assert [one["labels"] for one in served.ask("GET", "/api/state")["results"]] == [12, 15]
    values = served.ask("GET", f"/api/values?fit={second}&before={first}")
    assert values["classes"] == ["Blue", "Green", "Red"]
    assert len(values["predicted"]) == len(values["changed"]) == 60
    found = served.ask("GET", f"/api/compare?before={first}&after={second}")
    assert found["count"] == sum(values["changed"]) == len(found["nodes"])
    node = served.ask("GET", f"/api/nodes/40?fit={second}")
    assert sum(one["probability"] for one in node["probabilities"]) == pytest.approx(1, abs=1e-4)
    table = served.ask("GET", f"/api/results/{second}?query=Lou&limit=2")
    assert table["total"] == 5
    assert table["nodes"][0]["node"] == 55
    for address in (
        f"/api/compare?before={first}",
        "/api/values?fit=9-fit",
        "/api/results/..%2f..",
        "/api/results/1-nothing",
    ):
        assert served.try_("GET", address)[0] in (400, 404)


def test_ranks_and_links_are_tables_with_nodes(served: Served) -> None:
    result = served.job("rank")["result"]
    table = served.ask("GET", f"/api/results/{result}?sort=pagerank_rank&limit=3")
    assert table["rows"][0][table["header"].index("pagerank_rank")] == "1"
    assert all(isinstance(one["node"], int) for one in table["nodes"])
    result = served.job("links")["result"]
    table = served.ask("GET", f"/api/results/{result}?limit=3")
    assert all(isinstance(one["source"], int) and isinstance(one["target"], int) for one in table["nodes"])


@pytest.mark.parametrize("kind", ["ask", "groups"])
def test_nodes_are_asked_for_and_grouped(served: Served, kind: str) -> None:
    result = served.job(kind)["result"]
    table = served.ask("GET", f"/api/results/{result}")
    assert all(isinstance(one["node"], int) for one in table["nodes"])
    if kind == "groups":
        assert len(served.ask("GET", f"/api/values?groups={result}")["group"]) == 60
    else:
        assert "why" in table["header"]


def test_a_report_is_shut_off_from_the_app(served: Served) -> None:
    result = served.job("fit", method="label-propagation")["result"]
    made = served.ask("POST", "/api/tickets", {"what": "report", "result": result})
    status, headers, body = served.raw("GET", made["address"])
    assert status == 200
    assert headers["content-security-policy"].startswith("sandbox")
    assert "connect-src" not in headers["content-security-policy"]
    assert b"</html>" in body


def test_other_data_and_a_dataset_can_be_opened(tmp_path: Path) -> None:
    with running(tmp_path / "project") as served:
        assert served.try_("POST", "/api/jobs", {"kind": "fit"})[0] == 400
        assert served.try_("GET", "/api/picture")[0] == 400
        served.ask("PUT", "/api/files/ties.csv", b"from,to\na,b\nb,c\n")
        served.ask("POST", "/api/open", {"files": [{"name": "ties.csv", "role": "edges", "columns": {}}]})
        head = served.ask("GET", "/api/picture")
        assert head["names"] == ["a", "b", "c"]
        assert len(served.ask("GET", "/api/picture/numbers")) == 8 * 3 + 8 * 2
        served.ask("POST", "/api/labels", {"changes": [[0, "x"]]})
        served.ask("POST", "/api/dataset", {"name": "balance_scale", "practice": True})
        state = served.ask("GET", "/api/state")
        assert (state["nodes"], state["labelled"]) == (625, 0)
        assert served.ask("GET", "/api/nodes/0")["truth"] in ("L", "B", "R")
        with (tmp_path / "project" / "earlier" / "1" / "labels.csv").open() as file:
            assert list(csv.reader(file))[1] == ["a", "x"]
