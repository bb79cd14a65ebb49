"""A web server for its working directory over TLS, with HTTP/1.1, HTTP/2 and HTTP/3 on one port.

``python web_server.py SITE ADDRESS PORT ALGORITHM [FOLDER]``: SITE has the packages of the extra ``web``; ALGORITHM
is QUIC's congestion control, by aioquic's name. TCP has that of the route. FOLDER has further files. ``cert.pem`` and
``key.pem`` are in the working directory.

It runs in a run's namespace, without the package ``dumbbell``.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[:0] = sys.argv[1].split(os.pathsep)

from aioquic.quic.configuration import QuicConfiguration
from hypercorn.asyncio import serve
from hypercorn.config import Config

CHUNK = 65536
"""Bytes of the response that are passed to the server at once."""
IDLE_S = 600
"""Hypercorn's default of 5 s ends a slow download over HTTP/2: a connection without new requests counts as idle."""
TYPES = {".html": b"text/html", ".webm": b"video/webm", ".js": b"text/javascript"}

Message = dict[str, Any]


class Files:
    """An ASGI application that serves the files of some folders [ASGI 3.0, HTTP Connection Scope]."""

    def __init__(self, folders: list[Path]) -> None:
        self.files = {path.name: path for folder in folders for path in folder.iterdir() if path.is_file()}
        self.files.pop("key.pem", None)

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
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
        headers = [
            (b"content-type", kind),
            (b"content-length", str(size).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        if path is not None:
            with path.open("rb") as file:
                while data := file.read(CHUNK):
                    await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def main(_site: str, address: str, port: str, algorithm: str, *folders: str) -> None:
    """Serve until the process is killed."""
    chosen = functools.partialmethod(QuicConfiguration.__init__, congestion_control_algorithm=algorithm)
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
