"""The start of a lab: a directory with the student's handout, scenario and form for answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template
from textwrap import wrap

from dumbbell import _core
from dumbbell.common.extras import require
from dumbbell.exceptions import DumbbellError
from dumbbell.report.text_page import text_page
from dumbbell.scenario import Scenario, toml
from dumbbell.studies.labs.definition import Lab, Question, Text
from dumbbell.studies.labs.hand_in import ANSWERS, SCENARIO
from dumbbell.studies.labs.student import NOBODY, Assignment, assignment
from dumbbell.studio.any_scenario import given_runs
from dumbbell.studio.write import available, page

__all__ = ["Started", "handout", "start", "studio_page"]

_ASKED = re.compile(r"^\{(predict|questions|explain)(?:: ([\w ]+))?\}$", re.MULTILINE)
WIDTH = 96
STUDIO = "studio.html"
GUESS = (
    f"Then open `{STUDIO}` in a browser. It has the runs of this lab and hides their results: choose a run, guess "
    "the two figures that it asks for, and see the run with your points."
)


@dataclass(frozen=True)
class Started:
    """The files of a lab that a student has started; no studio in an installation without its engine."""

    assigned: Assignment
    handout: Path
    scenario: Path
    answers: Path
    studio: Path | None = None


def start(lab: Lab, student: str = NOBODY, out: Path | None = None) -> Started:
    """Write a student's handout, scenario and form for answers into a directory.

    Parameters
    ----------
    lab : Lab
    student : str
        The student's ID; parameters and seed follow from it.
    out : Path, optional
        The directory; default: the lab's name.

    Raises
    ------
    DumbbellError
        If the ID isn't one, the directory holds files already, or a file can't be written.
    """
    require("jinja2")
    assigned = assignment(lab, student)
    folder = out if out is not None else Path(lab.name)
    studio = folder / STUDIO if available() else None
    text = handout(assigned, with_studio=studio is not None)
    files = Started(assigned, folder / "handout.html", folder / SCENARIO, folder / ANSWERS, studio)
    contents = {
        files.scenario: assigned.scenario,
        files.answers: _form(assigned),
        files.handout: _page(assigned, text),
        folder / "handout.md": f"# {lab.title}\n\n{text}",
    }
    if studio is not None:
        contents[studio] = studio_page(assigned)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DumbbellError(f"{folder}: holds files already, which are kept: give another directory with --out")
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            path.write_text(content, encoding="utf-8")
    except OSError as e:
        raise DumbbellError(f"{e.filename or folder}: can't be written: {e.strerror or e}") from None
    return files


def studio_page(assigned: Assignment) -> str:
    """Return the browser studio with the runs of a student, which begins with predictions."""
    runs = {
        name: Scenario.from_toml(assigned.scenario, {path: toml.value(v) for path, v in run.changes.items()})
        for name, run in assigned.runs.items()
        if run.backend == "sim"
    }
    return page({**given_runs(assigned.lab.name, runs, assigned.scenario), "predict": True})


def handout(assigned: Assignment, *, with_studio: bool = False) -> str:
    """Return the handout as Markdown, with the student's values, commands and the questions.

    Parameters
    ----------
    assigned : Assignment
    with_studio : bool
        True if `studio_page` is beside it.
    """
    commands = {f"run_{name}": run.command(name) for name, run in assigned.runs.items()}
    text = Template(assigned.lab.text("handout.md")).substitute({**assigned.values, **commands})
    guess = f"\n\n{GUESS}" if with_studio else ""

    def asked(match: re.Match[str]) -> str:
        return _asked(assigned.lab, match[1], (match[2] or "").split()) + (guess if match[1] == "predict" else "")

    return _ASKED.sub(asked, text)


def _asked(lab: Lab, kind: str, ids: list[str]) -> str:
    """List questions as Markdown: those of the ids, or all of a kind."""
    asked: list[Question] | list[Text]
    asked = lab.questions if kind == "questions" else lab.predict if kind == "predict" else lab.explain
    chosen = [question for question in asked if not ids or question.id in ids]
    return "\n".join(f"- **{q.id}**{_form_of(q)}: {q.text.strip()}" for q in chosen)


def _form_of(question: Question | Text) -> str:
    """Return the unit and the tolerance of a question in brackets."""
    if isinstance(question, Text):
        return ""
    unit = f"in {question.unit}, " if question.unit else ""
    return f" ({unit}within {question.tolerance})"


def _page(assigned: Assignment, text: str) -> str:
    lab = assigned.lab
    facts = [("student", assigned.student)]
    facts += [(parameter.what, assigned.values[name]) for name, parameter in lab.parameters.items()]
    facts += [("time", f"about {lab.minutes} minutes"), ("hand in", f"{ANSWERS} and {SCENARIO}, in one folder")]
    return text_page(f"Lab: {lab.title}", " ".join(lab.about.split()), facts, text)


def _form(assigned: Assignment) -> str:
    """Write the form for answers."""
    lab = assigned.lab
    head = (
        f"The answers to the lab {lab.name}. Replace the empty quotes. An answer is a number in the unit of "
        'the question, such as q1 = 12.5, or a text with a unit, such as q1 = "12.5 Mbit/s". '
        f"`dumbbell lab check .` in this folder checks the answers."
    )
    parts = [*_comment(head), f'lab = "{lab.name}"', f'student = "{assigned.student}"', f'dumbbell = "{_core.version}"']
    parts += ["", "[predict]  # before the runs; not graded", *_entries(lab.predict)]
    parts += ["", "[answers]  # numbers; checked", *_entries(lab.questions)]
    parts += ["", '[explain]  # for the instructor; """three quotes""" hold several lines', *_entries(lab.explain)]
    return "\n".join(parts) + "\n"


def _entries(asked: list[Question] | list[Text]) -> list[str]:
    lines: list[str] = []
    for question in asked:
        lines += _comment(f"{question.id}{_form_of(question)}: {' '.join(question.text.split())}")
        lines.append(f'{question.id} = ""')
    return lines


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, WIDTH)]
