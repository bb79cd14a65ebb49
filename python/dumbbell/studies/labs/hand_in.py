"""A hand-in: a directory with ``answers.toml`` and ``scenario.toml``, from a student.

It is data from others. The two files are bounded, read as TOML and compared. Nothing of them is run, and links are
not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.common.documents import read_toml
from dumbbell.common.formats import newer
from dumbbell.common.reading import read_bytes
from dumbbell.exceptions import DumbbellError, Problem
from dumbbell.registry import unknown
from dumbbell.studies.labs.definition import Lab, Question, Text, labs
from dumbbell.studies.labs.definition import lab as find_lab
from dumbbell.studies.labs.student import Assignment, assignment
from dumbbell.studies.labs.units import number

__all__ = ["ANSWERS", "SCENARIO", "HandIn", "plain", "read"]

ANSWERS, SCENARIO = "answers.toml", "scenario.toml"
LARGEST = 64 * 1024
"""Bytes of a file: some hundred times the form with its questions would fill less."""
LONGEST = 5_000
"""Characters of an explanation: about two pages."""
SHOWN = 60
"""Characters of a value in a message."""
FORMAT = 1
HEAD = ("format", "lab", "student", "dumbbell")
"""Keys of the form before its tables."""
MOST = 20
"""Problems of a hand-in that are listed."""


@dataclass(frozen=True)
class HandIn:
    """The form, results and report of one student, and the problems found in them.

    Attributes
    ----------
    folder : Path
    assigned : Assignment
        The lab with the parameters of the student whom the form names.
    given : dict of str to float
        Answers by question; a missing one has no entry.
    texts : dict of str to str
        Predictions and explanations that were written.
    unreadable : set of str
        Questions whose answer isn't a number with a fitting unit.
    problems : list of Problem
        Mistakes in the form, and differences of the scenario; places are relative to the folder.
    """

    folder: Path
    assigned: Assignment
    given: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    @property
    def lab(self) -> Lab:
        """The lab."""
        return self.assigned.lab


def plain(text: str) -> str:
    """Return a text of others without characters that control a terminal or turn its direction."""
    return "".join(c if c.isprintable() else " " for c in text)


def read(folder: Path) -> HandIn:
    """Read a hand-in.

    Raises
    ------
    DumbbellError
        If its form can't be read, or names no lab or student. All other mistakes are `HandIn.problems`.
    """
    try:
        form = _document(folder, ANSWERS)
        assigned = _assigned(form)
    except DumbbellError as e:
        raise DumbbellError(str(folder / str(e))) from None
    found = HandIn(folder, assigned)
    for problem in (*_form(form, found), *_scenario(form, found)):
        if len(found.problems) == MOST:
            found.problems.append(Problem("", "more problems are not listed"))
            break
        found.problems.append(problem)
    return found


def _assigned(form: Mapping[str, Any]) -> Assignment:
    if (refused := newer(form.get("format"), FORMAT)) is not None:
        raise DumbbellError(f"{ANSWERS}: format: {refused}")
    name, student = _word(form, "lab"), _word(form, "student")
    try:
        return assignment(find_lab(name), student)
    except DumbbellError as e:
        raise DumbbellError(f"{ANSWERS}: {e}") from None


def _word(form: Mapping[str, Any], key: str) -> str:
    value = form.get(key)
    if not isinstance(value, str) or len(value) > SHOWN + 4:
        given = "not given" if value is None else f"{_shown(value)} given"
        raise DumbbellError(f"{ANSWERS}: {key}: {given}: a word is needed, as `dumbbell lab start` wrote it")
    return plain(value)


def _document(folder: Path, name: str) -> dict[str, Any]:
    """Read a bounded TOML file; errors begin with its name."""
    path = folder / name
    if path.is_symlink() or not path.is_file():
        what = "a link, which is not followed" if path.is_symlink() else "no such file"
        raise DumbbellError(
            f"{name}: {what}: a hand-in has {ANSWERS} and {SCENARIO}, which `dumbbell lab start` writes"
        )
    try:
        content = read_bytes(path, LARGEST)
    except OSError as e:
        raise DumbbellError(f"{name}: can't be read: {e.strerror or e}") from None
    except ValueError:
        raise DumbbellError(f"{name}: more than {LARGEST // 1024} KiB given: at most that is allowed") from None
    try:
        return read_toml(content.decode("utf-8-sig"))
    except ValueError as e:  # of UTF-8 too
        raise DumbbellError(f"{name}: not valid TOML: {plain(str(e))}") from None


def _form(form: Mapping[str, Any], found: HandIn) -> Iterator[Problem]:
    """Take the answers and texts out of the form; yield its mistakes."""
    parts: dict[str, Sequence[Question | Text]] = {
        "predict": found.lab.predict,
        "answers": found.lab.questions,
        "explain": found.lab.explain,
    }
    if form.get("format", FORMAT) != FORMAT:
        yield Problem(f"{ANSWERS}: format", f"{_shown(form['format'])} given: {FORMAT} is the only one")
    for key in form:
        if key not in (*HEAD, *parts):
            yield Problem(ANSWERS, unknown("key", plain(key)[:SHOWN], [*HEAD, *parts]))
    for part, asked in parts.items():
        table = form.get(part, {})
        if not isinstance(table, dict):
            yield Problem(f"{ANSWERS}: {part}", f"{_shown(table)} given: a table is needed")
            continue
        known = [question.id for question in asked]
        for key in table:
            if key not in known:
                yield Problem(f"{ANSWERS}: {part}", unknown("question", plain(key)[:SHOWN], known))
        for question in asked:
            value = table.get(question.id, "")
            if not isinstance(value, str) or value.strip():
                try:
                    _take(value, question, found)
                except ValueError as e:
                    yield Problem(f"{ANSWERS}: {part}.{question.id}", plain(str(e)))


def _take(value: object, question: Question | Text, found: HandIn) -> None:
    """Keep an answer or a text; ValueError describes one that can't be used."""
    if isinstance(question, Question):
        try:
            found.given[question.id] = number(value, question.unit)
        except ValueError:
            found.unreadable.add(question.id)
            raise
    elif not isinstance(value, str):
        raise ValueError(f"{_shown(value)} given: a text is needed")
    elif len(value) > LONGEST:
        raise ValueError(f"{len(value)} characters given: at most {LONGEST} are allowed")
    else:
        found.texts[question.id] = value.strip()


