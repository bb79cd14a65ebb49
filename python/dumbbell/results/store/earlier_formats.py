"""Results directories of earlier formats: they can be read, not continued.

Format 2 held one file a run, ``runs/KEY.json``. In format 1, besides, a flow that named no preset ran on `rfc`,
whatever its variant.
"""

from __future__ import annotations

from typing import Any

from dumbbell.common.documents import read_json
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.results.runs.checked_run import run_of
from dumbbell.results.runs.record import jobs_of, run_key
from dumbbell.results.runs.run_list import RunLog
from dumbbell.scenario import Scenario

__all__ = ["BEFORE_BATCHES", "BEFORE_DEFAULT_STACKS", "read", "with_stacks"]

BEFORE_BATCHES = 2
BEFORE_DEFAULT_STACKS = 1


def read(folder: LinkFreeFolder, scenario: Scenario) -> RunLog:
    """Read the runs of a directory of format 1 or 2."""
    log = RunLog()
    for job in jobs_of(scenario):
        key = run_key(job)
        try:
            run = run_of(read_json(folder.read(f"runs/{key}.json")), key)
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            log.damaged += 1
            continue
        log.add(job.cell.number, run)
    return log


def with_stacks(document: dict[str, Any]) -> dict[str, Any]:
    """Name the preset of every flow that named none before variants had default stacks."""

    def named(flow: dict[str, Any]) -> dict[str, Any]:
        stack = flow.get("stack", {})
        if "variant" not in flow or not isinstance(stack, dict):
            return flow
        return {**flow, "stack": {"preset": "rfc", **stack}}

    return {**document, "flows": [named(flow) for flow in document["flows"]]}
