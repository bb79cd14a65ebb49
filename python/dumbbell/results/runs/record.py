"""One run's results: as they are stored, and as the back end made them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from dumbbell.backends import Finished, Job, Rows
from dumbbell.plan.text import plan_text
from dumbbell.results.runs.derived_columns import IdlePath, flow_metrics, idle_paths, stacks, transfer_metrics
from dumbbell.scenario import Scenario

__all__ = ["Run", "UnreadRun", "jobs_of", "run_key"]


def jobs_of(scenario: Scenario) -> list[Job]:
    """List the runs that a scenario may need, cell by cell; all cells have the same seeds."""
    most = scenario.until.at_most if scenario.until is not None else scenario.repetitions
    seeds = [scenario.repetition_seed(r) for r in range(most)]
    return [Job(cell, r, seed) for cell in scenario.cells for r, seed in enumerate(seeds)]


def run_key(job: Job) -> str:
    """Identify a run by everything that determines it: its plan, its seed, the values of its cell as written."""
    text = plan_text(job.cell).of_run(job.repetition, job.seed)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Run:
    """One run: its cell, repetition and seed, and the metrics of its flows, queues and transfers.

    Attributes
    ----------
    index : int
        Its number within the results.
    cell : dict
        Path -> value for each swept path.
    facts : dict
        How a run on a real kernel was made: the kernel, the calibration, how late packets were. Empty for the
        simulator.
    """

    index: int
    key: str
    cell: dict[str, Any]
    repetition: int
    seed: int
    flows: list[dict[str, Any]]
    queues: list[dict[str, Any]]
    transfers: list[dict[str, Any]]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def invalid(self) -> list[str]:
        """Reasons why the run's figures should not be used, in sentences; empty for a valid run."""
        return list(self.facts.get("invalid", []))

    def stored(self) -> dict[str, Any]:
        """Return everything but its number within the results, as plain values."""
        return {
            "index": 0,
            "key": self.key,
            "cell": self.cell,
            "repetition": self.repetition,
            "seed": self.seed,
            "flows": self.flows,
            "queues": self.queues,
            "transfers": self.transfers,
            "facts": self.facts,
        }

    def document(self) -> dict[str, Any]:
        """Return the run as the command line's ``--json`` prints it."""
        return {
            "cell": self.cell,
            "repetition": self.repetition,
            "seed": self.seed,
            "flows": self.flows,
            "queues": self.queues,
            **({"facts": self.facts} if self.facts else {}),
        }


@dataclass(frozen=True, slots=True)
class UnreadRun:
    """A finished run whose rows are not made yet, which takes an eighth of the memory.

    Attributes
    ----------
    rows : Rows
        The rows without derived metrics.
    idle, endpoints : dict
        By flow: what the derived metrics need.
    """

    key: str
    job: Job
    rows: Rows
    facts: dict[str, Any]
    idle: dict[str, IdlePath]
    endpoints: dict[str, str | None]

    @classmethod
    def of(cls, finished: Finished, key: str) -> UnreadRun:
        """Keep a finished run, without its series and captures."""
        job, facts = finished.job, finished.facts
        endpoints = stacks(job.cell, on_kernel=bool(facts))
        return cls(key, job, finished.rows, facts, idle_paths(job.cell), endpoints)

    @property
    def repetition(self) -> int:
        """Its repetition, from 0."""
        return self.job.repetition

    def read(self) -> Run:
        """Make the record."""
        job, rows, idle, endpoints = self.job, self.rows, self.idle, self.endpoints
        return Run(
            index=0,
            key=self.key,
            cell=job.cell.values,
            repetition=job.repetition,
            seed=job.seed,
            flows=[flow_metrics(row, idle.get(row["name"]), endpoints.get(row["name"])) for row in rows.flows],
            queues=rows.queues,
            transfers=_transfers(rows.transfers, idle),
            facts=self.facts,
        )


def _transfers(rows: list[dict[str, Any]], idle: dict[str, IdlePath]) -> list[dict[str, Any]]:
    """Add the derived metrics to the rows of transfers, which are in the order of their starts."""
    known: set[tuple[str, int]] = set()
    found = []
    for row in rows:
        name, connection = row["flow"], row.get("connection")
        opens = connection is None or (name, connection) not in known
        if connection is not None:
            known.add((name, connection))
        found.append(transfer_metrics(row, idle.get(name), opens=opens))
    return found
