"""Every study, quick, from beginning to end: the properties of all studies, and the physics of each one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dumbbell.studies import Done, Verdict, run_study, studies, study
from kept_runs import count_made, kept
from required import require_packages
from waiting import DEADLINE_S, wait_until
from whole_verdicts import unlike_whole

require_packages("matplotlib", "jinja2")

OTHERS = [name for name in studies() if name != "ns2-cbr"]  # which test_study_run.py has


@pytest.mark.parametrize("name", OTHERS)
def test_quick_study(name: str, done: Callable[[str], Done]) -> None:
    ran = done(name)
    content = json.loads((ran.out / "study.json").read_text())
    assert [c["id"] for c in content["claims"]] == [c.id for c in study(name).paper.judged]
    for claim in content["claims"]:
        assert claim["verdict"] in set(Verdict)
        assert claim["rule"]
        assert claim["why"]
        assert claim["measured"] or claim["verdict"] == Verdict.NOT_MEASURED
        assert claim["needs"] is None or claim["verdict"] == Verdict.NOT_SHOWN
        assert "nan" not in claim["why"].split()
    assert unlike_whole(name, content["claims"]) == {}
    assert content["figures"]
    page = ran.report.read_text()
    for figure in content["figures"]:
        assert all((ran.out / figure[key]).stat().st_size > 0 for key in ("png", "svg", "rows"))
        assert f'<figure id="{figure["name"]}"' in page
        assert figure["reading"].endswith(".")
        assert "nan" not in figure["reading"].split()
    shown = {f["name"] for f in content["figures"]} | {t["name"] for t in content["tables"]}
    for exhibit in study(name).paper.exhibits:
        assert set(exhibit.here) <= shown, exhibit.id
    if study(name).paper.listed:
        assert all(c["verdict"] != Verdict.NOT_MEASURED for c in content["claims"])
        assert {"report-claims", "report-exhibits", "report-setup"} <= shown
    for table in content["tables"]:
        assert (ran.out / table["rows"]).stat().st_size > 0


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


def test_geni_fairness(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.geni_fairness.data import Alone
    from dumbbell.studies.geni_fairness.paths import by_path

    ran = done("geni-fairness")
    part1, (path, pairs) = (
        Alone(ran.results["part1"], "network.hops"),
        next(iter(by_path(ran.results["pairs"]).items())),
    )
    for variant in ("reno", "cubic"):
        # 1448 of 1500 bytes are payload: 96.5 Mbit/s.
        assert part1.get("goodput_bps", variant, 2) == pytest.approx(96.5, rel=0.01)
    # 200 packets of 1500 bytes at 100 Mbit/s are 24 ms on top of 2 ms and of two jitters up to 0.375 ms.
    assert 12 < np.median(part1.get("rtt_mean_ms", "reno", 2, flow="ping")) < 26.9
    # Vegas takes the jitter for a queue.
    assert (part1.get("goodput_bps", "vegas", 2) < 80).all()
    assert (part1.get("goodput_bps", "vegas", 2) < part1.get("goodput_bps", "vegas", 1)).all()
    assert path.rtt == "2 ms"
    for other in ("cubic", "reno"):
        assert (pairs.share("vegas", other) < 0.15).all()
    # Each over its own time, the second one's up to 0.1 s shorter.
    assert (pairs.both("cubic", "cubic").sum(axis=1) <= 96.6 * 1.01).all()


def test_bufferbloat(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.bufferbloat.data import ANY, VARIANTS, Load

    load = Load(done("bufferbloat").results["load"])
    for v in VARIANTS:
        # 20 ms, two small packets (0.7 ms), and two delays of 0.25 ms in the mean.
        assert load.ping("large", v, loaded=False) == pytest.approx(21.2, abs=0.4)
        assert load.page("large", v, loaded=False) == pytest.approx(1.0, abs=0.1)
        # A full queue of 100 packets is 800 ms, of 20 packets 160 ms; a reply passes an empty one.
        assert (load.ping("large", v, ANY) <= 822).all()
        assert (load.ping("small", v, ANY) <= 182).all()
        assert np.median(load.ping("large", v, ANY)) > 400
        # Two queues: half the link is 177,669 bytes in 2 s with headers, and a request waits for one packet at most.
        assert load.page("two", v, ANY) == pytest.approx(2.0, abs=0.05)
        assert (load.ping("two", v, ANY) <= 21.8 + 8).all()
    # Runs that start the transfer earlier are others.
    first, *others = (load.page("large", "reno", since) for since in load.since)
    assert all(not np.array_equal(first, other) for other in others)
    assert len(load.page("large", "reno", ANY)) == load.n * len(load.since)


def test_video(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.video_real_traffic.data import CLIENT, SERVER, VARIANTS
    from dumbbell.studies.video_real_traffic.experiments import MERGED, WIRE, Experiments
    from dumbbell.studies.video_real_traffic.player import NAMES, QUIC

    ran = done("video-real-traffic")
    reported = ran.study.paper.figures
    found = Experiments.read(ran.results, reported)
    for metric in ("retransmitted", "duplicate ACKs"):
        for v in VARIANTS:
            assert (found.queue.get(metric, CLIENT, v) == found.queue.get(metric, SERVER, "cubic")).all()
    for v in VARIANTS:
        # 38.4 kB/s of payload in segments of 1448 bytes: with headers (1514 bytes) and ACKs (66) at most 42 kB/s.
        assert np.median(found.queue.get("throughput", SERVER, v)) == pytest.approx(41, rel=0.05)
        assert (found.queue.get("duplicate ACKs", SERVER, v) > 0).all()
        # Six segments are merged, so the video's packets are a sixth; the page's aren't merged.
        packets = [found.wifi.get("packets", "Wi-Fi", s, v) for s in (MERGED, WIRE)]
        assert (2 * packets[0] < packets[1]).all()
    for fit in found.fits.values():
        assert fit.settings == sorted(fit.settings, key=lambda s: s.error)
        assert fit.best.error < 1.25
        assert fit.rank <= 6  # of fewer repetitions than those of the whole study
    assert set(found.losses) == {"weak", "strong", "hall"}
    played = found.player
    for v in NAMES:
        # 270 s at 330 kbit/s and a page of 750 kB are 11.9 MB of payload; headers and ACKs are 6 to 9 % more.
        assert played.seen("throughput", "Wi-Fi", v) == pytest.approx(1.075 * 11_887.5 / 271, rel=0.02)
        # A full segment of TCP or QUIC is a frame of 1514 bytes: merged ones exist in the captures of blocks only.
        assert played.captured.captures["Wi-Fi", v][0].lengths["count"][-1] == 0
    # Wireshark labels no errors in QUIC. The medium of the hall drops packets of CUBIC at the access point.
    assert (played.seen("errors", "hall", QUIC) == 0).all()
    assert (played.seen("errors", "hall", "cubic") > 0).all()


def test_video_where_a_back_end_has_no_policer(done: Callable[[str], Done]) -> None:
    from dumbbell.results import Results
    from dumbbell.studies.video_real_traffic.experiments import Experiments
    from dumbbell.studies.video_real_traffic.figures import pictures
    from dumbbell.studies.video_real_traffic.tables import predictions, tables

    ran = done("video-real-traffic")
    reported = ran.study.paper.figures
    without = {name: Results(ran.results[name].scenario, []) for name in ("policer", "fit-policer")}
    found = Experiments.read({**ran.results, **without}, reported)
    names = {p.name for p in pictures(found, reported)} | {t.name for t in tables(found, reported)}
    assert {"fit-queue", "fit-wifi", "medians", "fig3-duplicate-acks"} <= names
    assert "fit-policer" not in names
    assert "policer, at the server" not in predictions(found, reported, "vegas")


def _contents(place: Path) -> dict[str, bytes]:
    """Everything that a study leaves except the time and the host of the run."""
    kept = [
        p for p in place.rglob("*") if p.is_file() and p.name not in {"manifest.json", "report.html", "study.json"}
    ]
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


def test_back_end_that_cant_is_refused_before_anything_is_run(
    cli: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    refused = cli("study", "run", "video-real-traffic", "--quick", "--backend", "nothing", "--out", tmp_path / "out")
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert not list(tmp_path.glob("out/runs/*"))
