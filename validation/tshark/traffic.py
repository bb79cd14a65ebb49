#!/usr/bin/env python3
"""Make real traffic and capture it: loopback, network namespaces, tunnels, VLANs, damaged and rewritten files.

    sudo python3 validation/tshark/traffic.py FOLDER

Needs root, tcpdump, iproute2, and Wireshark's editcap, mergecap, text2pcap. Every namespace has the process's number
in its name and is deleted at the end. Features that this kernel lacks (a tunnel, a discipline) are reported and
left out.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from conversations import answer, bulk, datagrams, fast_open, mixture, namespace, requests, take, talk, windows
from rewritten import rewritten
from shell import run

ME = os.getpid()
A, B, R = f"dbA{ME}", f"dbB{ME}", f"dbR{ME}"
"""Namespaces: two hosts and a router between them."""


@contextlib.contextmanager
def tcpdump(path: Path, interface: str, where: str | None = None, options: str = "") -> Iterator[None]:
    """Capture while the block runs."""
    inside = f"ip netns exec {where} " if where else ""
    command = shlex.split(f"{inside}tcpdump --immediate-mode -U -n -i {interface} -w {path} {options}")
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "listening" in line:
            break
    try:
        yield
        time.sleep(0.3)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(10)


OFFLOADS = (0x19, 0x1F, 0x24, 0x2C)
"""Commands of SIOCETHTOOL: scatter-gather, TSO, GSO, GRO."""


def offload(where: str, device: str, *, on: bool) -> None:
    """Switch segmentation and receive offload of a device on or off."""
    with namespace(where), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for command in OFFLOADS:
            value = (ctypes.c_uint32 * 2)(command, int(on))
            request = struct.pack("16sP16x", device.encode(), ctypes.addressof(value))
            with contextlib.suppress(OSError):
                fcntl.ioctl(s, 0x8946, request)


# ------------------------------------------------------------ networks


@contextlib.contextmanager
def network() -> Iterator[None]:
    """Create two hosts with a router between them: 10.7.1.0/24 and 10.7.2.0/24, and fd07:1::/64 and fd07:2::/64."""
    names = (A, R, B)
    try:
        for name in names:
            run(f"ip netns add {name}")
            run(f"ip -n {name} link set lo up")
        for n, (host, side) in enumerate(((A, "west"), (B, "east")), 1):
            run(f"ip -n {host} link add eth0 type veth peer name {side} netns {R}")
            run(f"ip -n {host} addr add 10.7.{n}.2/24 dev eth0")
            run(f"ip -n {host} addr add fd07:{n}::2/64 dev eth0 nodad")
            run(f"ip -n {R} addr add 10.7.{n}.1/24 dev {side}")
            run(f"ip -n {R} addr add fd07:{n}::1/64 dev {side} nodad")
            run(f"ip -n {R} link set {side} up")
            run(f"ip -n {host} link set eth0 up")
            run(f"ip -n {host} route add default via 10.7.{n}.1")
            run(f"ip -n {host} -6 route add default via fd07:{n}::1")
        run(f"ip netns exec {R} sysctl -q -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1")
        yield
    finally:
        for name in names:
            run(f"ip netns del {name}", check=False)


def shaped(folder: Path) -> None:
    """Use a slow link with a short queue: losses, recovery, timeouts; offload on and off; four capture points."""
    for on in (True, False):
        with network():
            if not on:
                for host, device in ((A, "eth0"), (B, "eth0"), (R, "west"), (R, "east")):
                    offload(host, device, on=False)
            run(f"tc -n {R} qdisc add dev east root tbf rate 20mbit burst 20kb limit 40kb")
            word = "offload" if on else "plain"
            with (
                tcpdump(folder / f"shaped-{word}-sender.pcap", "eth0", A, "-s 100"),
                tcpdump(folder / f"shaped-{word}-receiver.pcap", "eth0", B, "-s 100"),
                tcpdump(folder / f"shaped-{word}-router-any.pcap", "any", R, "-s 100"),
                tcpdump(folder / f"shaped-{word}-router-sll.pcap", "any", R, "-s 100 -y LINUX_SLL"),
            ):
                mixture(B, A, "10.7.2.2", size=1_500_000)
                mixture(B, A, "fd07:2::2", size=700_000)
                windows(B, A, "10.7.2.2")


def faulty(folder: Path) -> None:
    """Add losses, reordering, duplicates and bit errors by netem; without netem, losses by the firewall."""
    plans = {
        "loss": "loss 2% delay 5ms",
        "reorder": "delay 10ms reorder 25% 50% gap 5",
        "jitter": "delay 10ms 4ms",
        "duplicate": "duplicate 5% delay 3ms",
        "corrupt": "corrupt 1% delay 3ms",
    }
    for name, plan in plans.items():
        with network():
            for host, device in ((A, "eth0"), (B, "eth0"), (R, "west"), (R, "east")):
                offload(host, device, on=False)
            try:
                run(f"tc -n {R} qdisc add dev east root netem {plan}")
            except RuntimeError as e:
                if name == "loss":
                    rule = "FORWARD -m statistic --mode random --probability 0.02 -j DROP"
                    run(f"ip netns exec {R} iptables -A {rule}")
                else:
                    print(f"left out: {name}: {e}", file=sys.stderr)
                    continue
            with (
                tcpdump(folder / f"faulty-{name}-sender.pcap", "eth0", A, "-s 120"),
                tcpdump(folder / f"faulty-{name}-receiver.pcap", "eth0", B, "-s 120"),
            ):
                mixture(B, A, "10.7.2.2", size=600_000)
                mixture(B, A, "fd07:2::2", size=200_000)


def small_mtu(folder: Path) -> None:
    """Use a second link with a small MTU: ICMP errors that quote TCP, IP fragments of UDP."""
    with network():
        run(f"ip -n {R} link set east mtu 1300")
        run(f"ip -n {B} link set eth0 mtu 1300")
        with (
            tcpdump(folder / "narrow-sender.pcap", "eth0", A),
            tcpdump(folder / "narrow-receiver.pcap", "eth0", B),
            tcpdump(folder / "narrow-cut.pcap", "eth0", B, "-s 68"),
        ):
            mixture(B, A, "10.7.2.2", size=50_000)
            mixture(B, A, "fd07:2::2", size=50_000)
            datagrams(B, A, "10.7.2.2", [1200, 1600, 5000, 20_000])
            datagrams(B, A, "fd07:2::2", [1200, 1600, 5000, 20_000])


def tunnels(folder: Path) -> None:
    """Use VLAN, QinQ, GRE, IP in IP, VXLAN and others, captured on the carrier."""
    ends = {A: "10.7.1.2", B: "10.7.2.2"}
    plans = {
        "gre": "ip -n {n} link add t0 type gre local {l} remote {r} ttl 64",
        "gre-key": "ip -n {n} link add t0 type gre local {l} remote {r} ttl 64 key 7 csum seq",
        "gretap": "ip -n {n} link add t0 type gretap local {l} remote {r}",
        "ipip": "ip -n {n} link add t0 type ipip local {l} remote {r} ttl 64",
        "sit": "ip -n {n} link add t0 type sit local {l} remote {r} ttl 64",
        "vxlan": "ip -n {n} link add t0 type vxlan id 5 local {l} remote {r} dstport 4789",
    }
    for name, plan in plans.items():
        with network():
            try:
                for k, (host, far) in enumerate(((A, B), (B, A)), 1):
                    run(plan.format(n=host, l=ends[host], r=ends[far]))
                    run(f"ip -n {host} addr add fd09::{k}/64 dev t0 nodad")
                    if name != "sit":
                        run(f"ip -n {host} addr add 10.9.0.{k}/24 dev t0")
                    run(f"ip -n {host} link set t0 up")
            except RuntimeError as e:
                print(f"left out: {name}: {e}", file=sys.stderr)
                continue
            with tcpdump(folder / f"tunnel-{name}.pcap", "eth0", A):
                if name != "sit":
                    mixture(B, A, "10.9.0.2", size=60_000)
                if name != "ipip":
                    mixture(B, A, "fd09::2", size=30_000)
    for name, kinds in {"vlan": ["802.1q"], "qinq": ["802.1ad", "802.1q"]}.items():
        with network():
            try:
                for host, device, k in ((A, "eth0", 1), (R, "west", 2)):
                    below = device
                    for depth, kind in enumerate(kinds):
                        run(f"ip -n {host} link add link {below} name v{depth} type vlan proto {kind} id {5 + depth}")
                        run(f"ip -n {host} link set v{depth} up")
                        below = f"v{depth}"
                    run(f"ip -n {host} addr add 10.8.0.{k}/24 dev {below}")
                    run(f"ip -n {host} addr add fd08::{k}/64 dev {below} nodad")
            except RuntimeError as e:
                print(f"left out: {name}: {e}", file=sys.stderr)
                continue
            with (
                tcpdump(folder / f"tagged-{name}.pcap", "eth0", A),
                tcpdump(folder / f"tagged-{name}-any.pcap", "any", A),
            ):
                mixture(R, A, "10.8.0.2", size=60_000)
                mixture(R, A, "fd08::2", size=30_000)


def loopback(folder: Path) -> None:
    """Use the loopback interface: super-packets of 64 KiB, HTTP, fast open, MPTCP."""
    with network():
        with (
            tcpdump(folder / "loopback.pcap", "lo", A, "-s 200"),
            tcpdump(folder / "loopback-ns.pcap", "lo", A, "-s 96 --time-stamp-precision nano"),
            tcpdump(folder / "loopback-any.pcap", "any", A, "-s 96"),
        ):
            mixture(A, A, "127.0.0.1", size=3_000_000)
            mixture(A, A, "::1", size=1_000_000)
            windows(A, A, "127.0.0.1")
        with tcpdump(folder / "http.pcap", "lo", A):
            server = subprocess.Popen(
                ["ip", "netns", "exec", A, sys.executable, "-m", "http.server", "8080", "--directory", str(folder)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                time.sleep(1.0)
                for path in ("", "nothing", ""):
                    run(f"ip netns exec {A} curl -s -o /dev/null http://127.0.0.1:8080/{path}", check=False)
            finally:
                server.terminate()
                server.wait()
        run(f"ip netns exec {A} sysctl -q -w net.ipv4.tcp_fastopen=3", check=False)
        with tcpdump(folder / "fast-open.pcap", "lo", A):
            fast_open(A)
        with tcpdump(folder / "mptcp.pcap", "lo", A), contextlib.suppress(OSError, RuntimeError):
            talk(A, A, "127.0.0.1", answer, requests(8), protocol=262)
            talk(A, A, "127.0.0.1", lambda s: (take(s), None)[1], bulk(100_000), protocol=262)


def main() -> int:
    """Make all captures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], help="of the parts below (may be repeated)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    parts = [loopback, shaped, faulty, small_mtu, tunnels, rewritten]
    for part in parts:
        if not options.only or part.__name__ in options.only:
            print(part.__name__, flush=True)
            part(options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
