"""`dumbbell doctor` with few capabilities: nothing is reported as present that couldn't be tried."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from required import require_programs, require_root

pytestmark = pytest.mark.usefixtures("require_link_emulation")


def doctor(*lost: str) -> dict[str, dict[str, dict[str, str | bool | None]]]:
    """Run it as root without these capabilities."""
    require_root()
    require_programs("setpriv")
    command = ["setpriv", "--bounding-set", ",".join(f"-{name}" for name in lost)]  # for `all`, too
    done = subprocess.run(
        [*command, sys.executable, "-m", "dumbbell", "doctor", "--json"], capture_output=True, text=True, check=False
    )
    report = json.loads(done.stdout)
    return {title: {f["name"]: f for f in findings} for title, findings in report.items()}


def test_without_the_right_to_interfaces_no_discipline_is_reported() -> None:
    report = doctor("net_admin")
    for name in ("netem", "red", "cake"):
        finding = report["Queue disciplines of the kernel"][name]
        assert (finding["ok"], "not permitted" in str(finding["state"])) == (False, True)
    tunnel = report["Rights"]["TUN interfaces"]
    assert tunnel["ok"] is False
    assert "modprobe" not in str(tunnel["remedy"])
    assert "--cap-add NET_ADMIN" in str(tunnel["remedy"])


def test_root_without_namespaces_is_not_asked_to_be_root() -> None:
    report = doctor("sys_admin")
    for finding in (report["Back ends"]["kernel, emulation=link"], report["Rights"]["network namespaces"]):
        assert finding["ok"] is False
        assert "run as root" not in str(finding["remedy"])
        assert "--cap-add SYS_ADMIN" in str(finding["remedy"])


@pytest.mark.parametrize(
    "lost", [["all"], ["sys_admin"], ["net_admin"], ["sys_nice"], ["sys_admin", "bpf"], ["sys_admin", "net_admin"]]
)
def test_nothing_is_promised_that_a_set_of_capabilities_forbids(lost: list[str]) -> None:
    """No remedy sends root to root, or a container's user to modprobe for a missing right."""
    report = doctor(*lost)
    rights, ends = report["Rights"], report["Back ends"]
    forbidden = {"sys_admin": "network namespaces", "net_admin": "TUN interfaces", "sys_nice": "real-time priority"}
    for capability, name in forbidden.items():
        if lost == ["all"] or capability in lost:
            assert rights[name]["ok"] is False, name
    if rights["network namespaces"]["ok"] is False:
        # All these are tried in a namespace.
        for name in ("settings of namespaces", "IPv6", "TUN interfaces", "veth pairs", "netem"):
            assert (rights[name]["ok"], "not tried" in str(rights[name]["state"])) == (False, True)
        assert report["Queue disciplines of the kernel"] == {}
        assert report["Offloads"] == {}
    possible = all(rights[name]["ok"] for name in ("network namespaces", "settings of namespaces", "TUN interfaces"))
    assert ends["kernel, emulation=link"]["ok"] is possible
    in_bpf = report["Clock and processors"]["congestion control in BPF"]
    if lost in (["all"], ["sys_admin", "bpf"]):
        assert in_bpf["ok"] is False
        assert not any(f["state"] == "BPF" for f in report["Congestion control"].values())
    for finding in (f for findings in report.values() for f in findings.values()):
        denied = "not permitted" in str(finding["state"])
        assert not (denied and "modprobe" in str(finding["remedy"])), finding
        if denied or "BPF" in str(finding["name"]):
            assert "run as root" not in str(finding["remedy"]), finding
