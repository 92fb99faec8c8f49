"""The answers to the page: each route is a function of the project, whose docstring begins with method and address.

All answers but files are JSON. A user's mistake is status 400 with ``{"problem": ...}``, a full disk 507. A dropped
file comes by ``PUT /api/files/NAME``; ``/open/TICKET`` is the address of a report or a download, and works once.
"""

from __future__ import annotations

import contextlib
import errno
import json
import shlex
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from gramme.errors import DataError, GrammeError

from . import sending, views
from .jobs import Jobs
from .project import DATA, INCOMING, RESULTS, OpenData, Project
from .roles import ROLES, Plan
from .server import REPORT_POLICY, STATIC, Tickets

MAX_BODY_BYTES, MAX_UPLOAD_BYTES, MAX_FILES = 8 << 20, 1 << 30, 200
"""Of a request, of a dropped file, and files that may wait to be opened."""
PAGE_ROWS = 200
"""Rows of a table in one answer at most."""
KINDS = ("fit", "ask", "links", "rank", "groups")
OPTIONS = {"ask": ("--count", "10"), "links": ("--top", "100")}
METHODS = ("gramme-auto", "gramme-fusion", "gramme-sg", "label-propagation")
"""Methods that the page offers; the command line has more."""

_CHANGES = ([int, str], [int, type(None)])

Answer = dict[str, Any]


