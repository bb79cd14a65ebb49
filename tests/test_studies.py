"""Every study, quick, from beginning to end: the properties of all studies, and the physics of each one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dumbbell.studies import Done, Verdict, run_study, studies, study

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

OTHERS = [name for name in studies() if name != "ns2-cbr"]  # which test_study_run.py has


@pytest.mark.parametrize("name", OTHERS)
def test_quick_study(name: str, done: Callable[[str], Done]) -> None:
    ran = done(name)
    content = json.loads((ran.out / "study.json").read_text())
    assert [c["id"] for c in content["claims"]] == [c.id for c in study(name).paper.claims]
    for claim in content["claims"]:
        assert claim["verdict"] in set(Verdict)
        assert claim["rule"]
        assert claim["why"]
        assert claim["measured"] or claim["verdict"] == Verdict.NOT_MEASURED
        assert "nan" not in claim["why"].split()
    assert content["figures"]
    page = ran.report.read_text()
    for figure in content["figures"]:
        assert all((ran.out / figure[key]).stat().st_size > 0 for key in ("png", "svg", "rows"))
        assert f'<figure id="{figure["name"]}">' in page
        assert figure["reading"].endswith(".")
        assert "nan" not in figure["reading"].split()
    for table in content["tables"]:
        assert (ran.out / table["rows"]).stat().st_size > 0


def _measured(ran: Done, claim: str) -> dict[str, float]:
    finding = next(f for f in ran.analysis.findings if f.claim == claim)
    return {m.what: m.value for m in (*finding.measured, *finding.beside) if m.value is not None}


def test_netem_iperf(done: Callable[[str], Done]) -> None:
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


def test_geni_fairness(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.geni_fairness.data import Alone, Pairs

    ran = done("geni-fairness")
    part1, pairs = Alone(ran.results["part1"], "network.hops"), Pairs(ran.results["pairs"])
    for variant in ("reno", "cubic", "vegas"):
        # 1448 of 1500 bytes are payload: 96.5 Mbit/s.
        assert part1.get("goodput_bps", variant, 2) == pytest.approx(96.5, rel=0.01)
    # 100 packets of 1500 bytes at 100 Mbit/s are 12 ms on top of 2 ms; Vegas leaves 2 to 4 packets, 0.5 ms at most.
    assert 6 < np.median(part1.get("rtt_mean_ms", "reno", 2, flow="ping")) < 14.1
    assert np.median(part1.get("rtt_mean_ms", "vegas", 2, flow="ping")) < 3.5
    for other in ("cubic", "reno"):
        assert (pairs.share("vegas", other) < 0.15).all()
    # Each over its own time, the second one's up to 0.1 s shorter.
    assert (pairs.both("cubic", "cubic").sum(axis=1) <= 96.6 * 1.01).all()


def test_bufferbloat(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.bufferbloat.data import VARIANTS, Load

    load = Load(done("bufferbloat").results["load"])
    for v in VARIANTS:
        assert load.ping("large", v, loaded=False) == pytest.approx(20.7, abs=0.1)  # 20 ms and two small packets
        assert load.page("large", v, loaded=False) == pytest.approx(1.0, abs=0.1)
        # A full queue of 100 packets is 800 ms, of 20 packets 160 ms; a reply passes an empty one.
        assert (load.ping("large", v) <= 821).all()
        assert (load.ping("small", v) <= 181).all()
        assert np.median(load.ping("large", v)) > 400
        # Two queues: half the link is 177,669 bytes in 2 s with headers, and a request waits for one packet at most.
        assert load.page("two", v) == pytest.approx(2.0, abs=0.05)
        assert (load.ping("two", v) <= 20.8 + 8).all()


def test_video(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.video_real_traffic.claims import rank_sum
    from dumbbell.studies.video_real_traffic.data import CLIENT, SERVER, VARIANTS, Shaped

    queue = Shaped(done("video-real-traffic").results["queue"])
    for metric in ("retransmitted", "duplicate ACKs"):
        for v in VARIANTS:
            assert (queue.get(metric, CLIENT, v) == queue.get(metric, SERVER, "cubic")).all()
    # 1024 kbit/s are at most 128 kB/s.
    assert all((queue.get("throughput", SERVER, v) < 128).all() for v in VARIANTS)
    # Five runs against five without overlap: 2 of the 252 choices of five from ten.
    assert rank_sum([6, 7, 8, 9, 10], [1, 2, 3, 4, 5]) == pytest.approx(2 / 252)


def _contents(place: Path) -> dict[str, bytes]:
    """Everything that a study leaves except the time and the host of the run."""
    kept = [
        p for p in place.rglob("*") if p.is_file() and p.name not in {"manifest.json", "report.html", "study.json"}
    ]
    return {str(p.relative_to(place)): p.read_bytes() for p in kept}


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_study_goes_on(blow: signal.Signals, done: Callable[[str], Done], tmp_path: Path) -> None:
    whole = done("netem-iperf")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "dumbbell", "study", "run", "netem-iperf", "--quick", "--out", str(out)]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(list(out.glob("runs/*/runs/*.json"))) < 60:
        assert child.poll() is None, "the study ended before it could be interrupted"
        time.sleep(0.01)
    child.send_signal(blow)
    assert child.wait(timeout=60) != 0
    kept = {p: p.stat().st_mtime_ns for p in out.glob("runs/*/runs/*.json")}
    assert 60 <= len(kept) < whole.runs
    again = run_study(study("netem-iperf"), out, quick=True)
    assert again.runs == whole.runs
    assert {p: p.stat().st_mtime_ns for p in kept} == kept, "runs that were finished were made again"
    assert _contents(out) == _contents(whole.out)


def test_back_end_that_cant_is_refused_before_anything_is_run(
    cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    for backend in ("uml", "nothing"):
        refused = cli(
            "study", "run", "video-real-traffic", "--quick", "--backend", backend, "--out", tmp_path / "out"
        )
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr
        assert not list(tmp_path.glob("out/runs/*"))
