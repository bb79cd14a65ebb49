"""The report of a study: its content as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.report.content import Content, Lesson, Ran
from dumbbell.report.results_report import host
from dumbbell.results.statistics.lint import lint
from dumbbell.results.store.directory import Store
from dumbbell.studies.lessons import lessons
from dumbbell.studies.listing import sure

if TYPE_CHECKING:
    from dumbbell.results import Results
    from dumbbell.results.statistics.lint import LintWarning
    from dumbbell.studies.definition import Experiment
    from dumbbell.studies.done import Done

__all__ = ["lessons_of", "of_study"]


def of_study(done: Done) -> Content:
    """Make the report of a study."""
    study, analysis = done.study, done.analysis
    claims = {c.id: c for c in study.paper.claims}
    manifests = [Store(folder).manifest() for folder in done.folders.values()]
    options = (" --quick" if done.quick else "") + (f" --backend {done.backend}" if done.backend != "sim" else "")
    if study.paper.listed and done.design.once and not options:
        options += " --once"
    options += done.design.options()
    if done.column is None and done.backend == "sim" and study.kernel is not None:
        options += " --no-kernel"
    first = study.experiments[0]
    return Content(
        title=study.title,
        kind=f"Study {study.name}",
        what=study.what,
        source=f"after {', '.join(study.paper.authors)}: {study.paper.title} ({study.paper.method})",
        notice=_notice(done),
        version=_core.version,
        begun=min(m["started"] for m in manifests)[:19].replace("T", " "),
        ran=[*(_ran(done, e) for e in study.experiments), *_ran_beside(done)],
        pictures=[d.picture for d in done.drawn],
        figure_note=study.figures_note,
        again=f"dumbbell study run {study.name}{options} --out DIR\n"
        f"dumbbell study show {study.name}            # where the scenario files are: copy one, change it, then\n"
        f"dumbbell run {first.file} --out DIR",
        lessons=lessons_of(done),
        summary=analysis.summary,
        findings=[(f, claims[f.claim].text) for f in analysis.findings],
        sure={f.claim: sure(claims[f.claim], f, quick=done.quick) for f in analysis.findings},
        untestable=[(c.id, c.text, c.untestable) for c in study.paper.claims if c.untestable],
        disclosed=[*done.design.sentences(), *study.paper.disclosed],
        revised={c.id: c.revised for c in study.paper.judged if c.revised},
        tables=analysis.tables,
        notes=analysis.notes,
        warnings=_warnings(done),
        facts=[
            ("version", f"Dumbbell {_core.version}"),
            ("back end", done.backend),
            ("host", host(manifests[0])),
            *((f"report: {name}", fact) for name, fact in study.paper.facts.items()),
        ],
        definitions=study.definitions,
    )  # fmt: skip


def lessons_of(done: Done) -> list[Lesson]:
    """Return the lessons of a study that was run."""
    verdicts = {f.claim: f.verdict for f in done.analysis.findings}
    return lessons(done.study, verdicts, (d.picture.name for d in done.drawn))


def _notice(done: Done) -> str:
    """Return what a quick run is good for; a study without claims has no verdicts."""
    if not done.quick:
        return ""
    final = "verdicts" if done.study.paper.judged else "numbers"
    return (
        "Quick run: fewer repetitions and points than the study has. Good for a look; "
        f"take {final} from the whole study."
    )


def _warnings(done: Done) -> list[tuple[str, LintWarning]]:
    """Return the warnings that the study does not expect."""
    return [
        (e.name, warned)
        for e in done.study.experiments
        for warned in lint(done.results[e.name])
        if warned.name not in e.expected
    ]


def _ran_beside(done: Done) -> list[Ran]:
    """List the runs of the decisive cells on the other back end."""
    if done.column is None:
        return []
    where = f"on Linux {done.column.kernel}, in virtual time" if done.column.added == "uml" else "in the simulator"
    found = []
    for experiment in (e for e in done.study.experiments if e.name in done.column.results):
        scenario, results = done.column.scenarios[experiment.name], done.column.results[experiment.name]
        changes = done.study.changes(experiment, quick=done.quick, kernel=done.column.added == "uml")
        found.append(
            Ran(
                name=done.column.folders[experiment.name].name,
                what=f"decisive cells of {experiment.name} {where}",
                cells=len(results.by_cell()),
                runs=len(results),
                repetitions=str(scenario.repetitions),
                duration=str(scenario.duration),
                seeds=_seeds(scenario.seed, results),
                text=done.study.scenario_text(experiment),
                changes=[f"{path} = {value}" for path, value in changes.items()],
            )
        )
    return found


def _seeds(seed: int, results: Results) -> str:
    return f"{seed}, which gives {', '.join(str(s) for s in sorted({r.seed for r in results.runs}))}"


def _ran(done: Done, experiment: Experiment) -> Ran:
    scenario, results = done.scenarios[experiment.name], done.results[experiment.name]
    figures = f"; figures {experiment.figures}" if experiment.figures else ""
    changes = done.study.changes(experiment, quick=done.quick, kernel=done.backend != "sim")
    return Ran(
        name=experiment.name,
        what=experiment.what + figures,
        cells=len(scenario.cells),
        runs=len(results),
        repetitions=str(scenario.repetitions),
        duration=str(scenario.duration),
        seeds=_seeds(scenario.seed, results),
        text=done.study.scenario_text(experiment),
        changes=[f"{path} = {value}" for path, value in changes.items()],
    )
