"""Links of the real kernel in virtual time: DRR, policers, limits as ns-2 counts them, receive windows."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell import BackendError, run
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results.runs.record import jobs_of
from kernels import bottleneck, changed, flow
from machines import once, scenario

pytestmark = pytest.mark.usefixtures("require_uml")

CBR = {"kind": "cbr", "rate": "8 Mbit/s", "packet": "1000 bytes", "phase": "0 s"}


def test_drr_divides_the_link_between_classes_not_flows() -> None:
    udp = {"transport": "udp", "application": CBR}
    flows = [{"name": "f", **udp}, {"name": "g", **udp}, {"name": "h", **udp, "class": 1}]
    queue = {"discipline": "drr", "by": "class", "limit": "40 packets", "queue_limit": "20 packets"}
    results = once(scenario(flows=flows, network__bottleneck__queue=queue))
    first, second, third = (flow(results, name)["goodput_bps"] for name in "fgh")
    # Class 0 (f and g) and class 1 (h) offer 16 and 8 Mbit/s to 10 Mbit/s: 5 Mbit/s each.
    assert third == pytest.approx(5e6, rel=0.01)
    assert first + second == pytest.approx(5e6, rel=0.01)
    q = bottleneck(results)
    # Each class loses what it offers above 5 Mbit/s: 11 and 3 Mbit/s of 8000 bits a packet for 10 s, less what waits.
    assert q["drops_full"] == q["drops"] == pytest.approx(17_500, abs=50)


def policed() -> dict[str, Any]:
    return {"network__bottleneck__policer": {"rate": "1 Mbit/s", "burst": "10 kB"}}


def test_a_policer_passes_its_rate_and_its_burst() -> None:
    cbr = {**CBR, "rate": "4 Mbit/s"}
    flows = [{"name": "f", "transport": "udp", "application": cbr}]
    results = once(scenario(flows=flows, **policed()))
    q = bottleneck(results)
    # 5000 packets in 10 s. Passed: a burst of 10, and 1 Mbit/s x 10 s / 8000 bits = 1250.
    assert q["drops_policed"] == q["drops"] == pytest.approx(5000 - 1260, abs=2)
    assert (q["drops_full"], q["drops_early"]) == (0, 0)


def test_a_policer_drops_like_the_simulators() -> None:
    flows = [{"name": "f", "variant": "reno", "stack": "linux"}]
    given = scenario(flows=flows, **policed())
    passed = [bottleneck(results)["departures"] for results in (once(given), run(given))]
    # Reno fills any policer: both pass 1 Mbit/s x 10 s and the burst, less pauses.
    assert passed[0] == pytest.approx(passed[1], rel=0.03)


@pytest.mark.parametrize(("counting", "waiting"), [("waiting", 10), ("ns2", 9)])
def test_limits_count_as_asked(counting: str, waiting: int) -> None:
    queue = {"discipline": "droptail", "limit": "10 packets", "counting": counting}
    flows = [{"name": "f", "transport": "udp", "application": {**CBR, "rate": "20 Mbit/s"}}]
    q = bottleneck(once(scenario(flows=flows, duration="2 s", network__bottleneck__queue=queue)))
    # A packet of 1000 bytes takes 0.8 ms; one that arrives waits for the rest of the one in transmission too.
    assert (waiting - 1) * 0.8 < q["max_sojourn_ms"] <= waiting * 0.8 + 0.01


def test_a_window_bounds_the_data_in_flight() -> None:
    stack = {"preset": "linux", "mss": "1000 bytes", "timestamps": False, "window": "20 packets"}
    f = flow(once(scenario(rate="50 Mbit/s", flows=[{"name": "f", "variant": "reno", "stack": stack}])))
    # 20 packets of 1000 bytes for each round trip, which is little more than the 40 ms of propagation.
    assert f["goodput_bps"] == pytest.approx(20 * 8000 / (f["rtt_mean_ms"] * 1e-3), rel=0.05)
    assert f["mean_inflight_packets"] == pytest.approx(20, rel=0.05)


def test_segments_may_be_as_large_as_a_loopback_devices() -> None:
    stack = {"preset": "linux", "mss": "65495 bytes"}
    transfer = {"kind": "transfer", "size": "2 MB"}
    flows = [{"name": "f", "variant": "reno", "stack": stack, "application": transfer}]
    f = flow(once(scenario(limit="100 packets", flows=flows)))
    # 65,483 bytes with timestamps are 31 segments, if all are full; of an Ethernet's 1448 bytes it would be 1382.
    assert 31 <= f["sent_packets"] < 60


def test_a_run_ends_with_its_last_transfer() -> None:
    """If it didn't, this run would simulate 100,000 hours."""
    twice = {"variant": "reno", "application": {"kind": "transfer", "size": "200 kB", "repeat": 2}}
    flows = [{"name": "f", **twice}, {"name": "g", "start": "5 s", **twice}]
    results = once(scenario(duration="100000 h", flows=flows))
    short = once(scenario(duration="20 s", flows=flows))
    assert [f["transfers_completed"] for f in results.runs[0].flows] == [2, 2]
    names = ("name", "goodput_bps", "sent_packets", "stop_s", "completion_time_s")
    assert [[f[n] for n in names] for f in results.runs[0].flows] == [
        [f[n] for n in names] for f in short.runs[0].flows
    ]


def test_a_queue_without_its_own_limit_is_refused_for_several_classes() -> None:
    document = scenario().to_dict()
    document["flows"].append({**document["flows"][0], "name": "g"})
    wrong = changed(document, {"network__bottleneck__queue": {"discipline": "drr"}})
    with pytest.raises(BackendError, match=r"links\.r1->r2\.queue\.queue_limit: 'none' given"):
        Uml().check(jobs_of(wrong))


def test_a_busy_link_keeps_its_jitter() -> None:
    flows = [{"name": "f", "variant": "cubic", "stack": "linux"}]
    given = scenario(flows=flows, network__bottleneck__jitter="8 ms")
    linux, simulated = (flow(results, "f")["rtt_mean_ms"] for results in (once(given), run(given)))
    # 79 ms if transmission spaced packets again after their jitter: each would wait for the largest jitter so far.
    assert linux == pytest.approx(simulated, rel=0.03)
