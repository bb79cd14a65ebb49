"""Workloads on real kernels: the simulator's transfers over real connections, and their completion times beside its own."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import Results, Scenario
from dumbbell.backends import Backend, LinkEmulation, Simulator, Tc, Uml
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host import why_no_veth
from dumbbell.results.runner import jobs_of
from required import require

DRAWN = ["flow", "number", "start_s", "bytes"]
ANY = {"kind": "workload", "arrivals": {"rate": "10 /s"}, "sizes": "10 kB"}


def scenario(*applications: dict[str, Any], queue: Any = "droptail", **changes: Any) -> Scenario:
    """Flows with workloads over 20 Mbit/s and a base RTT of 20 ms, all of Linux's stack."""
    flows = [
        {"name": f"w{n}", "variant": "cubic", "stack": "linux", "application": {"kind": "workload", **application}}
        for n, application in enumerate(applications)
    ]
    return Scenario(
        **{
            "name": "workload",
            "duration": "6 s",
            "seed": 7,
            "network": {
                "bottleneck": {"rate": "20 Mbit/s", "delay": "10 ms", "queue": queue},
                "access": {"rate": "1 Gbit/s", "delay": "0 ms"},
            },
            "flows": flows,
            **changes,
        }
    )


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
    assert last["stop_s"] == done["end_s"].max()
    assert last["completion_time_s"] == pytest.approx(done["end_s"].max() - done["start_s"].min(), abs=1e-9)


@pytest.mark.usefixtures("require_uml")
def test_transfers_alone_take_the_same_time() -> None:
    """One transfer at a time, of one packet to 100: without a loss both stacks send the same packets."""
    sizes = "\n".join(f"{at} {size}" for at, size in enumerate((1000, 1448, 1449, 10_000, 14_480, 40_000, 145_000)))
    for connections in ("new", "reuse"):
        given = listed(sizes, connections)
        simulated, kernel = (dumbbell.run(given, backend=b).transfers for b in (Simulator(), Uml()))
        assert kernel["connection"].to_list() == simulated["connection"].to_list()
        took = [frame["took_s"].to_numpy() for frame in (simulated, kernel)]
        # The kernel's link and its stack differ from the simulator's by microseconds.
        assert np.abs(took[1] - took[0]).max() < 100e-6, connections
        assert kernel["slowdown"].to_numpy() == pytest.approx(simulated["slowdown"].to_numpy(), rel=0.005)


def listed(lines: str, connections: str) -> Scenario:
    """Return a scenario with transfers at listed times, in a file that needs to exist only now."""
    import tempfile  # noqa: PLC0415

    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
        file.write(lines)
        file.flush()
        return scenario({"arrivals": {"file": file.name}, "connections": connections}, duration="8 s")
