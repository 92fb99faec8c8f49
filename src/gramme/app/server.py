"""The server: listens on loopback, lets in whoever has the token, and nobody who comes by way of another web page.

Every request must name this server as its host (so that no other name can be made to point here), must not come from
another origin, and, for anything but the empty page and its scripts, must carry the token in a header, which no other
page can read or send. There is no CORS. Files that a browser opens by itself (a report, a download) have an address
that works once, for a minute.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import os
import secrets
import socket
import threading
import time
import webbrowser
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

from gramme.errors import DataError, import_extra

from .project import Project

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

STATIC = Path(__file__).with_name("static")
TOKEN_HEADER = b"x-gramme-token"
TICKET_SECONDS = 60.0
"""That an address for a download or a report works."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
)
"""A report runs its own script, in an origin of its own, and can reach nothing."""


class Tickets:
    """Addresses that work once: what a browser opens by itself cannot carry a header."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[float, Any]] = {}
        self._turn = threading.Lock()

    def give(self, what: Any) -> str:
        current_time = time.monotonic()
        with self._turn:
            self._made = {
                old_ticket: expiry_and_parcel
                for old_ticket, expiry_and_parcel in self._made.items()
                if expiry_and_parcel[0] > current_time
            }
            ticket = secrets.token_urlsafe(24)
            self._made[ticket] = (current_time + TICKET_SECONDS, what)
        return ticket

    def take(self, ticket: str) -> Any:
        """What a ticket is for; None if it is unknown, used or too old."""
        with self._turn:
            expires_at, ticket_content = self._made.pop(ticket, (0.0, None))
        return ticket_content if expires_at > time.monotonic() else None


class Guard:
    """Middleware that refuses whatever does not come from this server's own page."""

    def __init__(self, app: Any, *, token: str, port: int) -> None:
        self.app = app
        self.token = token.encode()
        host_names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = {f"{name}:{port}".encode() for name in host_names}
        self.origins = {b"http://" + host for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not spoken here")
        from starlette.responses import PlainTextResponse

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
                header_names = {name.lower() for name, _ in message["headers"]}
                if b"content-security-policy" not in header_names:
                    message["headers"].append((b"content-security-policy", PAGE_POLICY.encode()))
            await send(message)

        problem = self._problem(scope)
        answering_app = self.app if problem is None else PlainTextResponse(problem, 403)
        await answering_app(scope, receive, guarded)

    def _problem(self, scope: Scope) -> str | None:
        header_values: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            header_values.setdefault(name.lower(), []).append(value)
        hosts = header_values.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return "this server answers to its own address on this machine only"
        if any(origin.lower() not in self.origins for origin in header_values.get(b"origin", [])):
            return "another web page may not speak to this server"
        fetch_sites = header_values.get(b"sec-fetch-site", [])
        if any(site not in (b"same-origin", b"none") for site in fetch_sites):
            return "another web page may not speak to this server"
        if not scope["path"].startswith("/api/"):
            return None
        tokens = header_values.get(TOKEN_HEADER, [])
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self.token):
            return "the token is missing or wrong; open the address that gramme app printed"
        return None


_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


def listen(port: int | None) -> socket.socket:
    """A socket on loopback: at the port that was named, or the first free one of a few."""
    for port_number in [*range(8765, 8785), 0] if port is None else [port]:
        listening_socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening_socket.bind(("127.0.0.1", port_number))
            listening_socket.listen(64)
        except OSError as error:
            listening_socket.close()
            if port is not None:
                problem = f"port {port} cannot be used: {error.strerror or error}"
                raise DataError(f"{problem}; name another with --port") from None
            continue
        return listening_socket
    raise DataError("no port is free on this machine")  # port 0 always is


@contextlib.contextmanager
def serving(project: Project, port: int | None) -> Iterator[tuple[str, Callable[[], None]]]:
    """The address to open, with its token, and a function that serves until the process is told to end."""
    uvicorn = import_extra("uvicorn", "app", "gramme app")
    import_extra("starlette", "app", "gramme app")
    from .routes import make_app

    with contextlib.closing(listen(port)) as listening_socket:
        port_number = listening_socket.getsockname()[1]
        access_token = secrets.token_urlsafe(24)
        address = f"http://127.0.0.1:{port_number}/"
        project.note_owner(f"process {os.getpid()}, {address}")
        app, jobs = make_app(project)
        guarded_app = Guard(app, token=access_token, port=port_number)
        server_config = uvicorn.Config(
            guarded_app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=2,
            server_header=False, date_header=False, ws="none",
        )  # fmt: skip
        server = uvicorn.Server(server_config)

        try:
            yield f"{address}#token={access_token}", functools.partial(server.run, sockets=[listening_socket])
        finally:
            jobs.close()


def open_browser(address: str) -> None:
    """Show a page in the user's browser, a moment later, when the server listens; doing without one is no fault."""
    browser_timer = threading.Timer(0.3, webbrowser.open, [address])
    browser_timer.daemon = True
    browser_timer.start()
