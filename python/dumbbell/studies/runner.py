"""Runs a study: its experiments, their analysis, the figures and the page.

All of it lies in one directory::

DIR/report.html            the page, with everything in it
DIR/study.json             the same for programs
DIR/figures/NAME.png, .svg
DIR/tables/NAME.csv        the rows behind each figure, and the tables
DIR/runs/EXPERIMENT-uml/   the runs of the decisive cells on the real kernel, where one is. With back end `uml` it has
                           all runs, and EXPERIMENT those of the decisive cells in the simulator
DIR/runs/EXPERIMENT/       the runs, as `dumbbell run --out` keeps them; a further call runs only the missing runs
DIR/runs/seed-N/EXPERIMENT/        those of another seed than the scenarios'
DIR/runs/seed-N/ID-VALUE/EXPERIMENT/   those at another value of an open setting
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from dumbbell.backends import Backend
from dumbbell.backends import backend as find_backend
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.common.processors import cores
from dumbbell.common.words import counted
from dumbbell.exceptions import DumbbellError
from dumbbell.plots import save_all
from dumbbell.report.finding import Analysis
from dumbbell.results import Results, run
from dumbbell.scenario import Scenario
from dumbbell.studies.decisive import analyze_decisive
from dumbbell.studies.definition import Study
from dumbbell.studies.done import Done
from dumbbell.studies.doubtful import invalid_runs
from dumbbell.studies.fitting import fitting, is_fitted
from dumbbell.studies.kernel_column import Column, column, why_no_kernel
from dumbbell.studies.partial import Refused
from dumbbell.studies.refused import refused_cells, refused_table
from dumbbell.studies.sequential import SEEDS, Design, World, decide_all
from dumbbell.studies.study_runs import OWN, StudyRuns, Watch, folder_of, forget_if_stale, make

__all__ = ["Watch", "decisive_column", "run_study"]


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    *,
    quick: bool = False,
    jobs: int | None = None,
    backend: Backend | None = None,
    kernel: bool = True,
    seed: int | None = None,
    seeds: int | None = None,
    repetitions: int | None = None,
    budget: int | None = None,
    once: bool = False,
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
    kernel : bool
        With the simulator: run the study's decisive cells on the virtual-time kernel too, if one is there. On a
        kernel of this host they run in the simulator too, always.
    seed : int, optional
        The first seed. Default: 1 for a report that is decided by several seeds, else that of the scenarios.
    seeds : int, optional
        Independent decisions of a report's claims, each by its own seed: `seed`, `seed` + 1 and so on. Default: 5 for
        the whole study in the simulator, else 1.
    repetitions : int, optional
        Repetitions of each cell when the claims are first looked at; default: those of the scenarios.
    budget : int, optional
        Most repetitions of a cell in a decision. Claims that are open get more repetitions up to it. Default: for the
        whole study in the simulator `Study.looks`, else no more than those of the scenario.
    once : bool
        Look at the claims once, by one seed, with the repetitions of the scenarios and at their own values of the
        settings that a report leaves open.
    watch : Watch, optional
        Shows the progress.
    note : callable, optional
        Called with messages for the user.

    Raises
    ------
    DumbbellError
        If the directory can't be used, or a run can't be made; for `kernel` False on another back end than the
        simulator.
    """
    from dumbbell.studies.report_files import write_report  # needs Matplotlib

    _check_extras()
    watch = watch or (lambda _name: nullcontext(lambda _done, _all: None))
    began = time.perf_counter()
    place = Path(out)
    name = "sim" if backend is None else backend.name
    decides = study.paper.listed and not quick and not once and name == "sim"
    _refuse(study, name, kernel=kernel, once=once, several=seeds is not None or budget is not None)
    _begin(place)
    study = study.on(name)
    scenarios = {e.name: study.scenario(e, quick=quick, kernel=name != "sim") for e in study.experiments}
    first = {name: scenario.repetitions for name, scenario in scenarios.items()}
    design = Design.of(
        first.values(),
        seed=seed,
        seeds=seeds or (SEEDS if decides else 1),
        looks=study.looks if decides else 1,
        budget=budget,
        repetitions=repetitions,
    )
    refused = {} if backend is None else refused_cells(backend, scenarios)
    part = None
    if is_fitted(backend, study, quick=quick):
        if design != Design():
            raise DumbbellError("a quick study in real time has the seed and the repetitions that fit into its time")
        part = fitting(study, scenarios, refused)
        scenarios, refused = part.scenarios, part.added_to(refused)
        note(part.text)
    runs = StudyRuns(study, place, backend, quick, jobs, watch, note, refused, scenarios, part)
    world, decided = World(design.seeds[0]), None
    if design.once:
        counts = {name: design.at(0, n) for name, n in first.items()}
        results = runs.made(world, counts)
    else:
        decided, results, counts = decide_all(study, design, first, runs.made, quick=quick)
    scenarios = {e.name: runs.scenario(e, world, counts[e.name]) for e in study.experiments}
    folders = {e.name: runs.folder(e, world) for e in study.experiments}
    beside = None
    if kernel and (name in {"sim", "uml"} or (name == "kernel" and not study.real_programs)):
        of_part = None if part is None else part.repetitions
        on = "uml" if name == "sim" else "sim"
        beside = _beside(study, place, results, quick, jobs, watch, note, on=on, repetitions=of_part, world=world)
    if part is None:
        analysis = study.analyze(results, quick=quick, decided=decided)
    else:
        analysis = analyze_decisive(study, results, quick=quick)
    analysis = _completed(analysis, beside, results, refused, _source(study, scenarios, results), note)
    with watch("figures") as moved:
        make(place / "figures")
        drawn = save_all(analysis.pictures, place / "figures", jobs=jobs or cores(), progress=moved)
    seconds = time.perf_counter() - began
    done = Done(
        study, quick, name, place, scenarios, folders, results, analysis, drawn, seconds, beside, refused, design
    )  # fmt: skip
    write_report(done)
    return done