def _scenario(form: Mapping[str, Any], found: HandIn) -> Iterator[Problem]:
    """Compare the scenario with the one of this student; spaces, order and comments don't matter."""
    try:
        given = _document(found.folder, SCENARIO)
    except DumbbellError as e:
        yield Problem("", str(e))
        return
    own = read_toml(found.assigned.scenario)
    if given == own:
        return
    whose = given.get("name")
    if isinstance(whose, str) and whose != own["name"] and whose.startswith(f"{found.lab.name} of "):
        other = plain(whose.removeprefix(f"{found.lab.name} of "))[:SHOWN]
        yield Problem(SCENARIO, f"the scenario of student '{other}', but the answers are of '{found.assigned.student}'")
        return
    if isinstance(whose, str) and any(whose.startswith(f"{name} of ") for name in labs()) and whose != own["name"]:
        yield Problem(SCENARIO, f"the scenario '{plain(whose)[:SHOWN]}', but the answers are of '{own['name']}'")
        return
    for place, message in _differences("", given, own):
        yield Problem(f"{SCENARIO}: {place}", f"{message}: this value is a part of the lab; use --set for trials")
    made_by = form.get("dumbbell")
    if made_by != _core.version:
        by = f"Dumbbell {plain(made_by)[:SHOWN]}" if isinstance(made_by, str) else "another version"
        yield Problem(SCENARIO, f"written by {by}, but this is {_core.version}: `dumbbell lab start` writes it again")


def _differences(place: str, given: object, own: object) -> Iterator[tuple[str, str]]:
    """Yield each place where two documents differ, with the values given and allowed."""
    if isinstance(given, dict) and isinstance(own, dict):
        for key in [*own, *(k for k in given if k not in own)]:
            inner = f"{place}.{key}" if place else str(key)
            if key not in given:
                yield inner, f"not given: {_shown(own[key])} is needed"
            elif key not in own:
                yield plain(inner)[:SHOWN], f"{_shown(given[key])} given: the lab's scenario has no such key"
            else:
                yield from _differences(inner, given[key], own[key])
    elif isinstance(given, list) and isinstance(own, list) and len(given) == len(own):
        for n, (mine, needed) in enumerate(zip(given, own, strict=True)):
            name = needed.get("name", n) if isinstance(needed, dict) else n
            yield from _differences(f"{place}.{name}", mine, needed)
    elif given != own or type(given) is not type(own):
        yield place, f"{_shown(given)} given: {_shown(own)} is needed"


def _shown(value: object) -> str:
    """Return a value in a message: bounded, on one line."""
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else f"a list of {len(value)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(plain(value)) if len(value) <= SHOWN else f"a text of {len(value)} characters"
    if isinstance(value, int) and value.bit_length() > 64:
        return f"a number of {value.bit_length()} bits"
    return str(value)
