"""Features of the host's own kernel: congestion control, queue disciplines, rights, and how to get those it lacks."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dumbbell import _core
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import GUEST, VARIANT_OF_A_RUN

__all__ = [
    "Probe",
    "available_variants",
    "bpf_variants",
    "discipline_remedy",
    "find_module",
    "probe",
    "remedy_for_variant",
    "why_no_ipv6",
    "why_no_veth",
    "why_not",
]

DENIED = "Operation not permitted"
CAPABILITIES = "give the container --device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN --cap-add SYS_NICE"
NO_RIGHT = f"no interface can be made ({{}}): the right to it is missing here: {CAPABILITIES}"
IPV6_REMEDY = "boot it without ipv6.disable=1, or use --backend sim"
READ_ONLY_SETTINGS = (
    "/proc/sys is read-only and no other can be mounted ({}): the settings of a run's hosts can't be made: give the "
    "container --security-opt systempaths=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN"
)
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
MODULES = Path("/lib/modules")
BTF = Path("/sys/kernel/btf/vmlinux")
STATUS = Path("/proc/self/status")
SYS_ADMIN, PERFMON, BPF = 1 << 21, 1 << 38, 1 << 39
"""Capabilities [Linux include/uapi/linux/capability.h]."""
NO_BPF_RIGHT = "the capabilities CAP_BPF and CAP_PERFMON (or CAP_SYS_ADMIN) are missing"
BPF_SINCE = (6, 4)
"""The first kernel that unregisters a variant in BPF by itself when the run's process ends (struct_ops links)."""


def available_variants() -> dict[str, str]:
    """Return the congestion control that the host's kernel has.

    Returns
    -------
    dict of str to str
        By the kernel's name: ``built-in``, ``loaded`` (a module), or ``module`` (not loaded yet; the kernel loads it
        when root chooses it).
    """
    try:
        names = AVAILABLE.read_text(encoding="utf-8").split()
    except OSError:
        names = []
    found = {}
    for name in (n for n in names if not VARIANT_OF_A_RUN.fullmatch(n)):
        found[name] = "loaded" if Path(f"/sys/module/tcp_{name}/initstate").exists() else "built-in"
    for path in _modules():
        if path.name.startswith("tcp_") and "net/ipv4" in str(path):
            found.setdefault(path.name.partition(".")[0].removeprefix("tcp_"), "module")
    return found


def find_module(name: str) -> Path | None:
    """Return a module's file; None if the host has no such module."""
    return next((p for p in _modules() if p.name.partition(".")[0].replace("-", "_") == name), None)


def _modules() -> list[Path]:
    place = MODULES / platform.release() / "kernel"
    return [p for part in ("net/ipv4", "net/sched") for p in (place / part).glob("*.ko*")]


def bpf_variants() -> tuple[list[str], str | None]:
    """Return the congestion control that can be loaded here as BPF, and why none can (None if it can)."""
    if platform.system() != "Linux" or not BTF.exists():
        return [], "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
    if os.geteuid() != 0:
        return [], "only root may load programs"
    have = _capabilities()
    # [Linux kernel/bpf/syscall.c bpf_prog_load, is_perfmon_prog_type]
    if not have & SYS_ADMIN and have & (BPF | PERFMON) != BPF | PERFMON:
        return [], NO_BPF_RIGHT
    if tuple(int(n) for n in re.findall(r"\d+", platform.release())[:2]) < BPF_SINCE:
        return [], "Linux 6.4 or later is needed"
    return _core.bpf_variants(), None


def _capabilities() -> int:
    """Return the effective capabilities of this process, a bit for each; all if they are unknown."""
    try:
        found = re.search(r"^CapEff:\s*([0-9a-f]+)", STATUS.read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1], 16) if found else ~0


