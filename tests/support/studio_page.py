"""The studio's page in Node and in a browser: questions to its functions, and acts on the page."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from browser import posted, with_script
from dumbbell.studio import write
from required import require, require_programs

__all__ = ["FOLDER", "ROOT", "SCENARIO", "acted", "assert_native", "curve", "in_node", "require_studio"]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "python" / "dumbbell" / "studio"
SCRIPTS = ROOT / "tests" / "studio"
SCENARIO: dict[str, Any] = {
    "name": "files",
    "duration": "3 s",
    "network": {
        "bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"limit": "20 packets"}, "loss": "0.5 %"},
        "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
    },
    "flows": [{"name": "a", "variant": "cubic"}, {"name": "b", "variant": "reno", "start": "100 ms"}],
}


def require_studio() -> None:
    """Require the engine as WebAssembly."""
    require("studio", None if write.available() else "needs dumbbell.wasm: `make studio`")


def in_node(script: str, given: object) -> list[Any]:
    """Give a script of ``tests/studio`` a document in Node; return the list that it prints."""
    require_programs("node")
    command = ["node", str(SCRIPTS / script), str(FOLDER)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    answers: list[Any] = json.loads(done.stdout)
    return answers


def assert_native(report: dict[str, Any], output: Any) -> None:
    """Assert that the results that the page shows are those of the native simulator."""
    results = json.loads(report["text"])
    for rows in ("flows", "queues"):
        assert json.dumps(results[rows]) == json.dumps(getattr(output.rows, rows))


def acted(
    page: str, name: str, profile: Path, given: object = None, files: Mapping[str, Path] | None = None
) -> dict[str, Any]:
    """Open a page, act on it as ``studio_driver.mjs`` does, and return what was found."""
    driver = (SCRIPTS / "studio_driver.mjs").read_text(encoding="utf-8").replace("export ", "")
    script = f"{driver}act({json.dumps(name)}, {json.dumps(given)});"
    page = with_script(page, script, kind="module", more="connect-src 'self'; ")
    found = posted(page, profile, files=files)
    assert isinstance(found, dict)
    assert found["errors"] == []
    return found


def curve(panels: dict[str, Any], key: str, name: str) -> list[float]:
    """Return the values of a curve that starts with a name, without gaps."""
    (panel,) = (each for each in panels["panels"] if each["key"] == key)
    (n,) = (n for n, each in enumerate(panel["curves"]) if each["name"].startswith(name))
    data = panel["data"][n + 1]
    return [value for value in (data.values() if isinstance(data, dict) else data) if value is not None]
