"""The columns of the traced tables: name, unit and meaning, from the declarations in `crates/trace/src/tables.rs`.

A run is made when the docs are built: if its tables differ from the declarations, the build fails.
"""

from __future__ import annotations

import json
from functools import cache

import dumbbell
from dumbbell import _core, registry

Columns = dict[str, tuple[str, str]]


def _columns(kind: str, *, kernel_only: bool = False) -> Columns:
    declared = json.loads(_core.registry())["tables"]
    tables = [t for t in declared if t["kind"] == kind and t["kernel_only"] == kernel_only]
    return {c["name"]: (c["unit"], c["doc"]) for t in tables for c in t["columns"]}


TABLES: dict[str, Columns] = {
    kind: _columns(kind) for kind in ("flow", "rtt", "ping", "voice", "queue", "departures", "drops", "wifi", "packets")
}
KERNEL_FLOW: Columns = _columns("flow", kernel_only=True)

SAMPLE = """
name = "every kind of table"
duration = "1 s"
[network]
topology = "chain"
bottlenecks = [
    { rate = "5 Mbit/s", delay = "10 ms", queue = "red" },
    { wifi = { preset = "strong" }, queue = "red" },
]
access = { rate = "10 Mbit/s", delay = "1 ms" }
[trace]
series = true
packets = true
[[flows]]
name = "tcp"
variant = "vegas"
[[flows]]
name = "udp"
transport = "udp"
application = { kind = "cbr", rate = "1 Mbit/s" }
[[flows]]
name = "probe"
application = { kind = "ping", interval = "100 ms" }
[[flows]]
name = "call"
application = { kind = "voice" }
"""


@cache
def check() -> None:
    """Compare with a run."""
    results = dumbbell.run(dumbbell.Scenario.from_toml(SAMPLE))
    private = {"flow": registry.variant("vegas").columns, "queue": registry.discipline("red").columns}
    seen = set()
    for name in results.tables(0):
        kind = name.partition("/")[0]
        seen.add(kind)
        found = list(results.arrays(0, name))
        routers = name.startswith("queue/") and "s" not in name and "d" not in name
        described = [*TABLES[kind], *(private[kind] if kind == "flow" or routers else ())]
        if found != described:
            raise ValueError(f"table {name} has columns {found}, but {described} are described")
    if seen != set(TABLES):
        raise ValueError(f"tables of kinds {sorted(seen)} were traced, but {sorted(TABLES)} are described")
