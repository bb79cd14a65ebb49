"""The report of `dumbbell doctor`: the features of this host, each with its state and remedy."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.common.processors import cores
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import GUEST
from dumbbell.kernel.host.features import (
    CAPABILITIES,
    DENIED,
    IPV6_REMEDY,
    NO_BPF_RIGHT,
    READ_ONLY_SETTINGS,
    Probe,
    available_variants,
    bpf_variants,
    find_module,
    probe,
    why_no_veth,
    why_not,
)
from dumbbell.kernel.programs.chromium import find_chromium
from dumbbell.kernel.uml import tools
from dumbbell.kernel.uml.store import installed
from dumbbell.registry import variants

__all__ = ["Finding", "Report", "examine"]

PROGRAMS = {
    "iperf3": ("applications of kind iperf3", "iperf3"),
    "ping": ("applications of kind ping with tool = 'ping'", "iputils-ping"),
    "curl": ("applications of kind http", "curl"),
    "chromium": ("videos with client = 'browser'", "chromium"),
    "tshark": ("comparing captures", "tshark"),
}
"""Programs of the host: purpose, and Debian's package."""

SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies")
"""Clock sources that are slow or coarse to read."""


@dataclass(frozen=True)
class Finding:
    """One feature of the host.

    Attributes
    ----------
    name : str
        The feature.
    ok : bool
        True if it can be used now.
    state : str
        In a word or two: ``built-in``, ``module``, ``uml only``, ``no`` ...
    remedy : str, optional
        How to get it, if that is possible.
    """

    name: str
    ok: bool
    state: str
    remedy: str | None = None


