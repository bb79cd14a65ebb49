"""A web server for its working directory, for flows of kind ``http``: ``python web.py ADDRESS PORT``.

It makes no DNS lookup: a run's namespaces have no name server.
"""

from __future__ import annotations

import socket
import socketserver
import sys
from http.server import SimpleHTTPRequestHandler


class Server(socketserver.ThreadingTCPServer):
    """A server with a thread for each connection."""

    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    if ":" in sys.argv[1]:
        Server.address_family = socket.AF_INET6
    with Server((sys.argv[1], int(sys.argv[2])), SimpleHTTPRequestHandler) as server:
        server.serve_forever()
