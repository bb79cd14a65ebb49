#!/usr/bin/env python3
"""Run one download between two aioquic connections in virtual time and print its outcome as a line of JSON.

python validation/quic/aioquic_peer.py LIBRARY NAME=VALUE ..

The links and the server's variant are those of the library ``libdumbbell_quic_peers`` (``peers/src/interface.rs``);
the settings are those of the program ``dumbbell-quic-peers``. Runs repeat: random bytes come from a seeded
generator, and an Ed25519 certificate has signatures of constant length. About 10 000 packets a CPU second.
"""

from __future__ import annotations

import ctypes
import datetime
import heapq
import json
import os
import random
import ssl
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

REQUEST = 300
CLIENT, SERVER = 0, 1
ADDRESSES = (("10.0.0.1", 1000), ("10.0.0.2", 443))
CHUNK = 1 << 20
"""Bytes of the response that the application writes ahead."""

NS = ctypes.c_uint64
FUNCTIONS = {
    "new": (ctypes.c_void_p, [ctypes.c_char_p]),
    "free": (None, [ctypes.c_void_p]),
    "send": (ctypes.c_int64, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32, NS]),
    "count": (ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint32]),
    "on_sent": (None, [ctypes.c_void_p, ctypes.c_uint64, NS]),
    "on_acked": (None, [ctypes.c_void_p, ctypes.c_uint64, NS, ctypes.c_uint64, NS]),
    "on_lost": (None, [ctypes.c_void_p, ctypes.c_uint64, NS, ctypes.c_bool, NS]),
    "on_discarded": (None, [ctypes.c_void_p, ctypes.c_uint64]),
    "window": (ctypes.c_double, [ctypes.c_void_p]),
}


class Session:
    """Links and a variant (``peers/src/interface.rs``)."""

    def __init__(self, library: Path, settings: list[str]) -> None:
        loaded = ctypes.CDLL(str(library))
        self.functions = {}
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(loaded, f"peers_{name}")
            function.restype, function.argtypes = result, arguments
            self.functions[name] = function
        self.pointer = self.functions["new"](" ".join(settings).encode())
        if not self.pointer:
            sys.exit(2)

    def call(self, name: str, *arguments: float) -> Any:  # noqa: ANN401 - a number of the function's type
        """Call a function of the library on this session."""
        return self.functions[name](self.pointer, *arguments)


def ns(seconds: float) -> int:
    """Return the least whole nanosecond that is not before a time of aioquic."""
    whole = int(seconds * 1e9)
    while whole / 1e9 < seconds:
        whole += 1
    return whole


def seed_randomness(seed: int) -> None:
    """Take all random bytes from one generator; before aioquic is imported."""
    draws = random.Random(seed)
    os.urandom = draws.randbytes


def variant_hooks(session: Session) -> Any:  # noqa: ANN401 - a class of aioquic, imported late
    """Return aioquic's interface to congestion control over the variant of the session.

    aioquic reports each packet; the packets of an ACK frame count together, up to the RTT sample, the losses or
    the next packet that follow at the same time.
    """
    from aioquic.quic.congestion.base import QuicCongestionControl

    class Hooks(QuicCongestionControl):
        def __init__(self, *, max_datagram_size: int) -> None:
            super().__init__(max_datagram_size=max_datagram_size)
            self.acked, self.newest, self.now, self.lost = 0, 0.0, 0.0, 0
            self.update()

        def update(self) -> None:
            self.congestion_window = int(session.call("window"))

        def report(self) -> None:
            """Report the packets that an ACK frame acknowledged."""
            if self.acked:
                session.call("on_acked", self.acked, ns(self.newest), self.bytes_in_flight, ns(self.now))
                self.acked, self.newest = 0, 0.0
                self.update()

        def on_packet_acked(self, *, now: float, packet: Any) -> None:  # noqa: ANN401
            self.bytes_in_flight -= packet.sent_bytes
            self.acked += packet.sent_bytes
            self.newest, self.now = max(self.newest, packet.sent_time), now

        def on_rtt_measurement(self, *, now: float, rtt: float) -> None:  # noqa: ARG002
            self.report()

        def on_packets_lost(self, *, now: float, packets: Iterable[Any]) -> None:
            self.report()
            packets = list(packets)
            lost = sum(p.sent_bytes for p in packets)
            self.bytes_in_flight -= lost
            self.lost += len(packets)
            if lost:
                session.call("on_lost", lost, ns(max(p.sent_time for p in packets)), False, ns(now))
                self.update()

        def on_persistent_congestion(self) -> None:
            session.call("on_lost", 0, 0, True, ns(self.now))
            self.update()

        def on_packet_sent(self, *, packet: Any) -> None:  # noqa: ANN401
            self.report()
            self.bytes_in_flight += packet.sent_bytes
            session.call("on_sent", packet.sent_bytes, ns(packet.sent_time))
            self.update()

        def on_packets_expired(self, *, packets: Iterable[Any]) -> None:
            self.report()
            expired = sum(p.sent_bytes for p in packets)
            self.bytes_in_flight -= expired
            session.call("on_discarded", expired)

    return Hooks


