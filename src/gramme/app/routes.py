"""The answers to the page: each route is a function of the project, whose docstring begins with method and address.

All answers but files are JSON. A user's mistake is status 400 with ``{"problem": ...}``, a full disk 507. A dropped
file comes by ``PUT /api/files/NAME``; ``/open/TICKET`` is the address of a report or a download, and works once.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
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
PAGE_ROWS = 200  # of a table in one answer at most
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

    def _changed(self) -> None:
        self.project.version += 1

    def state(self, query: Answer) -> Answer:
        """GET /api/state: where everything stands."""
        project = self.project
        answer: Answer = {"version": project.version, "loading": project.loading}
        answer["jobs"] = [job.as_dict() for job in self.jobs.snapshot()]
        if query.get("since") == str(project.version):
            return answer
        data = project.data
        answer |= {
            "folder": str(project.folder),
            "open": data is not None,
            "numbers": data is not None and data.plan.predicts_numbers,
            "results": self.results.records(),
            "methods": METHODS,
        } | {name: getattr(project, name) for name in ("name", "problem", "classes", "can_undo")}
        if data is not None:
            label_counts = Counter(label for label in data.labels if label is not None)
            answer |= {
                "nodes": len(data.names),
                "data_id": id(data),
                "labelled": label_counts.total(),
                "counts": label_counts,
            }
        return answer

    def files(self, query: Answer) -> Answer:
        """GET /api/files: dropped files, those of the project, and the datasets on this machine."""
        from gramme import datasets

        dataset_records = [_about(datasets.info(name)) for name in datasets.names() if _is_here(name)]
        project = self.project
        reading_facts = None
        if project.data is not None:
            data = project.data
            reading_facts = project.told((data.graph, data.notes, data.reading))
            reading_facts["command"] = shlex.join(["gramme", "fit", *project.reading_words(), "--out", "result"])
        return {
            "incoming": project.guesses(),
            "current": project.current_guesses(),
            "facts": reading_facts,
            "datasets": dataset_records,
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
        return data.picture.header(data.names) | {"data_id": id(data)}

    def picture_numbers(self, query: Answer) -> bytes:
        """GET /api/picture/numbers: its places and lines."""
        return self.project.opened().picture.numbers()

    def values(self, query: Answer) -> Answer:
        """GET /api/values: codes of label, prediction, certainty, group and change, in the order of the picture."""
        data = self.project.opened()
        nodes, ranges = data.picture.nodes, data.ranges
        class_names = list(self.project.classes) if ranges is None else list(ranges.names)
        labels = data.labels if ranges is None else [ranges.label(label_text) for label_text in data.labels]
        fit, earlier_fit = self._fit(query, "fit", data), self._fit(query, "before", data)
        for predictions in (fit, earlier_fit):
            class_names += [name for name in (predictions.classes if predictions else ()) if name not in class_names]
        class_codes = {name: class_code for class_code, name in enumerate(class_names)}
        label_codes = [class_codes.get(labels[node] or "", -1) for node in nodes.tolist()]
        answer: Answer = {"classes": class_names, "label": label_codes}
        if fit is not None:
            class_lookup = np.array([class_codes[name] for name in fit.classes] or [-1])
            answer["predicted"] = class_lookup[fit.predicted][nodes].tolist()
            if fit.interval is None:
                answer["probability"] = np.nan_to_num(fit.probability[nodes]).round(4).tolist()
        if fit is not None and earlier_fit is not None:
            answer["changed"] = views.compared(earlier_fit, fit)[nodes].astype(int).tolist()
        node_groups = self._groups(query, data)
        if node_groups is not None:
            group_names = list(dict.fromkeys(sorted(node_groups, key=_natural)))
            group_codes = {name: class_code for class_code, name in enumerate(group_names)}
            answer["group"] = [group_codes[node_groups[node]] for node in nodes.tolist()]
            answer["groups"] = group_names[:1000]
        return answer

    def nodes(self, query: Answer) -> Answer:
        """GET /api/nodes: a page of the table of nodes."""
        data = self.project.opened()
        node_table = views.listed_nodes(
            self._table(query, data),
            query.get("sort", ""),
            descending=query.get("descending") == "1",
            query=query.get("query", "")[:200],
            only=query.get("only", ""),
        )
        first_row, last_row = _page(query)
        shown_rows = views.node_records(node_table[first_row:last_row])
        return {"total": len(node_table), "offset": first_row, "rows": shown_rows}

    def node(self, number: str, query: Answer) -> Answer:
        """GET /api/nodes/NUMBER: label, prediction, and neighbours by layer with theirs."""
        data = self.project.opened()
        node = _node(number, data)
        node_table = self._table(query, data)
        layer_records = data.neighbours.of(node)
        for layer_record in layer_records:
            neighbour_lists = [layer_record] if layer_record["kind"] == "edges" else layer_record["groups"]
            for neighbour_list in neighbour_lists:
                neighbour_list["nodes"] = views.node_records(node_table.iloc[neighbour_list["nodes"]])
        answer: Answer = views.node_records(node_table.iloc[[node]])[0] | {"layers": layer_records}
        fit = self._fit(query, "fit", data)
        if fit is not None and fit.interval is None:
            class_probabilities = zip(fit.classes, fit.probabilities[node].tolist(), strict=True)
            answer["probabilities"] = [{"class": one, "probability": p} for one, p in class_probabilities]
        if data.truth is not None:
            answer["truth"] = data.truth[node]
        return answer

    def _table(self, query: Answer, data: OpenData) -> pd.DataFrame:
        fit, earlier_fit = self._fit(query, "fit", data), self._fit(query, "before", data)
        return views.node_table(data.names, data.labels, fit, earlier_fit, self._groups(query, data))

    def _fit(self, query: Answer, key: str, data: OpenData) -> views.Predictions | None:
        return self.results.predictions(query[key], len(data.names), data.ranges) if query.get(key) else None

    def _groups(self, query: Answer, data: OpenData) -> list[str] | None:
        if not query.get("groups"):
            return None
        group_table = self.results.table(query["groups"])
        if "group" not in group_table.columns or len(group_table) != len(data.names):
            raise DataError(f"the result {query['groups']} is about other data")
        return group_table["group"].tolist()

    def labels(self, body: Answer) -> Answer:
        """POST /api/labels: give labels (null takes one away); on the disk when this is answered."""
        changes = body.get("changes")
        if not isinstance(changes, list) or not changes:
            raise DataError("changes must be a list of [node, label]")
        for change in changes:
            if not isinstance(change, list) or [type(changed_value) for changed_value in change] not in _CHANGES:
                raise DataError("a change is [node, label]: the number of a node, a label or null")
        self.project.label(map(tuple, changes))
        return self._labelled()

    def undo(self, body: Answer) -> Answer:
        """POST /api/undo: take the last label back."""
        return self._labelled() | {"node": self.project.undo()}

    def _labelled(self) -> Answer:
        project = self.project
        labelled = sum(label is not None for label in project.opened().labels)
        return {name: getattr(project, name) for name in ("version", "classes", "can_undo")} | {"labelled": labelled}

    def start(self, body: Answer) -> Answer:
        """POST /api/jobs: run a command; kind and a few options."""
        kind = _text(body, "kind")
        if kind not in KINDS:
            raise DataError(f"there is no such job; known: {', '.join(KINDS)}")
        if self.jobs.busy(kind):
            raise DataError(f"gramme {kind} is running already; wait for it, or stop it")
        result_folder = self.project.next_result(kind, (job.target for job in self.jobs.snapshot()))
        command_words = [kind, *self.project.reading_words(), "--out", f"{RESULTS}/{result_folder.name}"]
        if kind == "fit" and not self.project.opened().plan.predicts_numbers:
            method = body.get("method") or METHODS[0]
            if method not in METHODS:
                raise DataError(f"the page offers {', '.join(METHODS)}; the command line has others")
            command_words += [] if method == METHODS[0] else ["--method", method]
            command_words += ["--coverage", "90%"] if body.get("coverage") else []
        command_words += [*OPTIONS.get(kind, ()), "--json"]
        return self.jobs.submit(kind, command_words, result_folder).as_dict()

    def stop(self, number: str, query: Answer) -> Answer:
        """DELETE /api/jobs/NUMBER: stop it; it leaves no result."""
        if not number.isdecimal() or not self.jobs.stop(int(number)):
            raise DataError("that job has ended already")
        return {}

    def result(self, name: str, query: Answer) -> Answer:
        """GET /api/results/NAME: a page of its table; names of nodes come with their numbers."""
        data = self.project.opened()
        result_table = self.results.table(name)
        search_text = query.get("query", "").casefold()[:200]
        if search_text:
            row_matches = result_table.apply(lambda row: any(search_text in cell.casefold() for cell in row), axis=1)
            result_table = result_table[row_matches]
        descending = query.get("descending") == "1"
        result_table = views.sorted_rows(result_table, query.get("sort"), descending=descending)
        first_row, last_row = _page(query)
        shown_rows = result_table[first_row:last_row]
        node_numbers = {name: node_number for node_number, name in enumerate(data.names)}
        node_columns = shown_rows[[name for name in ("node", "source", "target") if name in result_table.columns]]
        answer = {"header": list(result_table.columns), "rows": shown_rows.to_numpy().tolist()}
        answer |= {"total": len(result_table), "offset": first_row}
        cells_by_row = [zip(node_columns.columns, row, strict=True) for row in node_columns.to_numpy()]
        answer["nodes"] = [{key: node_numbers.get(name) for key, name in row_cells} for row_cells in cells_by_row]
        return answer

    def compare(self, query: Answer) -> Answer:
        """GET /api/compare: what changed from one fit to another."""
        data = self.project.opened()
        earlier_fit, later_fit = self._fit(query, "before", data), self._fit(query, "after", data)
        if later_fit is None:
            raise DataError("name the fit to look at")
        answer: Answer = {"truth": None}
        if data.truth is not None:
            true_labels = np.array(data.truth, dtype=object)
            tested_nodes = ~later_fit.known & np.array([one is not None for one in data.truth])
            right_count = int((later_fit.names[tested_nodes] == true_labels[tested_nodes]).sum())
            answer["truth"] = {"right": right_count, "of": int(tested_nodes.sum())}
        if earlier_fit is not None:
            changed_nodes = np.flatnonzero(views.compared(earlier_fit, later_fit))
            ranked_nodes = changed_nodes[np.argsort(-later_fit.probability[changed_nodes], kind="stable")]
            answer["count"] = int(changed_nodes.size)
            answer["mean_before"] = views.mean_certainty(earlier_fit)
            answer["mean_after"] = views.mean_certainty(later_fit)
            earlier_texts, later_texts, node_names = earlier_fit.shown, later_fit.shown, data.names
            answer["nodes"] = [
                {"node": node, "name": node_names[node], "before": earlier_texts[node], "after": later_texts[node]}
                for node in ranked_nodes[:PAGE_ROWS].tolist()
            ]
        return answer

    def ticket(self, body: Answer) -> Answer:
        """POST /api/tickets: an address that a browser can open once: a report, a table, a script."""
        result_name = str(body.get("result") or "")
        sent_file = sending.parcel(self.project, self.results, _text(body, "what"), result_name)
        return {"address": f"/open/{self.tickets.give(sent_file)}", "name": sent_file.name}


def _is_here(name: str) -> bool:
    """Whether a dataset is on this machine; the app downloads nothing."""
    from gramme import datasets

    with contextlib.suppress(OSError):
        return datasets.info(name).embedded or Path(datasets.where(name)).is_dir()
    return False


def _about(info: Any) -> Answer:
    dataset_record = {key: getattr(info, key) for key in ("name", "nodes", "layers", "classes")}
    return dataset_record | {"what": info.description}


def _natural(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isdecimal() else (1 << 60, text)


def _place(body: Answer) -> str:
    folder_name = body.get("place", INCOMING)
    if folder_name not in (INCOMING, DATA):
        raise DataError(f"files are in {INCOMING} or {DATA}")
    return str(folder_name)


def _text(body: Answer, key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise DataError(f"{key} must be a text")
    return value


def _page(query: Answer) -> tuple[int, int]:
    """First row and end of the page of a table that is asked for."""
    first_row, row_limit = query.get("offset", "0"), query.get("limit", "50")
    if not (first_row.isdecimal() and row_limit.isdecimal()) or len(first_row + row_limit) > 20:
        raise DataError("offset and limit must be whole numbers")
    return int(first_row), int(first_row) + min(int(row_limit), PAGE_ROWS)


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
        disk_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        problem_text = "the disk is full; nothing was saved" if disk_full else project.plain(error)
        return JSONResponse({"problem": problem_text}, status_code=507 if disk_full else 500)
    traceback.print_exception(error)
    problem_text = f"the app made a mistake ({type(error).__name__}); the terminal says more"
    return JSONResponse({"problem": problem_text}, status_code=500)


async def _body(request: Request) -> Answer:
    """The JSON object of a request, of bounded size."""
    body_bytes = bytearray()
    async for chunk in request.stream():
        body_bytes += chunk
        if len(body_bytes) > MAX_BODY_BYTES:
            raise DataError("the request is too large")
    try:
        body = json.loads(bytes(body_bytes) or b"{}")
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
    part_path = path.with_name(f".{path.name}.part")
    file_size = 0
    try:
        with part_path.open("wb") as file:
            async for chunk in request.stream():
                file_size += len(chunk)
                if file_size > MAX_UPLOAD_BYTES:
                    size_problem = f"larger than {MAX_UPLOAD_BYTES >> 20:,} MB"
                    raise DataError(f"the file is {size_problem}; name it on the command line: gramme app FILE")
                await run_in_threadpool(file.write, chunk)
        if not file_size:
            raise DataError(f"the file {path.name} is empty")
        part_path.replace(path)
    finally:
        part_path.unlink(missing_ok=True)
    return {"name": path.name, "size": file_size}


def make_app(project: Project) -> tuple[Starlette, Jobs]:
    """All routes over a project, and its jobs, which the caller ends."""
    api = Api(project)

    def answering(make: Callable[[Request], Awaitable[Any]]) -> Callable[..., Any]:
        """A route that answers with what is made, or says what was wrong."""

        async def answer(request: Request) -> Response:
            try:
                answer_content = await make(request)
            except Exception as error:  # whatever it is, the page must say it
                return _failed(project, error)
            if isinstance(answer_content, bytes):
                return Response(answer_content, media_type="application/octet-stream")
            return JSONResponse(answer_content)

        return answer

    def get(work: Callable[..., Any]) -> Callable[..., Any]:
        async def make(request: Request) -> Any:
            path_values, query = request.path_params.values(), dict(request.query_params)
            return await run_in_threadpool(work, *path_values, query)

        return answering(make)

    def post(work: Callable[[Answer], Answer]) -> Callable[..., Any]:
        async def make(request: Request) -> Any:
            return await run_in_threadpool(work, await _body(request))

        return answering(make)

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", media_type="text/html; charset=utf-8")

    async def parcel(request: Request) -> Response:
        sent_file = api.tickets.take(request.path_params["ticket"])
        if sent_file is None:
            return PlainTextResponse("This address worked once; go back to the page.", 404)
        headers = {"content-security-policy": REPORT_POLICY}
        if not sent_file.inline:
            headers["content-disposition"] = sending.disposition(sent_file.name)
        return Response(sent_file.content, media_type=sent_file.kind, headers=headers)

    routes = [
        Route("/", page),
        Route("/open/{ticket}", parcel),
        Route("/api/files/{name}", answering(lambda request: receive(request, project)), methods=["PUT"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    for name in vars(Api):
        if not name.startswith("_"):
            work = getattr(api, name)
            http_method, route_address = work.__doc__.split()[:2]
            route_path = re.sub("[A-Z]+", lambda found: f"{{{found[0].lower()}}}", route_address.rstrip(":."))
            routes.append(Route(route_path, post(work) if http_method == "POST" else get(work), methods=[http_method]))
    return Starlette(routes=routes), api.jobs
