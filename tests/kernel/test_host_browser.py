"""A video in Chromium on the host's own kernel: the player's record, runs over h2 and h3, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest
from begun_runs import begun

from dumbbell import DumbbellError, run
from dumbbell.common.run_folders import HOST_PREFIX, clean
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.programs import browser_record, commands
from dumbbell.kernel.programs.browser_record import PlayerError
from dumbbell.plan.build import build
from dumbbell.scenario.flow.browser import SEGMENT_BYTES
from hosts import scenario
from kernels import flow
from required import require_packages, require_programs
from waiting import wait_until

PLAYER = Path(browser_record.__file__).with_name("player")


def video(http: str, length: str = "8 s", **more: Any) -> dict[str, Any]:
    """Return a flow with a video in the browser."""
    transport = "quic" if http == "h3" else "tcp"
    application = {"kind": "video", "client": "browser", "http": http, "length": length, **more}
    return {"name": "v", "transport": transport, "variant": "cubic", "application": application}


def test_the_segment_has_the_stated_size() -> None:
    assert (PLAYER / "segment.webm").stat().st_size == SEGMENT_BYTES < 400_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ladder": ["1 Mbit/s"]}, r"application\.ladder: the browser has no such setting: only length, buffer and"),
        ({"length": "10 s"}, r"application\.length: '10 s' given: the browser plays segments of 4 s"),
        ({"client": "browsr"}, r"application\.client: unknown value 'browsr': did you mean 'browser'"),
        ({"client": "model"}, r"application\.ladder: needed: at least one bit rate"),
    ],
)
def test_settings_of_another_player_are_refused(changes: dict[str, Any], message: str) -> None:
    entry = video("h2")
    entry["application"] = {**entry["application"], **changes}
    with pytest.raises(DumbbellError, match=message):
        scenario(flows=[entry])


def test_a_browser_has_its_own_tls() -> None:
    with pytest.raises(DumbbellError, match=r"tls: 'video' runs real programs: remove it"):
        scenario(flows=[{**video("h2"), "tls": "1.3"}])


def test_a_missing_browser_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_no_web_server", lambda _flow: None)
    monkeypatch.setattr("shutil.which", lambda name, **_: None if "chrom" in name else name)
    message = commands.refusal(build(scenario(flows=[video("h3")]))) or ""
    assert message.startswith("flows.v.application.client: no browser is installed (chromium, ")
    assert message.endswith("Debian: `apt-get install chromium`)")


def record(events: list[list[Any]], **changes: Any) -> dict[str, Any]:
    """Return the report of a flow's programs with this record; the video has 8 s in two segments."""
    entry = {"name": "https://server.test:8443/player.html", "protocol": "h2", "first": 150.0}
    segment = {"name": "https://server.test:8443/segment.webm?number=0", "protocol": "h2", "first": 200.0}
    rows = [
        {"start": 200.0, "first": 300.0, "end": 1000.0, "bytes": SEGMENT_BYTES},
        {"start": 1000.0, "first": 1100.0, "end": 6000.0, "bytes": SEGMENT_BYTES},
    ]
    found = {
        "browser": "Chrome/1", "navigated": 1002.0, "error": None, "done": True, "ended": True, "events": events,
        "segments": rows, "navigation": entry, "resources": [segment], "buffered": [[0, 8]], "frames": 200,
        "dropped_frames": 0, "played_s": 8.0, **changes,
    }  # fmt: skip
    # Time 0 of the run is 1000 s of the wall clock.
    return {"client": {"stdout": json.dumps(found)}, "zero_unix_ns": 1_000_000_000_000}


