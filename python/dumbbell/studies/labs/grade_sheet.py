"""The instructor's sheet: a class's hand-ins as CSV, one row each."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dumbbell.common.failures import failed_write, is_panic
from dumbbell.exceptions import DumbbellError
from dumbbell.studies.labs.grading import Checked, Verdict, check
from dumbbell.studies.labs.hand_in import ANSWERS, HandIn, plain, read

__all__ = ["Row", "Sheet", "find_hand_ins", "write_sheet"]

DEEPEST = 3
"""Levels of folders under a given one in which hand-ins are searched: class/student/lab, and one more."""
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that begin a formula, also in their wide forms."""
MOST = 5_000
"""Hand-ins of one sheet."""


def find_hand_ins(places: Iterable[Path]) -> list[Path]:
    """Find the hand-ins: each given directory that has a form, else those below it.

    A folder in a given directory that has no form, nor a folder with one, is a hand-in too, and so is a link to a
    folder: none is left out of the sheet. Links are not followed.

    Raises
    ------
    DumbbellError
        If a directory doesn't exist or holds none.
    """
    found: dict[Path, None] = {}
    for place in places:
        if not place.is_dir():
            raise DumbbellError(f"{place}: no such directory")
        below = {place} if os.path.lexists(place / ANSWERS) else set(_below(place))
        if not below:
            raise DumbbellError(f"{place}: no {ANSWERS} in it, nor in its folders down to {DEEPEST} levels")
        if place not in below:
            used = {folder.relative_to(place).parts[0] for folder in below}
            below |= {child for child in place.iterdir() if _is_left_out(child, used)}
        found |= dict.fromkeys(sorted(below))
        if len(found) > MOST:
            raise DumbbellError(f"{place}: more than {MOST} hand-ins given: at most that many fit in one sheet")
    return list(found)


def _below(place: Path) -> Iterable[Path]:
    for folder, inner, files in os.walk(place):
        has_form = ANSWERS in files or ANSWERS in inner
        if has_form:
            yield Path(folder)
        if has_form or len(Path(folder).relative_to(place).parts) == DEEPEST:
            inner.clear()


def _is_left_out(child: Path, used: set[str]) -> bool:
    """Return True for a folder, or a link to one, that isn't hidden and in which no form was found."""
    return child.name not in used and not child.name.startswith(".") and child.is_dir()


@dataclass(frozen=True)
class Row:
    """A hand-in in the sheet; without ``hand_in`` it couldn't be read."""

    folder: Path
    problems: Sequence[str]
    hand_in: HandIn | None = None
    checked: Sequence[Checked] = ()

    @property
    def right(self) -> int:
        """The number of right answers."""
        return sum(c.verdict is Verdict.RIGHT for c in self.checked)


@dataclass(frozen=True)
class Sheet:
    """The rows, and the CSV text."""

    rows: Sequence[Row]
    text: str


def write_sheet(
    folders: Sequence[Path], *, solutions: bool = False, progress: Callable[[int, int], None] | None = None
) -> Sheet:
    """Check hand-ins and write the sheet.

    Parameters
    ----------
    folders : sequence of Path
        The hand-ins.
    solutions : bool
        True to add the run's figure beside each answer.
    progress : callable, optional
        Called with (checked, all).
    """
    rows = []
    for n, folder in enumerate(folders):
        if progress is not None:
            progress(n, len(folders))
        rows.append(_row(folder))
    rows = _with_doubles(rows)
    return Sheet(rows, _csv(rows, solutions=solutions))


def _row(folder: Path) -> Row:
    """Check a hand-in. Whatever it holds, and whatever fails, is a row: the others are graded."""
    if folder.is_symlink():
        return Row(folder, ["a link, which is not followed"])
    try:
        hand_in = read(folder)
        return Row(folder, [str(p) for p in hand_in.problems], hand_in, check(hand_in))
    except DumbbellError as e:
        return Row(folder, [str(e).removeprefix(f"{folder}{os.sep}")])
    except BaseException as e:
        if not (isinstance(e, Exception) or is_panic(e)):
            raise
        return Row(folder, [f"can't be graded: {failed_write(e) or f'{type(e).__name__}: {e}'}"])


def _with_doubles(rows: Sequence[Row]) -> list[Row]:
    """Add a problem to hand-ins of one student for one lab: one of them may be a copy."""
    whose = [(r.hand_in.lab.name, r.hand_in.assigned.student) if r.hand_in else None for r in rows]
    times = Counter(whose)
    return [
        row
        if key is None or times[key] == 1
        else replace(
            row, problems=[*row.problems, f"{ANSWERS}: student: {key[1]} has {times[key]} hand-ins for {key[0]}"]
        )
        for row, key in zip(rows, whose, strict=True)
    ]


def _csv(rows: Sequence[Row], *, solutions: bool) -> str:
    """Write the rows; labs with fewer questions leave columns empty."""
    cells = [_cells(row, solutions=solutions) for row in rows]
    head = ["directory", "student", "lab", "right", "questions", "problems"]
    more = sorted({name for row in cells for name in row} - set(head), key=_order)
    file = io.StringIO()
    writer = csv.DictWriter(file, [*head, *more], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in cells)
    return file.getvalue()


def _order(name: str) -> tuple[int, int, int]:
    """Order columns: predictions, questions with verdict, answer and figure, explanations."""
    first, _, column = name.partition(" ")
    return "pqe".index(first[0]), int(first[1:]), ("", "given", "run").index(column)


def _cells(row: Row, *, solutions: bool) -> dict[str, str | int | float | None]:
    cells: dict[str, str | int | float | None] = {"directory": str(row.folder), "problems": "; ".join(row.problems)}
    if row.hand_in is None:
        return cells
    cells |= {
        "student": row.hand_in.assigned.student,
        "lab": row.hand_in.lab.name,
        "right": row.right,
        "questions": len(row.checked),
    }
    for c in row.checked:
        cells[c.question.id] = "unreadable" if c.question.id in row.hand_in.unreadable else c.verdict.value
        cells[f"{c.question.id} given"] = c.given
        if solutions:
            cells[f"{c.question.id} run"] = c.figure
    asked = (*row.hand_in.lab.predict, *row.hand_in.lab.explain)
    return cells | {text.id: row.hand_in.texts.get(text.id, "") for text in asked}


def _cell(value: str | float | None) -> str:
    """Return a cell; a text that a spreadsheet would read as a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return f"{value:.6g}" if isinstance(value, float) else str(value)
    text = " ".join(plain(value).split())
    return f"'{text}" if text.startswith(FORMULA) else text
