"""A web server for one directory, its own: asks no name service, as namespaces of a run have none.

A program of its own: ``python web.py ADDRESS PORT``.
"""

from __future__ import annotations

import socketserver
import sys
from http.server import SimpleHTTPRequestHandler


class Server(socketserver.ThreadingTCPServer):
    """Serves each connection in a thread of its own."""

    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    with Server((sys.argv[1], int(sys.argv[2])), SimpleHTTPRequestHandler) as server:
        server.serve_forever()
