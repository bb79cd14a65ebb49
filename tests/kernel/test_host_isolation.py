"""What docs/security.md promises of the surroundings of a program: tried by programs of root's runs and of a user's."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from begun_runs import given_to_nobody
from program_rights import CAN

from dumbbell.backends import Job
from dumbbell.kernel.guest import GUEST
from dumbbell.kernel.programs.commands import commands
from hosts import scenario
from required import require, require_programs, require_root
from waiting import DEADLINE_S, wait_until

pytestmark = pytest.mark.usefixtures("require_link_emulation")

NOBODY = 65_534
PREFIX = f"""
import contextlib, ctypes, glob, json, os, resource, signal, socket, stat, subprocess, sys, time
{CAN}
def connect(path, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.connect(path)
def write(path):
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        raise OSError("another file is there: the null device")
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
"""


class Begun:
    """A run of one flow whose client is a program in Python; its last line is its account, as JSON."""

    def __init__(self, place: Path, application: dict[str, Any], *, root: bool, before: str = "") -> None:
        place = place / "run"
        program = place.with_name("program")
        place.mkdir()
        as_nobody = given_to_nobody(place, program, GUEST)
        flows = [{"name": "c", "variant": "reno", "application": application}]
        # A run ends with its program, also on a host where that takes long; iperf3 works for all of its time.
        duration = "600 s" if application["kind"] == "command" else "3 s"
        given = scenario(flows=flows, duration=duration, network__bottleneck__delay="0 ms")
        order = {"plan": commands(Job(given.cells[0], 0, 1).plan()), "sample_ns": 10_000_000, "calibration": "off"}
        (place / "plan.json").write_text(json.dumps({**order, "emulation": "link", "parent_pid": os.getpid()}))
        line = [str(program), "host"]
        if not root:
            line = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *line]
            probed = subprocess.run([str(program), "probe"], capture_output=True, check=False, **as_nobody)
            refused = json.loads(probed.stdout)["namespaces"] is not None
            require("users", "this host allows ordinary users no namespaces" if refused else None)
        self.place = place
        # Mounts that the script makes are those of this run alone. A session of its own, with a new session keyring.
        mounted = ["unshare", "--mount", "--propagation=private", "sh", "-ec", f'{before}\nexec "$@"', "sh", *line]
        environment = {**os.environ, "AGENT_SOCK": "/run/agent"}
        self.process = subprocess.Popen(mounted, cwd=place, env=environment, stderr=subprocess.PIPE, text=True)

    def ended(self) -> dict[str, Any]:
        """Wait for its end; returns what is known about its client."""
        _, errors = self.process.communicate(timeout=DEADLINE_S)
        error = self.place / "error.txt"
        assert not error.exists(), error.read_text()
        assert (self.place / "result.json").exists(), errors
        found: dict[str, Any] = json.loads((self.place / "result.json").read_text())["facts"]["programs"]["c"]["client"]
        return found


Account = Callable[..., dict[str, Any]]


@pytest.fixture(params=[True, False], ids=["root", "user"])
def root(request: pytest.FixtureRequest) -> bool:
    require_root()  # to become the user, too
    require_programs("unshare", "setpriv")
    return bool(request.param)


@pytest.fixture
def account(tmp_path: Path, *, root: bool) -> Account:
    """Run a program that prints the values of expressions in Python; returns them."""

    def run(expressions: dict[str, str], *, first: str = "", before: str = "") -> dict[str, Any]:
        values = ", ".join(f"{name!r}: {text}" for name, text in expressions.items())
        script = f"{PREFIX}\n{first}\nprint(json.dumps({{{values}}}))"
        application = {"kind": "command", "client": ["/usr/bin/python3", "-I", "-c", script]}
        done = Begun(tmp_path, application, root=root, before=before).ended()
        assert done["exit"] == 0, done
        return dict(json.loads(done["stdout"].splitlines()[-1]))

    return run


# ---------------------------------------------------------------- processes of the host


class Host:
    """Unix sockets and FIFOs of the host, in folders that every user may use."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.stack = stack
        self.stream: list[str] = []
        self.datagram: list[str] = []
        self.fifos: list[str] = []
        self.abstract = f"dumbbell-{os.getpid()}-{id(self)}"
        self._listen(f"\0{self.abstract}")
        # Agents have theirs in /tmp, /run and the user's home; services below /var; some directly in such a folder.
        self.folders = [self._folder(place) for place in ("/tmp", "/var/tmp", "/run", "/srv", "/var/lib")]
        for folder in self.folders:
            (folder / ".gnupg").mkdir(mode=0o755)
            self.add(folder)
            self.add(folder / ".gnupg")
        self.home = self.folders[3]

    def _folder(self, place: str) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="dumbbell test ", dir=place))
        self.stack.callback(shutil.rmtree, folder)
        folder.chmod(0o755)
        return folder

    def _listen(self, path: str, kind: int = socket.SOCK_STREAM) -> str:
        opened = self.stack.enter_context(socket.socket(socket.AF_UNIX, kind))
        opened.bind(path)
        if kind == socket.SOCK_STREAM:
            opened.listen(64)
        if not path.startswith("\0"):
            Path(path).chmod(0o666)
        return path

    def add(self, folder: Path, name: str = "S") -> None:
        """Add one of each kind."""
        self.stream.append(self._listen(str(folder / f"{name}.stream")))
        self.datagram.append(self._listen(str(folder / f"{name}.datagram"), socket.SOCK_DGRAM))
        fifo = folder / f"{name}.fifo"
        os.mkfifo(fifo)
        fifo.chmod(0o666)
        self.stack.callback(os.close, os.open(fifo, os.O_RDWR | os.O_NONBLOCK))
        self.fifos.append(str(fifo))

    def expressions(self) -> dict[str, str]:
        """Return the expressions that list what a program reaches of them."""
        return {
            "abstract": f"can(lambda: connect({chr(0) + self.abstract!r}))",
            "stream": f"[p for p in {self.stream} if can(lambda: connect(p))]",
            "datagram": f"[p for p in {self.datagram} if can(lambda: connect(p, socket.SOCK_DGRAM))]",
            "fifos": f"[p for p in {self.fifos} if can(lambda: write(p))]",
        }


