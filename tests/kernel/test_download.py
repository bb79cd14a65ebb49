"""The source of the virtual-time kernel: its download is kept, continued after a kill, and checked by its hash."""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dumbbell.exceptions import BackendError
from dumbbell.kernel.uml import source
from dumbbell.kernel.uml.download import PART, download
from required import require_programs

CONTENT = random.Random(1).randbytes(1_000_000)
HASH = hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2
NAME = f"{source.PACKAGE}_6.12.5-1_all.deb"


class Server(ThreadingHTTPServer):
    """Serves files from memory; ``pauses``: an answer stops in the middle until the test ends."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.daemon_threads = True
        self.files = {f"/{NAME}": CONTENT}
        self.asked: list[tuple[str, str | None]] = []
        self.ranges = True
        self.pauses = self.ends_early = False
        self.done = threading.Event()
        self.uri = f"http://127.0.0.1:{self.server_port}/{NAME}"


class Answer(BaseHTTPRequestHandler):
    """An answer to one request."""

    server: Server

    def log_message(self, *_args: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        path = self.path.replace("/./", "/")
        server.asked.append((path, wanted))
        if path not in server.files:
            self.send_error(404)
            return
        data, first = server.files[path], 0
        if wanted is not None and server.ranges:
            first = int(re.sub(r"\D", "", wanted))
            if first >= len(data):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        whole = not (server.pauses or server.ends_early)
        self.wfile.write(data[first:] if whole else data[first:HALF])
        if server.pauses:
            self.wfile.flush()
            server.done.wait()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.done.set()
        made.shutdown()
        thread.join()


def test_a_killed_download_is_continued(server: Server, tmp_path: Path) -> None:
    to = tmp_path / NAME
    part = tmp_path / f"{NAME}{PART}"
    server.pauses = True
    fetch = "import sys; from dumbbell.kernel.uml.download import *; from pathlib import Path; "
    fetch += "download(sys.argv[1], Path(sys.argv[2]), sys.argv[3], {})"
    process = subprocess.Popen([sys.executable, "-c", fetch, server.uri, str(to), HASH])
    while not (part.exists() and part.stat().st_size) and process.poll() is None:
        threading.Event().wait(0.01)
    assert process.poll() is None
    process.kill()
    process.wait()
    have = part.stat().st_size
    assert 0 < have <= HALF and not to.exists()
    server.pauses = False
    download(server.uri, to, HASH, {})
    assert server.asked == [(f"/{NAME}", None), (f"/{NAME}", f"bytes={have}-")]
    assert to.read_bytes() == CONTENT
    download(server.uri, to, HASH, {})
    assert len(server.asked) == 2  # it is there
    assert [p.name for p in tmp_path.iterdir()] == [NAME]


def test_a_cut_download_is_an_error_that_keeps_the_bytes(server: Server, tmp_path: Path) -> None:
    to = tmp_path / NAME
    server.ends_early = True
    with pytest.raises(BackendError, match=rf"{NAME}: .*(ended after|IncompleteRead)"):
        download(server.uri, to, HASH, {})
    assert (tmp_path / f"{NAME}{PART}").stat().st_size == HALF
    server.ends_early = False
    download(server.uri, to, HASH, {})
    assert server.asked[1:] == [(f"/{NAME}", f"bytes={HALF}-")]
    assert to.read_bytes() == CONTENT


@pytest.mark.parametrize("ranges", [True, False])
def test_bytes_of_another_file_are_fetched_again(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.ranges = ranges
    (tmp_path / f"{NAME}{PART}").write_bytes(b"x" * HALF)
    (tmp_path / NAME).write_bytes(CONTENT[:HALF])  # not whole: an interrupted apt leaves such a file
    download(server.uri, tmp_path / NAME, HASH, {})
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert [wanted for _, wanted in server.asked] == [f"bytes={HALF}-", None][: 1 + ranges]


def test_a_part_that_is_whole_needs_its_name_only(server: Server, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}{PART}").write_bytes(CONTENT)
    download(server.uri, tmp_path / NAME, HASH, {})
    assert server.asked == []
    assert [p.name for p in tmp_path.iterdir()] == [NAME]


def test_errors_are_one_line(server: Server, tmp_path: Path) -> None:
    to = tmp_path / NAME
    with pytest.raises(BackendError, match="its content hasn't the expected SHA-256 hash"):
        download(server.uri, to, "0" * 64, {})
    assert (tmp_path / f"{NAME}{PART}").stat().st_size == 0
    with pytest.raises(BackendError, match=r"absent: Not Found"):
        download(f"{server.uri}-absent", to, HASH, {})
    with pytest.raises(BackendError, match=r"absent/x\.part: No such file or directory"):
        download(server.uri, tmp_path / "absent" / "x", HASH, {})
    assert not to.exists()


@pytest.fixture
def archive(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Make the server the only archive of packages that apt knows."""
    require_programs("apt-get")
    for name in ("lists/partial", "cache/archives/partial", "kept"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "status").touch()
    base = server.uri.removesuffix(NAME)
    (tmp_path / "sources.list").write_text(f"deb [trusted=yes] {base} ./\n")
    (tmp_path / "apt.conf").write_text(
        f'Dir::Etc::sourcelist "{tmp_path}/sources.list"; Dir::Etc::sourceparts "-"; '
        f'Dir::State::lists "{tmp_path}/lists"; Dir::State::status "{tmp_path}/status"; '
        f'Dir::Cache "{tmp_path}/cache"; Acquire::http::Proxy "DIRECT"; APT::Sandbox::User "";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    known(server)
    return server


def known(server: Server, version: str = "6.12.5-1", content: bytes = CONTENT) -> None:
    """Put a version of the package into the archive, and make apt know it."""
    name = f"{source.PACKAGE}_{version}_all.deb"
    server.files[f"/{name}"] = content
    server.files["/Packages"] = (
        f"Package: {source.PACKAGE}\nVersion: {version}\nArchitecture: all\nMaintainer: x <x@example.org>\n"
        f"Filename: ./{name}\nSize: {len(content)}\nSHA256: {hashlib.sha256(content).hexdigest()}\nDescription: x\n\n"
    ).encode()
    subprocess.run(["apt-get", "update"], check=True, capture_output=True)
    server.asked.clear()


def test_the_package_is_kept_and_replaced_by_a_newer_one(archive: Server, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    first = source._download(kept, tmp_path)
    assert first == kept / NAME
    assert first.read_bytes() == CONTENT
    assert source._download(kept, tmp_path) == first
    assert archive.asked == [(f"/{NAME}", None)]
    known(archive, "6.12.10-1", CONTENT[:HALF])
    second = source._download(kept, tmp_path)
    assert (second.name, second.stat().st_size) == (f"{source.PACKAGE}_6.12.10-1_all.deb", HALF)
    assert list(kept.iterdir()) == [second]
    # Without the archive the package that is there is used.
    archive.files.clear()
    os.truncate(second, HALF)
    assert source._download(kept, tmp_path) == second


def test_apt_itself_fetches_what_only_apt_can_reach(
    archive: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del archive
    monkeypatch.setattr(source, "SCHEMES", ())
    found = source._download(tmp_path / "kept", tmp_path)
    assert found == tmp_path / "kept" / NAME
    assert found.read_bytes() == CONTENT
