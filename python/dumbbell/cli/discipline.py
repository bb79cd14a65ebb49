"""``dumbbell discipline``: tries an own queue discipline on random packets."""

from __future__ import annotations

import sys
from typing import Any

import click

from dumbbell.cli import front, output, own_code

__all__ = ["discipline"]


@click.group("discipline", cls=front.Group)
def discipline() -> None:
    """Check your own queue discipline."""


@discipline.command(
    "check",
    examples=(
        "dumbbell discipline check mine.py:Mine",
        "dumbbell discipline check mine.py:Mine limit=20 --cases 2000",
        "dumbbell discipline check target/release/libmine.so target='5 ms'",
    ),
)
@own_code.source_argument
@own_code.parameters_argument
@own_code.cases(200)
@own_code.seed()
@front.json("Print one JSON document instead of text.")
def check(source: str, parameters: tuple[str, ...], cases: int, seed: int, as_json: bool) -> None:
    """Try your own queue discipline on random packets, and report broken rules.

    SOURCE is a class in a file (FILE.py:CLASS) or a library written in Rust. Each case is a random sequence of
    arrivals, transmissions and pauses; afterwards all packets that wait must leave. The built-in disciplines are
    tested with the same rules. A case that fails is printed with as few steps as possible; the exit code is then 2.
    """
    from dumbbell import _core
    from dumbbell.exceptions import DumbbellError
    from dumbbell.scenario.gate import allow_code
    from dumbbell.scenario.own import disciplines as own_disciplines

    given = own_code.parameters_of(parameters)
    with output.reserved(as_json), allow_code():
        try:
            own = own_disciplines.load(own_code.kind(source), source)
        except ValueError as e:
            raise DumbbellError(f"{source}: {e}") from None
        try:
            own.check_names(given)
            report = own.handle.exercise(given, cases, seed)
        except _core.ParamError as e:
            name, message = e.args
            raise DumbbellError(f"{source}: {f'{name}: ' if name in given else ''}{message}") from None
    findings = [
        {"error": is_error, "message": message, "steps": steps} for is_error, message, steps in report.pop("findings")
    ]
    failed = any(finding["error"] for finding in findings)
    if as_json:
        output.document({"discipline": source, "cases": cases, "seed": seed, **report, "findings": findings})
    else:
        _print(report, findings, cases)
    if failed:
        sys.exit(2)


def _print(report: dict[str, Any], findings: list[dict[str, Any]], cases: int) -> None:
    for finding in findings:
        output.line(f"{'error' if finding['error'] else 'note'}: {finding['message']}")
        for number, step in enumerate(finding["steps"], 1):
            output.line(f"  {number:2} {step}")
    if not any(finding["error"] for finding in findings):
        output.line(
            f"no error in {cases:,} cases: {report['arrived']:,} packets arrived, {report['dropped']:,} were "
            f"dropped, {report['marked']:,} were marked; in an overload {report['longest']:,} packets waited"
        )
