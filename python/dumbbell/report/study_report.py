"""The report of a study: its content as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.report.content import Content, Ran
from dumbbell.report.results_report import host
from dumbbell.results.lint import lint
from dumbbell.results.store import Store

if TYPE_CHECKING:
    from dumbbell.results.lint import Warned
    from dumbbell.studies import Done
    from dumbbell.studies.definition import Experiment

__all__ = ["of_study"]


def of_study(done: Done) -> Content:
    """Make the report of a study."""
    study, analysis = done.study, done.analysis
    claims = {c.id: c.text for c in study.paper.claims}
    manifests = [Store(folder).manifest() for folder in done.folders.values()]
    options = (" --quick" if done.quick else "") + (f" --backend {done.backend}" if done.backend != "sim" else "")
    first = study.experiments[0]
    return Content(
        title=study.title,
        kind=f"Study {study.name}",
        what=study.what,
        source=f"after {', '.join(study.paper.authors)}: {study.paper.title} ({study.paper.method})",
        notice="Quick run: fewer repetitions and points than the study has. Good for a look; take verdicts from the "
        "whole study." if done.quick else "",
        version=_core.version,
        begun=min(m["started"] for m in manifests)[:19].replace("T", " "),
        ran=[_ran(done, e) for e in study.experiments],
        pictures=[d.picture for d in done.drawn],
        figure_note=study.figures_note,
        again=f"dumbbell study run {study.name}{options} --out DIR\n"
        f"dumbbell study show {study.name}            # where the scenario files are: copy one, change it, then\n"
        f"dumbbell run {first.file} --out DIR",
        summary=analysis.summary,
        findings=[(f, claims[f.claim]) for f in analysis.findings],
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


def _warnings(done: Done) -> list[tuple[str, Warned]]:
    """Return the warnings that the study does not expect."""
    return [
        (e.name, warned)
        for e in done.study.experiments
        for warned in lint(done.results[e.name])
        if warned.name not in e.expected
    ]


def _ran(done: Done, experiment: Experiment) -> Ran:
    scenario, results = done.scenarios[experiment.name], done.results[experiment.name]
    figures = f"; figures {experiment.figures}" if experiment.figures else ""
    return Ran(
        name=experiment.name,
        what=experiment.what + figures,
        cells=len(scenario.cells),
        runs=len(results),
        repetitions=str(scenario.repetitions),
        duration=str(scenario.duration),
        seeds=f"{scenario.seed}, which gives {', '.join(str(s) for s in sorted({r.seed for r in results.runs}))}",
        text=done.study.scenario_file(experiment).read_text(encoding="utf-8"),
        changes=[f"{path} = {value}" for path, value in experiment.quick.items()] if done.quick else (),
    )
