"""Runs on the host's own kernel that their conditions spoil are marked; refused runs leave the others alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dumbbell import run
from dumbbell.backends import Job
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.host_kernel import ATTEMPTS, LINK_DIFFERS, HostKernel
from dumbbell.kernel.host.host_load import HostLoad
from dumbbell.kernel.host.link_emulation import LinkEmulation, short_queues, shortest_queue_ms
from hosts import once, scenario

pytestmark = pytest.mark.usefixtures("require_link_emulation")


def verdict(late_max_ms: float, late_p99_ms: float = 0.05, moderation_ms: float = 0.0, **changes: Any) -> list[str]:
    plan = Job(scenario(**changes).cells[0], 0, 1).plan()
    link = {"late_p99_ms": late_p99_ms, "late_max_ms": late_max_ms, "moderation_ms": moderation_ms}
    link |= {"missed": 0, "refused_by_hosts": 0, "real_time": True}
    invalid, _ = LinkEmulation()._verdict({"link": link}, plan)
    return invalid


def test_a_single_late_packet_spoils_a_run_with_a_short_queue() -> None:
    # 8 packets of 1.2 ms: 9.6 ms. A quarter of it is 2.4 ms.
    assert verdict(2.3, limit="8 packets") == []
    assert verdict(14.7, limit="8 packets") == [
        "a packet was delivered 14.7 ms late: more than a quarter of the 9.6 ms that the shortest queue holds"
    ]
    # 33 packets hold 39.6 ms.
    assert verdict(9.8) == []
    assert len(verdict(14.7)) == 1


def test_lateness_is_compared_with_the_packet_time_or_the_interval_of_deliveries() -> None:
    fast: dict[str, Any] = {
        "rate": "1 Gbit/s",
        "limit": "800 packets",
        "network__access": {"rate": "2 Gbit/s", "delay": "0 ms"},
    }
    # 12,000 bits at 1 Gbit/s are 12 us.
    (sentence,) = verdict(1.0, 0.013, **fast)
    assert (
        sentence == "one packet in a hundred was delivered more than 0.013 ms late; 0.012 ms are allowed (max_late_ms)"
    )
    assert verdict(1.0, 0.011, **fast) == []
    assert verdict(1.0, 0.049, 0.05, **fast) == []
    (sentence,) = verdict(1.0, 0.051, 0.05, **fast)
    assert "0.05 ms are allowed" in sentence


def test_a_queue_of_one_packet_has_no_valid_run_on_a_real_clock() -> None:
    plan = Job(scenario(limit="1 packets").cells[0], 0, 1).plan()
    assert [text.partition(":")[0] for text in short_queues(plan)] == [
        "the queue of r1->r2 holds 1 packets",
        "the queue of r2->r1 holds 1 packets",
    ]
    assert shortest_queue_ms(plan) == pytest.approx(1.2)
    assert short_queues(Job(scenario(limit="4 packets").cells[0], 0, 1).plan()) == []


def test_a_flow_that_delivers_nothing_is_named_and_slow_links_are_calibrated_soon() -> None:
    results = once(scenario(rate="1 kbit/s", duration="2 s"))
    (path,) = results.runs[0].facts["calibration"]
    # 24 packets of 100 bytes would take 19 s.
    assert path["train"] is None
    assert path["off"] == []
    # 12,000 bits at 1 kbit/s.
    texts = [w.text for w in results.lint() if w.name == "nothing-delivered"]
    assert texts == ["flow 'f' delivered nothing: a packet of 1500 bytes takes 12 s on the slowest link"]


def test_a_refused_calibration_is_tried_again_and_concerns_its_run_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = HostKernel._one
    tries: list[int] = []

    def one(self: HostKernel, job: Job) -> Any:
        if job.repetition == 0:
            tries.append(0)
            raise BackendError(f"{LINK_DIFFERS}: rtt")
        return made(self, job)

    monkeypatch.setattr(HostKernel, "_one", one)
    monkeypatch.setattr("dumbbell.kernel.host.host_kernel.PAUSE_S", 0.0)
    given = scenario(duration="1 s").with_changes({"repetitions": 2})
    backend = LinkEmulation(calibration="off")
    with pytest.raises(BackendError, match=r"1 of 2 runs failed: repetition 0: .*rtt \(attempt 3 of 3; .*busy") as e:
        run(given, backend=backend, out=tmp_path)
    assert "repetition 1" not in str(e.value)
    assert len(tries) == ATTEMPTS
    # The second call finds the other run in the directory.
    monkeypatch.setattr(HostKernel, "_one", made)
    counts: list[tuple[int, int]] = []
    run(given, backend=backend, out=tmp_path, progress=lambda *count: counts.append(count))
    assert counts == [(1, 2), (2, 2)]


def test_the_message_names_the_busiest_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    load = HostLoad(0.0, {1: ("make", 2.0), 2: ("sleep", 0.0)})
    monkeypatch.setattr("dumbbell.kernel.host.host_load.time.monotonic", lambda: 10.0)
    # Of 10 s: 8 s of make, 5 s of a process that has begun meanwhile, 1 % of sleep.
    now = {1: ("make", 10.0), 2: ("sleep", 0.1), 3: ("cc1", 5.0)}
    monkeypatch.setattr("dumbbell.kernel.host.host_load._times", lambda: now)
    assert load.since() == "meanwhile other processes were busy (of one processor): make (80 %), cc1 (50 %)"
    monkeypatch.setattr("dumbbell.kernel.host.host_load._times", lambda: {2: ("sleep", 0.1)})
    assert load.since() == "no other process was busy meanwhile"
