"""A real Chromium for tests: opens a page, drives it like a person, and notes whatever it says or asks for."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import websocket


def chromium() -> str:
    """The browser to use; a test that needs it is skipped where there is none."""
    for name in (os.environ.get("GRAMME_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        found = name and shutil.which(name)
        if found:
            return found
    pytest.skip("there is no chromium; install it or set GRAMME_CHROMIUM")


class Page:
    """One tab, spoken to over the DevTools protocol."""

    def __init__(self, address: str, downloads: Path) -> None:
        self._socket = websocket.create_connection(address, suppress_origin=True, timeout=60)
        self._numbers = itertools.count(1)
        self._loaded = False
        self.downloads = downloads
        self.console: list[str] = []
        self.requests: list[str] = []
        self.dialogs: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return dict(message["result"])
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        kind, values = message.get("method"), message.get("params", {})
        if kind == "Runtime.consoleAPICalled":
            self.console.append(f"{values['type']}: {values['args']}")
        elif kind == "Runtime.exceptionThrown":
            self.console.append(str(values["exceptionDetails"]))
        elif kind == "Log.entryAdded":
            self.console.append(str(values["entry"]))
        elif kind == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif kind == "Page.javascriptDialogOpening":
            self.dialogs.append(values["message"])
            number = next(self._numbers)
            accept = {"id": number, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
            self._socket.send(json.dumps(accept))
        elif kind == "Page.loadEventFired":
            self._loaded = True

    def open(self, path: Path) -> Page:
        self._loaded = False
        self.requests.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait(lambda: self._loaded)
        self.frames(2)
        return self

    def evaluate(self, expression: str) -> Any:
        """The value of an expression; one that fails is an error of the test."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, until: Any, seconds: float = 30) -> None:
        """Wait until something holds: a function, or an expression in the page."""
        end = time.monotonic() + seconds
        while not (self.evaluate(until) if isinstance(until, str) else until()):
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds} s in vain for {until}")
            self.evaluate("new Promise(done => setTimeout(done, 20))")

    def frames(self, count: int = 2) -> None:
        for _ in range(count):
            self.evaluate("new Promise(done => requestAnimationFrame(() => done(1)))")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector: str) -> None:
        """Scroll an element into view and press the mouse on its middle."""
        x, y = self.evaluate(
            f"(() => {{ const e = document.querySelector({selector!r});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)
        self.frames()

    def type(self, selector: str, text: str) -> None:
        self.evaluate(f"document.querySelector({selector!r}).focus()")
        self.call("Input.insertText", text=text)
        self.frames()

    def key(self, key: str) -> None:
        codes = {"Enter": 13, "ArrowDown": 40, "ArrowLeft": 37, "Tab": 9, "Escape": 27}
        more: dict[str, int | str] = {"windowsVirtualKeyCode": codes[key]} if key in codes else {"text": key}
        if key == "Enter":
            more["text"] = "\r"  # a button is pressed by the letter, not by the key
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.frames()

    def choose(self, selector: str, value: str) -> None:
        """Take an option of a select, as far as a page can tell by hand."""
        self.evaluate(
            f"(() => {{ const e = document.querySelector({selector!r}); e.value = {value!r};"
            "e.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )
        self.frames()

    def text(self, selector: str) -> str:
        return str(self.evaluate(f"document.querySelector({selector!r}).innerText"))

    def texts(self, selector: str) -> list[str]:
        return list(self.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => e.innerText)"))

    def size(self, width: int, height: int, ratio: float = 1, *, mobile: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=mobile
        )
        self.frames(3)

    def prefer(self, **features: str) -> None:
        """Media features such as prefers_color_scheme="dark"."""
        listed = [{"name": key.replace("_", "-"), "value": value} for key, value in features.items()]
        self.call("Emulation.setEmulatedMedia", features=listed)
        self.frames()

    def screenshot(self, path: Path, *, whole: bool = False) -> Path:
        result = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(result["data"]))
        return path

    def pdf(self, path: Path) -> Path:
        result = self.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
        path.write_bytes(base64.b64decode(result["data"]))
        return path

    def downloaded(self, name: str) -> bytes:
        self.wait(lambda: (self.downloads / name).is_file())
        return (self.downloads / name).read_bytes()

    def close(self) -> None:
        self._socket.close()


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A fresh browser with an empty profile in a folder; ends with the block."""
    profile, downloads = folder / "profile", folder / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    command = [
        chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--remote-debugging-port=0",
        f"--user-data-dir={profile}", "--window-size=1200,900", "about:blank",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = _port(profile / "DevToolsActivePort", process)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            tabs = json.load(answer)
        address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
        page = Page(address, downloads)
        page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
        yield page
        page.close()
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(file: Path, process: subprocess.Popen[bytes]) -> int:
    """The port the browser listens on, which it writes down once it does."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if file.is_file() and file.read_text().strip():
            return int(file.read_text().split()[0])
        time.sleep(0.05)
    raise AssertionError(f"{chromium()} did not start (exit code {process.poll()})")
