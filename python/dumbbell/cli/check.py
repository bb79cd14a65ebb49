"""``dumbbell check``: tries an own queue discipline on random packets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from dumbbell.cli import front, output

__all__ = ["check"]


@front.command(
    "check",
    "dumbbell check mine.py:Mine",
    "dumbbell check mine.py:Mine limit=20 --cases 2000",
    "dumbbell check target/release/libmine.so target='5 ms'",
)
@click.argument("source", metavar="SOURCE", help="FILE.py:CLASS, or a library written in Rust.")
@click.argument("parameters", nargs=-1, metavar="[NAME=VALUE]...", help="Parameters of the queue discipline.")
@click.option(
    "--cases", type=click.IntRange(1, 1_000_000), default=200, show_default=True, metavar="N", help="Cases."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Makes other cases.")
@front.json("Print one JSON document instead of text.")
def check(source: str, parameters: tuple[str, ...], cases: int, seed: int, as_json: bool) -> None:
    """Try your own queue discipline on random packets, and report broken rules.

    SOURCE is a class in a file (FILE.py:CLASS) or a library written in Rust. Each case is a random sequence of
    arrivals, transmissions and pauses; afterwards all packets that wait must leave. The built-in disciplines are
    tested with the same rules. A case that fails is printed with as few steps as possible; the exit code is then 2.
    """
    from dumbbell import _core
    from dumbbell.exceptions import DumbbellError
    from dumbbell.scenario import files
    from dumbbell.scenario.own import disciplines as own_disciplines

    given = _parameters(parameters)
    key = "python" if ":" in source else "library"
    with output.reserved(as_json), files.beside(files.Files(Path())):
        try:
            discipline = own_disciplines.load(key, source)
        except ValueError as e:
            raise DumbbellError(f"{source}: {e}") from None
        try:
            discipline.check_names(given)
            report = discipline.handle.exercise(given, cases, seed)
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


def _parameters(given: tuple[str, ...]) -> dict[str, Any]:
    """Read ``NAME=VALUE``."""
    from dumbbell.exceptions import DumbbellError
    from dumbbell.scenario import toml

    parameters: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise DumbbellError(f"'{text}' given: NAME=VALUE is needed, such as limit=20")
        parameters[name.strip()] = toml.value(value.strip())
    return parameters


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
