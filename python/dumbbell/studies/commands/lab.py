"""``dumbbell lab``: list, show and start the labs; check a hand-in, grade a class."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dumbbell.cli import front, output
from dumbbell.common.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dumbbell.studies.labs import Checked, Lab

__all__ = ["lab"]

COLORS = {"right": "green", "not right": "red", "missing": "yellow"}


def _names() -> list[str]:
    from dumbbell.studies.labs import labs

    return list(labs())


name_argument = click.argument(
    "name", metavar="NAME", shell_complete=front.names(_names), help="The lab; `dumbbell lab list` lists them."
)


@click.group("lab", cls=front.Group)
def lab() -> None:
    """Exercises for a class: start a lab, check the answers, grade hand-ins."""


@lab.command("list", examples=["dumbbell lab list"])
@front.json()
def list_(as_json: bool) -> None:
    """List the labs."""
    from dumbbell.studies.labs import labs

    found = list(labs().values())
    if as_json:
        keys = ("name", "title", "about", "minutes")
        output.document([{key: getattr(one, key) for key in keys} for one in found])
        return
    rows = [(one.name, one.title, len(one.questions), one.minutes) for one in found]
    output.print_table("Labs", ["name", "title", "questions", "minutes"], rows)


@lab.command("show", examples=["dumbbell lab show bufferbloat"])
@name_argument
@front.json()
def show(name: str, as_json: bool) -> None:
    """Show a lab: its purpose, the sets of the parameters, the questions with their tolerances."""
    from dumbbell.studies.labs import lab as find_lab

    found = find_lab(name)
    if as_json:
        output.document(found.description())
        return
    _show(found)


def _show(found: Lab) -> None:
    click.echo(click.style(found.name, bold=True) + f": {found.title} (about {found.minutes} minutes)")
    click.echo(" ".join(found.about.split()))
    click.echo(click.style("\nParameters", bold=True) + ", drawn for each student")
    for parameter in found.parameters.values():
        click.echo(f"  {parameter.what}: {parameter.set_text}")
    click.echo(click.style("\nQuestions", bold=True))
    for question in found.questions:
        unit = f"{question.unit}, " if question.unit else ""
        click.echo(f"  {question.id}  {' '.join(question.text.split())} ({unit}within {question.tolerance})")
    click.echo(f"\nBegin: dumbbell lab start {found.name} --student ID")


@lab.command(
    "start",
    examples=(
        "dumbbell lab start bufferbloat --student s1234567",
        "dumbbell lab start slow-start --out self-study/slow-start    # without a class",
    ),
)
@name_argument
@click.option(
    "--student",
    metavar="ID",
    default="self-study",
    show_default=True,
    help="The student's ID: letters, digits and . _ @ -. The scenario follows from it.",
)
@click.option("--out", type=front.directory(), metavar="DIR", help="The directory to write. Default: NAME.")
def start(name: str, student: str, out: Path | None) -> None:
    """Start a lab: write the handout, the student's own scenario and the form for answers."""
    from dumbbell.studies.labs import lab as find_lab
    from dumbbell.studies.labs import start as start_lab
    from dumbbell.studies.labs.kernel_hint import kernel_hint

    files = start_lab(find_lab(name), student, out)
    click.echo(f"handout    {files.handout} (open it in a browser)")
    click.echo(f"scenario   {files.scenario}")
    click.echo(f"answers    {files.answers}")
    if files.studio is not None:
        click.echo(f"studio     {files.studio} (guess the runs' results in a browser, and see them)")
    click.echo(f"then       cd {shlex.quote(str(files.handout.parent))}, and follow the handout")
    if hint := kernel_hint(files.assigned.lab):
        output.note(hint)


