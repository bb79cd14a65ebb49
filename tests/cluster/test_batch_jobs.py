"""Jobs of Slurm and PBS make the runs of a sweep."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from cluster_runs import check_same_bytes
from dumbbell import BackendError, Scenario
from dumbbell.cluster import dask_pool
from required import require_packages


@pytest.mark.parametrize("batch_system", ["slurm", "pbs"], indirect=True)
def test_a_job_whose_workers_are_gone_is_submitted_again(
    batch_system: str, cluster_scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch system ends a job at its time limit. A job has two workers here."""
    ended: list[str] = []
    connected = dask_pool.DaskPool._connected

    def end_the_first(pool: dask_pool.DaskPool[Any]) -> bool:
        if not ended and pool.count == 2:
            (job,) = pool._jobs.workers.values()
            os.killpg(int(job.job_id), signal.SIGKILL)
            ended.append(job.job_id)
        return connected(pool)

    monkeypatch.setattr(dask_pool, "GONE_S", 0.0)
    monkeypatch.setattr(dask_pool, "COUNTED_S", 0.0)
    monkeypatch.setattr(dask_pool.DaskPool, "_connected", end_the_first)
    check_same_bytes(cluster_scenario, tmp_path, f"{batch_system}:1")
    assert len(ended) == 1
    if batch_system == "pbs":  # two jobs of one node with two processors, as qsub reads their scripts [qsub(1)]
        lines = (tmp_path / "bin" / "qsub.scripts").read_text().splitlines()
        resources = [line for line in lines if line.startswith("#PBS -l")]
        assert resources == ["#PBS -l select=1:ncpus=2:mem=1908MB", "#PBS -l walltime=00:30:00"] * 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("kind", ["slurm", "pbs"])
def test_jobs_without_a_size_are_an_error_of_one_line(cluster_scenario: Scenario, kind: str) -> None:
    require_packages("distributed", "dask_jobqueue")
    line = f"--cluster: {kind}: the size of a job is unknown: set jobqueue.{kind}.cores in ~/.config/dask/jobqueue.yaml"
    with pytest.raises(BackendError, match=f"^{re.escape(line)}$"):
        dumbbell.run(cluster_scenario, cluster=f"{kind}:2")


SETTINGS = {
    "interface": ("no such", "--cluster: slurm: .*'no such' is not a valid network interface.*"),
    "shared-temp-directory": (
        "/no/such",
        re.escape(
            "--cluster: slurm: /no/such: No such file or directory: jobs need a folder there (or in "
            "jobqueue.slurm.shared-temp-directory of ~/.config/dask/jobqueue.yaml)"
        ),
    ),
}


@pytest.mark.parametrize("batch_system", ["slurm"], indirect=True)
@pytest.mark.parametrize("key", SETTINGS)
def test_a_wrong_setting_of_jobs_is_an_error_of_one_line(
    batch_system: str, cluster_scenario: Scenario, tmp_path: Path, key: str
) -> None:
    import dask

    value, line = SETTINGS[key]
    with dask.config.set({f"jobqueue.slurm.{key}": value}), pytest.raises(BackendError, match=f"^{line}$"):
        dumbbell.run(cluster_scenario, cluster=f"{batch_system}:1")
    assert not [*(tmp_path / "home").iterdir()]


@pytest.mark.parametrize("batch_system", ["slurm"], indirect=True)
def test_jobs_without_the_package_for_certificates_are_an_error_of_one_line(
    batch_system: str, cluster_scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(BackendError, match=r"^--cluster: slurm: [^\n]*`cryptography`[^\n]*$"):
        dumbbell.run(cluster_scenario, cluster=f"{batch_system}:1")
    assert not [*(tmp_path / "home").iterdir()]