REACHES_NOTHING = {"abstract": False, "stream": [], "datagram": [], "fifos": []}


@pytest.fixture
def host() -> Iterator[Host]:
    with contextlib.ExitStack() as stack:
        yield Host(stack)


def unconfined(expressions: dict[str, str]) -> dict[str, Any]:
    """Return the values of the expressions for an unprivileged process of the host."""
    values = ", ".join(f"{name!r}: {text}" for name, text in expressions.items())
    script = f"{PREFIX}\nprint(json.dumps({{{values}}}))"
    options: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
    done = subprocess.run(["/usr/bin/python3", "-I", "-c", script], capture_output=True, check=True, **options)
    return dict(json.loads(done.stdout))


def test_programs_reach_no_socket_and_no_fifo_of_the_host(host: Host, account: Account) -> None:
    reached = unconfined(host.expressions())
    assert reached == {"abstract": True, "stream": host.stream, "datagram": host.datagram, "fifos": host.fifos}
    assert account(host.expressions()) == REACHES_NOTHING


def test_nor_beside_file_systems_that_are_mounted(host: Host, account: Account) -> None:
    """A folder with a mount in it is no overlay: what lies beside it is covered one by one, as is a mounted socket."""
    inner = host.home / "inner"
    for name in ("mounted", "beside", "beside/deep"):
        (inner / name).mkdir(parents=True, mode=0o755)
    host.add(inner / "beside" / "deep")
    host.add(inner)
    (inner / "bound").touch()
    before = (
        f"mount -t tmpfs -o mode=755 none '{inner}/mounted'; echo seen > '{inner}/mounted/file'; "
        f"mount --bind '{host.stream[0]}' '{inner}/bound'"
    )
    (inner / "beside" / "file").write_text("seen too")
    host.stream.append(str(inner / "bound"))
    read = {name: f"open({str(inner / name / 'file')!r}).read().strip()" for name in ("mounted", "beside")}
    assert account({**host.expressions(), **read}, before=before) == {
        **REACHES_NOTHING, "mounted": "seen", "beside": "seen too",
    }  # fmt: skip


