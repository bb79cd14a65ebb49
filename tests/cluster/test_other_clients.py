"""A second client, which isn't the sweep's own, can't reach the workers of a sweep."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.cluster import dask_pool
from required import require_packages
from waiting import DEADLINE_S

STRANGERS = ("plain", "no certificate", "another certificate", "another certificate that trusts ours")
OpenSockets = dict[int, set[tuple[str, int]]]
"""Process -> the addresses and ports on which it listens."""


def opens(address: str, arguments: dict[str, Any], timeout_s: float) -> bool:
    """Return whether dask's handshake with a scheduler, a worker or a nanny succeeds."""
    from distributed.comm import connect

    async def attempt() -> bool:
        try:
            opened = await connect(address, timeout=timeout_s, **arguments)
        except OSError:
            return False
        await opened.close()
        return True

    return asyncio.run(attempt())


def refused(address: str, ours: Any) -> list[str]:
    """Return the strangers that are refused; check that a client with our credentials is not."""
    from distributed.security import Security

    other = Security.temporary()
    parts = {"tls_client_cert": other.tls_client_cert, "tls_client_key": other.tls_client_key}
    trusting = Security(require_encryption=True, tls_ca_file=ours.tls_ca_file, **parts)
    anonymous = ssl.create_default_context(cafile=ours.tls_ca_file)
    anonymous.check_hostname = False
    arguments = [
        Security().get_connection_args("client"),
        {"ssl_context": anonymous, "require_encryption": True},
        *(given.get_connection_args("client") for given in (other, trusting)),
    ]
    found = []
    for name, given in zip(STRANGERS, arguments, strict=True):
        called = address.replace("tls://", "tcp://") if name == "plain" else address
        if not opens(called, given, 10):
            found.append(name)
    assert opens(address, ours.get_connection_args("client"), DEADLINE_S)
    return found


def listening(processes: Iterable[Any]) -> OpenSockets:
    """Return where processes listen on TCP."""
    return {
        process.pid: {(*socket.laddr,) for socket in process.net_connections("inet") if socket.status == "LISTEN"}
        for process in processes
    }


@pytest.fixture
def at_two_workers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], None]], None]:
    """Return a function that sets what is done once, as soon as the job of a sweep has its two workers."""

    def set_to(do: Callable[[Any], None]) -> None:
        connected = dask_pool.DaskPool._connected
        done: list[bool] = []

        def look(pool: dask_pool.DaskPool[Any]) -> bool:
            if not done and pool.count == 2:
                done.append(True)
                do(pool._jobs)
            return connected(pool)

        monkeypatch.setattr(dask_pool, "COUNTED_S", 0.0)
        monkeypatch.setattr(dask_pool.DaskPool, "_connected", look)

    return set_to


def of_job(jobs: Any) -> list[Any]:
    """Return the processes of the only job."""
    import psutil

    (job,) = jobs.workers.values()
    found = []
    for one in psutil.process_iter():
        with suppress(ProcessLookupError):  # others end meanwhile
            if os.getsid(one.pid) == int(job.job_id):
                found.append(one)
    return found


@pytest.mark.parametrize("batch_system", ["slurm", "pbs"], indirect=True)
def test_jobs_refuse_other_clients(
    batch_system: str, cluster_scenario: Scenario, at_two_workers: Callable[[Callable[[Any], None]], None]
) -> None:
    """The scheduler, a worker and its nanny: each of them would run code."""
    found: dict[str, list[str]] = {}

    def look(jobs: Any) -> None:
        worker = next(iter(jobs.scheduler.workers.values()))
        for name, address in (
            ("scheduler", jobs.scheduler.address),
            ("worker", worker.address),
            ("nanny", worker.nanny),
        ):
            found[name] = refused(address, jobs.security)
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{jobs.scheduler.http_server.port}/json/identity.json")

    at_two_workers(look)
    dumbbell.run(cluster_scenario, cluster=f"{batch_system}:1")
    assert found == {name: list(STRANGERS) for name in ("scheduler", "worker", "nanny")}


@pytest.mark.parametrize("batch_system", ["slurm", "pbs"], indirect=True)
def test_only_a_private_file_has_the_credentials(
    batch_system: str,
    cluster_scenario: Scenario,
    at_two_workers: Callable[[Callable[[Any], None]], None],
    tmp_path: Path,
) -> None:
    modes: dict[str, int] = {}
    keys: list[str] = []
    seen: list[str] = [""]

    def look(jobs: Any) -> None:
        (folder,) = (tmp_path / "home").iterdir()
        modes.update(
            {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}, folder=folder.stat().st_mode
        )
        keys.extend((folder / "credentials.pem").read_text().splitlines())
        for process in of_job(jobs):
            seen.extend([*process.cmdline(), *process.environ().values()])

    at_two_workers(look)
    before = os.umask(0)
    try:
        dumbbell.run(cluster_scenario, cluster=f"{batch_system}:1")
    finally:
        os.umask(before)
    assert "sh" in {name.rpartition(".")[2] for name in modes}  # whoever can exchange a job's script has its rights
    assert modes.pop("folder") & 0o777 == 0o700 and modes["credentials.pem"] == 0o600
    assert "-----BEGIN PRIVATE KEY-----" in keys
    (scripts,) = (tmp_path / "bin").glob("*.scripts")
    public = "\n".join([*seen, scripts.read_text()])
    assert "credentials.pem" in public and not [line for line in keys if line in public]
    assert not [*(tmp_path / "home").iterdir()]


@pytest.mark.parametrize("interface", [None, "lo"])
@pytest.mark.parametrize("batch_system", ["slurm"], indirect=True)
def test_a_scheduler_listens_where_workers_reach_it(
    batch_system: str,
    cluster_scenario: Scenario,
    at_two_workers: Callable[[Callable[[Any], None]], None],
    interface: str | None,
) -> None:
    import dask
    import psutil
    from distributed.utils import get_ip

    found: OpenSockets = {}
    me = psutil.Process()
    before = listening([me])[me.pid]  # the end of an earlier sweep's scheduler may take longer than the sweep
    at_two_workers(lambda jobs: found.update(listening([me, *of_job(jobs)])))
    with dask.config.set({"jobqueue.slurm.interface": interface}):
        dumbbell.run(cluster_scenario, cluster=f"{batch_system}:1")
    address = "127.0.0.1" if interface else get_ip()
    assert {ip for ip, _ in found.pop(me.pid) - before} == {"127.0.0.1", address}
    of_workers = {ip for sockets in found.values() for ip, _ in sockets}
    assert {"127.0.0.1", address} <= of_workers and (interface is None or of_workers == {address})


def test_workers_of_this_machine_listen_nowhere(cluster_scenario: Scenario) -> None:
    require_packages("distributed")
    import psutil

    me, found = psutil.Process(), []
    before = set(me.children())

    def look(done: int, every: int) -> None:
        for process in set(me.children()) - before if done < every else ():  # at the end they are ending
            found.append([socket for socket in process.net_connections("all") if socket.laddr])

    dumbbell.run(cluster_scenario, cluster="local:2", progress=look)
    assert len(found) >= 2 and not any(found)
