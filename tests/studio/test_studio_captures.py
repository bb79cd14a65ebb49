"""Captures in the studio's page: the tables are those of `dumbbell analyze`, byte for byte."""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell import Scenario, _core
from dumbbell.results.runs.record import jobs_of
from dumbbell.studio import write
from required import require_packages
from studio_page import ROOT, SCENARIO, acted, curve, in_node, require_studio

require_studio()

LARGE: dict[str, Any] = {
    "name": "large",
    "duration": "0.9 s",
    "network": {
        "bottleneck": {"rate": "1 Gbit/s", "delay": "1 ms", "queue": {"limit": "400 packets"}},
        "access": {"rate": "10 Gbit/s", "delay": "0 ms"},
    },
    "flows": [{"name": "a", "variant": "cubic"}, {"name": "b", "variant": "newreno"}],
    "capture": {"at": ["bottleneck"], "snaplen": "1500 bytes"},
}


def ask(*questions: tuple[str, Any]) -> list[Any]:
    """Call functions of the page in Node."""
    return in_node("studio_files.mjs", questions)


def captured(scenario: dict[str, Any], folder: Path) -> Path:
    """Write the capture of a run."""
    output = _core.run(json.dumps(jobs_of(Scenario.from_dict(scenario))[0].plan()))
    place = folder / "run.pcapng"
    output.write_capture(output.captures()[0], place)
    return place


def native(path: str) -> dict[str, Any]:
    """Analyze a file natively, and return the report that tests/studio/studio_files.mjs makes."""
    try:
        found = _core.analyze([path], threads=1)
    except _core.CaptureError as error:
        return {"error": str(error)}
    tables = _core.CaptureOutput.tables()
    rows = {name: hashlib.sha256(b"[" + found.json(name) + b"]").hexdigest() for name in tables}
    return {"rows": rows, "largest": found.largest(5), "summary": summary(found)}


KEPT = (
    *("file", "format", "compression", "encapsulations", "packets", "file_size", "bytes", "captured_bytes"),
    *("first_ns", "last_ns", "duration_ns", "byte_rate", "bit_rate", "packet_rate", "mean_length"),
)


def summary(found: Any) -> Any:
    kept = [{name: properties[name] for name in KEPT} for properties in found.properties()]
    return json.loads(
        json.dumps({
            "interval_ns": found.interval_ns,
            "origin_ns": found.origin_ns,
            "contents": found.contents,
            "tunnels": found.tunnels,
            "totals": found.totals,
            "warnings": found.warnings,
            "damage": found.damage,
            "properties": kept,
            "connections": len(found.numbers()),
            "conversations": found.conversations,
        })
    )  # fmt: skip


def rounded(report: dict[str, Any]) -> dict[str, Any]:
    """Let numbers be those of JavaScript: times since 1970 in ns have more digits than its integers."""
    return json.loads(json.dumps(report), parse_int=float)  # type: ignore[no-any-return]