@lab.command(
    "check",
    examples=(
        "dumbbell lab check slow-start",
        "dumbbell lab check slow-start --json | jq '.answers[] | {question, verdict}'",
    ),
)
@click.argument("directory", type=front.directory(), metavar="DIR", help="The directory of `dumbbell lab start`.")
@click.option("--student", metavar="ID", help="The student whose hand-in this must be.")
@click.option("--solutions", is_flag=True, help="Print the figures of the run too. For instructors.")
@front.json("Print one JSON document instead of lines.")
@click.pass_context
def check(ctx: click.Context, directory: Path, student: str | None, solutions: bool, as_json: bool) -> None:
    """Check the answers of a hand-in against the student's own run, which is made again.

    The exit code is 0 if all answers are right, 1 if one is missing or not right, 2 if the files can't be used.
    """
    from dumbbell.exceptions import DumbbellError
    from dumbbell.studies.labs import check as check_answers
    from dumbbell.studies.labs.hand_in import ANSWERS, read

    hand_in = read(directory)
    whose = hand_in.assigned.student
    if student is not None and student != whose:
        raise DumbbellError(f"{directory / ANSWERS}: student: '{whose}' given: '{student}' is needed")
    if hand_in.problems:
        raise DumbbellError("\n".join(str(directory / str(problem)) for problem in hand_in.problems))
    checked = check_answers(hand_in)
    right = sum(c.verdict == "right" for c in checked)
    if as_json:
        output.document({"lab": hand_in.lab.name, "student": whose, "answers": _rows(checked, solutions)})
    else:
        click.echo(f"{hand_in.lab.name}, student {whose}: {right} of {counted(len(checked), 'answer')} right")
        for c in checked:
            figure = f" ({c.figure:.4g} {c.question.unit}".rstrip() + ")" if solutions else ""
            click.echo(f"  {c.question.id}  {click.style(c.words, fg=COLORS[c.verdict])}{figure}")
    ctx.exit(0 if right == len(checked) else 1)


def _rows(checked: Sequence[Checked], solutions: bool) -> list[dict[str, object]]:
    """Return the answers for ``--json``."""
    rows: list[dict[str, object]] = []
    for c in checked:
        row: dict[str, object] = {"question": c.question.id, "given": c.given, "unit": c.question.unit}
        row["verdict"] = c.verdict.value
        rows.append({**row, "figure": c.figure} if solutions else row)
    return rows


@lab.command(
    "grade",
    examples=(
        "dumbbell lab grade class --out grades.csv    # every hand-in in the folders of class",
        "dumbbell lab grade class/s1/slow-start class/s2/slow-start --solutions > grades.csv",
    ),
    removed={"--to": "--out"},
)
@click.argument("directories", type=front.directory(), metavar="DIR...", nargs=-1, required=True,
                help="Hand-ins, or folders that hold hand-ins.")  # fmt: skip
@click.option("--out", type=front.file(), metavar="FILE", help="The CSV file. Default: stdout.")
@click.option("--solutions", is_flag=True, help="Add the figure of each student's run.")
@click.pass_context
def grade(ctx: click.Context, directories: tuple[Path, ...], out: Path | None, solutions: bool) -> None:
    """Write the instructor's sheet: one row for each hand-in, with verdicts, answers and explanations.

    The exit code is 2 if a hand-in has problems: its row lists them.
    """
    from dumbbell.exceptions import DumbbellError
    from dumbbell.studies.labs import find_hand_ins, write_sheet
    from dumbbell.studies.labs.hand_in import plain

    folders = find_hand_ins(directories)
    with output.progress("hand-ins") as moved:
        sheet = write_sheet(folders, solutions=solutions, progress=moved)
    if out is None:
        click.echo(sheet.text, nl=False)
    else:
        try:
            out.write_text(sheet.text, encoding="utf-8")
        except OSError as e:
            raise DumbbellError(f"{out}: can't be written: {e.strerror or e}") from None
        click.echo(f"{out}: {counted(len(sheet.rows), 'hand-in')}")
    troubled = [row for row in sheet.rows if row.problems]
    for row in troubled:
        for problem in row.problems:
            output.errors(plain(str(row.folder / problem)))
    ctx.exit(2 if troubled else 0)
