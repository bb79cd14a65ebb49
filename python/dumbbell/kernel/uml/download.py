"""One large file over HTTP. A download that was killed or cut continues where it ended [RFC 9110 §14].

The bytes are in ``NAME.part`` until the whole file has the expected hash: a file with its own name is whole. Servers
aren't asked whether their file has changed meanwhile (``If-Range``), because a killed download has no date of theirs:
the hash decides, and a file with another one is fetched again from its first byte.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.error import HTTPError

from dumbbell.common.numbers import whole
from dumbbell.exceptions import BackendError

if TYPE_CHECKING:
    import urllib.request

try:
    import fcntl
except ImportError:  # Windows builds no kernel
    fcntl = None  # type: ignore[assignment]

__all__ = ["PART", "download"]

PART = ".part"
"""Ending of a file that isn't whole."""
TIMEOUT_S = 60
"""A server that sends nothing for so long is given up, s."""
BLOCK = 1 << 16
FULL = {errno.ENOSPC, errno.EDQUOT}
PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416
"""Statuses of answers to a request for a range [RFC 9110 §15.3.7, §15.5.17]."""


def download(uri: str, to: Path, sha256: str, proxies: Mapping[str, str] | None = None) -> None:
    """Fetch a file; nothing is done if it is there with this hash.

    Parameters
    ----------
    uri : str
        Of the schemes http and https.
    to : Path
        The file. Processes that fetch the same one wait for each other.
    sha256 : str
        Its SHA-256 hash, hexadecimal.
    proxies : mapping, optional
        The proxy's URI by scheme. Default: those of the environment (``http_proxy`` ...).

    Raises
    ------
    BackendError
        The server can't be reached, has no such file, ends early, or has a file with another hash; the disk is full.
        The bytes that came are kept, except those of a whole file with another hash.
    """
    import urllib.request  # macOS's needs a module that only macOS has

    part = to.with_name(f"{to.name}{PART}")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(None if proxies is None else dict(proxies)))
    try:
        with part.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if to.exists() and _sha256(to) == sha256:  # another process may have fetched it meanwhile
                part.unlink(missing_ok=True)
                return
            continued = file.seek(0, 2) > 0
            if _sha256(part) != sha256:
                _append(opener, uri, file)
                if _sha256(part) != sha256 and continued:  # the server's file has changed
                    file.truncate(0)
                    _append(opener, uri, file)
                if _sha256(part) != sha256:
                    file.truncate(0)
                    raise BackendError(f"{uri}: its content hasn't the expected SHA-256 hash")
            part.rename(to)
    except (OSError, HTTPException) as e:
        place = to.parent if getattr(e, "errno", None) in FULL else getattr(e, "filename", None) or uri
        why = getattr(e, "reason", None) or getattr(e, "strerror", None) or e
        raise BackendError(f"{place}: {why}") from None


def _append(opener: urllib.request.OpenerDirector, uri: str, file: IO[bytes]) -> None:
    """Fetch the bytes that follow those of a file."""
    import urllib.request  # see above

    have = file.seek(0, 2)
    request = urllib.request.Request(uri, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = opener.open(request, timeout=TIMEOUT_S)
    except HTTPError as e:
        if e.code != RANGE_NOT_SATISFIABLE:
            raise
        return  # all bytes are there
    with answer:
        if answer.status != PARTIAL_CONTENT or _first(answer.headers.get("Content-Range", "")) != have:
            file.truncate(0)
            if answer.status == PARTIAL_CONTENT:
                raise OSError(f"the server sent another range than bytes {have} and more")
        expected, come = answer.headers.get("Content-Length"), 0
        while block := answer.read(BLOCK):
            file.write(block)
            come += len(block)
        file.flush()
        if expected is not None and come < int(expected):
            raise OSError(f"ended after {come} of {expected} bytes: the same command continues")


def _first(content_range: str) -> int | None:
    """Return the first byte of a range such as ``bytes 100-199/200``."""
    unit, _, rest = content_range.partition(" ")
    first = rest.partition("-")[0]
    return whole(first) if unit == "bytes" else None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
