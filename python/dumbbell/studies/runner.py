"""Runs a study: its experiments, their analysis, the figures and the page.

All of it lies in one directory::

DIR/report.html            the page, with everything in it
DIR/study.json             the same for programs
DIR/figures/NAME.png, .svg
DIR/tables/NAME.csv        the rows behind each figure, and the tables
DIR/runs/EXPERIMENT/       the runs, as `dumbbell run --out` keeps them; a further call runs only the missing runs
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from dumbbell import _core
from dumbbell.backends import Backend
from dumbbell.exceptions import DumbbellError, ResultsError
from dumbbell.plots import Drawn, save_all
from dumbbell.results import Results, run
from dumbbell.results.runner import Progress, cores, jobs_of
from dumbbell.scenario import Scenario
from dumbbell.studies.definition import Experiment, Study
from dumbbell.studies.finding import Analysis

__all__ = ["Done", "Watch", "run_study"]

Watch = Callable[[str], AbstractContextManager[Progress]]
"""Shows the progress of one part: given its name, it provides the function that moves the bar."""


@dataclass(frozen=True)
class Done:
    """A study that was run."""

    study: Study
    quick: bool
    backend: str
    out: Path
    scenarios: dict[str, Scenario]
    folders: dict[str, Path]
    results: dict[str, Results]
    analysis: Analysis
    drawn: list[Drawn]
    seconds: float

    @property
    def runs(self) -> int:
        """Number of runs that it rests on."""
        return sum(len(r) for r in self.results.values())

    @property
    def report(self) -> Path:
        """The page."""
        return self.out / "report.html"


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    jobs: int | None = None,
    backend: Backend | None = None,
    watch: Watch | None = None,
    note: Callable[[str], None] = lambda _text: None,
) -> Done:
    """Run a study and write its report.

    Parameters
    ----------
    study : Study
    out : path
        Directory for all of it; runs that it holds already are not made again.
    quick : bool
        Fewer repetitions and points.
    jobs : int, optional
        Runs, and then figures, at a time; default: one for each core.
    backend : Backend, optional
        The back end; default: the simulator.
    watch : Watch, optional
        Shows the progress.
    note : callable, optional
        Called with messages for the user.

    Raises
    ------
    DumbbellError
        If the directory can't be used, or a run can't be made.
    """
    from dumbbell.report import write_report  # noqa: PLC0415 - the page imports the definition of a study

    _check_extras()
    watch = watch or (lambda _name: nullcontext(lambda _done, _all: None))
    began = time.perf_counter()
    place = Path(out)
    _make(place / "runs")
    scenarios = {e.name: study.scenario(e, quick=quick) for e in study.experiments}
    made_by = "" if backend is None or backend.name == "sim" else f"-{backend.name}"
    folders = {e.name: place / "runs" / (e.name + made_by + ("-quick" if quick else "")) for e in study.experiments}
    if backend is not None:
        for scenario in scenarios.values():
            backend.check(jobs_of(scenario))
    results = {}
    for experiment in study.experiments:
        folder = folders[experiment.name]
        _forget_if_stale(folder, scenarios[experiment.name], experiment, note)
        with watch(experiment.name) as moved:
            results[experiment.name] = run(
                scenarios[experiment.name], jobs=jobs, out=folder, backend=backend, progress=moved
            )
    analysis = study.analyze(results)
    with watch("figures") as moved:
        _make(place / "figures")
        drawn = save_all(analysis.pictures, place / "figures", jobs=jobs or cores(), progress=moved)
    name = "sim" if backend is None else backend.name
    done = Done(study, quick, name, place, scenarios, folders, results, analysis, drawn, time.perf_counter() - began)
    write_report(done)
    return done


def _check_extras() -> None:
    """Refuse to start if a package that the page needs is missing."""
    missing = [name for name in ("matplotlib", "jinja2", "plotly") if find_spec(name) is None]
    if missing:
        raise DumbbellError(f"a study needs {' and '.join(missing)}: pip install 'dumbbell[studies]'")


def _make(folder: Path) -> None:
    """Create a directory unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise ResultsError(f"{folder}: can't be made: {e.strerror or e}") from None


def _forget_if_stale(folder: Path, scenario: Scenario, experiment: Experiment, note: Callable[[str], None]) -> None:
    """Remove runs that another build of the simulator, or another version of the scenario file, has made.

    Only runs that this function has stamped before: they can be made again at any time.
    """
    content = scenario.to_dict()
    content.pop("repetitions", None)
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    digest.update(Path(_core.__file__).read_bytes())
    stamp, now = folder.with_name(f"{folder.name}.build"), digest.hexdigest()
    if stamp.exists() and stamp.read_text(encoding="utf-8").strip() != now and folder.exists():
        note(f"{experiment.name}: the runs in {folder} are of another build or scenario: run again")
        shutil.rmtree(folder)
    _make(stamp.parent)
    stamp.write_text(f"{now}\n", encoding="utf-8")
