"""Attacks on the server: other web pages, other names, missing tokens, paths, sizes."""

import inspect
import json
import socket
from pathlib import Path

import pytest
from tests.app.people import write_office
from tests.app.serving import Served, running

from gramme.app import project as project_module
from gramme.app import server
from gramme.errors import DataError

pytestmark = pytest.mark.app


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "secret.txt").write_text("secret")
    paths = write_office(folder)
    labels = ["--labels", str(paths[2])]
    with running(folder / "project", str(paths[0]), str(paths[1]), *labels) as one:
        assert one.wait_open()["open"]
        yield one


def routes() -> list[tuple[str, str]]:
    """Every route that needs the token, as the docstring of the routes lists them."""
    found = []
    for route in make_routes():
        if route.path.startswith("/api/"):
            path = route.path.replace("{name}", "x").replace("{number}", "1")
            found += [(method, path) for method in sorted(route.methods - {"HEAD"})]
    return found


def make_routes():
    from gramme.app import routes as module

    class Nothing:
        version = 0
        folder = Path()

    made, jobs = module.make_app(Nothing())  # type: ignore[arg-type]
    jobs.close()
    return [route for route in made.routes if hasattr(route, "methods")]


def test_every_route_of_the_api_is_documented_and_wants_the_token(served: Served) -> None:
    from gramme.app import routes as module

    known, source = routes(), inspect.getsource(module)
    assert len(known) > 15
    for method, path in known:
        address = path.replace("/x", "/NAME").replace("/1", "/NUMBER")
        if address not in ("/api/picture/numbers",):
            assert f"{method} {address}" in source, address
        for headers in ({}, {"X-Gramme-Token": "wrong"}, {"X-Gramme-Token": ""}):
            status, _, body = served.raw(method, path, b"{}", headers)
            assert status == 403, (method, path, headers)
            assert b"token" in body


def test_the_token_in_the_address_or_a_cookie_is_not_taken(served: Served) -> None:
    for path, headers in (
        (f"/api/state?token={served.token}", {}),
        ("/api/state", {"Cookie": f"token={served.token}; x-gramme-token={served.token}"}),
        ("/api/state", {"Authorization": f"Bearer {served.token}"}),
    ):
        assert served.raw("GET", path, None, headers)[0] == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example", ""]
)
def test_another_host_is_refused_even_with_the_token(served: Served, host: str) -> None:
    """A name that an attacker points to 127.0.0.1 (DNS rebinding) gets nothing, not even the empty page."""
    for path in ("/", "/static/app.js", "/api/state"):
        headers = {"Host": host, "X-Gramme-Token": served.token}
        assert served.raw("GET", path, None, headers)[0] in (400, 403), path


def test_localhost_is_another_name_of_this_server(served: Served) -> None:
    headers = {"Host": f"localhost:{served.port}", "X-Gramme-Token": served.token}
    assert served.raw("GET", "/api/state", None, headers)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_origin_is_refused_even_with_the_token(served: Served, headers: dict[str, str]) -> None:
    for method, path in (("GET", "/"), ("GET", "/api/state"), ("POST", "/api/labels")):
        status, answered, _ = served.raw(method, path, b"{}", {"X-Gramme-Token": served.token, **headers})
        assert status == 403
        assert not [name for name in answered if name.lower().startswith("access-control")]


def test_there_is_no_cors(served: Served) -> None:
    asked = {
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-gramme-token",
    }
    status, headers, _ = served.raw("OPTIONS", "/api/labels", None, asked)
    assert status in (403, 405)
    assert not [name for name in headers if name.lower().startswith("access-control")]


def test_every_answer_forbids_framing_sniffing_and_foreign_scripts(served: Served) -> None:
    for path in ("/", "/static/app.js", "/static/app.css"):
        status, headers, _ = served.raw("GET", path)
        said = {name.lower(): value for name, value in headers.items()}
        assert status == 200
        assert "script-src 'self'" in said["content-security-policy"]
        assert "'unsafe" not in said["content-security-policy"]
        assert said["x-frame-options"] == "DENY"
        assert said["x-content-type-options"] == "nosniff"
        assert said["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/static/../command.py",
        "/static/..%2fcommand.py",
        "/static/%2e%2e/%2e%2e/__init__.py",
        "/static//etc/passwd",
        "/static/..%5c..%5csecret.txt",
        "/open/../../secret.txt",
        "/open/unknown",
    ],
)
def test_no_path_leads_out_of_the_static_folder(served: Served, path: str) -> None:
    status, _, body = served.raw("GET", path)
    assert status in (400, 403, 404, 405)
    assert b"secret" not in body
    assert b"root:" not in body
    assert b"typer" not in body


