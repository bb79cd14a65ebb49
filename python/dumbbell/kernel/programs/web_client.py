"""Downloads by aioquic over HTTP/3, one after the other, each over a connection of its own.

``python web_client.py SITE ADDRESS PORT PATH NUMBER [QLOG]``: SITE has the packages of the extra ``web``. It prints a
JSON object per download, with the names of curl's ``%{json}``. With QLOG, each connection writes a qlog file (0.3, by
aioquic) into the working directory. The certificate, made for the run, is not verified.

It runs in a run's namespace, without the package ``dumbbell``.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
import time
from pathlib import Path
from typing import cast

if __name__ == "__main__":
    sys.path[:0] = sys.argv[1].split(os.pathsep)

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, QuicEvent
from aioquic.quic.logger import QuicFileLogger

HTTP_OK = 200


class Client(QuicConnectionProtocol):
    """One connection with one request."""

    status = 0
    received = 0
    first_byte: float | None = None

    def request(self, authority: str, path: str) -> asyncio.Future[None]:
        """Send the request; the future is done when the response is complete or the connection has ended."""
        self.http = H3Connection(self._quic)
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        fields = {":method": "GET", ":scheme": "https", ":authority": authority, ":path": path}
        stream = self._quic.get_next_available_stream_id()
        self.http.send_headers(stream, [(k.encode(), v.encode()) for k, v in fields.items()], end_stream=True)
        self.transmit()
        return self.done

    def quic_event_received(self, event: QuicEvent) -> None:
        """Count the response."""
        if isinstance(event, ConnectionTerminated) and hasattr(self, "done") and not self.done.done():
            self.done.set_exception(ConnectionError(event.reason_phrase or f"closed with error {event.error_code}"))
        for item in self.http.handle_event(event) if hasattr(self, "http") else []:
            if isinstance(item, HeadersReceived):
                self.status = int(dict(item.headers)[b":status"])
                self.first_byte = time.monotonic()
            elif isinstance(item, DataReceived):
                self.received += len(item.data)
            if isinstance(item, HeadersReceived | DataReceived) and item.stream_ended and not self.done.done():
                self.done.set_result(None)


async def download(address: str, port: int, path: str, qlog: bool) -> dict[str, object]:
    """Make one download."""
    logger = QuicFileLogger(str(Path.cwd())) if qlog else None
    configuration = QuicConfiguration(
        is_client=True, alpn_protocols=H3_ALPN, verify_mode=ssl.CERT_NONE, server_name="server.test", quic_logger=logger
    )
    host = f"[{address}]" if ":" in address else address
    start = time.monotonic()
    connected = first_byte = None
    status, received, error = 0, 0, None
    try:
        async with connect(address, port, configuration=configuration, create_protocol=Client) as protocol:
            client = cast("Client", protocol)
            connected = time.monotonic()
            try:
                await client.request(f"{host}:{port}", path)
            finally:
                end = time.monotonic()
                status, received, first_byte = client.status, client.received, client.first_byte
    except ConnectionError as e:
        error, end = str(e) or type(e).__name__, time.monotonic()
    return {
        "http_code": status,
        "http_version": "3",
        "exitcode": int(error is not None),
        "errormsg": error,
        "size_download": received,
        "time_appconnect": (connected or end) - start,
        "time_starttransfer": (first_byte or end) - start,
        "time_total": end - start,
    }


def main(_site: str, address: str, port: str, path: str, number: str, *more: str) -> int:
    """Make the downloads."""
    failed = False
    for _ in range(int(number)):
        result = asyncio.run(download(address, int(port), path, "QLOG" in more))
        print(json.dumps(result), flush=True)
        failed |= result["exitcode"] != 0 or result["http_code"] != HTTP_OK
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