def _refuse(study: Study, backend: str, *, kernel: bool, once: bool, several: bool) -> None:
    """Refuse options that the study or the back end doesn't have; `several`: seeds or a budget are given."""
    if several and not study.paper.listed:
        raise DumbbellError(f"study {study.name}: several seeds and a budget are for studies of a report's claims")
    if several and once:
        raise DumbbellError("once given: it means one seed and no budget, so leave out seeds and budget")
    if backend != "sim" and not kernel:
        raise DumbbellError(f"the kernel can be left out of a run of the simulator, not of one on back end '{backend}'")


def _completed(
    analysis: Analysis,
    beside: Column | None,
    results: Mapping[str, Results],
    refused: Refused,
    source: str,
    note: Callable[[str], None],
) -> Analysis:
    """Add to an analysis what the runs on the other back end, invalid runs and cells left out have."""
    if beside is not None:
        analysis = replace(analysis, summary=[*analysis.summary, beside.summary])
        if beside.rows:
            analysis = replace(
                analysis, pictures=[*analysis.pictures, beside.picture()], tables=[beside.table(), *analysis.tables]
            )
    if doubtful := invalid_runs(results):
        analysis = replace(analysis, summary=[*analysis.summary, doubtful])
        note(doubtful)
    if refused:
        analysis = replace(analysis, tables=[*analysis.tables, refused_table(refused)])
    return replace(analysis, pictures=[replace(p, source=p.source or source) for p in analysis.pictures])


def _beside(
    study: Study,
    place: Path,
    results: Mapping[str, Results],
    quick: bool,
    jobs: int | None,
    watch: Watch,
    note: Callable[[str], None],
    *,
    on: str,
    repetitions: int | None = None,
    world: World = OWN,
) -> Column | None:
    """Run the study's decisive cells on the other back end: the virtual-time kernel, or the simulator.

    `repetitions`, if given, replaces those that the study declares.
    """
    declared = study.kernel
    if declared is None:
        return None
    reason = why_no_kernel() if on == "uml" else ""
    if reason:
        return Column(absent=reason)
    backend = find_backend(on)
    wanted = declared.quick if quick else declared.repetitions
    there, scenarios, folders = {}, {}, {}
    for experiment in (e for e in study.experiments if e.name in declared.cells):
        folder = folder_of(place, experiment, on, quick, world)
        # Runs of both back ends have the same length.
        scenario = study.scenario(experiment, quick=quick, kernel=on == "uml", slower=on == "sim")
        scenario = scenario.with_changes({"repetitions": repetitions or min(wanted, scenario.repetitions)})
        if world.seed is not None:
            scenario = scenario.with_changes({"seed": world.seed})
        forget_if_stale(folder, scenario, experiment, note)
        with watch(f"{experiment.name} {'on Linux' if on == 'uml' else 'in the simulator'}") as moved:
            there[experiment.name] = run(
                scenario,
                jobs=jobs,
                out=folder,
                backend=backend,
                only=lambda cell, name=experiment.name: declared.holds(name, cell),  # type: ignore[misc]
                progress=moved,
            )
        scenarios[experiment.name], folders[experiment.name] = scenario, folder
    if on == "uml":
        return column(study, results, there, scenarios, folders)
    return column(study, there, results, scenarios, folders, added="sim")


def decisive_column(study: Study, out: str | os.PathLike[str], *, jobs: int | None = None) -> Column:
    """Run nothing but a study's decisive cells, in the simulator and on the virtual-time kernel.

    Parameters
    ----------
    study : Study
    out : path
        As for `run_study`.
    jobs : int, optional
        Runs at a time; default: one for each core.

    Raises
    ------
    DumbbellError
        If the study declares no decisive cells.
    """
    declared, place, here = study.kernel, Path(out), {}
    if declared is None:
        raise DumbbellError(f"study {study.name} declares no decisive cells")
    _begin(place)
    for experiment in (e for e in study.experiments if e.name in declared.cells):
        here[experiment.name] = run(
            study.scenario(experiment),
            jobs=jobs,
            out=folder_of(place, experiment, "sim", quick=False),
            only=lambda cell, name=experiment.name: declared.holds(name, cell),  # type: ignore[misc]
        )
    quietly: Watch = lambda _name: nullcontext(lambda _done, _all: None)  # noqa: E731 - as in `run_study`
    beside = _beside(study, place, here, False, jobs, quietly, print, on="uml")
    return beside if beside is not None else Column(absent="the study declares no decisive cells")


def _source(study: Study, scenarios: Mapping[str, Scenario], results: Mapping[str, Results]) -> str:
    """Return the small print of a study's figures: its name, the seeds of its scenarios, its runs and the version."""
    seeds = sorted({scenario.seed for scenario in scenarios.values()})
    runs = sum(len(each) for each in results.values())
    made_by = sorted({each.made_by for each in results.values()})
    word = "seed" if len(seeds) == 1 else "seeds"
    return f"study {study.name} · {word} {', '.join(map(str, seeds))} · {counted(runs, 'run')} · {', '.join(made_by)}"


def _check_extras() -> None:
    """Refuse to start if a package that the page needs is missing."""
    missing = [name for name in ("matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        raise DumbbellError(f"a study needs {' and '.join(missing)}: pip install 'dumbbell[studies]'")


def _begin(place: Path) -> None:
    """Make the directory of a study, or refuse one that has links."""
    LinkFreeFolder(place).check()
    make(place / "runs")
