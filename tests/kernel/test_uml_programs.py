"""Real programs in virtual time: repeatable, with consent only, without rights."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from program_rights import account, check_no_rights

from dumbbell import run
from dumbbell.backends import Job
from dumbbell.exceptions import BackendError
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results import Results
from kernels import flow
from machines import once, scenario
from required import require_programs

IPERF3: dict[str, Any] = {"name": "i", "variant": "reno", "application": {"kind": "iperf3"}}


def check(application: dict[str, Any], **options: Any) -> None:
    """Check a flow with this application for virtual time."""
    more = {"transport": "quic"} if application.get("version") == 3 else {}
    more |= {} if application["kind"] == "ping" else {"variant": "reno"}
    flows = [{"name": "f", "application": application, **more}]
    Uml(**options).check([Job(scenario(flows=flows).cells[0], 0, 1)])


def command(client: list[str], **changes: Any) -> Results:
    """Make a run with a command; it ends with the command."""
    flows = [{"name": "c", "variant": "reno", "application": {"kind": "command", "client": client}}]
    return once(scenario(flows=flows, **changes), allow_programs="on")


def output_of(client: list[str]) -> str:
    return str(command(client).runs[0].facts["programs"]["c"]["client"]["stdout"])


def test_programs_of_a_scenarios_choice_need_consent(tmp_path: Path) -> None:
    own = {"kind": "command", "client": ["touch", "/tmp/x y"]}
    with pytest.raises(BackendError, match=r"flows\.f\.application\.client: .* touch '/tmp/x y'.*--allow-programs"):
        check(own)
    check(own, allow_programs="on")
    check({"kind": "ping", "tool": "ping", "interval": "1 s"})
    file = tmp_path / "own.toml"
    flows = [{"name": "f", "variant": "reno", "application": own}]
    file.write_text(scenario(flows=flows).to_toml())
    for options, reason in (([], "--allow-programs"), (["--no-code"], "--no-code: flows.f.application.client")):
        line = [sys.executable, "-m", "dumbbell", "run", str(file), "--backend", "uml", *options]
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("application", "reason"),
    [
        ({"kind": "video", "client": "browser", "length": "8 s"}, r"application\.client: 'browser' given: .*virtual"),
        ({"kind": "http", "version": 2, "size": "1 MB"}, r"application\.version: HTTP over TLS needs a certificate"),
        ({"kind": "http", "version": 3, "size": "1 MB"}, r"application\.version: HTTP over TLS needs a certificate"),
        ({"kind": "command", "client": ["no-such-program"]}, r"application: 'no-such-program' isn't installed"),
    ],
)
def test_programs_that_cannot_be_repeated_are_refused_by_name(application: dict[str, Any], reason: str) -> None:
    with pytest.raises(BackendError, match=reason):
        check(application, allow_programs="on")


@pytest.mark.usefixtures("require_uml")
def test_iperf3_agrees_with_the_links_and_repeats_to_the_last_bit() -> None:
    require_programs("iperf3")
    given = scenario(flows=[IPERF3, {"name": "bulk", "variant": "cubic", "start": "1 s"}], duration="4 s")
    first = once(given)
    again = once(given)
    row, figures = flow(first, "i"), first.runs[0].facts["programs"]["i"]["figures"]
    assert figures["congestion"] == "reno"
    assert row["delivered_bytes"] >= figures["delivered_bytes"] > 200_000
    assert first.runs[0].facts["invalid"] == []
    texts = [r.runs[0].facts["programs"]["i"]["client"]["stdout"] for r in (first, again)]
    assert texts[0] == texts[1]
    assert [flow(first, n)["delivered_bytes"] for n in ("i", "bulk")] == [
        flow(again, n)["delivered_bytes"] for n in ("i", "bulk")
    ]
    assert first.runs[0].queues == again.runs[0].queues


@pytest.mark.usefixtures("require_uml")
def test_ping_and_downloads_are_exact() -> None:
    require_programs("ping", "curl")
    ping = {"kind": "ping", "tool": "ping", "interval": "200 ms", "count": 4, "packet": "1000 bytes"}
    http = {"kind": "http", "size": "100 kB", "repeat": 2}
    flows: list[dict[str, Any]] = [
        {"name": "p", "application": ping},
        {"name": "h", "variant": "cubic", "start": "2 s", "application": http},
    ]
    results = once(scenario(flows=flows, duration="8 s", trace={"series": ["flows"]}))
    p = flow(results, "p")
    # 1000 bytes take 0.8 ms at 10 Mbit/s and 0.08 ms on each of two access links; both directions, and 2 x 20 ms.
    # ping rounds to 0.1 ms.
    assert (p["pings_sent"], p["pings_lost"]) == (4, 0)
    assert p["rtt_min_ms"] == pytest.approx(2 * (20 + 0.8 + 2 * 0.08), abs=0.06)
    assert p["rtt_max_ms"] == pytest.approx(p["rtt_min_ms"], abs=0.11)
    downloads = [r for r in results.transfers.rows(named=True) if r["flow"] == "h"]
    assert [r["bytes"] for r in downloads] == [100_000, 100_000]


@pytest.mark.usefixtures("require_uml")
def test_programs_have_no_rights_and_the_hosts_files_read_only(tmp_path: Path) -> None:
    require_programs("python3")
    stream, fifo = tmp_path / "stream", tmp_path / "fifo"
    served = socket.socket(socket.AF_UNIX)
    served.bind(str(stream))
    served.listen()
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    for path in (stream, fifo):
        path.chmod(0o666)
    program = account(
        tmp_path / "secret",
        connects=f"can(lambda: socket.socket(socket.AF_UNIX).connect({str(stream)!r}))",
        writes_fifo=f"can(lambda: os.open({str(fifo)!r}, os.O_WRONLY | os.O_NONBLOCK))",
        sys="os.listdir('/sys')",
        devices="sorted(os.listdir('/dev'))",
        mounts="can(lambda: os.chroot('/usr'))",
        variant="open('/proc/sys/net/ipv4/tcp_congestion_control').read().strip()",
        packets="can(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))",
    )
    about = json.loads(output_of(program))
    check_no_rights(about)
    assert about["user"] >= 60_000
    assert [about[k] for k in ("reads", "mounts", "packets", "connects", "writes_fifo")] == [False] * 5
    served.close()
    os.close(reader)
    assert about["sys"] == []
    assert about["devices"] == ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    assert about["variant"] == "reno"


@pytest.mark.usefixtures("require_uml")
def test_processes_in_the_background_end_with_their_flow() -> None:
    """Also in another session, whose parent is gone: they would send on."""
    left = ["sh", "-c", "setsid sleep 1000 & sleep 1000"]
    seen = ["sh", "-c", "sleep 3; cat /proc/[0-9]*/stat | grep -c '(sleep) [^Z]'; true"]
    flows = [
        {"name": "left", "variant": "reno", "stop": "2 s", "application": {"kind": "command", "client": left}},
        {"name": "seen", "variant": "reno", "application": {"kind": "command", "client": seen}},
    ]
    made = once(scenario(flows=flows, duration="6 s"), allow_programs="on").runs[0]
    # The count's own sleep has ended too.
    assert made.facts["programs"]["seen"]["client"]["stdout"] == "0\n"


@pytest.mark.usefixtures("require_uml")
def test_a_program_that_fails_fails_its_run_alone() -> None:
    flows = [{"name": "c", "variant": "reno", "application": {"kind": "command", "client": ["true"]}}]
    document = scenario(flows=flows).to_dict()
    document["sweep"] = {
        "flows.c.application": [
            {"kind": "command", "client": ["sh", "-c", f"echo why >&2; exit {code}"]} for code in (3, 0)
        ]
    }
    asked: list[tuple[int, int]] = []
    with pytest.raises(BackendError, match=r"1 of 2 runs failed: .*its client \(sh\) ended with 3: why"):
        run(document, backend=Uml(allow_programs="on"), progress=lambda *n: asked.append(n), jobs=1)
    assert asked[-1] == (1, 2)
