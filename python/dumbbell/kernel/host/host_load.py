"""The work of the host during a measurement, for messages about measurements that it has disturbed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["HostLoad"]

SHOWN = 3
"""Processes that a message names."""
LEAST_SHARE = 0.05
"""Least share of one processor at which a process is named."""
PARENT, USER_TIME, SYSTEM_TIME = 1, 11, 12
"""Fields of `/proc/PID/stat` after the process's name: ppid, utime, stime [proc_pid_stat(5)]."""


def _times() -> dict[int, tuple[str, float]]:
    """Return the name and the processor time of each process, s, but those of this process's own run."""
    tick = os.sysconf("SC_CLK_TCK")
    found, parents = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            before, _, rest = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
        except OSError:
            continue
        fields = rest.split()
        pid, name = int(entry.name), before.partition("(")[2]
        parents[pid] = int(fields[PARENT])
        found[pid] = (name, (int(fields[USER_TIME]) + int(fields[SYSTEM_TIME])) / tick)
    own = os.getpid()
    for pid in list(found):
        ancestor = pid
        while ancestor not in (0, own) and ancestor in parents:
            ancestor = parents[ancestor]
        if ancestor == own:
            del found[pid]
    return found


@dataclass
class HostLoad:
    """Processor times of all processes at an instant."""

    _began: float = field(default_factory=time.monotonic)
    _before: dict[int, tuple[str, float]] = field(default_factory=_times)

    def since(self) -> str:
        """Return in words which processes of others have worked since then."""
        seconds = max(time.monotonic() - self._began, 1e-3)
        shares = []
        for pid, (name, spent) in _times().items():
            before = self._before.get(pid, (name, 0.0))[1]
            shares.append(((spent - before) / seconds, name))
        busy = sorted((s for s in shares if s[0] >= LEAST_SHARE), reverse=True)
        if not busy:
            return "no other process was busy meanwhile"
        named = ", ".join(f"{name} ({100 * share:.0f} %)" for share, name in busy[:SHOWN])
        more = f" and {len(busy) - SHOWN} more" if len(busy) > SHOWN else ""
        return f"meanwhile other processes were busy (of one processor): {named}{more}"
