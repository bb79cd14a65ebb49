"""Workloads on real kernels: the simulator's transfers over real connections, and their completion times."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.backends import Backend, Simulator
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.features import why_no_veth
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.host.tc_backend import Tc
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results.runs.record import jobs_of
from required import require

DRAWN = ["flow", "number", "start_s", "bytes"]
ACCESS = {"rate": "1 Gbit/s", "delay": "0 ms"}
ANY = {"kind": "workload", "arrivals": {"rate": "10 /s"}, "sizes": "10 kB"}


def scenario(*applications: dict[str, Any], queue: Any = "droptail", **changes: Any) -> Scenario:
    """Flows with workloads over 20 Mbit/s and a base RTT of 20 ms, all of Linux's stack."""
    flows = [
        {"name": f"w{n}", "variant": "cubic", "stack": "linux", "application": {"kind": "workload", **application}}
        for n, application in enumerate(applications)
    ]
    over = {"bottleneck": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": queue}, "access": ACCESS}
    return Scenario(**{"name": "workload", "duration": "6 s", "seed": 7, "network": over, "flows": flows, **changes})


def kinds() -> Scenario:
    """All kinds of arrivals and connections, and several distributions."""
    pareto = {"distribution": "pareto", "mean": "20 kB", "shape": 1.5, "max": "1 MB"}
    return scenario(
        {"arrivals": {"rate": "20 /s"}, "sizes": pareto},
        {"arrivals": {"rate": "5 /s", "process": "constant"}, "sizes": "imc10", "connections": "reuse"},
        {"arrivals": {"load": 0.1}, "sizes": {"distribution": "lognormal", "median": "5 kB", "sigma": 1}, "count": 30},
    )


def drawn(results: Results) -> pl.DataFrame:
    return results.transfers.select(DRAWN).sort("flow", "number")


@cache
def on(backend: type[Backend]) -> Results:
    return dumbbell.run(kinds(), backend=backend())


# ------------------------------------------------------------------ the kernel in virtual time


@pytest.mark.usefixtures("require_uml")
def test_the_kernel_carries_the_transfers_of_the_simulator() -> None:
    """Times and sizes are equal to the last digit."""
    simulated, kernel = on(Simulator), on(Uml)
    assert drawn(simulated).height > 150
    assert drawn(kernel).equals(drawn(simulated))
    for name in ("w0", "w1", "w2"):
        rows = [next(r for r in results.runs[0].flows if r["name"] == name) for results in (simulated, kernel)]
        for key in ("transfers_started", "application"):
            assert rows[1][key] == rows[0][key]
        # Bytes on their way at the end may differ.
        assert rows[1]["delivered_bytes"] == pytest.approx(rows[0]["delivered_bytes"], rel=0.02)
    (last,) = (r for r in kernel.runs[0].flows if r["name"] == "w2")
    done = kernel.transfers.filter(pl.col("flow") == "w2")
    assert last["transfers_completed"] == 30
    begin, end = done["start_s"].to_numpy().min(), done["end_s"].to_numpy().max()
    assert last["stop_s"] == end
    assert last["completion_time_s"] == pytest.approx(end - begin, abs=1e-9)


@pytest.mark.usefixtures("require_uml")
@pytest.mark.parametrize("connections", ["new", "reuse"])
def test_transfers_alone_take_the_same_time(connections: str, tmp_path: Path) -> None:
    """One transfer at a time, of one packet to 100: without a loss both stacks send the same packets."""
    sizes = (1000, 1448, 1449, 10_000, 14_480, 40_000, 145_000)
    (tmp_path / "times.txt").write_text("\n".join(f"{at} {size}" for at, size in enumerate(sizes)), encoding="utf-8")
    arrivals = {"file": str(tmp_path / "times.txt")}
    given = scenario({"arrivals": arrivals, "connections": connections}, duration="8 s")
    simulated, kernel = (dumbbell.run(given, backend=b).transfers for b in (Simulator(), Uml()))
    assert kernel["connection"].to_list() == simulated["connection"].to_list()
    took = [frame["took_s"].to_numpy() for frame in (simulated, kernel)]
    # The kernel's link and its stack differ from the simulator's by microseconds.
    assert np.abs(took[1] - took[0]).max() < 100e-6
    assert kernel["slowdown"].to_numpy() == pytest.approx(simulated["slowdown"].to_numpy(), rel=0.005)


@pytest.mark.usefixtures("require_uml")
def test_the_web_search_workload_takes_as_long_as_in_the_simulator() -> None:
    """The literature's sizes at 30 % load: the same transfers, and nearly all completion times within 0.1 %."""
    sizes = {"distribution": "web-search", "scale": 0.05}
    given = scenario({"arrivals": {"load": 0.3}, "sizes": sizes}, duration="20 s")
    simulated, kernel = (dumbbell.run(given, backend=b) for b in (Simulator(), Uml()))
    assert drawn(kernel).equals(drawn(simulated))
    both = simulated.transfers.join(kernel.transfers, on=["flow", "number"], suffix="_kernel")
    both = both.drop_nulls(["took_s", "took_s_kernel"])
    assert both.height == simulated.transfers.height > 150
    ratio = (both["took_s_kernel"] / both["took_s"]).to_numpy()
    assert np.mean(np.abs(ratio - 1) < 0.001) > 0.9
    assert kernel.transfers["slowdown"].mean() == pytest.approx(
        simulated.transfers["slowdown"].to_numpy().mean(), rel=0.01
    )


@pytest.mark.usefixtures("require_uml")
def test_a_fair_queue_of_the_kernel_separates_the_connections() -> None:
    """A packet that another connection's packet has passed is not lost."""
    results = dumbbell.run(
        scenario({"arrivals": {"load": 0.7}, "sizes": "200 kB"}, queue="fq_codel", duration="8 s"), backend=Uml()
    )
    queue = next(row for row in results.runs[0].queues if row["name"] == "r1->r2")
    (row,) = results.runs[0].flows
    assert row["transfers_completed"] >= 40
    # CoDel drops some packets of growing windows; each is sent once more.
    assert row["dropped_packets"] == queue["drops"] == row["retransmitted_packets"]
    assert 0 < queue["drops"] < 0.1 * queue["arrivals"]
    assert row["timeouts"] == 0


@pytest.mark.usefixtures("require_uml")
def test_incast_on_the_kernel_begins_together() -> None:
    server = {"kind": "workload", "arrivals": {"rate": "4 /s", "together": True}, "sizes": "32 kB"}
    server["connections"] = "reuse"
    given = scenario(ANY, duration="3 s", measure_from="1 s").with_changes(
        {"flows.w0.count": 8, "flows.w0.application": server}
    )
    simulated, kernel = (dumbbell.run(given, backend=b) for b in (Simulator(), Uml()))
    assert drawn(kernel).equals(drawn(simulated))
    rounds = [results.rounds() for results in (simulated, kernel)]
    assert rounds[1]["transfers"].unique().to_list() == [8]
    assert rounds[1].select("number", "start_s", "bytes").equals(rounds[0].select("number", "start_s", "bytes"))
    # 8 x 32 kB take 106 ms at 20 Mbit/s.
    for frame in rounds:
        assert frame["took_s"].drop_nulls().to_numpy().min() > 0.106


@pytest.mark.usefixtures("require_uml")
def test_captures_of_the_kernel_have_all_connections(tmp_path: Path) -> None:
    given = scenario({"arrivals": {"rate": "20 /s"}, "sizes": "3 kB", "count": 30}, capture=["sender"])
    results = dumbbell.run(given, backend=Uml(), out=tmp_path / "kept")
    (file,) = (tmp_path / "kept").rglob("*.pcapng")
    assert dumbbell.read_capture(file).flows.height == 2 * 30  # two directions each
    assert results.runs[0].flows[0]["transfers_completed"] == 30


# ------------------------------------------------------------------ the host's kernel


def check_on_the_host(results: Results, least_s: float) -> None:
    """A busy host delays the transfers, and the time until they begin is a part of that."""
    assert drawn(results).equals(drawn(on(Simulator)))
    new = results.transfers.filter(pl.col("flow") == "w0").drop_nulls("took_s")
    assert new.height > 10
    assert new["took_s"].to_numpy().min() > least_s
    facts = results.runs[0].facts
    assert set(facts["workloads"]) == {"w0", "w1", "w2"}
    assert all(0 <= late["late_p99_ms"] <= late["late_max_ms"] for late in facts["workloads"].values())


@pytest.mark.usefixtures("require_link_emulation")
def test_the_hosts_kernel_carries_the_transfers_of_the_simulator_over_emulated_links() -> None:
    # Half a round trip, and on a new connection a whole one before.
    check_on_the_host(dumbbell.run(kinds(), backend=LinkEmulation(calibration="mark")), 0.030)


@pytest.mark.host_clock
def test_the_hosts_kernel_carries_the_transfers_of_the_simulator_over_its_own_queues() -> None:
    require("host", why_no_veth())
    # Not every kernel has netem.
    given = kinds().with_changes({"network.bottleneck.delay": "0 ms"})
    check_on_the_host(dumbbell.run(given, backend=Tc(calibration="mark")), 0.0)


# ------------------------------------------------------------------ plans and refusals


def test_the_plan_describes_a_workload() -> None:
    (job,) = jobs_of(kinds())
    for backend in (Uml(), LinkEmulation(), Tc()):
        steps = "\n".join(str(step) for step in backend.steps(job))
        assert "workload of transfers by a Poisson process, 20.000000 per second, a connection for each" in steps
        assert "workload of transfers at constant intervals, 5.000000 per second, over idle connections" in steps


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"flows.w0.tls": "1.3"}, "flows.w0.tls: the kernel's flows have no TLS: back end 'sim' runs it"),
    (
        {"network.bottleneck.queue": {"discipline": "drr", "limit": "90 packets", "queue_limit": "9 packets"}},
        "queue.by: 'flow' given (or the default): the kernel's drr has a queue for a flow, not for each connection",
    ),
]


@pytest.mark.parametrize(("changes", "words"), REFUSED, ids=["tls", "drr"])
def test_what_the_kernel_cannot_do_is_refused_by_name(changes: dict[str, Any], words: str) -> None:
    (job,) = jobs_of(scenario(ANY).with_changes(changes))
    with pytest.raises(BackendError) as refused:
        Uml().steps(job)
    assert words in str(refused.value)
