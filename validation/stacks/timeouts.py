"""Measures the same flows on the stacks `rfc` and `linux`: timeouts and delays where retransmissions are lost.

Usage: python validation/stacks/timeouts.py

Writes ``docs/data/stacks/timeouts.csv``, the evidence for the default stack on the page docs/reference/stacks.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import dumbbell
from dumbbell.report.tables import Table, write_tables
from dumbbell.scenario import Scenario

DATA = Path(__file__).parents[2] / "docs" / "data" / "stacks"
ACCESS = {"rate": "100 Mbit/s", "delay": "1 ms", "jitter": "1.2 ms"}
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "four CUBIC flows, RED": ({"queue": {"discipline": "red", "limit": "2 bdp"}}, ["cubic"] * 4),
    "one BBR flow, 1 % of random loss": ({"loss": "1 %", "queue": {"limit": "1 bdp"}}, ["bbr"]),
}
COLUMNS = ["flows", "stack", "timeouts per flow", "RTT (ms)", "until the cumulative ACK (ms)", "the same, p95 (ms)",
           "goodput of all (Mbit/s)"]  # fmt: skip


def scenario(case: str, stack: str | None) -> Scenario:
    """Return the scenario of a case; without a stack, on the default."""
    link, variants = CASES[case]
    chosen = {} if stack is None else {"stack": stack}
    return Scenario(
        name=case,
        duration="30 s",
        repetitions=10,
        start_jitter="1 s",
        network={"bottleneck": {"rate": "10 Mbit/s", "delay": "18 ms", **link}, "access": ACCESS},
        flows=[{"name": f"f{n}", "variant": variant, **chosen} for n, variant in enumerate(variants)],
    )


def row(case: str, stack: str | None) -> list[str]:
    """Measure a case on a stack: the values of a line, means over flows and repetitions."""
    flows = dumbbell.run(scenario(case, stack)).flows
    means = ("timeouts", "rtt_mean_ms", "ack_delay_mean_ms", "ack_delay_p95_ms")
    timeouts, *delays = flows.select(pl.col(name).cast(pl.Float64).mean() for name in means).row(0)
    total = 1e-6 * flows["goodput_bps"].to_numpy().sum() / scenario(case, stack).repetitions
    return [f"{timeouts:.2f}", *(f"{delay:.1f}" for delay in delays), f"{total:.2f}"]


def main() -> None:
    """Measure, and write the table."""
    rows = [[case, stack, *row(case, stack)] for case in CASES for stack in ("rfc", "linux")]
    write_tables(DATA, {"timeouts": Table(COLUMNS, rows, "validation/stacks/timeouts.py")})


if __name__ == "__main__":
    main()
