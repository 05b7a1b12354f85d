"""Runs a module of JavaScript in headless Chromium and returns what it sends back."""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm"}
QUIET = (
    *("--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
PAGE = b"""<!doctype html><meta charset="utf-8"><title>mmp</title><script type="module">
const answer = (body) => fetch("/answer", { method: "POST", body: JSON.stringify(body) });
try {
  answer({ result: await (await import("/script.js")).default() });
} catch (error) {
  answer({ error: `${error.name}: ${error.message}\\n${error.stack}` });
}
</script>"""


def chromium() -> str | None:
    """Return the program of Chromium: of the system, else of Playwright; None if there is none."""
    names = "chromium", "chromium-browser", "google-chrome"
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        with contextlib.suppress(Exception):  # Playwright is not there, or not for this system
            from playwright.sync_api import sync_playwright

            with sync_playwright() as running:
                own = running.chromium.executable_path
                found = own if os.path.exists(own) else None
    return found


def run_page(
    script: str, folders: Mapping[str, Path], files: Mapping[str, bytes], seconds: float
) -> Any:
    """Return what the default function of a module resolves to in a page, as JSON.

    Parameters
    ----------
    script : str
        The module; it imports from the addresses of the folders.
    folders : mapping of str to Path
        Folders that are served, by the first part of their address.
    files : mapping of str to bytes
        Files that are served below "/files/".
    seconds : float
        Time that the page has.

    Raises
    ------
    RuntimeError
        If there is no Chromium, or the module throws or takes too long; the message says which.
    """
    program = chromium()
    if program is None:
        raise RuntimeError("there is no chromium")
    answers: queue.Queue[dict[str, Any]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            first, _, rest = self.path.lstrip("/").partition("/")
            if not first:
                self._send(PAGE, "text/html")
            elif first == "script.js":
                self._send(script.encode(), TYPES[".js"])
            elif first == "files" and rest in files:
                self._send(files[rest], "application/octet-stream")
            elif first in folders and (folders[first] / rest).is_file():
                path = folders[first] / rest
                self._send(path.read_bytes(), TYPES.get(path.suffix, "text/plain"))
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._send(b"", "text/plain")

        def _send(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        arguments = [*QUIET, f"--user-data-dir={profile}"]
        arguments += ["--no-sandbox"] if os.geteuid() == 0 else []
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        browser = subprocess.Popen([program, *arguments, url], **silent)  # type: ignore[call-overload]
        try:
            answer = answers.get(timeout=seconds)
        except queue.Empty:
            raise RuntimeError(f"the page did not answer within {seconds} seconds") from None
        finally:
            browser.terminate()
            browser.wait(30)
            server.shutdown()
            server.server_close()
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["result"]
