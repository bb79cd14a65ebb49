"""The quick study netem-iperf from beginning to end, its physics; interrupted, it goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell.studies import Done, run_study, study
from kept_runs import count_made, kept
from quick import check_quick
from required import require_packages
from waiting import DEADLINE_S, wait_until

require_packages("matplotlib", "jinja2")


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("netem-iperf"))


def test_netem_iperf(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.netem_iperf.captured import Captured
    from dumbbell.studies.netem_iperf.data import DELAYS, LOSSES, Grid, mathis

    ran = done("netem-iperf")
    grid, long, offload = (Grid(ran.results[name]) for name in ("grid", "long", "offload"))
    for delay in DELAYS:
        for loss in LOSSES:
            # The formula's sqrt(3/2) is for periodic losses; random ones and timeouts make a fifth of difference.
            assert long.median("reno", delay, loss) == pytest.approx(float(mathis(delay, loss)), rel=0.25)
            assert offload.median("reno", delay, loss) > 2 * grid.median("reno", delay, loss)
    # 1448 bytes / 20 ms x sqrt(1.5 / 0.01) = 7.09 Mbit/s; ten times the round trip, a tenth of it.
    assert float(mathis(10, 1)) == pytest.approx(7.09, abs=0.01)
    assert float(mathis(100, 1)) == pytest.approx(0.709, abs=0.001)
    captured = Captured(ran.results["captured"])
    assert [one.figure for one in captured.transfers] == [7, 8, 9, 10]
    for one in captured.transfers:
        # The initial window of ten segments doubles each round: 300 segments after five.
        assert 3 <= one.phases()["slow start"][1] / (2e-3 * float(one.delay.split()[0])) <= 8
        assert one.sender["recoveries"] > 5


def _contents(place: Path) -> dict[str, bytes]:
    """Everything that a study leaves except the time and the host of the run."""
    kept = [p for p in place.rglob("*") if p.is_file() and p.name not in {"manifest.json", "report.html", "study.json"}]
    return {str(p.relative_to(place)): p.read_bytes() for p in kept}


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_study_goes_on(
    blow: signal.Signals, done: Callable[[str], Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = done("netem-iperf")
    out = tmp_path / "out"
    options = ["--quick", "--no-kernel", "--out", str(out)]
    command = [sys.executable, "-m", "dumbbell", "study", "run", "netem-iperf", *options]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: kept(out) >= 60, child)
    child.send_signal(blow)
    assert child.wait(timeout=DEADLINE_S) != 0
    before = kept(out)
    assert 60 <= before < whole.runs
    made = count_made(monkeypatch)
    again = run_study(study("netem-iperf"), out, quick=True, kernel=False)
    assert again.runs == whole.runs
    assert len(made) == whole.runs - before, "runs that were finished were made again"
    assert _contents(out) == _contents(whole.out)