def certificate() -> tuple[Any, Any]:
    """Return an Ed25519 certificate and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(start).not_valid_after(start + datetime.timedelta(3650))
    return builder.sign(key, None), key


class Ends:
    """A client and a server on the links of a session; the server answers a request with ``total`` bytes."""

    def __init__(self, session: Session, settings: dict[str, str]) -> None:
        from aioquic.quic.configuration import QuicConfiguration
        from aioquic.quic.congestion.base import register_congestion_control
        from aioquic.quic.connection import QuicConnection

        register_congestion_control("dumbbell", variant_hooks(session))
        common: dict[str, Any] = {"alpn_protocols": ["test"], "max_data": 1 << 30, "max_stream_data": 1 << 30}
        common["max_datagram_size"] = int(settings.get("initial_datagram", "1200").split()[0])
        client = QuicConfiguration(is_client=True, server_name="server", **common)
        client.verify_mode = ssl.CERT_NONE
        self.server_config = QuicConfiguration(is_client=False, congestion_control_algorithm="dumbbell", **common)
        self.server_config.certificate, self.server_config.private_key = certificate()
        self.connection_class = QuicConnection
        self.session, self.total = session, int(float(settings.get("bytes", 1 << 30)))
        self.connections: list[Any] = [QuicConnection(configuration=client), None]
        self.now, self.order, self.acks = 0, 0, 0
        self.arriving: list[tuple[int, int, int, bytes]] = []
        self.requested = self.written = self.delivered = 0
        self.times: dict[str, float] = {}
        self.first: list[tuple[float, int, int]] = []

    def note(self, name: str) -> None:
        """Note the first time of something, ms."""
        self.times.setdefault(name, self.now / 1e6)

    def send(self, end: int) -> None:
        """Put the datagrams of an end on its link."""
        connection = self.connections[end]
        for data, _ in connection.datagrams_to_send(self.now / 1e9) if connection else []:
            self.order += 1
            if len(self.first) < 40:
                self.first.append((self.now / 1e6, end, len(data)))
            at = self.session.call("send", end, len(data), self.now)
            if at >= 0:
                heapq.heappush(self.arriving, (at, self.order, 1 - end, data))

    def receive(self) -> None:
        """Handle the datagram that arrives next."""
        _, _, end, data = heapq.heappop(self.arriving)
        if self.connections[end] is None:
            original = self.connections[CLIENT].original_destination_connection_id
            self.connections[SERVER] = self.connection_class(
                configuration=self.server_config, original_destination_connection_id=original
            )
        self.connections[end].receive_datagram(data, ADDRESSES[1 - end], self.now / 1e9)

    def run_application(self, end: int) -> None:
        """Read, write the request or the response."""
        from aioquic.quic import events

        connection = self.connections[end]
        while connection and (event := connection.next_event()):
            if isinstance(event, events.HandshakeCompleted):
                self.note(f"established {end}")
                if end == CLIENT:
                    connection.send_stream_data(0, bytes(REQUEST), True)
            elif isinstance(event, events.StreamDataReceived) and end == SERVER:
                self.requested += len(event.data)
            elif isinstance(event, events.StreamDataReceived):
                self.note("response")
                self.delivered += len(event.data)
        if end == SERVER and self.requested >= REQUEST:
            self.note("request")
            # Written ahead of the delivery: the sender is never limited by the application.
            while self.written < min(self.total, self.delivered + 8 * CHUNK):
                piece = min(CHUNK, self.total - self.written)
                self.written += piece
                connection.send_stream_data(0, bytes(piece), self.written == self.total)

    def step(self, end_at: int) -> bool:
        """Handle the next event; False after the end."""
        timers = [ns(at) for c in self.connections if c and (at := c.get_timer()) is not None]
        due = min(timers, default=end_at + 1)
        arrival = self.arriving[0][0] if self.arriving else end_at + 1
        if min(due, arrival) > end_at or self.delivered >= self.total:
            return False
        self.now = max(self.now, min(due, arrival))
        if arrival <= due:
            self.receive()
        else:
            for connection in filter(None, self.connections):
                if (at := connection.get_timer()) is not None and ns(at) <= self.now:
                    connection.handle_timer(self.now / 1e9)
        for end in (CLIENT, SERVER):
            self.run_application(end)
        for end in (CLIENT, SERVER):
            self.send(end)
        return True


def download(library: Path, arguments: list[str]) -> dict[str, object]:
    """Run one download; its outcome has the fields that ``dumbbell-quic-peers`` prints."""
    settings = dict(argument.split("=", 1) for argument in arguments)
    seed_randomness(int(settings.get("seed", 1)))
    session = Session(library, arguments)
    ends = Ends(session, settings)
    end_at = int(float(settings.get("duration_s", 20)) * 1e9)
    ends.connections[CLIENT].connect(ADDRESSES[SERVER], now=0.0)
    ends.send(CLIENT)
    while ends.step(end_at):
        pass
    finished = ends.now if ends.delivered >= ends.total else end_at
    sent, drops, losses, queueing = (session.call("count", SERVER, which) for which in range(4))
    server = ends.connections[SERVER]
    return {
        "goodput_mbps": round(ends.delivered * 8e3 / finished, 4),
        "sent": sent,
        "drops": drops,
        "losses": losses,
        "acks": session.call("count", CLIENT, 0),
        "lost": server._loss._cc.lost,
        "queueing_ms": round(queueing / 1e6 / max(1, sent - drops - losses), 3),
        "end_ms": finished / 1e6,
        "established_ms": [ends.times.get("established 0"), ends.times.get("established 1")],
        "request_ms": ends.times.get("request"),
        "response_ms": ends.times.get("response"),
        "first": ends.first,
    }


if __name__ == "__main__":
    print(json.dumps(download(Path(sys.argv[1]), sys.argv[2:])))