@dataclass(frozen=True)
class Probe:
    """The result of `probe`: for each feature None, or why it is not available.

    Attributes
    ----------
    namespaces : str or None
        Network namespaces.
    settings : str or None
        Settings of a namespace (``/proc/sys``), which containers often have read-only.
    ipv6 : str or None
        IPv6 in a namespace.
    tunnel : str or None
        TUN devices.
    veth : str or None
        veth pairs.
    offloads : dict of str to (str or None)
        Switching tso, gso and gro off.
    real_time : str or None
        Real-time priority.
    disciplines : dict of str to (str or None)
        Queue disciplines, by the kernel's name.
    as_root : bool
        True if root has tried them.
    """

    namespaces: str | None
    settings: str | None
    ipv6: str | None
    tunnel: str | None
    veth: str | None
    offloads: dict[str, str | None]
    real_time: str | None
    disciplines: dict[str, str | None]
    as_root: bool


def probe() -> Probe:
    """Try the features that a run on the host's kernel needs, in a temporary namespace.

    Raises
    ------
    BackendError
        The host isn't Linux, or the installation lacks ``dumbbell-guest``.
    """
    if platform.system() != "Linux":
        raise BackendError(f"the host's kernel is {platform.system()}, not Linux")
    if not GUEST.exists():
        raise BackendError(
            "this installation has no dumbbell-guest: it is built with the package on x86-64 Linux with a static C "
            "library (Debian: libc6-dev; Fedora: glibc-static)"
        )
    done = subprocess.run([str(GUEST), "probe"], capture_output=True, text=True, timeout=60, check=False)
    try:
        content: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise BackendError(f"dumbbell-guest probe: {done.stderr.strip() or 'no answer'}") from None
    return Probe(**content, as_root=os.geteuid() == 0)


def why_not() -> str | None:
    """Return why this host can't run flows with link emulation, with the remedy; None if it can."""
    return _why_not(
        "tunnel",
        "no TUN interface can be made ({}): `modprobe tun`, and give containers the device "
        "/dev/net/tun (docker run --device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN)",
    )


def why_no_veth() -> str | None:
    """Return why this host can't run flows over its own queue disciplines, with the remedy; None if it can."""
    return _why_not("veth", "no veth pair can be made ({}): `modprobe veth` as root, or -o emulation=link")


def _why_not(interface: Literal["tunnel", "veth"], remedy: str) -> str | None:
    try:
        found = probe()
    except BackendError as e:
        return str(e)
    if found.namespaces is not None:
        return _no_namespace(found)
    if found.settings is not None:
        return READ_ONLY_SETTINGS.format(found.settings)
    reason = getattr(found, interface)
    if reason is None:
        return None
    if DENIED in reason:
        return NO_RIGHT.format(reason) + ("" if found.as_root else ", or run as root")
    return remedy.format(reason)


def _no_namespace(found: Probe) -> str:
    if found.as_root:
        return f"no network namespace can be made ({found.namespaces}): root lacks a right here: {CAPABILITIES}"
    who = " (or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1)"
    return f"no network namespace can be made ({found.namespaces}): run as root{who}"


def why_no_ipv6() -> str | None:
    """Return why this host can't run flows over IPv6; None if it can, or if it can run none."""
    try:
        reason = probe().ipv6
    except BackendError:
        return None
    return None if reason is None else f"this kernel has no IPv6 ({reason}): {IPV6_REMEDY}"


def discipline_remedy(kind: str) -> str:
    """Return how a run can have a queue discipline that the host's kernel lacks."""
    load = f"`modprobe sch_{kind}` as root, or " if find_module(f"sch_{kind}") is not None else ""
    return f"{load}emulation=link, whose links have their own, or --backend uml"


def remedy_for_variant(name: str) -> str:
    """Return how a run can have a congestion control that the host's kernel lacks."""
    if shutil.which("modprobe") and find_module(f"tcp_{name}") is not None:
        return f"`modprobe tcp_{name}` as root"
    if name in _core.bpf_variants() and (why := bpf_variants()[1]) is not None:
        return f"it could be loaded as BPF, but {why}; or use --backend uml, whose kernel has it"
    return "use --backend uml, whose kernel has it"
