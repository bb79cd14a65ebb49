"""A headless Chromium that plays the video of ``player/player.html``, driven by the Chrome DevTools Protocol.

``python browser_client.py CHROMIUM SPKI ADDRESS PORT VERSION SEGMENTS SEGMENT_S AHEAD_S SECONDS`` prints the page's
record as one JSON object: at the end of the video, or after SECONDS. VERSION is h1, h2 or h3. The profile is new and
lies in the working directory. The server's certificate is trusted by the digest of its public key (file SPKI), in
this browser only.

It runs in a run's namespace, without the package ``dumbbell``.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOST = "server.test"
OPTIONS = [
    "--headless=new",
    "--remote-debugging-pipe",  # no port that others could use
    "--no-sandbox",  # its own namespaces and the run's are nested; it loads the run's page only
    "--disable-gpu",
    "--disable-dev-shm-usage",  # shared memory in files of the profile, which are removed with it
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--mute-audio",
    "--autoplay-policy=no-user-gesture-required",
]
VERSIONS = {"h1": ["--disable-quic", "--disable-http2"], "h2": ["--disable-quic"], "h3": []}
START_S = 120.0
"""Longest time for the browser to start, and to end; on a busy host it takes many seconds."""
POLL_S = 0.25


class Browser:
    """A browser at the other end of two pipes; messages end with a zero byte [chromium devtools_pipe_handler.cc]."""

    def __init__(self, command: list[str], profile: Path) -> None:
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()
        # The browser reads file descriptor 3 and writes 4. Its temporary files and settings stay in the profile.
        start = ["sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", *command]
        self.log = profile / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                start,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(to_browser, from_browser),
                env={**os.environ, **dict.fromkeys(("HOME", "TMPDIR", "XDG_RUNTIME_DIR"), str(profile))},
            )
        os.close(to_browser)
        os.close(from_browser)
        self.read = b""
        self.number = 0
        self.session: dict[str, str] = {}

    def call(self, method: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Call a method and return its result; other messages are events, and are ignored."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **self.session}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + START_S
        while True:
            while b"\0" not in self.read:
                ready, _, _ = select.select([self.back], [], [], max(0.0, until - time.monotonic()))
                data = os.read(self.back, 1 << 20) if ready else b""
                if not data:
                    tail = self.log.read_text(errors="replace").strip().splitlines()[-1:]
                    reason = "has ended" if ready else f"didn't answer within {START_S:g} s"
                    raise SystemExit(f"the browser {reason} ({method}): {''.join(tail)}")
                self.read += data
            line, _, self.read = self.read.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"the browser refuses {method}: {answer['error']['message']}")
                return dict(answer["result"])

    def evaluate(self, expression: str) -> Any:  # noqa: ANN401 - JSON
        """Return the value of an expression in the page; None before the page has it."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"]
        return result.get("value")

    def open_page(self) -> None:
        """Open an empty page; further calls are for it."""
        self.product = str(self.call("Browser.getVersion")["product"])
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = {"sessionId": found["sessionId"]}

    def close(self) -> None:
        """End the browser."""
        self.session = {}
        try:
            self.call("Browser.close")
            self.process.wait(START_S)
        except (SystemExit, subprocess.TimeoutExpired, OSError):
            self.process.kill()
            self.process.wait()


def main(
    chromium: str,
    spki: str,
    address: str,
    port: str,
    version: str,
    segments: str,
    segment: str,
    ahead: str,
    seconds: str,
) -> None:
    """Play the video and print the record."""
    until = time.monotonic() + float(seconds)
    profile = Path.cwd() / "profile"
    profile.mkdir()
    authority = f"{HOST}:{port}"
    force = [f"--origin-to-force-quic-on={authority}"] if version == "h3" else []
    browser = Browser(
        [
            chromium,
            *OPTIONS,
            *VERSIONS[version],
            *force,
            f"--user-data-dir={profile}",
            f"--host-resolver-rules=MAP {HOST} {address}",
            f"--ignore-certificate-errors-spki-list={Path(spki).read_text(encoding='ascii')}",
        ],
        profile,
    )
    try:
        browser.open_page()
        query = f"segments={segments}&seconds={segment}&ahead={ahead}"
        shown = browser.call("Page.navigate", url=f"https://{authority}/player.html?{query}")
        if "errorText" in shown:
            raise SystemExit(f"the page can't be loaded: {shown['errorText']}")
        while not browser.evaluate("window.record && record.done") and time.monotonic() < until:
            time.sleep(POLL_S)
        report = json.loads(browser.evaluate("window.report ? report() : 'null'")) or {}
        # The run may end while the browser ends.
        print(json.dumps({"browser": browser.product, **report}), flush=True)
    finally:
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
