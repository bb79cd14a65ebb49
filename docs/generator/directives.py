"""The directives of the pages: ``{{ name }}`` or ``{{ name: argument }}``, each on a line of its own.

A directive is replaced by Markdown that Dumbbell itself gives: a reference from the registries, a drawing, the output
of a command. Tables of measurements are links to CSV files (`data_tables`).
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import api_reference
import data_tables
import drawings
import five_reports
import performance
import results_reference
import rust_docs
import scenario_reference
import stacks_reference
import studies_reference
from md import fenced

_LINE = re.compile(r"^\{\{ ([a-z-]+)(?:: (.*?))? \}\}$", re.MULTILINE)
_FILE = re.compile(r'^```\w+ title="([\w.-]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)


class DirectiveError(Exception):
    """A directive that can't be followed."""


def replace(markdown: str, page: str = "index.md") -> str:
    """Replace every directive and every table of a page; ``page`` is its path in the documentation."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in _FILE.findall(markdown):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        return data_tables.replace(_directives(markdown, folder), page)


def _directives(markdown: str, folder: str) -> str:
    """Replace the directives; commands run one after another in a folder that has the page's files."""

    def one(match: re.Match[str]) -> str:
        name, argument = match[1], match[2]
        if name == "output":
            return fenced(_output(argument, folder))
        if name not in DIRECTIVES:
            raise DirectiveError(f"unknown directive '{name}' (known: {', '.join(['output', *DIRECTIVES])})")
        return DIRECTIVES[name](argument) if argument is not None else DIRECTIVES[name]("")

    done = _LINE.sub(one, markdown)
    if left := re.search(r"\{\{ .*\}\}", done):
        raise DirectiveError(f"{left[0]} has to be on a line of its own")
    return done


def _output(command: str, folder: str | None = None) -> str:
    """Run a command of Dumbbell in a folder, and return its output."""
    program, *arguments = shlex.split(command)
    if program != "dumbbell":
        raise DirectiveError(f"'{command}': only commands of dumbbell are run")
    environment = {**os.environ, "COLUMNS": "92", "NO_COLOR": "1", "TERM": "dumb"}
    call = [sys.executable, "-m", "dumbbell", *arguments]
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise DirectiveError(f"'{command}' failed: {done.stderr.strip()}")
    lines = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    return "\n".join(lines)


def _commands(text: str) -> list[str]:
    """Name the commands that a help lists, under headings of their own."""
    return re.findall(r"^  ([a-z]\w*)  +\S", text, re.MULTILINE)


def _help(_argument: str) -> str:
    """Return the help of every command and mode; the list of commands is from the help itself."""
    top = _output("dumbbell --help")
    parts = [fenced(top)]
    for name in _commands(top):
        text = _output(f"dumbbell {name} --help")
        parts.append(f"### dumbbell {name}\n\n{fenced(text)}")
        if "COMMAND [ARGS]" in text or "\nModes:\n" in text:
            inner = {n: _output(f"dumbbell {name} {n} --help") for n in _commands(text)}
            parts += [f"#### dumbbell {name} {n}\n\n{fenced(of)}" for n, of in inner.items()]
    return "\n\n".join(parts)


DIRECTIVES: dict[str, Callable[[str], str]] = {
    "presets": lambda _: scenario_reference.presets(),
    "scenario-reference": lambda _: scenario_reference.reference(),
    "units": lambda _: scenario_reference.units(),
    "topology": drawings.topology,
    "flow-columns": lambda _: results_reference.measured_columns("flows"),
    "flow-derived-columns": lambda _: results_reference.derived_columns("flows"),
    "transfer-derived-columns": lambda _: results_reference.derived_columns("transfers"),
    "queue-columns": lambda _: results_reference.measured_columns("queues"),
    "transfer-columns": lambda _: results_reference.measured_columns("transfers"),
    "trace-columns": results_reference.trace,
    "codes": results_reference.codes,
    "flow-window": lambda _: rust_docs.struct("crates/plan/src/result.rs", "FlowResult"),
    "queue-window": lambda _: rust_docs.struct("crates/plan/src/result.rs", "QueueResult"),
    "model": lambda path: fenced(rust_docs.model(path)),
    "header": rust_docs.header,
    "stacks": lambda _: stacks_reference.presets("tcp"),
    "quic-stacks": lambda _: stacks_reference.presets("quic"),
    "stack-requirements": lambda _: stacks_reference.requirements(),
    "stack-parameters": lambda _: stacks_reference.parameters("tcp"),
    "stack-facts": lambda _: stacks_reference.facts(),
    "quic-parameters": lambda _: stacks_reference.parameters("quic"),
    "tls-parameters": lambda _: stacks_reference.tls_parameters(),
    "variants": lambda _: stacks_reference.variants(),
    "disciplines": lambda _: stacks_reference.disciplines(),
    "study-experiments": studies_reference.experiments,
    "study-claims": studies_reference.claims,
    "study-verdicts": studies_reference.verdicts,
    "study-notes": studies_reference.notes,
    "study-linux": studies_reference.linux,
    "reports-answer": lambda _: five_reports.answer(five_reports.reports()),
    "reports-counts": lambda _: five_reports.counted(five_reports.reports()),
    "reports-grid": lambda _: five_reports.picture(five_reports.reports()),
    "reports-lessons": lambda _: five_reports.lessons(five_reports.reports()),
    "reports-stability": lambda _: five_reports.stability(five_reports.reports()),
    "reports-verdicts": lambda _: five_reports.listed(five_reports.reports()),
    "reports-measured": lambda _: five_reports.measured(five_reports.reports()),
    "speed-answer": lambda _: performance.answer(),
    "speed-missed": lambda _: performance.missed(),
    "speed-parts": lambda _: performance.parts(),
    "speed-lookahead": lambda _: performance.lookahead(),
    "help": _help,
    "api": lambda _: api_reference.reference(),
}