def read(report: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
    plan = build(scenario(flows=[video("h2")]))["flows"][0]
    row: dict[str, Any] = {"name": "v"}
    transfers: list[dict[str, Any]] = []
    tables: dict[str, Any] = {}
    browser_record.read(plan, report, row, transfers, tables)
    return row, transfers, tables["video/v"]


EVENTS: list[list[Any]] = [
    # ms since the navigation, event, playback position, buffer ahead of it, end of the media
    [250, "waiting", 0, 0, 0],
    [900, "append", 0, 3, 3],
    [1000, "playing", 0, 4, 4],
    [1500, "waiting", 0.5, 3.5, 4],  # not for want of data: the decoder is late
    [1600, "playing", 0.5, 3.5, 4],
    [5100, "waiting", 4, 0.05, 4.05],
    [6100, "playing", 4, 4, 8],
    [10100, "ended", 8, 0, 8],
]


def test_a_record_becomes_the_columns_of_the_model() -> None:
    row, transfers, table = read(record(EVENTS))
    # One stall, from 5.1 to 6.1 s: 1 s beside 8 s of playback.
    assert (row["stalls"], row["stall_s"], row["played_s"]) == (1, pytest.approx(1.0), 8.0)
    assert row["stall_ratio"] == pytest.approx(1 / 9)
    assert (row["first_byte_s"], row["startup_delay_s"], row["load_time_s"]) == (0.15, 1.0, 6.0)
    # The navigation was at 2 s of the run.
    assert [(t["start_s"], t["end_s"], t["object"]) for t in transfers] == [
        (pytest.approx(2.2), pytest.approx(3.0), "segment 0"),
        (pytest.approx(3.0), pytest.approx(8.0), "segment 1"),
    ]
    assert table["state"].tolist() == [0, 0, 1, 1, 1, 2, 1, 3]
    assert table["t_ns"][2] == 3_000_000_000
    assert table["downloaded_ns"][-1] == table["played_ns"][-1] == 8_000_000_000


def test_a_video_that_is_cut_has_no_load_time() -> None:
    rows = json.loads(record(EVENTS)["client"]["stdout"])["segments"]
    rows[1] = {**rows[1], "end": None, "bytes": 1000}
    row, transfers, _ = read(record(EVENTS[:6], segments=rows, ended=False, played_s=4.0))
    assert (row["load_time_s"], row["transfers_completed"], transfers[1]["end_s"]) == (None, 1, None)
    assert row["stalls"] == 1


def test_another_protocol_or_an_error_fails() -> None:
    segment = {"name": "https://server.test:8443/segment.webm?number=0", "protocol": "http/1.1", "first": 1.0}
    with pytest.raises(PlayerError, match=r"^the browser used h2 and http/1\.1, not h2$"):
        read(record(EVENTS, resources=[segment]))
    with pytest.raises(PlayerError, match="the player: Error: segment 0: 404"):
        read(record(EVENTS, error="Error: segment 0: 404"))


def started(place: str) -> dict[int, str]:
    """Return the processes that work in a run's folder, and their descendants, with their commands."""
    parents, commands, found = {}, {}, set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if place in str((entry / "cwd").readlink()):
                found.add(int(entry.name))
        except OSError:
            continue
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: commands[pid] for pid in found if commands.get(pid)}


def require_browser() -> None:
    require_packages("aioquic", "hypercorn", "cryptography")
    require_programs("chromium")


@pytest.mark.usefixtures("require_link_emulation")
@pytest.mark.parametrize("http", ["h2", "h3"])
def test_a_video_plays_to_its_end(http: str) -> None:
    require_browser()
    # The browser takes seconds to start, many on a busy host; the run ends with it.
    given = scenario(flows=[video(http)], duration="100 s", rate="3 Mbit/s", trace={"series": ["flows"]})
    results = run(given, backend=LinkEmulation(calibration="off"))
    row, facts = flow(results, "v"), results.runs[0].facts
    report = facts["programs"]["v"]
    played = json.loads(report["client"]["stdout"])
    assert (played["ended"], played["played_s"], played["error"]) == (True, pytest.approx(8, abs=0.1), None)
    assert report["browser"]["protocol"] == http
    assert report["browser"]["frames"] > 100
    # 681,078 bytes at 3 Mbit/s take 1.82 s; a busy host makes it longer, never shorter.
    assert row["load_time_s"] > 2 * SEGMENT_BYTES * 8 / 3e6
    assert row["startup_delay_s"] > row["first_byte_s"] > 0.04
    assert row["stalls"] is not None
    assert row["stall_s"] >= 0
    assert row["played_s"] == pytest.approx(8, abs=0.1)
    assert (row["transfers_completed"], row["application"]) == (2, "video")
    assert row["delivered_bytes"] > 2 * SEGMENT_BYTES
    assert results.table(0, "video/v")["state"][-1] == 3
    # The window of the server, of the kernel's TCP or aioquic's, and its RTTs: 40 ms without a queue.
    assert row["cwnd_mean_packets"] >= 2
    assert row["rtt_min_ms"] >= 40
    assert results.table(0, "flow/v")["cwnd"].max() > 2 * row["snd_mss_bytes"]
    assert not started(f"{HOST_PREFIX}{os.getpid()}-")


@pytest.mark.usefixtures("require_link_emulation")
@pytest.mark.parametrize("victim", ["dumbbell", "driver"])
def test_nothing_is_left_after_a_kill(victim: str, tmp_path: Path) -> None:
    require_browser()
    given = scenario(flows=[video("h2", "400 s")], duration="300 s")
    errors = tmp_path / "errors"
    options = ("--backend", "kernel", "-o", "calibration=off")
    with errors.open("w") as file, begun(tmp_path, given, *options, errors=file) as process:
        place = f"{HOST_PREFIX}{process.pid}-"
        wait_until(lambda: any("--type=renderer" in command for command in started(place).values()), process)
        if victim == "driver":
            # Besides the driver, the processes that isolate it have its command as their arguments.
            commands = {pid: command.split() for pid, command in started(place).items()}
            (driver,) = [
                pid
                for pid, c in commands.items()
                if Path(c[0]).name.startswith("python") and c[2].endswith("_client.py")
            ]
            os.kill(driver, signal.SIGKILL)
            assert process.wait(200) == 2
            assert "ended by signal SIGKILL" in errors.read_text()
    wait_until(lambda: not started(place))
    # The profile lies in the run's folder.
    clean()
    assert not list(Path(tempfile.gettempdir()).glob(f"{place}*"))
