"""A web server for its working directory over TLS, with HTTP/1.1, HTTP/2 and HTTP/3 on one port.

``python web_server.py SITE ADDRESS PORT ALGORITHM [FOLDER]``: SITE has the packages of the extra ``web``; ALGORITHM
is QUIC's congestion control, by aioquic's name. TCP has that of the route. FOLDER has further files. ``cert.pem`` and
``key.pem`` are in the working directory; ``recovery.csv`` is written there: see `Recorded`.

It runs in a run's namespace, without the package ``dumbbell``.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TextIO

if __name__ == "__main__":
    sys.path[:0] = sys.argv[1].split(os.pathsep)

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.congestion.base import QuicCongestionControl, create_congestion_control, register_congestion_control
from aioquic.quic.packet_builder import QuicSentPacket
from hypercorn.asyncio import serve
from hypercorn.config import Config

CHUNK = 65536
"""Bytes of the response that are passed to the server at once."""
IDLE_S = 600
"""Hypercorn's default of 5 s ends a slow download over HTTP/2: a connection without new requests counts as idle."""
TYPES = {".html": b"text/html", ".webm": b"video/webm", ".js": b"text/javascript"}

RECORD = "recovery.csv"
NAME = "recorded"
"""Name of the recorded congestion control among aioquic's."""

Message = dict[str, Any]


class Recorded(QuicCongestionControl):
    """A congestion control whose state is written, a row of text for each RTT sample, loss and persistent congestion.

    ``connection,datagram,event,time,rtt,cwnd,ssthresh,inflight,acked``: number of the connection; largest datagram,
    bytes; ``rtt``, ``lost`` or ``persistent``; Unix time, s; the sample, s (with the peer's ACK delay; 0 for other
    events); window, threshold (-1: none yet), QUIC packets in flight and those acknowledged so far, bytes.

    Parameters
    ----------
    number : int
    inner : QuicCongestionControl
        It decides.
    file : TextIO
    max_datagram_size : int
        Bytes.
    """

    def __init__(self, number: int, inner: QuicCongestionControl, file: TextIO, max_datagram_size: int) -> None:
        super().__init__(max_datagram_size=max_datagram_size)
        self.number, self.inner, self.file, self.size, self.acked = number, inner, file, max_datagram_size, 0

    def _copy(self, event: str = "", rtt: float = 0.0) -> None:
        """Take over the state, and write it if there is an event."""
        inner = self.inner
        self.bytes_in_flight, self.congestion_window = inner.bytes_in_flight, inner.congestion_window
        self.ssthresh = inner.ssthresh
        if event:
            threshold = -1 if self.ssthresh is None else self.ssthresh
            state = f"{self.congestion_window},{threshold},{self.bytes_in_flight},{self.acked}"
            self.file.write(f"{self.number},{self.size},{event},{time.time():.6f},{rtt:.6f},{state}\n")

    def on_packet_acked(self, *, now: float, packet: QuicSentPacket) -> None:
        """Count a packet."""
        self.acked += packet.sent_bytes
        self.inner.on_packet_acked(now=now, packet=packet)
        self._copy()

    def on_packet_sent(self, *, packet: QuicSentPacket) -> None:
        """Take over the state."""
        self.inner.on_packet_sent(packet=packet)
        self._copy()

    def on_packets_expired(self, *, packets: Iterable[QuicSentPacket]) -> None:
        """Take over the state."""
        self.inner.on_packets_expired(packets=packets)
        self._copy()

    def on_packets_lost(self, *, now: float, packets: Iterable[QuicSentPacket]) -> None:
        """Write the state."""
        self.inner.on_packets_lost(now=now, packets=packets)
        self._copy("lost")

    def on_persistent_congestion(self) -> None:
        """Write the state."""
        self.inner.on_persistent_congestion()
        self._copy("persistent")

    def on_rtt_measurement(self, *, now: float, rtt: float) -> None:
        """Write the sample and the state."""
        self.inner.on_rtt_measurement(now=now, rtt=rtt)
        self._copy("rtt", rtt)

    def get_log_data(self) -> dict[str, Any]:
        """Return the inner one's."""
        return self.inner.get_log_data()


def record(algorithm: str, file: TextIO) -> None:
    """Register the algorithm, recorded, with aioquic."""
    numbers = itertools.count()

    def create(*, max_datagram_size: int) -> QuicCongestionControl:
        inner = create_congestion_control(algorithm, max_datagram_size=max_datagram_size)
        return Recorded(next(numbers), inner, file, max_datagram_size)

    register_congestion_control(NAME, create)


class Files:
    """An ASGI application that serves the files of some folders [ASGI 3.0, HTTP Connection Scope]."""

    def __init__(self, folders: list[Path]) -> None:
        self.files = {path.name: path for folder in folders for path in folder.iterdir() if path.is_file()}
        self.files.pop("key.pem", None)

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Answer a request, or the start and the end of the server."""
        if scope["type"] == "lifespan":
            while True:
                event = (await receive())["type"]
                await send({"type": f"{event}.complete"})
                if event == "lifespan.shutdown":
                    return
        path = self.files.get(scope["path"].removeprefix("/"))
        status, size = (404, 0) if path is None else (200, path.stat().st_size)
        kind = TYPES.get(path.suffix if path else "", b"application/octet-stream")
        headers = [(b"content-type", kind), (b"content-length", str(size).encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if path is not None:
            with path.open("rb") as file:
                while data := file.read(CHUNK):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def main(_site: str, address: str, port: str, algorithm: str, *folders: str) -> None:
    """Serve until the process is killed."""
    # A line is complete when it is written: the process is killed at the end.
    record(algorithm, Path(RECORD).open("w", buffering=1, encoding="ascii"))  # noqa: SIM115 - open until the end
    chosen = functools.partialmethod(QuicConfiguration.__init__, congestion_control_algorithm=NAME)
    setattr(QuicConfiguration, "__init__", chosen)  # noqa: B010 - Hypercorn has no option for it
    config = Config()
    host = f"[{address}]" if ":" in address else address
    config.bind = config.quic_bind = [f"{host}:{port}"]
    config.certfile, config.keyfile = "cert.pem", "key.pem"
    config.alpn_protocols = ["h2", "http/1.1"]
    config.keep_alive_timeout = IDLE_S
    config.read_timeout = None
    config.accesslog = None
    application: Any = Files([Path.cwd(), *map(Path, folders)])
    asyncio.run(serve(application, config))


if __name__ == "__main__":
    main(*sys.argv[1:])
