"""HTTP/1.1, 2 and 3 by real programs on the host's own kernel: hypercorn with aioquic; curl and aioquic."""

from __future__ import annotations

import json
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest
from begun_runs import begun

from dumbbell import DumbbellError, Scenario, run
from dumbbell.common.run_folders import HOST_PREFIX, clean
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.programs import commands
from hosts import scenario
from kernels import flow
from required import require_packages, require_programs
from waiting import wait_until, working_in

SIZE = 300_000


def downloads(version: float, variant: str = "reno", **more: Any) -> dict[str, Any]:
    transport = "quic" if version == 3 else "tcp"
    application = {"kind": "http", "version": version, "size": f"{SIZE} bytes", "repeat": 2, **more}
    return {"name": f"h{version:g}", "transport": transport, "variant": variant, "application": application}


@pytest.mark.usefixtures("require_link_emulation")
def test_all_versions_download_and_have_their_congestion_control(tmp_path: Path) -> None:
    require_packages("aioquic", "hypercorn")
    require_programs("curl")
    flows = [downloads(1.1), downloads(2), downloads(3, "cubic", qlog=True)]
    given = scenario(flows=flows, duration="12 s", trace={"series": ["flows"]})
    results = run(given, backend=LinkEmulation(calibration="off"), out=tmp_path)
    for version in (1.1, 2, 3):
        row = flow(results, f"h{version:g}")
        assert (row["transfers_completed"], row["transfers_started"]) == (2, 2)
        # Headers of TLS, QUIC, UDP and TCP besides the data; datagrams count whole.
        assert 2 * SIZE < row["delivered_bytes"] < 2.4 * SIZE
    assert (flow(results, "h3")["variant"], flow(results, "h2")["cwnd_mean_packets"] > 0) == ("cubic", True)
    h3 = flow(results, "h3")
    # The path has 40 ms without a queue. A window has at least two datagrams of 1200 bytes.
    assert 40 <= h3["rtt_min_ms"] <= h3["rtt_p50_ms"] <= h3["rtt_max_ms"]
    assert (h3["snd_mss_bytes"], h3["srtt_mean_ms"] > 40, h3["cwnd_mean_packets"] >= 2) == (1200, True, True)
    series = results.table(0, "flow/h3")
    # The client closes its connection when it has everything, so that the last ACKs may not be sent.
    assert 1.8 * SIZE < series["delivered"].to_list()[-1] < h3["delivered_bytes"]
    assert results.transfers["bytes"].to_list() == [SIZE] * 6
    assert not any("HTTP/" in text for text in results.runs[0].facts["warnings"])
    reports = results.runs[0].facts["programs"]
    versions = {
        n: [json.loads(x)["http_version"] for x in r["client"]["stdout"].splitlines()] for n, r in reports.items()
    }
    assert versions == {"h1.1": ["1.1"] * 2, "h2": ["2"] * 2, "h3": ["3"] * 2}
    # A qlog file per connection, with the window of the client's congestion control and the server's packets.
    logs = sorted(tmp_path.glob("captures/*/*.qlog"))
    assert [p.name for p in logs] == ["h3-0.qlog", "h3-1.qlog"]
    trace = json.loads(logs[0].read_text(encoding="utf-8"))
    assert trace["qlog_version"] == "0.3"
    assert sum(e["name"] == "transport:packet_received" for e in trace["traces"][0]["events"]) > SIZE / 1200


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2.5}, r"application\.version: 2\.5 given: 1\.1, 2 or 3 are possible"),
        ({"version": 2, "tool": "aioquic"}, r"application\.tool: 'aioquic' given: it has version 3 only"),
        ({"version": 2, "qlog": True}, r"application\.qlog: only aioquic writes qlog files"),
        ({"version": 3}, r"application\.version: 3 given with transport = 'tcp': version 3 runs over QUIC"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(changes: dict[str, Any], message: str) -> None:
    entry = {"name": "h", "variant": "reno", "application": {"kind": "http", "size": "1 kB", **changes}}
    with pytest.raises(DumbbellError, match=message):
        scenario(flows=[entry])


def refused(monkeypatch: pytest.MonkeyPatch, given: Scenario) -> str:
    """Return the message with which the programs of a plan are refused."""
    from dumbbell.plan.build import build

    monkeypatch.setattr("shutil.which", lambda name, **_: name)
    return commands.refusal(build(given)) or ""


def test_what_the_server_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "find_spec", lambda _name: ModuleSpec("x", None, origin="/nowhere/x/y.py"))
    monkeypatch.setattr(commands, "_no_import", lambda _python, _site: None)
    assert refused(monkeypatch, scenario(flows=[downloads(3)])) == ""
    variant = refused(monkeypatch, scenario(flows=[downloads(3, "vegas")]))
    assert variant == "flows.h3.variant: 'vegas' given: aioquic's server has reno, newreno, cubic"
    stack = {**downloads(3), "stack": {"ack_frequency": 10}}
    found = refused(monkeypatch, scenario(flows=[stack]))
    assert found == "flows.h3.stack.ack_frequency: aioquic's server has no such parameter"
    monkeypatch.setattr(commands, "_curl_has_http3", lambda: False)
    assert "this curl was built without HTTP/3" in refused(monkeypatch, scenario(flows=[downloads(3, tool="curl")]))
    monkeypatch.setattr(commands, "find_spec", lambda _name: None)
    missing = refused(monkeypatch, scenario(flows=[downloads(2)]))
    assert missing.endswith("aioquic is needed, but not installed: pip install 'dumbbell[web]'")


def test_qlog_files_need_a_directory() -> None:
    with pytest.raises(DumbbellError, match=r"flows\.h3\.application\.qlog: qlog files need a directory"):
        run(scenario(flows=[downloads(3, qlog=True)]), backend="kernel")


@pytest.mark.usefixtures("require_link_emulation")
def test_nothing_is_left_after_a_kill(tmp_path: Path) -> None:
    require_packages("aioquic", "hypercorn")
    given = scenario(flows=[downloads(3, size="100 MB")], duration="60 s")
    with begun(tmp_path, given, "--backend", "kernel", "-o", "calibration=off") as process:
        wait_until(lambda: any("web_client.py" in command for command in commands_of(process.pid)), process)
    wait_until(lambda: not commands_of(process.pid))
    clean()


def commands_of(run_by: int) -> list[str]:
    """Return the command lines of the processes that work in the folders of a run."""
    found = []
    for pid in working_in(f"{HOST_PREFIX}{run_by}-"):
        with suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " "))
    return found
