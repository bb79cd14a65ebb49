"""Jobs of Slurm or PBS, and the scheduler of dask in this process that gives them tasks.

Whoever can open a connection to a scheduler or a worker of dask runs code there. So the connections of a sweep are
TLS, and both ends of each prove that they have the private key of this sweep. Jobs get it as a file that only their
user can read: other users may see command lines, environments and job scripts.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from dumbbell.exceptions import BackendError

if TYPE_CHECKING:
    from distributed.security import Security

__all__ = ["private_folder", "submit"]

FOLDER_PREFIX = ".dumbbell-jobs-"
HTTP_OF_WORKERS = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
"""A worker serves its state over plain HTTP, by default on all addresses; dask can't leave it out."""


def private_folder(kind: str) -> TemporaryDirectory[str]:
    """Make a folder of mode 700 that jobs can read: in the home directory, or where dask's configuration says.

    Raises
    ------
    BackendError
        If it can't be made.
    """
    place = Path(os.path.expandvars(_setting(kind, "shared-temp-directory") or "~")).expanduser().absolute()
    try:
        return TemporaryDirectory(prefix=FOLDER_PREFIX, dir=place, ignore_cleanup_errors=True)
    except OSError as e:
        raise BackendError(
            f"--cluster: {kind}: {place}: {e.strerror}: jobs need a folder there (or in "
            f"jobqueue.{kind}.shared-temp-directory of ~/.config/dask/jobqueue.yaml)"
        ) from None


def submit(kind: str, number: int, folder: Path) -> Any:  # noqa: ANN401
    """Start a scheduler and submit jobs; dask's configuration has their size. Returns dask-jobqueue's object for them.

    Parameters
    ----------
    kind : str
        "slurm" or "pbs".
    number : int
        Jobs.
    folder : Path
        A private folder, which gets the credentials and the job scripts.

    Raises
    ------
    BackendError
        If the size of a job is unknown.
    ImportError, OSError, RuntimeError, ValueError
        If the scheduler can't be started.
    """
    import dask.config  # slow to import

    at_interrupt = signal.getsignal(signal.SIGINT)
    from dask_jobqueue import PBSCluster, SLURMCluster  # adds defaults to dask's configuration

    signal.signal(signal.SIGINT, at_interrupt)  # the import makes Ctrl-C end the process without an error
    from distributed.utils import get_ip

    for key in ("cores", "memory"):
        if _setting(kind, key) is None:
            raise BackendError(
                f"--cluster: {kind}: the size of a job is unknown: set jobqueue.{kind}.{key} in "
                "~/.config/dask/jobqueue.yaml"
            )
    cluster: Any = {"slurm": SLURMCluster, "pbs": PBSCluster}[kind]
    base: Any = cluster.job_cls

    class Job(base):  # type: ignore[misc]
        """A job whose script no other user can exchange: dask-jobqueue's own is for a moment any user's in ``/tmp``."""

        @contextmanager
        def job_file(self) -> Iterator[str]:
            file = folder / f"{self.name}.sh"
            file.write_text(self.job_script(), encoding="utf-8")
            yield str(file)

    # The usual port of the dashboard may be taken; other machines don't need it.
    options = {"dashboard": False, "dashboard_address": "127.0.0.1:0"} | (_setting(kind, "scheduler-options") or {})
    if not (_setting(kind, "interface") or options.keys() & {"host", "interface", "contact_address"}):
        options["host"] = get_ip()  # the address that jobs are given; otherwise the scheduler listens on all
    with dask.config.set({"distributed.scheduler.http.routes": []}):  # every user of this machine reaches them
        jobs = cluster(
            job_cls=Job,
            security=_security(folder),
            scheduler_options=options,
            # "extra" is the former name of this setting.
            worker_extra_args=[
                *HTTP_OF_WORKERS,
                *(_setting(kind, "worker-extra-args") or _setting(kind, "extra") or []),
            ],
        )
    jobs.scale(jobs=number)
    return jobs


def _setting(kind: str, key: str) -> Any:  # noqa: ANN401
    """Return a setting of a batch system's jobs in dask's configuration; None if it has none."""
    import dask.config  # slow to import

    return dask.config.get(f"jobqueue.{kind}.{key}", None)


def _security(folder: Path) -> Security:
    """Make credentials for all parts of a cluster: one file with a private key and its certificate."""
    from distributed.security import Security

    made = Security.temporary()
    file = folder / "credentials.pem"
    file.touch(mode=0o600, exist_ok=False)
    file.write_text(made.tls_worker_key + made.tls_worker_cert, encoding="ascii")
    parts = [f"tls_{role}_{part}" for role in ("client", "scheduler", "worker") for part in ("cert", "key")]
    return Security(require_encryption=True, **dict.fromkeys(["tls_ca_file", *parts], str(file)))
