"""Results directories of earlier formats: they can be read, not continued.

Formats 1 and 2 held one file a run, ``runs/KEY.json``. A flow that named no preset ran on `rfc` in format 1, whatever
its variant, and later in 0.1.0 only with Tahoe, Reno, NewReno or SACK.
"""

from __future__ import annotations

from typing import Any

from dumbbell.common.documents import read_json
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.results.runs.checked_run import run_of
from dumbbell.results.runs.record import jobs_of, run_key
from dumbbell.results.runs.run_list import RunLog
from dumbbell.scenario import Scenario

__all__ = ["BEFORE_BATCHES", "read", "scenario_of"]

BEFORE_BATCHES = 2
BEFORE_DEFAULT_STACKS = 1
BEFORE_ONE_DEFAULT = "0.1.0"
ON_RFC = {"tahoe", "reno", "newreno", "sack"}
"""Variants whose default was `rfc` before all variants had the same."""


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


def scenario_of(manifest: dict[str, Any]) -> Scenario:
    """Read the scenario, with the preset of every flow that named none and ran on `rfc`.

    A flow whose swept variants had different defaults can't name one: its runs are read as those on today's default.
    """
    document: dict[str, Any] = manifest["scenario"]
    # Before the rest looks into the document, it is known to be a scenario.
    scenario = Scenario.from_dict(document)
    always = manifest["format"] == BEFORE_DEFAULT_STACKS
    if not always and manifest.get("version") != BEFORE_ONE_DEFAULT:
        return scenario

    def named(flow: dict[str, Any]) -> dict[str, Any]:
        stack = flow.get("stack", {})
        if "variant" not in flow or not isinstance(stack, dict):
            return flow
        on_rfc = always or all(_name(variant) in ON_RFC for variant in _variants(document, flow))
        return {**flow, "stack": {"preset": "rfc", **stack}} if on_rfc else flow

    # The flows of a preset (`rrul`) may be all that there are.
    flows = [named(flow) for flow in document.get("flows") or []]
    return Scenario.from_dict({**document, "flows": flows}) if flows else scenario


def _variants(document: dict[str, Any], flow: dict[str, Any]) -> list[Any]:
    """Return the variants that a flow has in some cell."""
    path, sweep = f"flows.{flow['name']}.variant", document.get("sweep") or {}
    cases = [case[path] for case in sweep.get("cases") or [] if path in case]
    return [*(sweep.get(path) or []), *cases] or [flow["variant"]]


def _name(variant: Any) -> Any:  # noqa: ANN401 - as in a file
    return variant.get("name") if isinstance(variant, dict) else variant
