"""A headless Chromium with one page, driven through its DevTools protocol."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",  # tests run as root in containers, and open only pages of difftvm
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--remote-debugging-port=0",
    "--window-size=1400,1000",
)
KEYS = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9, "/": 191}


def program() -> str:
    """Return the path of Chromium. Install it with apt-get where it is missing; skip the test where that fails."""
    if found := _found():
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        pytest.skip("there is no Chromium, and only root can install one, by apt-get")
    with Path(tempfile.gettempdir(), "difftvm-installs-chromium").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not _found():
            errors = [_apt_get("update"), _apt_get("install", "-y", "chromium")]
    if found := _found():
        return found
    pytest.skip(f"there is no Chromium, and apt-get installs none: {' '.join(errors)}")


def _apt_get(*arguments: str) -> str:
    """Run apt-get and return the last line of its error output."""
    done = subprocess.run(["apt-get", "-qq", *arguments], capture_output=True, text=True, timeout=600)
    return (done.stderr.strip().splitlines() or [""])[-1]


def _found() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A page of the browser. `requests` are the addresses that it fetched, `errors` the errors in its console."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._number = socket, 0
        self.requests: list[str] = []
        self.errors: list[str] = []
        self._loaded = False
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Call a method of the DevTools protocol and return its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=30))
            if message.get("id") == self._number:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result
            self._handle(message)

    def _handle(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown":
                self.errors.append(json.dumps(params["exceptionDetails"]))
            case "Log.entryAdded":
                self.errors.append(params["entry"]["text"])

    def open(self, address: str) -> None:
        self._loaded = False
        self.requests.clear()
        self.errors.clear()
        self.call("Page.navigate", url=address)
        while not self._loaded:
            self._handle(json.loads(self._socket.recv(timeout=30)))

    def value(self, expression: str) -> Any:
        """Evaluate a JavaScript expression and return its value; wait where the value is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until a JavaScript expression is true, for about 5 seconds at most."""
        for _ in range(100):
            if self.value(expression):
                return
            time.sleep(0.05)
        raise TimeoutError(expression)

    def press(self, *keys: str) -> None:
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = {"key": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key.upper()[0])), "text": text}
            self.call("Input.dispatchKeyEvent", type="keyDown", **code)
            self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def scheme(self, name: str) -> None:
        """Set the colour scheme that the page sees: light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def width(self, pixels: int, height: int = 1000) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=False)


@contextmanager
def browser() -> Iterator[Page]:
    folder = Path(tempfile.mkdtemp(prefix="difftvm-browser-"))
    command = [program(), *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        try:
            port = _port(folder / "DevToolsActivePort")
            with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            with connect(pages[0]["webSocketDebuggerUrl"], max_size=None) as socket:
                yield Page(socket)
        finally:
            os.killpg(run.pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _port(path: Path) -> int:
    """The port of the DevTools protocol, from the file that Chromium writes when it listens."""
    for _ in range(300):
        if path.exists() and (lines := path.read_text().splitlines()):
            return int(lines[0])
        time.sleep(0.1)
    raise TimeoutError("Chromium does not listen")
