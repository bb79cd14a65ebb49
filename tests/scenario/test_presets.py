"""Presets: the flows of flent's tests, their times, what is refused, the figure, and RRUL on three back ends."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from one_link import network, refused

import dumbbell
from dumbbell import Run, Scenario
from dumbbell.backends import Backend, Simulator
from dumbbell.exceptions import ScenarioError
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.uml.backend import Uml
from dumbbell.plan.build import build
from dumbbell.plots.load_over_time import _bridged
from dumbbell.scenario.flow.application import Ping
from dumbbell.scenario.flow.presets import NAMES

ROOT = Path(__file__).parents[2]


def scenario(preset: Any, **changes: Any) -> Scenario:
    document: dict[str, Any] = {
        "name": "preset",
        "preset": preset,
        "network": network(delay="10 ms", queue={"limit": "100 packets"}),
        **changes,
    }
    return Scenario.from_dict(document)


def kinds(made: Scenario) -> Counter[tuple[str, str]]:
    return Counter((f.application.kind, f.direction) for f in made.flows)


# flent/tests/NAME.conf: TCP uploads, TCP downloads, UDP probes, pings.
TESTS = {
    "rrul": (4, 4, 3, 1),
    "rrul_be": (4, 4, 3, 1),
    "rrul_be_nflows": (4, 4, 1, 1),
    "tcp_upload": (1, 0, 0, 1),
    "tcp_download": (0, 1, 0, 1),
    "tcp_bidirectional": (1, 1, 0, 1),
    "tcp_1up": (1, 0, 0, 1),
    "tcp_12down": (0, 12, 0, 1),
    "tcp_nup": (4, 0, 0, 1),
    "tcp_ndown": (0, 4, 0, 1),
    "rtt_fair": (4, 4, 0, 4),
    "rtt_fair4be": (4, 4, 0, 4),
    "rtt_fair_up": (4, 0, 0, 4),
    "ping": (0, 0, 0, 1),
    "voip": (0, 0, 0, 0),
    "voip-1up": (1, 0, 0, 1),
    "voip-rrul": (4, 4, 3, 1),
}


@pytest.mark.parametrize("name", TESTS)
def test_a_preset_has_the_flows_of_flents_test(name: str) -> None:
    made = scenario(name)
    found = kinds(made)
    up, down, udp, pings = TESTS[name]
    assert (found["bulk", "forward"], found["bulk", "reverse"]) == (up, down)
    assert found["ping", "forward"] == udp + pings
    assert sum(f.name.startswith("ping_udp") for f in made.flows) == udp
    assert found["voice", "forward"] == int(name.startswith("voip"))
    assert (made.duration.seconds, made.measure_from.seconds, str(made.start_jitter)) == (65, 5, "100 ms")
    for flow in made.flows:
        probes = flow.application.kind == "ping"
        assert (flow.start.seconds, flow.stop is None) == ((0, True) if probes else (5, True))
        if isinstance(flow.application, Ping):
            assert flow.application.interval.seconds == 0.2


def test_every_preset_is_a_scenario_that_can_be_stored() -> None:
    for name in NAMES:
        made = scenario(name)
        assert "flows" not in made.to_dict()
        assert "duration" not in made.to_dict()
        again = Scenario.from_toml(made.to_toml())
        assert build(again) == build(made)


def test_marks_become_classes_on_request() -> None:
    bands = network(delay="10 ms", queue={"discipline": "prio", "bands": 4})
    made = scenario({"name": "rrul", "classes": True}, network=bands)
    classes = {f.name: f.class_ for f in made.flows}
    assert [classes[f"upload_{mark}"] for mark in ("ef", "cs5", "be", "bk")] == [0, 1, 2, 3]
    assert [classes[f"ping_udp_{mark}"] for mark in ("ef", "be", "bk")] == [0, 2, 3]
    assert classes["ping_icmp"] == 2
    rows = {r["name"]: r for r in dumbbell.run(made.with_changes({"preset.length": "10 s"})).runs[0].flows}
    assert rows["upload_ef"]["goodput_bps"] > 0.6 * 10e6  # with its slow start
    assert rows["upload_bk"]["goodput_bps"] < 0.1 * 10e6


def test_servers_have_their_delays_and_custom_networks_their_nodes() -> None:
    made = scenario({"name": "rtt_fair", "delays": ["10 ms", "50 ms"], "length": "5 s", "lead": "1 s"})
    assert [f.name for f in made.flows] == [
        "upload_be", "upload_bk", "download_be", "download_bk", "ping_icmp1", "ping_icmp2",
    ]  # fmt: skip
    idle = dumbbell.run(made)
    rtts = {r["name"]: r["rtt_min_ms"] for r in idle.runs[0].flows}
    # Propagation: 2 x (10 + 10) and 2 x (10 + 50) ms; transmission of 84 bytes: 2 x (0.0672 + 2 x 0.000672) ms.
    assert rtts["ping_icmp1"] >= 40.137
    assert rtts["ping_icmp2"] >= 120.137
    network = {
        "topology": "custom",
        "nodes": ["home", "web"],
        "links": [{"from": "home", "to": "web", "rate": "10 Mbit/s", "delay": "5 ms"}],
    }
    made = scenario({"name": "tcp_bidirectional", "client": "home", "server": "web"}, network=network)
    ends = {f.name: (f.from_, f.to) for f in made.flows}
    assert ends == {
        "upload_be": ("home", "web"), "download_be": ("web", "home"), "ping_icmp": ("home", "web"),
    }  # fmt: skip


def test_times_are_those_of_the_preset_unless_the_scenario_has_others() -> None:
    made = scenario({"name": "tcp_upload", "lead": "2 s", "length": "10 s", "tail": "3 s"})
    assert (made.duration.seconds, made.measure_from.seconds) == (15, 2)
    upload, ping = made.flows
    assert upload.stop is not None
    assert (upload.start.seconds, upload.stop.seconds, ping.stop) == (2, 12, None)
    shorter = scenario("tcp_upload", duration="8 s", measure_from="0 s", start_jitter="0 s")
    assert [shorter.duration.seconds, shorter.measure_from.seconds, str(shorter.start_jitter)] == [8, 0, "0 s"]
    assert shorter.to_dict()["duration"] == "8 s"
    with pytest.raises(ScenarioError, match="the run ends earlier"):
        scenario({"name": "tcp_upload", "tail": "3 s"}, duration="20 s")


BAD: list[tuple[Any, str, str]] = [
    ("rrull", "preset", "did you mean 'rrul'?"),
    ("tcp_5up", "preset", "use 'tcp_nup' with streams = 5"),
    ({"name": "rrul", "streams": 3}, "preset.streams", "'rrul' doesn't use it"),
    ({"name": "ping", "variant": "cubic"}, "preset.variant", "'ping' doesn't use it"),
    ({"name": "rrul", "delays": ["5 ms"]}, "preset.delays", "'rrul' doesn't use it"),
    ({"name": "rrul_be", "classes": True}, "preset.classes", "'rrul_be' doesn't use it"),
    ({"name": "rrul", "client": "s1"}, "preset.server", "belong together"),
    ({"name": "tcp_nup", "streams": 0}, "preset.streams", "at least 1"),
    ({"name": "rrul", "lenght": "5 s"}, "preset.lenght", "did you mean 'length'?"),
    ({"name": "rrul", "variant": "cubik"}, "flows.upload_be.variant", "did you mean 'cubic'?"),
    (7, "preset", "a table is needed"),
]


@pytest.mark.parametrize(("preset", "place", "words"), BAD)
def test_wrong_presets_are_refused(preset: Any, place: str, words: str) -> None:
    with refused(words, place=place):
        scenario(preset)


def test_own_flows_stay_and_sweeps_reach_the_preset() -> None:
    mine = {"name": "mine", "variant": "reno", "start": "1 s"}
    made = scenario(
        {"name": "tcp_upload", "length": "3 s", "lead": "1 s"},
        flows=[mine],
        sweep={"preset.variant": ["cubic", "vegas"], "flows.mine.variant": ["reno", "cubic"]},
    )
    assert [f.name for f in made.flows] == ["mine", "upload_be", "ping_icmp"]
    assert made.to_dict()["flows"] == [mine]
    variants = [[f.variant.name for f in cell.scenario.flows if f.variant] for cell in made.cells]
    assert variants == [["reno", "cubic"], ["cubic", "cubic"], ["reno", "vegas"], ["cubic", "vegas"]]
    tests = scenario("ping", sweep={"preset.name": ["tcp_1up", "tcp_2up"]})
    assert [len(cell.scenario.flows) for cell in tests.cells] == [2, 3]
    with pytest.raises(ScenarioError, match="'upload_be' is taken"):
        scenario("tcp_upload", flows=[{"name": "upload_be", "variant": "reno"}])


def test_the_example_shows_what_a_fair_queue_saves(tmp_path: Path) -> None:
    results = dumbbell.run(ROOT / "examples" / "rrul.toml", out=tmp_path / "loaded", trace=True)
    rows = results.flows.filter(results.flows["name"] == "ping_icmp")
    deep, fair = rows["rtt_p50_ms"].to_list()
    assert deep > 80
    assert fair < 30
    picture = results.plot.load().picture
    assert [panel.y_label for panel in picture.panels] == ["download, Mbit/s", "upload, Mbit/s", "RTT, ms"]
    assert [len(panel.curves) for panel in picture.panels] == [5, 5, 5]  # four flows and their mean
    assert picture.panels[0].curves[0].label == "download_be"
    goodput = results.runs[0].flows[0]["goodput_bps"]
    upload = picture.panels[1].curves[0]
    under_load = upload.x > 5.2
    assert np.mean(upload.y[under_load]) == pytest.approx(goodput * 1e-6, rel=0.05)
    # Windows of 0.16 s, a ping each 0.2 s: its curve has no gaps, and the mean stays between the curves.
    *pings, mean = picture.panels[2].curves
    for ping in pings:
        known = np.flatnonzero(np.isfinite(ping.y))
        assert np.isfinite(ping.y[known[0] : known[-1] + 1]).all()
    lowest, highest = (pick([ping.y for ping in pings], axis=0) for pick in (np.nanmin, np.nanmax))
    some = np.isfinite(mean.y)
    assert ((lowest[some] - 1e-9 <= mean.y[some]) & (mean.y[some] <= highest[some] + 1e-9)).all()
    again = dumbbell.Results.load(tmp_path / "loaded")
    assert [f.name for f in again.scenario.flows] == [f.name for f in results.scenario.flows]
    assert again.plot.load().picture.panels[0].curves[0].label == "download_be"


def test_a_curve_of_pings_has_gaps_where_replies_are_missing() -> None:
    when = np.array([0.1, 0.3, 0.5, 0.9, 2.1, 2.3])  # one reply is missing after 0.5 s, five after 0.9 s
    middle = np.arange(0.05, 2.4, 0.1)
    y = np.full(middle.shape, np.nan)
    y[[1, 3, 5, 9, 21]] = [10, 30, 50, 90, 210]
    found = _bridged(y, middle, when)
    assert np.isnan(found[[0, 10, 15, 20, 23]]).all()
    assert found[1:10] == pytest.approx(np.arange(10, 91, 10))
    assert found[22] == 210


def loaded(backend: Backend, **changes: Any) -> Run:
    made = scenario({"name": "rrul", "variant": "cubic", "length": "15 s", "lead": "2 s", **changes})
    return dumbbell.run(made, backend=backend).runs[0]


def totals(run: Run) -> tuple[float, float, float]:
    """Return the goodput of the uploads and downloads, bit/s, and the mean RTT of the pings, ms."""
    rows = run.flows
    of = {kind: [r for r in rows if r["name"].startswith(kind)] for kind in ("upload", "download", "ping")}
    assert all(r["pings_sent"] >= 18 for r in of["ping"])
    rtt = float(np.mean([r["rtt_mean_ms"] for r in of["ping"]]))
    return sum(r["goodput_bps"] for r in of["upload"]), sum(r["goodput_bps"] for r in of["download"]), rtt


@pytest.mark.usefixtures("require_uml")
def test_rrul_on_the_kernel_in_virtual_time_agrees_with_the_simulator() -> None:
    """Eight flows share chaotically, but together they fill the link: totals agree. Both stacks are Linux's."""
    simulated, kernel = totals(loaded(Simulator())), totals(loaded(Uml()))
    # The link's capacity less ACKs of the other direction is 9.5 Mbit/s of payload.
    assert kernel[0] == pytest.approx(simulated[0], rel=0.05)
    assert kernel[1] == pytest.approx(simulated[1], rel=0.05)
    # Over seeds the simulator's mean RTT varies by 5 %.
    assert kernel[2] == pytest.approx(simulated[2], rel=0.15)


@pytest.mark.usefixtures("require_link_emulation")
def test_rrul_on_the_hosts_kernel_agrees_with_the_simulator() -> None:
    """A busy host only lowers rates and delays packets: the link's rate and its delay are bounds that always hold."""
    run = loaded(LinkEmulation(calibration="mark"), length="4 s")
    up, down, rtt = totals(run)
    assert 0 < up < 10e6
    assert 0 < down < 10e6
    assert rtt > 20
    if not run.invalid:
        # They differ by 2 % on a host with other work; a run is still valid with a third of a processor.
        simulated = totals(loaded(Simulator(), length="4 s"))
        assert (up, down, rtt) == pytest.approx(simulated, rel=0.5)
