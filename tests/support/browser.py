"""Opens pages in headless Chromium: their width, their requests, their colors, and the result of a script on them."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
from collections.abc import Mapping
from html import unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from required import require_programs

__all__ = ["posted", "probe", "with_script"]

MEASURES = """
const root = document.documentElement;
const wide = [...document.querySelectorAll("body *")].filter((e) => {
  const box = e.getBoundingClientRect();
  if (!box.width || !box.height || e.matches(".skip")) return false;
  for (let up = e.parentElement; up; up = up.parentElement) {
    if (["auto", "scroll", "hidden"].includes(getComputedStyle(up).overflowX)) return false;
  }
  return box.right > root.clientWidth + 1 || box.left < -1;
});
return {
  width: root.clientWidth,
  page: root.scrollWidth,
  wide: wide.map((e) => `${e.tagName}.${e.getAttribute("class") ?? ""}: ${e.textContent.slice(0, 40)}`),
  requests: performance.getEntriesByType("resource").map((r) => r.name),
  paper: getComputedStyle(document.body).backgroundColor,
  figures: document.querySelectorAll("figure").length,
  drawn: document.querySelectorAll("figure.drawn .live .panel").length,
  RESULT
};
"""


def probe(page: Path, *, width: int = 1280, dark: bool = False, script: str = "null") -> dict[str, Any]:
    """Open a page, run an expression on it, and return measures.

    Parameters
    ----------
    page : Path
    width : int
        Of the window, in CSS pixels; a phone has about 400.
    dark : bool
        True if the reader prefers dark pages.
    script : str
        A JavaScript expression, or an async function's body in braces; its value is ``result``.

    Returns
    -------
    dict
        ``width`` of the window and of the ``page``; ``wide``, the elements outside of the window that don't scroll in
        a box; ``requests``; the color of the ``paper``; the numbers of ``figures`` and ``drawn`` panels; ``result``.
    """
    require_programs("chromium")
    value = f"await (async () => {script})()" if script.startswith("{") else script
    measure = MEASURES.replace("RESULT", f"result: {value}")
    run = f"""addEventListener("load", async () => {{
        let answer;
        try {{ answer = await (async () => {{ {measure} }})(); }}
        catch (e) {{ answer = {{ error: String(e.stack) }}; }}
        parent.postMessage(JSON.stringify(answer), "*");
    }});"""
    copy, frame = page.with_name(f"probe-{page.name}"), page.with_name(f"frame-{page.name}")
    copy.write_text(with_script(page.read_text(encoding="utf-8"), run), encoding="utf-8")
    # A frame, since a window has at least 500 pixels. The answer is an attribute, which --dump-dom prints.
    frame.write_text(
        f"""<!doctype html><html><body style="margin:0"><script>
        addEventListener("message", (event) => {{ document.documentElement.dataset.answer = event.data; }});
        </script><iframe src="{copy.name}" style="border:0;width:{width}px;height:1000px"></iframe></body></html>"""
    )
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
               "--hide-scrollbars", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
               "--window-size=1300,1000", "--virtual-time-budget=10000", "--dump-dom", f"file://{frame}"]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    copy.unlink()
    frame.unlink()
    assert "CONSOLE" not in done.stderr, done.stderr
    found = re.search(r'<html[^>]* data-answer="([^"]*)"', done.stdout)
    assert found, done.stdout[:2000]
    answer: dict[str, Any] = json.loads(unescape(found[1]))
    assert "error" not in answer, answer
    return answer


def with_script(page: str, script: str, *, kind: str = "text/javascript", more: str = "") -> str:
    """Add a script to the end of a page, and to its Content-Security-Policy, with ``more`` rules."""
    hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = page.replace("; script-src ", f"; {more}script-src 'sha256-{hashed}' ", 1)
    return page.replace("</body>", f'<script type="{kind}">{script}</script></body>')


def posted(page: str, profile: Path, *, files: Mapping[str, Path] | None = None, timeout_s: float = 300.0) -> Any:
    """Open a page from a server on this machine, and return the JSON that it posts to ``/``.

    For pages that wait for other threads of the browser: `probe` ends when the page's own thread has nothing to do.

    Parameters
    ----------
    page : str
        HTML.
    profile : Path
        A directory for the browser's files.
    files : mapping of str to Path, optional
        Files that the page can load, by their paths on the server.
    timeout_s : float
        After so long without an answer `queue.Empty` is raised.
    """
    require_programs("chromium")
    answers: Queue[bytes] = Queue()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if files and self.path in files:
                self._send(files[self.path].read_bytes())
            else:
                self._send(page.encode() if self.path == "/" else b"")

        def do_POST(self) -> None:
            answers.put(self.rfile.read(int(self.headers["Content-Length"])))
            self._send(b"")

        def _send(self, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0",
                   f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"]  # fmt: skip
        # Chromium leaves temporary files. Their folder has a short name: a socket is there, whose path has at most
        # 107 bytes [man 7 unix].
        with TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as scratch:
            environment = {**os.environ, "TMPDIR": scratch}
            browser = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                return json.loads(answers.get(timeout=timeout_s))
            finally:
                browser.terminate()
                browser.wait()
                server.shutdown()
