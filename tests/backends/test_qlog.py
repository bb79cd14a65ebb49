"""qlog files of QUIC flows: requested, kept, found; every record is valid by our schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import dumbbell
from dumbbell import DumbbellError, Scenario, ScenarioError
from dumbbell.plan.qlog import qlog_schema

SCHEMA = qlog_schema()
TEXT = """
name = "logged"
duration = "4 s"

[capture]
qlog = "draft"

[network]
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", loss = "2 %", queue = { discipline = "codel", ecn = true } }
access = { rate = "100 Mbit/s", delay = "1 ms" }

[[flows]]
name = "page"
transport = "quic"
variant = "cubic"
stack = { streams = 2, ecn = true, ack_frequency = 3 }
application = { kind = "page", size = "500 kB", repeat = 2 }

[[flows]]
name = "quiet"
transport = "quic"
variant = "newreno"
stack = { idle_timeout = "500 ms" }
application = { kind = "onoff", rate = "1 Mbit/s", on = "100 ms", off = "1 s", exponential = false }
"""


def records(path: Path) -> list[dict[str, Any]]:
    parts = path.read_text(encoding="utf-8").split("\x1e")
    assert parts[0] == ""
    return [json.loads(part) for part in parts[1:]]


def test_every_record_is_valid_by_the_schema(tmp_path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    validators = {
        name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}) for name in SCHEMA["$defs"]
    }
    results = dumbbell.run(Scenario.from_toml(TEXT), out=tmp_path)
    files = results.qlogs(0)
    assert {"page.1.client", "page.1.server", "page.2.client", "quiet.1.client"} <= set(files)
    seen = set()
    for path in files.values():
        head, *events = records(path)
        validators["file"].validate(head)
        for event in events:
            name = event["name"].removeprefix("quic:")
            seen.add(name)
            validators[name].validate(event)
    shared = {"file", "raw", "frame", "header", "end", "state"}
    assert seen | {"packet_dropped"} == set(SCHEMA["$defs"]) - shared  # nothing duplicates packets here
    # The schema refuses an event that lacks a field, and one that has another.
    event = next(e for e in records(files["page.1.client"]) if e.get("name") == "quic:packet_sent")
    assert not validators["packet_sent"].is_valid({**event, "data": {**event["data"], "frames": [{"frame_type": "x"}]}})
    assert not validators["packet_sent"].is_valid({**event, "more": 1})
    # A reader finds the files.
    assert dumbbell.Results.load(tmp_path).qlogs(0) == files


def test_the_version_for_viewers_has_its_header(tmp_path: Path) -> None:
    results = dumbbell.run(Scenario.from_toml(TEXT), out=tmp_path, changes={"capture.qlog": "0.3"})
    head, first, *_ = records(results.qlogs(0)["page.1.server"])
    assert (head["qlog_version"], head["qlog_format"]) == ("0.3", "JSON-SEQ")
    assert head["trace"]["vantage_point"]["type"] == "server"
    assert first["name"] == "connectivity:connection_started"


def test_requests_that_have_no_effect_are_refused() -> None:
    scenario = Scenario.from_toml(TEXT)
    with pytest.raises(DumbbellError, match="captures need a directory"):
        dumbbell.run(scenario)
    with pytest.raises(ScenarioError, match=r"capture\.qlog: 'draft' given, but no flow is quic"):
        Scenario.from_toml(TEXT.replace('transport = "quic"', "").replace("stack = {", "# {"))
    with pytest.raises(ScenarioError, match=r"capture\.qlog"):
        Scenario.from_toml(TEXT.replace('"draft"', '"0.4"'))


def test_the_command_keeps_them_on_request(tmp_path: Path, cli: Callable[..., Any]) -> None:
    (tmp_path / "logged.toml").write_text(TEXT.replace('[capture]\nqlog = "draft"\n', ""), encoding="utf-8")
    refused = cli("run", "logged.toml", "--qlog", "0.3")
    assert refused.returncode == 2
    assert "--qlog: the files need a place: give --out DIR too" in refused.stderr
    assert cli("run", "logged.toml", "--qlog", "0.3", "--out", "out").returncode == 0
    found = dumbbell.Results.load(tmp_path / "out").qlogs(0)
    assert records(found["page.1.client"])[0]["qlog_version"] == "0.3"
