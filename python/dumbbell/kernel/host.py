"""What this host can do: congestion control, queue disciplines, rights, tools."""

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
from dumbbell.kernel.guest import GUEST

__all__ = [
    "Probe",
    "available_variants",
    "bpf_variants",
    "discipline_remedy",
    "find_module",
    "probe",
    "remedy_for_variant",
    "why_no_veth",
    "why_not",
]

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
OF_A_RUN = re.compile(r"db[0-9a-f]+v\d+")
"""The names under which runs have loaded variants: gone when they are."""
MODULES = Path("/lib/modules")
BTF = Path("/sys/kernel/btf/vmlinux")
BPF_SINCE = (6, 4)
"""The first kernel where a variant in BPF is taken back by itself when the run's process ends."""


def available_variants() -> dict[str, str]:
    """Name the congestion control that the host's kernel has: kernel name -> ``built-in``, ``loaded`` or ``module``.

    A ``module`` isn't loaded yet; the kernel does that by itself when root asks for it.
    """
    try:
        names = AVAILABLE.read_text(encoding="utf-8").split()
    except OSError:
        names = []
    found = {}
    for name in (n for n in names if not OF_A_RUN.fullmatch(n)):
        found[name] = "loaded" if Path(f"/sys/module/tcp_{name}/initstate").exists() else "built-in"
    for path in _modules():
        if path.name.startswith("tcp_") and "net/ipv4" in str(path):
            found.setdefault(path.name.partition(".")[0].removeprefix("tcp_"), "module")
    return found


def find_module(name: str) -> Path | None:
    """Find a module's file by its name."""
    return next((p for p in _modules() if p.name.partition(".")[0].replace("-", "_") == name), None)


def _modules() -> list[Path]:
    place = MODULES / platform.release() / "kernel"
    return [p for part in ("net/ipv4", "net/sched") for p in (place / part).glob("*.ko*")]


def bpf_variants() -> tuple[list[str], str | None]:
    """Name the congestion control that can be loaded here as BPF, or say why none can."""
    if platform.system() != "Linux" or not BTF.exists():
        return [], "the kernel doesn't describe its types (CONFIG_DEBUG_INFO_BTF)"
    if os.geteuid() != 0:
        return [], "only root may load programs"
    if tuple(int(n) for n in re.findall(r"\d+", platform.release())[:2]) < BPF_SINCE:
        return [], "Linux 6.4 or later is needed"
    return _core.bpf_variants(), None


@dataclass(frozen=True)
class Probe:
    """What `probe` has found: for each step None, or why it is impossible."""

    namespaces: str | None
    tunnel: str | None
    veth: str | None
    offloads: dict[str, str | None]
    real_time: str | None
    disciplines: dict[str, str | None]
    as_root: bool


def probe() -> Probe:
    """Try, in a namespace that is gone at once, what a run on the host's kernel needs.

    Raises
    ------
    BackendError
        The installation has no program for it.
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
    """Say why this host can't run flows on its own kernel over our link, with the remedy; None if it can."""
    return _why_not(
        "tunnel",
        "no TUN interface can be made ({}): `modprobe tun`, and give containers the device "
        "/dev/net/tun (docker run --device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN)",
    )


def why_no_veth() -> str | None:
    """Say why this host can't run flows over its own disciplines, with the remedy; None if it can."""
    return _why_not("veth", "no veth pair can be made ({}): `modprobe veth` as root, or -o way=link")


def _why_not(interface: Literal["tunnel", "veth"], remedy: str) -> str | None:
    try:
        found = probe()
    except BackendError as e:
        return str(e)
    if found.namespaces is not None:
        return _no_namespace(found)
    reason = getattr(found, interface)
    return None if reason is None else remedy.format(reason)


def _no_namespace(found: Probe) -> str:
    who = "" if found.as_root else " (or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1)"
    return f"no network namespace can be made ({found.namespaces}): run as root{who}"


def discipline_remedy(kind: str) -> str:
    """Say how the host's kernel could get a queue discipline that it lacks."""
    load = f"`modprobe sch_{kind}` as root, or " if find_module(f"sch_{kind}") is not None else ""
    return f"{load}way=link, whose links bring their own, or --backend uml"


def remedy_for_variant(name: str) -> str:
    """Say how the host's kernel could get a congestion control that it lacks."""
    if shutil.which("modprobe") and find_module(f"tcp_{name}") is not None:
        return f"`modprobe tcp_{name}` as root"
    if name in _core.bpf_variants() and (why := bpf_variants()[1]) is not None:
        return f"it could be loaded as BPF, but {why}; or use --backend uml, whose kernel has it"
    return "use --backend uml, whose kernel has it"
