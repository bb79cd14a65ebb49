"""The machines that ``--cluster`` names: a scheduler of dask, or jobs of a batch system."""

from __future__ import annotations

import re

from dumbbell.cluster.dask_pool import DaskCluster
from dumbbell.common import extras

__all__ = ["read"]

_BATCH = re.compile(r"(slurm|pbs):([1-9]\d{0,4})")
_DASK = re.compile(r"(dask|tls)://([^\s/:]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")


def read(text: str) -> DaskCluster | None:
    """Read the text of ``--cluster``; None if it has another form.

    Raises
    ------
    DumbbellError
        If the extra ``cluster`` is needed and not installed.
    """
    if (found := _BATCH.fullmatch(text)) is not None:
        extras.require("distributed", "dask_jobqueue")
        return DaskCluster(found[1], int(found[2]))
    if (found := _DASK.fullmatch(text)) is not None and int(found[3]) < 2**16:
        extras.require("distributed")
        protocol = "tls" if found[1] == "tls" else "tcp"
        return DaskCluster("dask", address=f"{protocol}://{found[2]}:{found[3]}")
    return None