def test_captures_have_the_tables_of_the_native_analysis(tmp_path: Path) -> None:
    require_packages("pyarrow")
    compress = import_module("pyarrow").compress
    run = captured({**SCENARIO, "capture": {"at": ["sender"]}}, tmp_path)
    content = run.read_bytes()
    packed = tmp_path / "run.pcapng.zst"
    # Two frames, and one without data between them [RFC 8878 §3.1.2].
    halves = (content[: len(content) // 2], content[len(content) // 2 :])
    first, second = (compress(half, codec="zstd", asbytes=True) for half in halves)
    packed.write_bytes(first + b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + second)
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(content[: len(content) * 2 // 3])
    text = tmp_path / "words.txt"
    text.write_text("no capture")
    files = [p for p in (ROOT / "crates/capture/tests/data").iterdir() if ".pcap" in p.suffixes[0:1] + p.suffixes]
    files += [p for p in (ROOT / "crates/capture/tests/data").iterdir() if p.suffix == ".pcapng"]
    paths = [str(p) for p in (*sorted(set(files)), run, packed, cut, text, tmp_path / "empty")]
    (tmp_path / "empty").write_bytes(b"")
    assert len(paths) > 30
    (answers,) = ask(("captures", {"paths": paths, "tables": _core.CaptureOutput.tables()}))
    for path, answer in zip(paths, answers, strict=True):
        assert rounded(answer) == rounded(native(path)), path
        if "summary" in answer:
            packets = sum(p["packets"] for p in answer["summary"]["properties"])
            assert sum(count for _, count in answer["summary"]["contents"]) == packets
    assert answers[-3]["summary"]["damage"]
    assert "not a capture: it begins with text" in answers[-2]["error"]
    assert "the file is empty" in answers[-1]["error"]


def test_segments_of_a_connection_are_those_of_the_packet_table(tmp_path: Path) -> None:
    path = captured({**SCENARIO, "capture": {"at": ["sender"]}}, tmp_path)
    parts: list[dict[str, Any]] = []
    _core.analyze([str(path)], packets=parts.append)
    (answer,) = ask(("segments", {"path": str(path), "flow": 1}))
    for table in ("packets", "sacks"):
        whole = {name: np.concatenate([part[table][name] for part in parts]) for name in parts[0][table]}
        assert set(answer[table]) == set(whole)
        for name, values in whole.items():
            mine = values[whole["flow"] == 1]
            missing = mine == np.iinfo(np.int64).min
            expected = [None if gone else value for value, gone in zip(mine.tolist(), missing.tolist(), strict=True)]
            assert answer[table][name] == expected, (table, name)
    assert len(answer["packets"]["frame"]) > 500


def test_the_figures_of_a_direction_have_its_extremes(tmp_path: Path) -> None:
    path = captured({**SCENARIO, "capture": {"at": ["sender"]}}, tmp_path)
    found = dumbbell.read_capture(path)
    row = next(r for r in found.flows.iter_rows(named=True) if r["payload_bytes"] > 0)
    choice = {"flow": row["flow"], "direction": row["direction"]}
    question = {"files": [["run.pcapng", str(path)]], "labels": _core.capture_labels(), "choices": [choice]}
    (answer,) = ask(("opened", question))
    assert [flow for flow, _ in answer["capture"]["listed"]] == found.tables.largest(5)
    panels = answer["panels"][-1]
    assert max(curve(panels, "flight", "in flight")) == row["flight_max"] / 1e3
    # The flow's own RTT has only segments that were sent once; Wireshark's values have those after a loss, too.
    parts: list[dict[str, Any]] = []
    _core.analyze([str(path)], packets=parts.append)
    mine = [(p["packets"]["flow"] == row["flow"]) & (p["packets"]["ack_rtt_ns"] > 0) for p in parts]
    back = [p["packets"]["direction"] != row["direction"] for p in parts]
    of_acks = [p["packets"]["ack_rtt_ns"][m & b] for p, m, b in zip(parts, mine, back, strict=True)]
    samples = 1e-6 * np.concatenate(of_acks)
    drawn = curve(panels, "rtt", "segment")
    assert (min(drawn), max(drawn)) == pytest.approx((samples.min(), samples.max()), rel=1e-12)
    assert min(drawn) == pytest.approx(row["rtt_min_ms"], rel=1e-12)
    assert max(drawn) >= row["rtt_max_ms"] * (1 - 1e-12)
    assert len(curve(panels, "sequence", "retransmission")) > 0
    acked = curve(panels, "sequence", "ACK")
    assert acked == sorted(acked)
    sent = found.packets.collect().filter(flow=row["flow"], direction=row["direction"])
    ends = sent["seq"].to_numpy().astype(int) + sent["len"].to_numpy().astype(int)
    assert max(curve(panels, "sequence", "segments") + curve(panels, "sequence", "retrans")) == ends.max() / 1e3


def test_conversations_are_listed_with_their_quic_connections() -> None:
    path = ROOT / "crates" / "capture" / "tests" / "data" / "quic-v1-v2.pcap"
    (answer,) = ask(("opened", {"files": [[path.name, str(path)]], "labels": [], "choices": []}))
    found = _core.analyze([str(path)])
    udp, quic = found.table("udp"), found.table("quic")
    listed = answer["capture"]["udp"]
    assert sorted(row["conversation"] for row, _, _ in listed) == np.asarray(quic["conversation"]).tolist()
    for row, back, connection in listed:
        n = row["conversation"]
        assert [row["bytes"], back["bytes"]] == np.asarray(udp["bytes"])[udp["conversation"] == n].tolist()
        (place,) = np.flatnonzero(quic["conversation"] == n)
        assert connection["sni"] == quic["sni"][place]
        assert connection["handshake_rtt_ms"] == quic["handshake_rtt_ms"][place]
    assert answer["capture"]["listed"] == []


def test_a_capture_of_100_megabytes_in_a_browser(tmp_path: Path) -> None:
    path = captured(LARGE, tmp_path)
    assert path.stat().st_size > 100e6
    expected = _core.analyze([str(path)])
    files = {"/run.pcapng": path}
    found = acted(write.page(), "capture", tmp_path / "profile", {"name": "run.pcapng"}, files)
    assert found["summary"]["totals"] == expected.totals
    assert [tuple(pair) for pair in found["summary"]["contents"]] == expected.contents
    total = found["frames"].split("all frames")[-1]
    assert total == str(sum(count for _, count in expected.contents))
    assert found["listed"] == [[flow, 0] for flow in expected.largest(10)]
    flows = expected.table("flows", expected.largest(1))
    top = found["connections"][0]
    assert top[1] == str(flows["packets"][0])
    assert top[2] == f"{float(flows['payload_bytes'][0]) / 1e6:.3f}"
    assert found["panels"] == ["sequence", "rtt", "flight", "rates"]
    assert found["canvases"] == 4
    # The analysis keeps a window of the file and the state of connections, then the columns of one connection.
    assert found["memory"][0] < 20e6
    assert found["memory"][1] < path.stat().st_size
    assert found["hidden"] == [False, True]
    assert found["svg"].startswith("<svg xmlns=")
    for words in ("time (s)", "Sequence numbers (kB)", "RTT samples (ms)", "Throughput (Mbit/s)", "receive window"):
        assert words in found["svg"]
    start, end = found["zoomed"]
    half, quarter = (end - start) / 2, (end - start) / 4
    closer, later, wider, whole = found["keys"]
    assert closer == pytest.approx([start + quarter, end - quarter])
    assert later == pytest.approx([start + quarter + half / 4, end - quarter + half / 4])
    assert wider == pytest.approx([later[0] - quarter, later[1] + quarter])
    assert whole[0] < start
    assert whole[1] > end
    assert found["closed"] == [True, False]