class Api:
    """What the routes share: the project, its jobs and results, and what was computed for the page before."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.jobs = Jobs(project.folder, self._changed)
        self.results = views.Results(project.folder / RESULTS)
        self.tickets = Tickets()
        self._picture: tuple[OpenData, views.Picture] | None = None
        self._near: tuple[OpenData, views.Neighbours] | None = None

    def _changed(self) -> None:
        self.project.version += 1

    def state(self, query: Answer) -> Answer:
        """GET /api/state: where everything stands."""
        project = self.project
        answer: Answer = {"version": project.version, "loading": project.loading}
        answer["jobs"] = self.jobs.records()
        if query.get("since") == str(project.version):
            return answer
        data = project.data
        answer |= {
            "name": project.name,
            "folder": str(project.folder),
            "open": data is not None,
            "problem": project.problem,
            "classes": project.classes,
            "numbers": data is not None and data.plan.predicts_numbers,
            "can_undo": project.can_undo,
            "results": self.results.records(),
            "methods": METHODS,
        }
        if data is not None:
            counts = Counter(label for label in data.labels if label is not None)
            answer |= {"nodes": len(data.names), "data_id": id(data), "labelled": counts.total(), "counts": counts}
        return answer

    def files(self, query: Answer) -> Answer:
        """GET /api/files: dropped files, those of the project, and the datasets on this machine."""
        from gramme import datasets

        known = [_about(datasets.info(name)) for name in datasets.names() if _is_here(name)]
        project = self.project
        facts = None
        if project.data is not None:
            data = project.data
            facts = project.told((data.graph, data.notes, data.reading))
            facts["command"] = shlex.join(["gramme", "fit", *project.reading_words(), "--out", "result"])
        return {
            "incoming": project.guesses(),
            "current": project.current_guesses(),
            "facts": facts,
            "datasets": known,
            "roles": ROLES,
            "folder": str(project.folder),
        }

    def forget(self, name: str, query: Answer) -> Answer:
        """DELETE /api/files/NAME."""
        self.project.forget_incoming(name)
        return {}

    def inspect(self, body: Answer) -> Answer:
        """POST /api/inspect: what would be read; nothing changes."""
        plan = Plan.from_records(body.get("files"))
        return self.project.inspect(plan, _place(body))

    def open(self, body: Answer) -> Answer:
        """POST /api/open: read files with these roles from now on."""
        plan = Plan.from_records(body.get("files"))
        if _place(body) == INCOMING:
            self.project.open_incoming(plan)
        else:
            self.project.reopen(plan)
        return {}

    def dataset(self, body: Answer) -> Answer:
        """POST /api/dataset: make a dataset the project."""
        self.project.open_dataset(_text(body, "name"), practice=bool(body.get("practice")))
        return {}

    def picture(self, query: Answer) -> Answer:
        """GET /api/picture: names and layers of what is drawn."""
        self.jobs.warm_up()
        data = self.project.opened()
        return self._drawn(data).header(data.names) | {"data_id": id(data)}

    def picture_numbers(self, query: Answer) -> bytes:
        """GET /api/picture/numbers: its places and lines."""
        return self._drawn(self.project.opened()).numbers()

    def _drawn(self, data: OpenData) -> views.Picture:
        kept = self._picture
        if kept is None or kept[0] is not data:
            made = views.picture(data.graph, [label is not None for label in data.labels])
            self._picture = kept = (data, made)
        return kept[1]

    def values(self, query: Answer) -> Answer:
        """GET /api/values: codes of label, prediction, certainty, group and change, in the order of the picture."""
        data = self.project.opened()
        nodes = self._drawn(data).nodes
        ranges = _ranges(data)
        classes = list(self.project.classes) if ranges is None else list(ranges.names)
        labels = data.labels if ranges is None else [ranges.label(one) for one in data.labels]
        fit, before = self._fit(query, "fit", data), self._fit(query, "before", data)
        for found in (fit, before):
            classes += [one for one in (found.classes if found else ()) if one not in classes]
        code = {name: number for number, name in enumerate(classes)}
        answer: Answer = {"classes": classes, "label": [code.get(labels[node] or "", -1) for node in nodes.tolist()]}
        if fit is not None:
            lookup = np.array([code[name] for name in fit.classes] or [-1])
            answer["predicted"] = lookup[fit.predicted][nodes].tolist()
            if fit.interval is None:
                answer["probability"] = np.nan_to_num(fit.probability[nodes]).round(4).tolist()
        if fit is not None and before is not None:
            answer["changed"] = views.compared(before, fit)[nodes].astype(int).tolist()
        groups = self._groups(query, data)
        if groups is not None:
            names = list(dict.fromkeys(sorted(groups, key=_natural)))
            place = {name: number for number, name in enumerate(names)}
            answer["group"] = [place[groups[node]] for node in nodes.tolist()]
            answer["groups"] = names[:1000]
        return answer

    def nodes(self, query: Answer) -> Answer:
        """GET /api/nodes: a page of the table of nodes."""
        data = self.project.opened()
        table = views.listed_nodes(
            self._table(query, data),
            query.get("sort", ""),
            descending=query.get("descending") == "1",
            query=query.get("query", "")[:200],
            only=query.get("only", ""),
        )
        start, end = _page(query)
        return {"total": len(table), "offset": start, "rows": views.node_records(table[start:end])}

    def node(self, number: str, query: Answer) -> Answer:
        """GET /api/nodes/NUMBER: label, prediction, and neighbours by layer with theirs."""
        data = self.project.opened()
        node = _node(number, data)
        table = self._table(query, data)
        if self._near is None or self._near[0] is not data:
            self._near = (data, views.Neighbours(data.graph))
        layers = self._near[1].of(node)
        for layer in layers:
            listed = [layer] if layer["kind"] == "edges" else layer["groups"]
            for one in listed:
                one["nodes"] = views.node_records(table.iloc[one["nodes"]])
        answer: Answer = views.node_records(table.iloc[[node]])[0] | {"layers": layers}
        fit = self._fit(query, "fit", data)
        if fit is not None and fit.interval is None:
            chances = zip(fit.classes, fit.probabilities[node].tolist(), strict=True)
            answer["probabilities"] = [{"class": one, "probability": p} for one, p in chances]
        if data.truth is not None:
            answer["truth"] = data.truth[node]
        return answer

    def _table(self, query: Answer, data: OpenData) -> pd.DataFrame:
        fit, before = self._fit(query, "fit", data), self._fit(query, "before", data)
        return views.node_table(data.names, data.labels, fit, before, self._groups(query, data))

    def _fit(self, query: Answer, key: str, data: OpenData) -> views.Predictions | None:
        return self.results.predictions(query[key], len(data.names), _ranges(data)) if query.get(key) else None

    def _groups(self, query: Answer, data: OpenData) -> list[str] | None:
        if not query.get("groups"):
            return None
        table = self.results.table(query["groups"])
        if "group" not in table.columns or len(table) != len(data.names):
            raise DataError(f"the result {query['groups']} is about other data")
        return table["group"].tolist()

    def labels(self, body: Answer) -> Answer:
        """POST /api/labels: give labels (null takes one away); on the disk when this is answered."""
        changes = body.get("changes")
        if not isinstance(changes, list) or not changes:
            raise DataError("changes must be a list of [node, label]")
        for change in changes:
            if not isinstance(change, list) or [type(one) for one in change] not in _CHANGES:
                raise DataError("a change is [node, label]: the number of a node, a label or null")
        self.project.label(map(tuple, changes))
        return self._labelled()

    def undo(self, body: Answer) -> Answer:
        """POST /api/undo: take the last label back."""
        return self._labelled() | {"node": self.project.undo()}

    def _labelled(self) -> Answer:
        project = self.project
        return {
            "version": project.version,
            "classes": project.classes,
            "labelled": sum(label is not None for label in project.opened().labels),
            "can_undo": project.can_undo,
        }

    def start(self, body: Answer) -> Answer:
        """POST /api/jobs: run a command; kind and a few options."""
        kind = _text(body, "kind")
        if kind not in KINDS:
            raise DataError(f"there is no such job; known: {', '.join(KINDS)}")
        if self.jobs.busy(kind):
            raise DataError(f"gramme {kind} is running already; wait for it, or stop it")
        target = self.project.next_result(kind, self.jobs.targets())
        words = [kind, *self.project.reading_words(), "--out", f"{RESULTS}/{target.name}"]
        if kind == "fit" and not self.project.opened().plan.predicts_numbers:
            method = body.get("method") or METHODS[0]
            if method not in METHODS:
                raise DataError(f"the page offers {', '.join(METHODS)}; the command line has others")
            words += [] if method == METHODS[0] else ["--method", method]
            words += ["--coverage", "90%"] if body.get("coverage") else []
        words += [*OPTIONS.get(kind, ()), "--json"]
        return self.jobs.submit(kind, words, target).as_dict()

    def stop(self, number: str, query: Answer) -> Answer:
        """DELETE /api/jobs/NUMBER: stop it; it leaves no result."""
        if not number.isdecimal() or not self.jobs.stop(int(number)):
            raise DataError("that job has ended already")
        return {}

    def result(self, name: str, query: Answer) -> Answer:
        """GET /api/results/NAME: a page of its table; names of nodes come with their numbers."""
        data = self.project.opened()
        table = self.results.table(name)
        wanted = query.get("query", "").casefold()[:200]
        if wanted:
            hit = table.apply(lambda row: any(wanted in cell.casefold() for cell in row), axis=1)
            table = table[hit]
        descending = query.get("descending") == "1"
        table = views.sorted_rows(table, query.get("sort"), descending=descending)
        start, end = _page(query)
        shown = table[start:end]
        number = {name: place for place, name in enumerate(data.names)}
        named = shown[[one for one in ("node", "source", "target") if one in table.columns]]
        answer = {"header": list(table.columns), "rows": shown.to_numpy().tolist()}
        answer |= {"total": len(table), "offset": start}
        pairs = [zip(named.columns, row, strict=True) for row in named.to_numpy()]
        answer["nodes"] = [{key: number.get(name) for key, name in pair} for pair in pairs]
        return answer

    def compare(self, query: Answer) -> Answer:
        """GET /api/compare: what changed from one fit to another."""
        data = self.project.opened()
        before, after = self._fit(query, "before", data), self._fit(query, "after", data)
        if after is None:
            raise DataError("name the fit to look at")
        answer: Answer = {"truth": None}
        if data.truth is not None:
            true = np.array(data.truth, dtype=object)
            tested = ~after.known & np.array([one is not None for one in data.truth])
            right = int((after.names[tested] == true[tested]).sum())
            answer["truth"] = {"right": right, "of": int(tested.sum())}
        if before is not None:
            nodes = np.flatnonzero(views.compared(before, after))
            ranked = nodes[np.argsort(-after.probability[nodes], kind="stable")]
            answer["count"] = int(nodes.size)
            answer["mean_before"] = views.mean_certainty(before)
            answer["mean_after"] = views.mean_certainty(after)
            old, new, names = before.shown, after.shown, data.names
            answer["nodes"] = [
                {"node": node, "name": names[node], "before": old[node], "after": new[node]}
                for node in ranked[:PAGE_ROWS].tolist()
            ]
        return answer

    def ticket(self, body: Answer) -> Answer:
        """POST /api/tickets: an address that a browser can open once: a report, a table, a script."""
        name = str(body.get("result") or "")
        made = sending.parcel(self.project, self.results, _text(body, "what"), name)
        return {"address": f"/open/{self.tickets.give(made)}", "name": made.name}


def _ranges(data: OpenData) -> views.Ranges | None:
    """The ranges of labels that are numbers; None where they are classes."""
    return views.Ranges(data.labels) if data.plan.predicts_numbers else None


def _is_here(name: str) -> bool:
    """Whether a dataset is on this machine; the app downloads nothing."""
    from gramme import datasets

    with contextlib.suppress(OSError):
        return datasets.info(name).embedded or Path(datasets.where(name)).is_dir()
    return False


def _about(info: Any) -> Answer:
    told = {key: getattr(info, key) for key in ("name", "nodes", "layers", "classes")}
    return told | {"what": info.description}


def _natural(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (1 << 60, text)


def _place(body: Answer) -> str:
    place = body.get("place", INCOMING)
    if place not in (INCOMING, DATA):
        raise DataError(f"files are in {INCOMING} or {DATA}")
    return str(place)


def _text(body: Answer, key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise DataError(f"{key} must be a text")
    return value


def _page(query: Answer) -> tuple[int, int]:
    """First row and end of the page of a table that is asked for."""
    start, limit = query.get("offset", "0"), query.get("limit", "50")
    if not (start.isdecimal() and limit.isdecimal()) or len(start + limit) > 20:
        raise DataError("offset and limit must be whole numbers")
    return int(start), int(start) + min(int(limit), PAGE_ROWS)


def _node(text: str, data: OpenData) -> int:
    if not text.isdecimal() or int(text) >= len(data.names):
        raise DataError(f"there is no node number {text[:20]}")
    return int(text)


# -- from functions to answers -----------------------------------------------------------------------------------------


def _failed(project: Project, error: Exception) -> JSONResponse:
    """What the page is told: a user's mistake in its own words, a full disk, or a fault of the app's."""
    if isinstance(error, GrammeError):
        return JSONResponse({"problem": project.plain(error)}, status_code=400)
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        problem = "the disk is full; nothing was saved" if full else project.plain(error)
        return JSONResponse({"problem": problem}, status_code=507 if full else 500)
    traceback.print_exception(error)
    problem = f"the app made a mistake ({type(error).__name__}); the terminal says more"
    return JSONResponse({"problem": problem}, status_code=500)


async def _body(request: Request) -> Answer:
    """The JSON object of a request, of bounded size."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > MAX_BODY_BYTES:
            raise DataError("the request is too large")
    try:
        body = json.loads(bytes(content) or b"{}")
    except (ValueError, RecursionError):
        raise DataError("the request is not JSON") from None
    if not isinstance(body, dict):
        raise DataError("the request must be a JSON object")
    return body


