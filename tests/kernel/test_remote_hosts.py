"""The hosts file of the back end ssh, its commands, and the arithmetic of clocks: without any machine."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.exceptions import BackendError
from dumbbell.kernel.ssh.agent import copy_command, find_command, start_command
from dumbbell.kernel.ssh.clock import Offset, best
from dumbbell.kernel.ssh.hosts import Machine, read
from required import require_root

Cli = Callable[..., "subprocess.CompletedProcess[str]"]

GOOD = """
known_hosts = "~/known"
ports = "22000-22009"

[hosts.pc1]
role = "client"
address = "pc1.example"
user = "me"
port = 2222
identity = "~/.ssh/id_ed25519"
interface = "eth1"
folder = "/var/tmp"

[hosts.pc3]
role = "server"
address = "192.0.2.3"

[hosts.delay]
role = "router"
address = "delay"
"""


def problem(tmp_path: Path, text: str) -> str:
    file = tmp_path / "hosts.toml"
    file.write_text(text)
    with pytest.raises(BackendError) as caught:
        read(file)
    return str(caught.value).replace(f"{file}: ", "")


def test_a_hosts_file_names_machines_and_roles(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text("\ufeff" + GOOD)  # some editors begin files so
    hosts = read(file)
    assert hosts.machines[0] == Machine(
        "pc1", "client", "pc1.example", "me", 2222, "~/.ssh/id_ed25519", "eth1", "/var/tmp"
    )
    assert [m.name for m in hosts.of("server")] == ["pc3"]
    assert (hosts.of("router")[0].address, hosts.ports, hosts.known_hosts) == ("delay", (22_000, 22_009), "~/known")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('role = "client"', 'role = "cliant"', "hosts.pc1.role: unknown role 'cliant': did you mean 'client'?"),
        ('role = "client"', "", "hosts.pc1.role: is missing (allowed: client, server, router)"),
        ('user = "me"', 'usr = "me"', "hosts.pc1: unknown key 'usr': did you mean 'user'?"),
        ('user = "me"', "user = 7", "hosts.pc1.user: 7 given: must be a text in quotes"),
        ("port = 2222", "port = 0", "hosts.pc1.port: 0 given: must be a whole number from 1 to 65535"),
        ("port = 2222", "port = true", "hosts.pc1.port: true given: must be a whole number from 1 to 65535"),
        ('user = "me"', 'password = "x"', "hosts.pc1.password: secrets aren't read from files"),
        ('address = "192.0.2.3"', "", "hosts.pc3.address: is missing"),
        ('"pc1.example"', '"-oProxyCommand=x"', "hosts.pc1.address: '-oProxyCommand=x' given: must be a text"),
        ('"pc1.example"', '"a\\nb"', "hosts.pc1.address: 'a\\\\nb' given: must be a text in quotes"),
        ('"/var/tmp"', '"tmp"', "hosts.pc1.folder: 'tmp' given: must be an absolute path"),
        ('"22000-22009"', '"80-90"', "ports: '80-90' given: must be a range from 1024 to 65535, such as '21000-21999'"),
        ('"22000-22009"', "[1, 2]", "ports: [1, 2] given: must be a range"),
        ('role = "server"', 'role = "client"', 'hosts: no machine has role = "server": at least one is needed'),
        ('role = "server"', 'role = "router"', 'hosts: pc3, delay have role = "router": at most one may have it'),
        ("[hosts.pc1]", "[host.pc1]", "unknown key 'host': did you mean 'hosts'?"),
        (GOOD, "hosts = 3", "hosts: 3 given: must be tables: [hosts.NAME]"),
        (GOOD, "hosts.a = 3", "hosts.a: 3 given: must be a table: [hosts.a]"),
        (GOOD, "[[", "not valid TOML"),
        (GOOD, "a = " + "[" * 5000, "nested too deeply"),
        (GOOD, "a = " + "9" * 5000, "not valid TOML"),
    ],
)
def test_a_problem_has_place_value_and_allowed_values(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    assert message.replace("\\\\", "\\") in problem(tmp_path, GOOD.replace(old, new))


def test_every_problem_is_a_line(tmp_path: Path) -> None:
    text = problem(tmp_path, GOOD.replace('role = "client"', "role = 1").replace('"me"', "8"))
    assert [line.partition(":")[0] for line in text.splitlines()] == ["hosts.pc1.role", "hosts.pc1.user"]


def test_a_file_that_is_no_file_is_one_line(tmp_path: Path, cli: Cli) -> None:
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(BackendError, match=r"^[^\n]*$"):
            read(place)
    with pytest.raises(BackendError, match="not a hosts file: it has no end within 1 MB"):
        read("/dev/zero")
    done = cli("run", "x.toml", "--hosts", __file__)
    assert (done.returncode, done.stdout) == (2, "")


def shell(command: str, given: bytes, place: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, shell=True, input=given, capture_output=True, cwd=place, check=False)


@pytest.mark.parametrize("keep", [False, True])
def test_the_copy_is_checked_and_a_folder_is_only_data(tmp_path: Path, *, keep: bool) -> None:
    """The commands that machines execute, executed here: a folder's name is never a command."""
    folder = tmp_path / "a '$(touch pwned)' ;b"
    folder.mkdir()
    content = b"#!/bin/sh\necho ran\n"
    sha256 = subprocess.run(["sha256sum"], input=content, capture_output=True, check=True).stdout.decode().split()[0]
    done = shell(copy_command(str(folder), sha256, keep=keep), content, tmp_path)
    place = Path(done.stdout.decode().rstrip("\n"))
    assert place.parent == folder
    assert (place / "dumbbell-agent").read_bytes() == content
    assert (place.stat().st_mode & 0o777, (place / "dumbbell-agent").stat().st_mode & 0o777) == (0o700, 0o700)
    assert not (tmp_path / "pwned").exists()
    found = shell(find_command(str(folder), sha256), b"", tmp_path)
    assert (found.stdout.decode().rstrip("\n") == str(place)) is keep
    # A copy that was cut short, or changed, is removed again.
    cut = shell(copy_command(str(folder), "0" * 64, keep=False), content, tmp_path)
    assert (cut.returncode, cut.stderr) == (1, b"the copy is damaged\n")
    assert [p for p in folder.iterdir() if p != place] == []
    # So is one whose place nobody reads: the connection has ended. A kept one may be another run's too.
    read, write = os.pipe()
    os.close(read)
    subprocess.run(
        copy_command(str(folder), sha256, keep=keep),
        shell=True,
        input=content,
        stdout=write,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    os.close(write)
    assert [p for p in folder.iterdir() if p != place] == []
    assert shlex.split(copy_command("/tmp", sha256, keep=keep))[:2] == ["sh", "-c"]


AGENT = b"#!/bin/sh\necho ran $1\n"
SHA256 = hashlib.sha256(AGENT).hexdigest()


def _link(kept: Path) -> None:
    own = kept.with_name("own")
    own.mkdir(mode=0o700)
    kept.symlink_to(own)


def _of_another_user(kept: Path) -> None:
    require_root()
    kept.mkdir(mode=0o700)
    (kept / "dumbbell-agent").write_bytes(AGENT)
    (kept / "dumbbell-agent").chmod(0o700)
    os.chown(kept, 65_534, 65_534)


def _for_others(kept: Path) -> None:
    kept.mkdir()
    kept.chmod(0o777)


@pytest.mark.parametrize("make", [_link, _of_another_user, _for_others, Path.touch, lambda k: k.symlink_to("nowhere")])
def test_a_kept_agent_goes_into_no_folder_of_others(make: Callable[[Path], None], tmp_path: Path) -> None:
    """The folder's name can be predicted, so that others can have made it."""
    kept = tmp_path / f"dumbbell-kept-{SHA256[:16]}"
    make(kept)
    before = sorted(tmp_path.rglob("*"))
    done = shell(copy_command(str(tmp_path), SHA256, keep=True), AGENT, tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == (
        f"{kept} is not a folder of this user alone: remove it, or give another folder in the hosts file\n"
    )
    assert sorted(tmp_path.rglob("*")) == before
    assert shell(find_command(str(tmp_path), SHA256), b"", tmp_path).stdout == b""
    started = shell(
        start_command(str(tmp_path), f"{kept}/dumbbell-agent", "", "agent", SHA256, keep=True), b"", tmp_path
    )
    assert (started.returncode, started.stdout) == (1, b"")


def test_a_kept_agent_is_checked_before_each_use(tmp_path: Path) -> None:
    done = shell(copy_command(str(tmp_path), SHA256, keep=True), AGENT, tmp_path)
    agent = Path(done.stdout.decode().rstrip("\n")) / "dumbbell-agent"
    start = start_command(str(tmp_path), str(agent), "", "agent", SHA256, keep=True)
    assert shell(start, b"", tmp_path).stdout == b"ran agent\n"
    agent.write_bytes(AGENT + b"# changed")
    changed = shell(start, b"", tmp_path)
    assert (changed.returncode, changed.stdout) == (1, b"")
    assert changed.stderr.decode() == f"{agent} has changed\n"
    # The next copy repairs it.
    shell(copy_command(str(tmp_path), SHA256, keep=True), AGENT, tmp_path)
    assert shell(start, b"", tmp_path).stdout == b"ran agent\n"
    agent.rename(tmp_path / "elsewhere")
    agent.symlink_to(tmp_path / "elsewhere")
    assert shell(start, b"", tmp_path).returncode == 1


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    done = shell(copy_command(str(tmp_path / "missing"), SHA256, keep=True), AGENT, tmp_path)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"No such file or directory" in done.stderr


def test_the_offset_of_a_clock_is_that_of_the_fastest_exchange() -> None:
    # The second takes 20 ns: the machine's 7,000,010 was read between 1000 and 1020, so it is ahead by
    # 7,000,010 - 1010 = 6,999,000, wrong by 10 at most.
    assert best([(0, 7_000_900, 900), (1000, 7_000_010, 1020)]) == Offset(6_999_000, 10)


@given(st.integers(-(10**15), 10**15), st.lists(st.tuples(*[st.integers(0, 10**9)] * 3), min_size=1, max_size=5))
def test_the_offset_is_within_its_bound(true: int, delays: list[tuple[int, int, int]]) -> None:
    exchanges = [(t0, t0 + there + true, t0 + there + back) for t0, there, back in delays]
    found = best(exchanges)
    assert abs(found.ns - true) <= found.bound_ns + 1
