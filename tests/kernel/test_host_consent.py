"""Programs of a scenario start with consent only, without rights, and their failures fail the run."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from program_rights import account, check_no_rights

from dumbbell import Scenario, run
from dumbbell.backends import Job
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.programs import commands, program_outputs
from hosts import once, scenario
from kernels import flow
from required import require_programs, require_root
from waiting import DEADLINE_S

pytestmark = pytest.mark.usefixtures("require_link_emulation")


# Runs end with their programs, long before the 20 s.
def command(client: list[str], server: list[str] | None = None, **changes: Any) -> Scenario:
    application = {"kind": "command", "client": client, **({"server": server} if server else {})}
    return scenario(flows=[{"name": "c", "variant": "reno", "application": application}], duration="20 s", **changes)


def output_of(client: list[str]) -> str:
    results = once(command(client), calibration="off", allow_programs="on")
    return str(results.runs[0].facts["programs"]["c"]["client"]["stdout"])


@pytest.mark.parametrize(
    ("application", "place"),
    [
        ({"kind": "command", "client": ["touch", "/tmp/x y"]}, r"flows\.f\.application\.client: .* touch '/tmp/x y'"),
        ({"kind": "iperf3", "args": ["--logfile", "/x"]}, r"flows\.f\.application\.args: .* iperf3 \.\.\. --logfile"),
    ],
)
def test_programs_of_a_scenarios_choice_need_consent(application: dict[str, Any], place: str) -> None:
    given = scenario(flows=[{"name": "f", "variant": "reno", "application": application}])
    with pytest.raises(BackendError, match=f"{place}.*--allow-programs"):
        once(given)


def test_without_a_terminal_the_command_line_refuses_and_names_the_option(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(command(["true"]).to_toml())
    line = [sys.executable, "-m", "dumbbell", "run", str(file), "--backend", "kernel"]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "flows.c.application.client: the scenario runs a program of its own choice: true" in done.stderr
    assert "--allow-programs" in done.stderr


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_the_commands_are_listed_and_asked_for(answer: str, tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(command(["sh", "-c", "echo started"]).to_toml())
    line = [
        sys.executable,
        "-m",
        "dumbbell",
        "run",
        str(file),
        "--backend",
        "kernel",
        "-o",
        "calibration=off",
        "--json",
    ]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(line, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True)
    os.close(theirs)
    asked = ""
    while "Start them?" not in asked:
        asked += os.read(ours, 1 << 16).decode()
    assert "flows.c.application.client: sh -c 'echo started'" in asked
    os.write(ours, f"{answer}\n".encode())
    threading.Thread(target=_drained, args=[ours], daemon=True).start()
    output, _ = process.communicate(timeout=DEADLINE_S)
    os.close(ours)
    assert (process.returncode, "started" in output) == ((0, True) if answer == "y" else (2, False))


def _drained(terminal: int) -> None:
    with contextlib.suppress(OSError):  # its other end is closed
        while os.read(terminal, 1 << 16):
            pass


def test_the_plan_of_a_kernel_starts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(command(["touch", str(tmp_path / "started")]).to_toml())
    for backend in ("kernel", "uml"):
        line = [sys.executable, "-m", "dumbbell", "kernel", "plan", str(file), "--backend", backend]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert (done.returncode, "touch" in done.stdout) == (0, True), done.stderr
    assert not (tmp_path / "started").exists()


def test_what_programs_write_vanishes_with_the_run() -> None:
    mark = f"dumbbell-{os.getpid()}"
    before = set(Path(tempfile.gettempdir()).rglob("*"))
    once(command(["touch", f"/dev/shm/{mark}", mark]), calibration="off", allow_programs="on")
    assert set(Path(tempfile.gettempdir()).rglob("*")) <= before
    assert not Path("/dev/shm", mark).exists()


def test_programs_have_no_rights(tmp_path: Path) -> None:
    program = account(
        tmp_path / "secret",
        groups="os.getgroups()",
        processes="len(glob.glob('/proc/[0-9]*'))",
        mounts="os.path.exists('/dev/net/tun')",
        temporary="os.environ['TMPDIR'] == os.getcwd()",
    )
    about = json.loads(output_of(program))
    check_no_rights(about)
    assert about["processes"] == 2  # it, and process 1 of its namespace
    assert (about["temporary"], about["mounts"]) == (True, False)
    if os.getuid() == 0:
        assert (about["user"], about["groups"], about["reads"]) == (65534, [], False)


@pytest.mark.parametrize(
    ("client", "server", "reason"),
    [
        (["sh", "-c", "echo no disk >&2; exit 3"], None, r"its client \(sh\) ended with 3: no disk"),
        (["sh", "-c", "kill -SEGV $$"], None, r"its client \(sh\) ended by signal SIGSEGV"),
        (["sleep", "0.5"], ["sleep", "100"], ""),
        (
            ["sleep", "1"],
            ["sh", "-c", "sleep 0.9; exit 4"],
            r"its server \(sh\) ended with 4|sh has ended before the run",
        ),
    ],
)
def test_a_program_that_fails_fails_the_run(client: list[str], server: list[str] | None, reason: str) -> None:
    given = command(client, server)
    if not reason:  # the server is still at work when the client has ended, and is ended then
        once(given, calibration="off", allow_programs="on")
        return
    with pytest.raises(BackendError, match=reason):
        once(given, calibration="off", allow_programs="on")


def test_the_reason_is_the_programs_own() -> None:
    require_programs("iperf3")
    flows = [{"name": "i", "variant": "reno", "application": {"kind": "iperf3", "args": ["--bogus"]}}]
    with pytest.raises(BackendError, match=r"\(iperf3\) ended with 1: .*bogus") as error:
        once(scenario(flows=flows), calibration="off", allow_programs="on")
    assert "Report bugs" not in str(error.value)


def test_the_table_has_the_direction_and_the_variant_of_the_connection() -> None:
    require_programs("iperf3")
    flows = [{"name": "i", "variant": "cubic", "application": {"kind": "iperf3", "args": ["-R", "-C", "reno"]}}]
    results = once(scenario(flows=flows), calibration="off", allow_programs="on")
    row, made = flow(results, "i"), results.runs[0]
    figures = made.facts["programs"]["i"]["figures"]
    assert row["goodput_bps"] > 5e6
    assert row["delivered_bytes"] == pytest.approx(figures["delivered_bytes"], rel=0.1, abs=80 * 1448)
    assert row["variant"] == "reno"
    assert row["cwnd_mean_packets"] > 5
    assert made.facts["programs"]["i"]["reversed"] is True
    assert any("chose 'reno'" in text for text in made.facts["warnings"])


def test_figures_that_contradict_the_links_make_the_run_invalid() -> None:
    given = scenario(flows=[{"name": "i", "variant": "reno", "application": {"kind": "iperf3"}}])
    plan = Job(given.cells[0], 0, 1).plan()
    sums = {"bits_per_second": 1e7, "bytes": 5_000_000}
    document = {
        "start": {"version": "iperf 3.12"},
        "intervals": [],
        "end": {"sum_sent": sums, "sum_received": sums, "sender_tcp_congestion": "reno"},
    }
    client = {
        "command": ["iperf3"],
        "exit": 0,
        "stdout": json.dumps(document | {"intervals": [interval()]}),
        "stderr": "",
    }
    row = {"name": "i", "start_s": 0.0, "delivered_bytes": 4_000_000, "mean_inflight_packets": 10.0, "variant": "reno"}
    result = {"flows": [row], "transfers": [], "facts": {"programs": {"i": {"client": client, "variant": "reno"}}}}
    read = program_outputs.read(plan, result, {})
    assert read.contradictions == ["flow 'i': the program counts 5000000 delivered bytes, the links 4000000"]
    assert read.failures == []


def interval() -> dict[str, Any]:
    return {"streams": [{"snd_cwnd": 1, "rtt": 1}], "sum": {"end": 1.0, "bits_per_second": 1.0}}


def test_output_and_files_are_bounded() -> None:
    """Eight MiB of each output are kept; no file grows beyond 256 MiB."""
    python = ["python3", "-I", "-c"]
    write = "import sys; sys.stdout.write('x' * (9 << 20))"
    made = once(command([*python, write]), calibration="off", allow_programs="on").runs[0]
    assert len(made.facts["programs"]["c"]["client"]["stdout"]) == 8 << 20
    assert any(f"{1 << 20} bytes more than are kept" in text for text in made.facts["warnings"])
    with pytest.raises(BackendError, match=r"\(python3\) ended with 1: OSError: .*File too large"):
        once(command([*python, "open('big', 'w').truncate(257 << 20)"]), calibration="off", allow_programs="on")


def test_an_unprivileged_users_programs_have_an_interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A virtual environment in root's home is out of their reach."""
    require_root()
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    (hidden / "python3").symlink_to(sys.executable)
    monkeypatch.setattr(sys, "executable", str(hidden / "python3"))
    application = {"kind": "program", "client": {"command": ["{python}", "-I"]}}
    plan = {"flows": [{"application": application, "transport": {"kind": "tcp"}}]}
    [flow] = commands.commands(plan)["flows"]
    assert flow["application"]["client"]["command"][0] != str(hidden / "python3")


def test_the_other_runs_are_made_and_kept(tmp_path: Path) -> None:
    document = command(["true"]).to_dict()
    document["sweep"] = {
        "flows.c.application": [{"kind": "command", "client": ["sh", "-c", f"exit {code}"]} for code in (3, 0)]
    }
    backend = LinkEmulation(calibration="off", allow_programs="on")
    asked = []
    for failing in ("1 of 2 runs failed: ", ""):
        with pytest.raises(BackendError, match=rf"back end 'kernel', {failing}repetition 0 .*ended with 3"):
            run(Scenario.from_dict(document), backend=backend, out=tmp_path, progress=lambda *n: asked.append(n))
    # Of two runs, one is missing at the second call.
    assert asked == [(0, 2), (1, 2), (1, 2)]
