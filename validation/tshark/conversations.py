"""Conversations for captures: bulk data, requests, closed windows, resets, datagrams, in network namespaces."""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

from shell import run

LIBC = ctypes.CDLL(None, use_errno=True)
NEWNET = 0x40000000


def enter(file: int) -> None:
    """Enter the network namespace of an open file (Python has `os.setns` since 3.12)."""
    if LIBC.setns(file, NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


@contextlib.contextmanager
def namespace(name: str | None) -> Iterator[None]:
    """Enter a network namespace for the block (this thread only)."""
    if name is None:
        yield
        return
    here = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        enter(there)
        yield
    finally:
        enter(here)
        os.close(here)
        os.close(there)


Serve = Callable[[socket.socket], None]
Ask = Callable[[socket.socket], None]


def talk(
    server: str | None,
    client: str | None,
    address: str,
    serve: Serve,
    ask: Ask,
    *,
    port: int = 0,
    source: int = 0,
    control: str = "",
    receive: int = 0,
    protocol: int = 0,
) -> int:
    """Run one TCP connection with `serve` and `ask` on its two sockets. Return the server's port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with namespace(server):
        listening = socket.socket(family, socket.SOCK_STREAM, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        if control:
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        listening.bind((address, port))
        listening.listen(8)
    port = listening.getsockname()[1]

    def serving() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listening.accept()
            connection.settimeout(30)
            with connection:
                serve(connection)

    thread = threading.Thread(target=serving)
    thread.start()
    with namespace(client):
        asking = socket.socket(family, socket.SOCK_STREAM, protocol)
    asking.settimeout(30)
    asking.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if control:
        asking.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    with contextlib.suppress(OSError), asking:
        if source:
            asking.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", source))
        asking.connect((address, port))
        ask(asking)
    thread.join(30)
    listening.close()
    return port


def take(s: socket.socket) -> int:
    """Read to the end of the stream."""
    count = 0
    while data := s.recv(65536):
        count += len(data)
    return count


def bulk(size: int) -> Ask:
    """Send this number of bytes."""

    def send(s: socket.socket) -> None:
        s.sendall(bytes(size))
        s.shutdown(socket.SHUT_WR)
        take(s)

    return send


def answer(s: socket.socket) -> None:
    """Answer small requests."""
    while data := s.recv(4096):
        s.sendall(data * 7)


def requests(count: int, pause: float = 0.0) -> Ask:
    """Send small requests."""

    def send(s: socket.socket) -> None:
        for n in range(count):
            s.sendall(b"x" * (n * 37 % 600 + 1))
            s.recv(65536)
            time.sleep(pause)
        s.shutdown(socket.SHUT_WR)
        take(s)

    return send


def slow_reader(s: socket.socket) -> None:
    """Let the receive window close and open again."""
    time.sleep(1.2)
    for _ in range(8):
        s.recv(20_000)
        time.sleep(0.1)
    take(s)


def keep_alive(s: socket.socket) -> None:
    """Wait until keep-alives are sent."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
    s.sendall(b"hello")
    time.sleep(3.3)
    s.sendall(b"bye")


def reset(s: socket.socket) -> None:
    """Close with an RST while data is in flight."""
    s.sendall(bytes(100_000))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def urgent(s: socket.socket) -> None:
    """Send urgent bytes."""
    for _ in range(5):
        s.sendall(b"abc")
        s.send(b"!", socket.MSG_OOB)
    s.shutdown(socket.SHUT_WR)
    take(s)


def refused(client: str | None, address: str) -> None:
    """Connect to a closed port."""
    with namespace(client):
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    with contextlib.suppress(OSError), s:
        s.settimeout(2)
        s.connect((address, 9))


def datagrams(server: str | None, client: str | None, address: str, sizes: list[int]) -> None:
    """Exchange UDP datagrams, and send to a closed port."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with namespace(server):
        here = socket.socket(family, socket.SOCK_DGRAM)
        here.bind((address, 0))
    with namespace(client):
        there = socket.socket(family, socket.SOCK_DGRAM)
    with here, there:
        here.settimeout(2)
        there.settimeout(2)
        for size in sizes:
            there.sendto(bytes(size), here.getsockname()[:2])
            with contextlib.suppress(OSError):
                _, back = here.recvfrom(70_000)
                here.sendto(bytes(size // 3 + 1), back)
                there.recv(70_000)
        with contextlib.suppress(OSError):
            there.sendto(b"nobody", (address, 9))


def mixture(server: str | None, client: str | None, address: str, *, size: int = 400_000) -> None:
    """Run all kinds of conversations."""
    for control in ("reno", "cubic", "bbr"):
        talk(server, client, address, lambda s: (take(s), None)[1], bulk(size), control=control)
    talk(server, client, address, bulk(size // 2), lambda s: (take(s), None)[1])
    talk(server, client, address, answer, requests(20))
    talk(server, client, address, answer, requests(3, 0.25))
    talk(server, client, address, reset, lambda s: (s.recv(1000), None)[1])
    talk(server, client, address, lambda s: (take(s), None)[1], urgent)
    refused(client, address)
    datagrams(server, client, address, [1, 100, 1400, 3000])
    run(
        f"ip netns exec {client} ping -c 3 -i 0.05 {address}" if client else f"ping -c 3 -i 0.05 {address}", check=False
    )


def windows(server: str | None, client: str | None, address: str) -> None:
    """Close windows, send keep-alives, reuse ports."""
    talk(server, client, address, slow_reader, bulk(300_000), receive=20_000)
    talk(server, client, address, keep_alive, lambda s: (take(s), None)[1])
    port = 0
    for _ in range(3):
        port = talk(server, client, address, answer, requests(2), port=port, source=45_678)


def fast_open(where: str) -> None:
    """Send data in the SYN."""
    with namespace(where):
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 8)
        listening.listen(8)

    def serving() -> None:
        for _ in range(3):
            connection, _ = listening.accept()
            with connection:
                connection.sendall(connection.recv(100) * 3)

    thread = threading.Thread(target=serving)
    thread.start()
    for _ in range(3):
        with namespace(where):
            s = socket.socket()
        with s:
            s.sendto(b"early data", socket.MSG_FASTOPEN, listening.getsockname())
            take(s)
    thread.join()
    listening.close()
