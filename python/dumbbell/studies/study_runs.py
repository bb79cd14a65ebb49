"""The runs of a study: each experiment's, by seed and value of an open setting, in a folder of their own."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.backends import Backend
from dumbbell.exceptions import ResultsError
from dumbbell.kernel.host.backend import Kernel
from dumbbell.results import run
from dumbbell.results.running.runner import Progress
from dumbbell.results.store.build_hash import build_hash
from dumbbell.scenario import Scenario
from dumbbell.studies.definition import Experiment, Study
from dumbbell.studies.fitting import Part
from dumbbell.studies.partial import Refused, StudyResults
from dumbbell.studies.refused import words_of
from dumbbell.studies.sequential import World

__all__ = ["OWN", "StudyRuns", "Watch", "folder_of", "forget_if_stale", "make"]

Watch = Callable[[str], AbstractContextManager[Progress]]
"""Shows the progress of one part: given its name, it provides the function that moves the bar."""
OWN = World(None)
"""The scenarios as they are: with their own seed and the values of open settings that they have."""


@dataclass(frozen=True)
class StudyRuns:
    """Makes the runs of a study.

    Attributes
    ----------
    study : Study
    place : Path
        Directory of the study.
    backend : Backend or None
        None: the simulator.
    quick, jobs, watch, note
        As for `dumbbell.studies.run_study`.
    refused : Refused
        The cells that the back end can't run.
    scenarios : dict of str to Scenario
        By experiment.
    part : Part or None
        The part of a quick study in real time, whose scenarios stay as they are.
    """

    study: Study
    place: Path
    backend: Backend | None
    quick: bool
    jobs: int | None
    watch: Watch
    note: Callable[[str], None]
    refused: Refused
    scenarios: dict[str, Scenario]
    part: Part | None

    def made(self, world: World, counts: Mapping[str, int]) -> StudyResults:
        """Make the missing runs of some experiments, and return all of theirs.

        Parameters
        ----------
        world : World
        counts : mapping of str to int
            Repetitions by experiment.
        """
        found = StudyResults({}, self.refused)
        weighed = self.backend if self.part is not None and isinstance(self.backend, Kernel) else None
        for experiment in (e for e in self.study.experiments if e.name in counts):
            scenario = self.scenario(experiment, world, counts[experiment.name])
            folder, left_out = self.folder(experiment, world), self.refused.get(experiment.name, {})
            forget_if_stale(folder, scenario, experiment, self.note)
            if self.part is not None and weighed is not None:
                weighed.weigh = self.part.weights(experiment.name)
            seed = "" if world.seed is None else f"seed {world.seed}"
            with self.watch(", ".join(x for x in (experiment.name, seed, world.words) if x)) as moved:
                found[experiment.name] = run(
                    scenario,
                    jobs=self.jobs,
                    out=folder,
                    backend=self.backend,
                    only=lambda cell, out=left_out: words_of(cell) not in out,  # type: ignore[misc]
                    progress=moved,
                )
        if weighed is not None:
            weighed.weigh = None
        return found

    def scenario(self, experiment: Experiment, world: World, repetitions: int) -> Scenario:
        """Return the scenario of an experiment in a world."""
        if self.part is not None:
            return self.scenarios[experiment.name]
        value = world.value
        changes: dict[str, Any] = {"repetitions": repetitions, **(value.changes if value is not None else {})}
        if world.seed is not None:
            changes["seed"] = world.seed
        file = value.file if value is not None else ""
        kernel = self.backend is not None and self.backend.name != "sim"
        return self.study.scenario(experiment, quick=self.quick, kernel=kernel, more=changes, file=file)

    def folder(self, experiment: Experiment, world: World) -> Path:
        """Return the directory of an experiment's runs in a world."""
        name = "sim" if self.backend is None else self.backend.name
        return folder_of(self.place, experiment, name, self.quick, world)


def folder_of(place: Path, experiment: Experiment, backend: str, quick: bool, world: World = OWN) -> Path:
    """Return the directory of an experiment's runs on a back end, in a world."""
    made_by = "" if backend == "sim" else f"-{backend}"
    of_world = [] if world.seed is None else [f"seed-{world.seed}"]
    if world.setting is not None and world.value is not None:
        of_world.append(re.sub(r"[^a-z0-9.]+", "-", f"{world.setting.id} {world.value.name}".lower()).strip("-"))
    return place.joinpath("runs", *of_world, experiment.name + made_by + ("-quick" if quick else ""))


def _seed(world: World) -> str:
    return "" if world.seed is None else f"seed {world.seed}"


def make(folder: Path) -> None:
    """Create a directory unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise ResultsError(f"{folder}: can't be made: {e.strerror or e}") from None


def forget_if_stale(folder: Path, scenario: Scenario, experiment: Experiment, note: Callable[[str], None]) -> None:
    """Remove runs that another build of the simulator, or another version of the scenario file, has made.

    Only runs that this function has stamped before: they can be made again at any time.
    """
    content = scenario.to_dict()
    content.pop("repetitions", None)
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    digest.update(build_hash().encode())
    stamp, now = folder.with_name(f"{folder.name}.build"), digest.hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8").strip() != now and folder.exists():
        note(f"{experiment.name}: the runs in {folder} are of another build or scenario: run again")
        shutil.rmtree(folder)
    make(stamp.parent)
    stamp.write_text(f"{now}\n", encoding="utf-8")
