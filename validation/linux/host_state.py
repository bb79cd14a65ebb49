"""The global state of a host that a run on a kernel could change: settings, interfaces, mounts, BPF, processes."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from dumbbell.common.run_folders import HOST_PREFIX, PREFIXES, UML_PREFIX

__all__ = ["differences", "settles", "state"]

BPF_CALL = 321
"""The number of `bpf` on x86-64."""
VARIES = re.compile(
    r"fs\.(dentry-state|file-nr|inode-nr|inode-state|quota\.)|kernel\.(ns_last_pid|pty\.nr|random\.|perf_)|"
    r"net\.netfilter\.nf_conntrack_count|kernel\.sched_|vm\.stat_refresh"
)
"""Settings that are counters of the kernel, which any process changes."""
MADE = re.compile(r"\bdb[0-9a-f]+v\d+")
"""Names of variants that a run loads."""


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _bpf() -> set[str]:
    """Return the ids of BPF programs, maps, BTFs and links in the kernel; ids are never reused."""
    call, every = ctypes.CDLL(None).syscall, set()
    for command in (11, 12, 23, 31):
        number = (ctypes.c_uint32 * 3)()  # after which; which it is; flags
        while os.geteuid() == 0 and call(BPF_CALL, command, number, ctypes.sizeof(number)) == 0:
            every.add(f"{command}:{number[1]}")
            number[0] = number[1]
    return every


def _runs(pids: set[int]) -> set[str]:
    """Return the processes that work in folders of runs which these processes have made."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            place = (entry / "cwd").readlink().name
        except OSError:
            continue
        if any(place.startswith(f"{prefix}{pid}-") for prefix in (HOST_PREFIX, UML_PREFIX) for pid in pids):
            found.add(entry.name)
    return found


def state(pids: set[int]) -> dict[str, set[str]]:
    """Return the state of this host, and the processes and folders of the runs that these processes have made."""
    settings = {line for line in _output("sysctl", "-a").splitlines() if not VARIES.match(line)}
    folders = {p.name for prefix in PREFIXES for p in Path(tempfile.gettempdir()).glob(f"{prefix}*")}
    return {
        "sysctl -a": {MADE.sub("", line).rstrip() for line in settings},
        "ip link": {re.sub(r"^\d+: ", "", line) for line in _output("ip", "-o", "-d", "link").splitlines()},
        "ip netns": set(_output("ip", "netns").splitlines()),
        "ip addr, route, rule": set(_output("ip", "-o", "addr").splitlines())
        | set(_output("ip", "route", "show", "table", "all").splitlines())
        | set(_output("ip", "rule").splitlines()),
        "tc": set(_output("tc", "qdisc").splitlines()) | set(_output("tc", "filter").splitlines()),
        # Identity, place, type and options; the numbers of mounts are given again.
        "mounts": {line.split(" ", 3)[3] for line in Path("/proc/self/mountinfo").read_text().splitlines()},
        "BPF": _bpf(),
        "processes": _runs(pids),
        "folders": {name for name in folders if any(f"-{pid}-" in name for pid in pids)},
    }


def differences(before: dict[str, set[str]], pids: set[int]) -> list[str]:
    """Return a sentence for each kind of state that isn't as before; objects in BPF of others may have gone."""
    now, found = state(pids), []
    for kind, was in before.items():
        gone = set() if kind == "BPF" else was - now[kind]
        if now[kind] - was or gone:
            found.append(f"{kind}: new {sorted(now[kind] - was)[:5]}, gone {sorted(gone)[:5]}")
    return found


def settles(before: dict[str, set[str]], pids: set[int], limit_s: float = 60.0) -> list[str]:
    """Wait until all is as before; returns what isn't after the limit."""
    until = time.monotonic() + limit_s
    while (found := differences(before, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return found
