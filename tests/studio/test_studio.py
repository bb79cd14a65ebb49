"""The simulator as WebAssembly gives the results of the native one, byte for byte, in Node and in a browser.

The plans use every variant, every queue discipline, every transport, applications, Wi-Fi, captures and qlog.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import posted
from dumbbell import Scenario, _core, registry
from dumbbell.results.runs.record import jobs_of
from studio_page import FOLDER, ROOT, SCENARIO, in_node, require_studio

SCRIPT = Path(__file__).with_name("studio.mjs")

require_studio()

STOPS = [0.3, 0.31, 1.7]
"""Times in seconds at which the series are read while a run is in progress."""

DUMBBELL = {**SCENARIO, "trace": {"series": True}}
APPLICATIONS: dict[str, dict[str, Any]] = {
    "video": {
        "variant": "cubic",
        "tls": "1.3",
        "application": {"kind": "video", "length": "8 s", "ladder": ["1 Mbit/s", "4 Mbit/s"]},
    },
    "page": {"variant": "bbr", "application": {"kind": "page", "preset": "median"}},
    "quic": {"transport": "quic", "variant": "newreno"},
    "quic-page": {"transport": "quic", "variant": "cubic", "application": {"kind": "page", "size": "300 kB"}},
    "voice": {"application": {"kind": "voice"}},
    "ping": {"application": {"kind": "ping"}},
    "transfer": {"variant": "cubic", "application": {"kind": "transfer", "size": "200 kB"}},
}


def scenarios() -> Iterator[tuple[str, Scenario]]:
    """Make the scenarios, with names."""
    for variant in registry.variants():
        yield f"variant {variant}", Scenario.from_dict(DUMBBELL, {"flows.a.variant": variant})
    for discipline in registry.disciplines():
        change = {"network.bottleneck.queue": discipline, "trace.packets": True}
        yield f"discipline {discipline}", Scenario.from_dict(DUMBBELL, change)
    for name, flow in APPLICATIONS.items():
        yield f"application {name}", Scenario.from_dict({**DUMBBELL, "flows": [{"name": "f", **flow}]})
    for example in ("wifi", "web-search"):
        changes = {"duration": "2 s", "measure_from": "0 s", "trace.series": True}
        yield f"example {example}", Scenario.load(ROOT / "examples" / f"{example}.toml", changes)
    capture = {"capture": ["sender", "bottleneck", "receiver"]}
    yield "captures", Scenario.from_dict(DUMBBELL, capture)
    logged = {"capture": {"qlog": "draft"}, "flows.a.transport": "quic"}
    yield "qlog", Scenario.from_dict(DUMBBELL, logged)


@cache
def plans() -> dict[str, str]:
    """Write the plans of the scenarios, by name."""
    return {name: json.dumps(jobs_of(scenario)[0].plan()) for name, scenario in scenarios()}


def digest(values: bytes) -> str:
    return hashlib.sha256(values).hexdigest()


def native(plan: str, folder: Path) -> dict[str, Any]:
    """Run a plan natively, and return the report that tests/studio/studio.mjs makes."""
    output = _core.run(plan)
    columns = {}
    for table in output.tables():
        for column, values in output.table(table).items():
            bits = values if values.dtype != np.float64 else np.where(np.isnan(values), np.nan, values)
            columns[f"{table} {column}"] = [str(values.dtype), digest(bits.tobytes())]
    captures = {}
    for name in output.captures():
        output.write_capture(name, folder / "capture")
        captures[name] = digest((folder / "capture").read_bytes())
    results = {
        "flows": output.rows.flows,
        "queues": output.rows.queues,
        "transfers": output.rows.transfers,
        "captures": output.captures(),
        "qlogs": [{"name": name, "text": text} for name, text in output.qlogs()],
    }
    return {"results": results, "columns": columns, "captures": captures}


def comparable(report: dict[str, Any]) -> dict[str, Any]:
    """Remove what only the other side has, and keep each digit of each number."""
    results = json.loads(report["results"]) if isinstance(report["results"], str) else report["results"]
    results = {name: value for name, value in results.items() if name not in {"tables", "events"}}
    return {**report, "results": json.dumps(results)}


@cache
def all_in_node() -> dict[str, dict[str, Any]]:
    jobs = [{"plan": plan, "stops": STOPS} for plan in plans().values()]
    return dict(zip(plans(), in_node(SCRIPT.name, jobs), strict=True))


@pytest.mark.parametrize("name", plans())
def test_node_gives_the_native_results(name: str, tmp_path: Path) -> None:
    expected = native(plans()[name], tmp_path)
    assert expected["columns"]
    assert comparable(all_in_node()[name]) == comparable(expected)


def test_the_plans_have_what_is_compared() -> None:
    reports = all_in_node()
    assert all("error" not in report for report in reports.values())
    assert len(reports["captures"]["captures"]) == 3
    assert json.loads(reports["qlog"]["results"])["qlogs"]
    assert json.loads(reports["example web-search"]["results"])["transfers"]


def test_errors_are_the_native_ones() -> None:
    plan = plans()["variant cubic"]
    refused = [
        plan.replace('"cubic"', '"cubik"'),
        plan[:-1],
        "{}",
        plan.replace('"duration_ns": 3', '"duration_ns": -3'),
    ]
    for text, report in zip(refused, in_node(SCRIPT.name, [{"plan": text} for text in refused]), strict=True):
        with pytest.raises(_core.RunError) as error:
            _core.run(text)
        assert report == {"error": str(error.value)}


def test_a_browser_gives_the_native_results(tmp_path: Path) -> None:
    some = [plan for name, plan in plans().items() if name.startswith(("variant", "discipline"))]
    jobs = json.dumps([{"plan": plan, "stops": STOPS} for plan in some]).replace("<", "\\u003c")
    wasm = base64.b64encode((FOLDER / "dumbbell.wasm").read_bytes()).decode()
    modules = (FOLDER / "engine.mjs").read_text(encoding="utf-8") + SCRIPT.read_text(encoding="utf-8")
    page = f"""<!doctype html><html><body><script type="module">{modules}
        const bytes = Uint8Array.from(atob("{wasm}"), (c) => c.charCodeAt(0));
        const answer = Engine.load(bytes).then((engine) => reports(engine, {jobs})).catch((error) => String(error));
        fetch("/", {{ method: "POST", body: JSON.stringify(await answer) }});
        </script></body></html>"""
    answer = posted(page, tmp_path / "profile")
    assert isinstance(answer, list), answer
    for plan, report in zip(some, answer, strict=True):
        assert comparable(report) == comparable(native(plan, tmp_path))