def test_nor_those_that_are_made_later(host: Host, tmp_path: Path, *, root: bool) -> None:
    folder = host.home
    late = [str(folder / f"late.{kind}") for kind in ("stream", "datagram", "fifo")]
    script = f"""{PREFIX}
print("ready", flush=True)
while not os.path.exists("go"):
    time.sleep(0.01)
kinds = (connect, lambda p: connect(p, socket.SOCK_DGRAM), write)
print(json.dumps([p for p, reach in zip({late}, kinds) if can(lambda: reach(p))]))
"""
    application = {"kind": "command", "client": ["/usr/bin/python3", "-I", "-c", script]}
    begun = Begun(tmp_path, application, root=root)
    output = begun.place / "flow-0-client.out"
    wait_until(lambda: output.exists() and "ready" in output.read_text(), begun.process)
    host.add(folder, "late")
    (begun.place / "flow-0-client" / "go").touch()
    assert json.loads(begun.ended()["stdout"].splitlines()[-1]) == []


def test_programs_of_a_flow_can_have_sockets_of_their_own(account: Account) -> None:
    first = """
served = socket.socket(socket.AF_UNIX)
served.bind("own")
served.listen()
"""
    assert account({"own": "can(lambda: connect('own'))", "pair": "len(socket.socketpair())"}, first=first) == {
        "own": True, "pair": 2,
    }  # fmt: skip


def test_the_keys_of_the_session_are_not_those_of_a_program(account: Account) -> None:
    """A program has a new session keyring [session-keyring(7)]."""
    libc = ctypes.CDLL(None, use_errno=True)
    add_key, keyctl, session = 248, 250, -3
    libc.syscall(keyctl, 1, None)  # KEYCTL_JOIN_SESSION_KEYRING: the test's own
    name = f"dumbbell-{os.getpid()}".encode()
    if libc.syscall(add_key, b"user", name, b"secret", 6, session) < 0:
        require("host", f"this kernel keeps no keys: {os.strerror(ctypes.get_errno())}")
    search = f"libc.syscall({keyctl}, 10, {session}, b'user', {name!r}, 0)"  # KEYCTL_SEARCH
    assert libc.syscall(keyctl, 10, session, b"user", name, 0) > 0
    assert account({"found": search}, first="libc = ctypes.CDLL(None)") == {"found": -1}


# ---------------------------------------------------------------- files, devices, processes, network


def test_programs_write_only_to_their_folder_and_shared_memory(account: Account) -> None:
    places = ["/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/srv", "/sys", "/tmp", "/usr", "/var/tmp"]
    made = "[p for p in PLACES if can(lambda: open(p + '/dumbbell-was-here', 'w'))]"
    about = account(
        {
            "written": made.replace("PLACES", repr([*places, "/run/dumbbell", "/dev/shm"])),
            "tree": "[p for p, _, _ in os.walk('/') if not p.startswith(('/proc', '/run/dumbbell', '/dev/shm'))"
            " and os.access(p, os.W_OK)]",
            "empty": "[os.listdir(p) for p in ('/tmp', '/var/tmp')]",
            "run": "os.listdir('/run')",
            "devices": "sorted(os.listdir('/dev'))",
            "places": "[os.getcwd(), os.environ['HOME'], os.environ['TMPDIR']]",
            "environment": "sorted(os.environ)",
            "hostname": "can(lambda: socket.sethostname('x'))",
        }
    )
    assert about["written"] == ["/run/dumbbell", "/dev/shm"]
    assert about["tree"] == []
    assert (about["empty"], about["run"]) == ([[], []], ["dumbbell"])
    links = ["fd", "stderr", "stdin", "stdout"]
    assert about["devices"] == sorted(["full", "null", "random", "shm", "urandom", "zero", *links])
    assert about["places"] == ["/run/dumbbell"] * 3
    assert set(about["environment"]) - {"LC_CTYPE"} == {"HOME", "LANG", "PATH", "TMPDIR"}  # Python adds LC_CTYPE
    assert not about["hostname"]
    assert not [p for p in places if Path(p, "dumbbell-was-here").exists()]


