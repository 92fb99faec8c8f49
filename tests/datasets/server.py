"""A web server in a thread that serves bytes from memory, well or badly."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Server:
    files: dict[str, bytes] = field(default_factory=dict)
    cut: bool = False
    """Send half of what was announced, then hang up."""
    stall: bool = False
    """Send half, then nothing for as long as the test lasts."""
    drip: str = ""
    """Send the "header" or the "body" a byte at a time."""
    announced: int | None = None
    """A length to announce in place of the true one."""
    reason: str = ""
    """Refuse every request for this reason."""
    requests: list[str] = field(default_factory=list)
    sent_half: threading.Event = field(default_factory=threading.Event)
    finished: threading.Event = field(default_factory=threading.Event)
    address: str = ""


@contextmanager
def serving(**options: Any) -> Iterator[Server]:
    server = Server(**options)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append(self.path)
            body = server.files.get(self.path.lstrip("/"))
            if server.reason or body is None:
                self.send_error(404, server.reason or None)
                return
            if server.drip == "header":
                self.drip(b"HTTP/1.0 200 OK\r\nX: " + b"x" * 10_000)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(server.announced or len(body)))
            self.end_headers()
            if server.drip == "body":
                self.drip(body)
                return
            if server.cut or server.stall:
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                server.sent_half.set()
                if server.stall:
                    server.finished.wait(30)
            else:
                self.wfile.write(body)

        def drip(self, content: bytes) -> None:
            for position in range(len(content)):
                if server.finished.wait(0.02):
                    return
                try:
                    self.wfile.write(content[position : position + 1])
                    self.wfile.flush()
                except OSError:
                    return

        def log_message(self, *args: Any) -> None:
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.address = f"http://127.0.0.1:{web.server_port}"
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.finished.set()
        web.shutdown()
        web.server_close()
        thread.join()