BAD_NAMES = (
    "..%2Fx.csv", "%2e%2e", "..%5Cx.csv", ".hidden", "a%00b.csv", "a%2Fb.csv", "C:x.csv", "%20", "x" * 300, "a%0Ab",
)  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_dropped_file_cannot_choose_where_it_goes(served: Served, name: str) -> None:
    project = Path(served.ask("GET", "/api/state")["folder"])
    before = sorted(path for path in project.parent.rglob("*") if "results" not in path.parts)
    status, _ = served.try_("PUT", f"/api/files/{name}", b"source,target\na,b\n")
    assert status in (400, 404, 405)
    after = sorted(path for path in project.parent.rglob("*") if "results" not in path.parts)
    assert before == after


@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("/api/open", {"files": [{"name": "../../secret.txt", "role": "edges", "columns": {}}]}),
        ("/api/inspect", {"files": [{"name": "/etc/passwd", "role": "edges", "columns": {}}]}),
        ("/api/inspect", {"files": [{"name": "x", "role": "edges"}], "place": "../.."}),
        ("/api/tickets", {"what": "table", "result": "../../data"}),
        ("/api/tickets", {"what": "report", "result": "1-fit/../../.."}),
        ("/api/tickets", {"what": "/etc/passwd"}),
        ("/api/jobs", {"kind": "benchmark"}),
        ("/api/jobs", {"kind": "fit", "method": "--out=/tmp/x"}),
        ("/api/dataset", {"name": "../../secret"}),
        ("/api/dataset", {"name": "http://evil.example/x"}),
        ("/api/labels", {"changes": [[10**9, "x"]]}),
        ("/api/labels", {"changes": [[-1, "x"]]}),
        ("/api/labels", {"changes": [[0, "x\x00y"]]}),
        ("/api/labels", {"changes": [[0, "x" * 10_000]]}),
        ("/api/labels", {"changes": "all"}),
        ("/api/labels", []),
    ],
)
def test_what_is_asked_for_cannot_lead_out_of_the_project(served: Served, address: str, body: object) -> None:
    status, answer = served.try_("POST", address, body)
    assert status == 400
    assert "problem" in answer
    assert "secret" not in json.dumps(answer).replace("secret.txt", "").replace("../../secret", "")


def test_a_request_that_is_too_large_or_no_json_is_refused(served: Served) -> None:
    assert served.try_("POST", "/api/labels", b"[" * 100_000)[0] == 400
    assert served.try_("POST", "/api/labels", b"\xff\xfe")[0] == 400
    assert served.try_("POST", "/api/labels", b" " * (9 << 20))[0] == 400
    assert served.ask("GET", "/api/state")["open"]


def test_an_upload_is_bounded(tmp_path: Path) -> None:
    """With a limit of a thousand bytes, by the same code: a gigabyte takes long to send."""
    import asyncio

    from gramme.app.routes import receive

    project = project_module.Project(tmp_path / "project")

    class Sent:
        def __init__(self) -> None:
            self.path_params = {"name": "large.csv"}

        async def stream(self):
            for _ in range(20):
                yield b"x" * 100

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gramme.app.routes.MAX_UPLOAD_BYTES", 1000)
        with pytest.raises(DataError, match="larger than"):
            asyncio.run(receive(Sent(), project))  # type: ignore[arg-type]
    assert list((project.folder / "incoming").iterdir()) == []
    project.close()


def test_it_listens_on_loopback_only(served: Served) -> None:
    addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in addresses - {"127.0.0.1", "127.0.1.1"}:
        with socket.socket() as made:
            made.settimeout(2)
            assert made.connect_ex((address, served.port)) != 0, address


def test_a_ticket_works_once(served: Served) -> None:
    made = served.ask("POST", "/api/tickets", {"what": "labels"})
    status, headers, body = served.raw("GET", made["address"])
    assert status == 200
    assert body.startswith(b"name,team")
    assert "sandbox" in headers["content-security-policy"]
    assert served.raw("GET", made["address"])[0] == 404


def test_a_ticket_grows_old(monkeypatch: pytest.MonkeyPatch) -> None:
    tickets = server.Tickets()
    ticket = tickets.give("something")
    clock = server.time.monotonic()
    monkeypatch.setattr(server.time, "monotonic", lambda: clock + server.TICKET_SECONDS + 1)
    assert tickets.take(ticket) is None


def test_a_port_in_use_is_told() -> None:
    with server.listen(None) as made, pytest.raises(DataError, match="cannot be used"):
        server.listen(made.getsockname()[1])


def test_a_websocket_is_not_spoken(served: Served) -> None:
    headers = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "x", "Sec-WebSocket-Version": "13"}
    assert served.raw("GET", "/api/state", None, headers)[0] in (400, 403, 426)