def test_programs_read_what_their_user_may_read(host: Host, account: Account, *, root: bool) -> None:
    files = {name: host.home / name for name in ("all", "group", "owner")}
    for mode, file in zip((0o644, 0o640, 0o600), files.values(), strict=True):
        file.write_text("text")
        os.chown(file, 0 if root else NOBODY, 0)
        file.chmod(mode)
    read = account({name: f"can(lambda: open({str(file)!r}))" for name, file in files.items()})
    assert read == {"all": True, "group": not root, "owner": not root}


def test_programs_have_no_rights_and_gain_none(host: Host, account: Account, *, root: bool) -> None:
    program = host.home / "set-user-id"
    shutil.copy("/usr/bin/id", program)
    program.chmod(0o4755)
    about = account(
        {
            "sets": "{int(status[k], 16) for k in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')} == {0}",
            "new": "int(status['NoNewPrivs'])",
            "user": "os.getresuid()",
            "groups": "os.getgroups()",
            "namespace": "open('/proc/self/uid_map').read().split()",
            "started": f"subprocess.run([{str(program)!r}, '-u'], capture_output=True, text=True).stdout.strip()",
            "gains": "[can(lambda: os.setuid(0)) and os.getuid() != 0, can(lambda: os.setgroups([])), "
            "can(lambda: os.chroot('/')), can(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))]",
            "mounts": "libc.mount(b'none', b'/run/dumbbell', b'tmpfs', 0, None)",
            "ends a mount": "libc.umount2(b'/tmp', 2)",
        },
        first="status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())\n"
        "libc = ctypes.CDLL(None)",
    )
    own = NOBODY if root else 0  # within the user's namespace, where 0 is the user
    assert about["sets"]
    assert about["new"] == 1
    assert about["user"] == [own] * 3
    if root:
        assert about["groups"] == []
    else:
        assert about["namespace"][:2] == ["0", str(NOBODY)]
    assert about["started"] == str(own)
    assert about["gains"] == [False] * 4
    assert (about["mounts"], about["ends a mount"]) == (-1, -1)


def test_programs_see_and_signal_their_own_processes_only(account: Account) -> None:
    about = account(
        {
            "processes": "sorted(int(os.path.basename(p)) for p in glob.glob('/proc/[0-9]*'))",
            "me": "os.getpid()",
            "signals": "[can(lambda: os.kill(1, signal.SIGKILL)), can(lambda: os.kill(PARENT, 0))]".replace(
                "PARENT", str(os.getpid() + 100_000_000 if os.getpid() < 10 else os.getpid())
            ),
            "descriptors": "sorted(map(int, os.listdir('/proc/self/fd')))[:3]",
            "of others": "[p for p in glob.glob('/proc/1/fd/*') if can(lambda: os.readlink(p))]",
            "memory": "can(lambda: open('/proc/1/mem', 'rb'))",
            "root": "can(lambda: os.listdir('/proc/1/root/'))",
        }
    )
    assert about["processes"] == [1, about["me"]]
    # Process 1 ignores the signals of its namespace; that of the test doesn't exist there.
    assert about["signals"][1] is False
    assert about["descriptors"] == [0, 1, 2]
    assert (about["of others"], about["memory"], about["root"]) == ([], False, False)


def test_programs_end_with_the_run(tmp_path: Path, *, root: bool) -> None:
    mark = f"1234.{os.getpid()}"
    script = f"setsid sleep {mark} & (sleep {mark} & exec true); echo begun"
    begun = Begun(tmp_path, {"kind": "command", "client": ["sh", "-c", script]}, root=root)
    assert begun.ended()["stdout"] == "begun\n"
    left = [p for p in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _content(p).split(b"\0")]
    assert left == []


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_programs_have_the_network_of_their_host_only(account: Account) -> None:
    with socket.create_server(("127.0.0.1", 0)) as here:
        port = here.getsockname()[1]
        about = account(
            {
                "interfaces": "sorted(name for _, name in socket.if_nameindex())",
                "listens here": f"can(lambda: socket.create_connection(('127.0.0.1', {port}), 1))",
                "names": "can(lambda: socket.getaddrinfo('example.org', 80))",
                "sockets": "len(open('/proc/net/unix').readlines())",
            }
        )
    assert about["interfaces"] == ["lo", "tun0"]
    assert (about["listens here"], about["names"]) == (False, False)
    assert about["sockets"] == 1  # the table's head


