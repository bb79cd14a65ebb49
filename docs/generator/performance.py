"""The sentences of the page on performance whose numbers come from docs/data/performance."""

from __future__ import annotations

from pathlib import Path

from dumbbell.report.tables import Table, read_table

DATA = Path(__file__).resolve().parents[1] / "data" / "performance"
NS2 = "2 NewReno flows, 100 Mbit/s, stack `ns2`"
"""The workload that ns-2 runs too."""


def _read(name: str) -> Table:
    return read_table(DATA / f"{name}.csv")


def _value(table: Table, workload: str, quantity: str) -> str:
    """Return a measured value; `quantity` is how its title begins."""
    return next(row[2] for row in table.rows if row[0].startswith(workload) and row[1].startswith(quantity))


def answer() -> str:
    """Say how fast the simulator is, and how many goals are reached."""
    table = _read("speed")
    rate, ratio = (_value(table, NS2, quantity) for quantity in ("million packets", "times ns-2, median"))
    count = _value(table, NS2, "instructions")
    goals = [row[4] for row in table.rows if row[3]]
    return (
        f"The simulator delivers {rate} million data packets per second of CPU time, {ratio} times as many as ns-2 "
        f"in the same runs. A packet with its ACK costs {count} instructions. {goals.count('yes')} of {len(goals)} "
        "goals are reached."
    )


def missed() -> str:
    """List the goals that are missed, the furthest first."""
    rows = []
    for workload, quantity, value, goal, reached in _read("speed").rows:
        if reached == "no":
            relation, limit = goal.split()
            far = float(value) / float(limit) if relation == "≤" else float(limit) / float(value)
            rows.append((far, f"- {workload}: {quantity} {value}, goal {goal}"))
    if not rows:
        return "All goals are reached."
    return "\n".join(["Missed goals, the furthest first:", "", *(text for _, text in sorted(rows, reverse=True))])


def parts() -> str:
    """Say which parts of the simulator need the most instructions."""
    table = _read("instructions")
    row = next(row for row in table.rows if row[0] == NS2)
    shares = {part: float(value) / float(row[1]) for part, value in zip(table.columns[2:], row[2:], strict=True)}
    first = sorted(shares.items(), key=lambda item: -item[1])[:3]
    listed = ", ".join(f"{part} ({100 * share:.0f} %)" for part, share in first)
    return f"With two NewReno flows the largest parts are: {listed}."


def lookahead() -> str:
    """Say how much work there is between two synchronizations, and which share can't be divided."""
    times = [float(row[3]) for row in _read("lookahead").rows if row[1] == "1"]
    table = _read("instructions")
    shares = []
    for row in table.rows:
        cost = dict(zip(table.columns[1:], map(float, row[1:]), strict=True))
        # Two of the six links that a packet and its ACK cross, and the queue.
        shares.append((cost["links"] / 3 + cost["queue disciplines"]) / cost["instructions per packet"])
    return (
        f"Between two synchronizations there are {min(times):.0f} to {max(times):.0f} µs of work; a synchronization "
        "of threads costs some µs. So the lookahead limits the smallest workload. The limit of the others is the "
        "part with the bottleneck: its two links and its queue need "
        f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % of the instructions, which bounds the gain at "
        f"{1 / max(shares):.0f} to {1 / min(shares):.0f} times, whatever the number of cores."
    )
