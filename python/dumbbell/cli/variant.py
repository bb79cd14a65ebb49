"""``dumbbell variant``: tries an own variant in random conditions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dumbbell.cli import front, output, own_code

if TYPE_CHECKING:
    from dumbbell.cli.variant_trials import Report

__all__ = ["variant"]


@click.group("variant", cls=front.Group)
def variant() -> None:
    """Check your own congestion control variant."""


@variant.command(
    "check",
    examples=(
        "dumbbell variant check reno.py:Mine",
        "dumbbell variant check reno.py:Mine decrease=0.8 --cases 500",
        "dumbbell variant check target/release/libgentle.so most=0.3",
    ),
)
@own_code.source_argument
@own_code.parameters_argument
@own_code.cases(100)
@own_code.seed()
@front.json("Print one JSON document instead of text.")
def check(source: str, parameters: tuple[str, ...], cases: int, seed: int, as_json: bool) -> None:
    """Try your own variant in random conditions, and report broken rules.

    SOURCE is a class in a file (FILE.py:CLASS) or a library written in Rust. Each case is a short simulated run on a
    random path, with some of: losses, marks, reordering, duplicates, an outage, pauses, another flow. An error is an
    exception, a window or rate that is no valid amount, a run that delivers nothing, and two equal runs that differ.
    The scenario of a case that fails is printed, with as few conditions as possible; the exit code is then 2.
    """
    from dumbbell import _core, registry
    from dumbbell.cli.variant_trials import trials
    from dumbbell.exceptions import DumbbellError
    from dumbbell.scenario.gate import allow_code
    from dumbbell.scenario.own import variants as own_variants

    given = own_code.parameters_of(parameters)
    key = own_code.kind(source)
    with output.reserved(as_json), allow_code():
        try:
            own_variants.load(key, source).check(given, registry.default_stack())
        except _core.ParamError as e:
            name, message = e.args
            raise DumbbellError(f"{source}: {f'{name}: ' if name in given else ''}{message}") from None
        except ValueError as e:
            raise DumbbellError(f"{source}: {e}") from None
        with output.progress("cases") as moved:
            report = trials({key: source, **given}, cases, seed, moved)
    if as_json:
        output.document({"variant": source, "cases": cases, "seed": seed, **report.document()})
    else:
        _print(report, cases)
    if any(finding.error for finding in report.findings):
        sys.exit(2)


def _print(report: Report, cases: int) -> None:
    for finding in report.findings:
        output.line(f"{'error' if finding.error else 'note'}: {finding.message}")
        output.line("".join(f"  {line}\n" if line else "\n" for line in finding.scenario.splitlines()))
    if not any(finding.error for finding in report.findings):
        output.line(
            f"no error in {cases:,} cases: {report.sent_packets:,} packets were sent, "
            f"{report.retransmitted_packets:,} were retransmitted, {report.marks:,} were marked; "
            f"{report.timeouts:,} timeouts; the largest window was {report.largest_packets:.0f} packets"
        )