def test_files_of_programs_are_limited(account: Account) -> None:
    first = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file = open("large", "wb")
file.truncate(256 << 20)
file.seek(256 << 20)
def beyond():
    file.write(b"x")
    file.flush()
"""
    about = account(
        {
            "beyond": "can(beyond)",
            "limits": "[resource.getrlimit(resource.RLIMIT_FSIZE), resource.getrlimit(resource.RLIMIT_CORE)]",
        },
        first=first,
    )
    assert about["limits"] == [[256 << 20] * 2, [0, 0]]
    assert about["beyond"] is False


def test_a_program_that_cannot_be_isolated_is_not_started(tmp_path: Path) -> None:
    """Here for want of a right to mounts: as an ordinary user without a user namespace."""
    require_root()
    place, program = tmp_path / "run", tmp_path / "program"
    place.mkdir()
    as_nobody = given_to_nobody(place, program, GUEST)
    line = [str(program), "init", "touch", "started"]
    done = subprocess.run(line, cwd=place, capture_output=True, text=True, check=False, **as_nobody)
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.startswith("touch: can't be isolated: ")
    assert list(place.iterdir()) == []


# ---------------------------------------------------------------- iperf3 with options of a scenario

SENDS = b"of the host's owner alone"


@pytest.mark.parametrize(
    ("options", "works"),
    [
        (["--logfile", "{home}/log"], False),
        (["--logfile", "/etc/dumbbell-was-here"], False),
        (["--logfile", "/run/dumbbell/log"], True),
        (["--pidfile", "{home}/pid"], False),
        (["-F", "{home}/secret"], False),
        (["-c", "127.0.0.1", "-p", "{port}", "--connect-timeout", "1000"], False),
        (["-c", "{address}", "-p", "{port}", "--connect-timeout", "1000"], False),
        (["--bind-dev", "{interface}"], False),
        (["-B", "{address}"], False),
        (["-s", "-D", "-I", "{home}/pid"], False),
        (["--rsa-public-key-path", "{home}/secret", "--username", "me"], False),
    ],
)
def test_options_of_iperf3_leave_nothing_and_reach_nobody(
    options: list[str], host: Host, tmp_path: Path, *, works: bool
) -> None:
    """As root: the program is an unprivileged user of a host that the run has made."""
    require_root()
    require_programs("iperf3", "unshare", "ip")
    host.home.chmod(0o777)
    secret = host.home / "secret"
    secret.write_bytes(SENDS)
    secret.chmod(0o600)
    before = sorted(host.home.iterdir())
    interface, address = _elsewhere()
    with socket.create_server(("0.0.0.0", 0)) as here:
        here.setblocking(False)
        port = here.getsockname()[1]
        values = {"home": host.home, "port": port, "address": address, "interface": interface}
        args = [option.format(**values) for option in options]
        done = Begun(tmp_path, {"kind": "iperf3", "args": args}, root=True).ended()
        with pytest.raises(BlockingIOError):
            here.accept()
    # Some versions end with 0 and name the error in their document.
    assert (done["exit"] == 0 and '"error":' not in done["stdout"]) == works, done
    assert sorted(host.home.iterdir()) == before
    assert not Path("/etc/dumbbell-was-here").exists()
    assert SENDS.decode() not in done["stdout"] + done["stderr"]


def _elsewhere() -> tuple[str, str]:
    """Return an interface of this host and an address of it: loopback if it has no other."""
    rows = json.loads(subprocess.run(["ip", "-j", "-4", "address"], capture_output=True, check=True).stdout)
    found = [(row["ifname"], a["local"]) for row in rows for a in row["addr_info"] if row["ifname"] != "lo"]
    return found[0] if found else ("eth0", "192.0.2.1")
