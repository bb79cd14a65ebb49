"""A cluster of dask on this machine, in processes of its own; prints the scheduler's address and the workers' IDs.

    python tests/support/dask_cluster.py WORKERS

It ends when its stdin is closed.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Start the cluster; keep it until stdin is closed."""
    from distributed import LocalCluster

    number = int(sys.argv[1])
    with LocalCluster(
        n_workers=number, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        pids = [worker.pid for worker in cluster.workers.values()]
        print(address, *pids, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