@dataclass(frozen=True)
class Report:
    """All findings.

    Attributes
    ----------
    sections : dict of str to list of Finding
        Findings by the title of their section.
    """

    sections: dict[str, list[Finding]]

    def document(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return {title: [asdict(f) for f in findings] for title, findings in self.sections.items()}


def examine() -> Report:
    """Examine every feature of this host."""
    try:
        found, trouble = probe(), None
    except BackendError as e:
        found, trouble = None, str(e)
    return Report(
        {
            "Back ends": list(_back_ends()),
            "Rights": list(_rights(found, trouble)),
            "Congestion control": list(_variants()),
            "Queue disciplines of the kernel": list(_disciplines(found)),
            "Offloads": list(_offloads(found)),
            "Clock and processors": list(_clock()),
            "Programs": list(_programs()),
        }
    )


def _back_ends() -> Iterator[Finding]:
    reason = why_not()
    yield Finding("kernel, emulation=link", reason is None, "yes" if reason is None else "no", reason)
    reason = why_no_veth()
    netem = "" if reason is not None or probe().disciplines.get("netem") is None else ", without delay and loss"
    yield Finding("kernel, emulation=tc", reason is None, f"yes{netem}" if reason is None else "no", reason)
    kernels = installed()
    unsupported = tools.unsupported()
    if kernels and GUEST.exists():
        yield Finding("uml", True, f"Linux {kernels[0].version}")
    elif unsupported is not None:
        yield Finding("uml", False, "no", unsupported)
    elif not GUEST.exists():
        yield Finding("uml", False, "no", "install libc6-dev (Fedora: glibc-static) and build the package again")
    else:
        missing = tools.missing()
        first = f"{tools.remedy(missing)}, then " if missing else ""
        yield Finding("uml", False, "not built", f"{first}`dumbbell kernel build`")


def _rights(found: Probe | None, trouble: str | None) -> Iterator[Finding]:
    if found is None:
        yield Finding("host's kernel", False, "no", trouble)
        return
    user = "root" if found.as_root else "an ordinary user"
    yield _right("network namespaces", found.namespaces, user, "run as root, or allow user namespaces")
    if found.namespaces is not None:  # the others are tried in a namespace
        for name in ("settings of namespaces", "IPv6", "TUN interfaces", "veth pairs", "netem"):
            yield Finding(name, False, "not tried: no network namespace", "see network namespaces")
        yield _real_time(found, user)
        return
    yield _right("settings of namespaces", found.settings, user, READ_ONLY_SETTINGS.format("see the left"))
    yield _right("IPv6", found.ipv6 or found.settings, user, IPV6_REMEDY)
    yield _right(
        "TUN interfaces",
        found.tunnel,
        user,
        "`modprobe tun`; containers: --device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN",
    )
    yield _right("veth pairs", found.veth, user, "`modprobe veth`: -o emulation=tc needs them")
    yield _real_time(found, user)
    yield _right(
        "netem", found.disciplines.get("netem"), user, "-o emulation=tc needs it; emulation=link has its features"
    )


def _real_time(found: Probe, user: str) -> Finding:
    remedy = "run as root, or with `ulimit -r 20`: without it, packets are late on a busy host, and the run is marked"
    return _right("real-time priority", found.real_time, user, remedy)


def _right(name: str, why_not: str | None, user: str, remedy: str) -> Finding:
    if why_not is None:
        return Finding(name, True, f"yes, as {user}")
    if DENIED in why_not and user == "root":  # root of a container, or with few capabilities
        remedy = f"root lacks a right here: {CAPABILITIES}"
    return Finding(name, False, f"no: {why_not}", remedy)


def _variants() -> Iterator[Finding]:
    have = available_variants()
    in_bpf = bpf_variants()[0]
    uml = bool(installed() and GUEST.exists())
    names: dict[str, list[str]] = {}
    for ours, theirs in _core.kernel_variants().items():
        names.setdefault(theirs, []).append(ours)
    for theirs, all_ours in sorted(names.items()):
        name = theirs if all_ours == [theirs] else f"{theirs} ({', '.join(all_ours)})"
        if theirs in have:
            yield Finding(name, True, have[theirs])
        elif theirs in in_bpf:
            yield Finding(name, True, "BPF")
        elif theirs in _core.bpf_variants():
            why = bpf_variants()[1]
            other = "; --backend uml has it" if uml else ""
            yield Finding(name, False, "uml only" if uml else "no", f"could be loaded as BPF, but {why}{other}")
        elif uml:
            yield Finding(name, False, "uml only", "--backend uml has it")
        else:
            yield Finding(name, False, "no", "`dumbbell kernel build`, then --backend uml")
    for ours in sorted(set(variants()) - set(_core.kernel_variants())):
        yield Finding(ours, False, "simulator only", "no Linux has it: --backend sim")


def _disciplines(found: Probe | None) -> Iterator[Finding]:
    if found is None:
        return
    for name, reason in sorted(found.disciplines.items()):
        module = f"sch_{name}"
        if reason is None:
            yield Finding(name, True, "yes")
        elif DENIED in reason:
            yield Finding(name, False, f"not tried: {reason}", f"the right to it is missing: {CAPABILITIES}")
        elif find_module(module) is not None:
            yield Finding(name, False, "module", f"`modprobe {module}` as root")
        else:
            yield Finding(name, False, "no", "-o emulation=tc can't use it; emulation=link has its own")


def _offloads(found: Probe | None) -> Iterator[Finding]:
    for name, reason in found.offloads.items() if found is not None else ():
        state = "can be switched" if reason is None else f"can't be switched: {reason}"
        yield Finding(name, reason is None, state, None if reason is None else "use -o emulation=link, which has none")


def _clock() -> Iterator[Finding]:
    place = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    try:
        source = place.read_text(encoding="utf-8").strip()
    except OSError:
        source = "unknown"
    slow = source in SLOW_CLOCKS
    remedy = "slow to read: `echo tsc > " + str(place) + "` as root, if the machine has it" if slow else None
    yield Finding("clock", not slow, source, remedy)
    count = cores()
    few = "with one, link and hosts take turns: expect packets to be late above some 10 Mbit/s" if count < 2 else None
    yield Finding("processors", count > 1, str(count), few)
    yield Finding("kernel", platform.system() == "Linux", f"{platform.system()} {platform.release()}")
    why = bpf_variants()[1]
    remedy = "run as root on Linux 6.4 or later with CONFIG_DEBUG_INFO_BTF=y" if why else None
    if why == NO_BPF_RIGHT:
        remedy = "give the container --cap-add SYS_ADMIN"
    yield Finding("congestion control in BPF", why is None, "yes" if why is None else f"no: {why}", remedy)


def _programs() -> Iterator[Finding]:
    for name, (purpose, package) in PROGRAMS.items():
        path = find_chromium() if name == "chromium" else shutil.which(name)
        if path is not None:
            yield Finding(name, True, path)
        else:
            yield Finding(name, False, "no", f"for {purpose}: `apt-get install {package}`")