async def receive(request: Request, project: Project) -> Answer:
    """Write a dropped file, of bounded size, under its own name once it is whole."""
    path = project.incoming_path(request.path_params["name"])
    if sum(1 for _ in path.parent.iterdir()) >= MAX_FILES:
        raise DataError(f"at most {MAX_FILES} files can wait to be opened")
    part = path.with_name(f".{path.name}.part")
    size = 0
    try:
        with part.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > MAX_UPLOAD_BYTES:
                    most = f"larger than {MAX_UPLOAD_BYTES >> 20:,} MB"
                    raise DataError(f"the file is {most}; name it on the command line: gramme app FILE")
                await run_in_threadpool(file.write, chunk)
        if not size:
            raise DataError(f"the file {path.name} is empty")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return {"name": path.name, "size": size}


def make_app(project: Project) -> tuple[Starlette, Jobs]:
    """All routes over a project, and its jobs, which the caller ends."""
    api = Api(project)

    def answering(make: Callable[[Request], Awaitable[Any]]) -> Callable[..., Any]:
        """A route that answers with what is made, or says what was wrong."""

        async def answer(request: Request) -> Response:
            try:
                found = await make(request)
            except Exception as error:  # whatever it is, the page must say it
                return _failed(project, error)
            if isinstance(found, bytes):
                return Response(found, media_type="application/octet-stream")
            return JSONResponse(found)

        return answer

    def get(work: Callable[..., Any]) -> Callable[..., Any]:
        async def make(request: Request) -> Any:
            named, query = request.path_params.values(), dict(request.query_params)
            return await run_in_threadpool(work, *named, query)

        return answering(make)

    def post(work: Callable[[Answer], Answer]) -> Callable[..., Any]:
        async def make(request: Request) -> Any:
            return await run_in_threadpool(work, await _body(request))

        return answering(make)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    async def parcel(request: Request) -> Response:
        made = api.tickets.take(request.path_params["ticket"])
        if made is None:
            return PlainTextResponse("This address worked once; go back to the page.", 404)
        headers = {"content-security-policy": REPORT_POLICY}
        if not made.inline:
            headers["content-disposition"] = sending.disposition(made.name)
        return Response(made.content, media_type=made.kind, headers=headers)

    routes = [
        Route("/", page),
        Route("/open/{ticket}", parcel),
        Route("/api/state", get(api.state)),
        Route("/api/files", get(api.files)),
        Route("/api/files/{name}", answering(lambda request: receive(request, project)), methods=["PUT"]),
        Route("/api/files/{name}", get(api.forget), methods=["DELETE"]),
        Route("/api/inspect", post(api.inspect), methods=["POST"]),
        Route("/api/open", post(api.open), methods=["POST"]),
        Route("/api/dataset", post(api.dataset), methods=["POST"]),
        Route("/api/picture", get(api.picture)),
        Route("/api/picture/numbers", get(api.picture_numbers)),
        Route("/api/values", get(api.values)),
        Route("/api/nodes", get(api.nodes)),
        Route("/api/nodes/{number}", get(api.node)),
        Route("/api/labels", post(api.labels), methods=["POST"]),
        Route("/api/undo", post(api.undo), methods=["POST"]),
        Route("/api/jobs", post(api.start), methods=["POST"]),
        Route("/api/jobs/{number}", get(api.stop), methods=["DELETE"]),
        Route("/api/results/{name}", get(api.result)),
        Route("/api/compare", get(api.compare)),
        Route("/api/tickets", post(api.ticket), methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(routes=routes), api.jobs
