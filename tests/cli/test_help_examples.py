"""The examples of every ``--help`` work: their options exist, and all that need no kernel run."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from conftest import BASE
from test_start import FIRST
from test_variant_check import GOOD

import dumbbell
from dumbbell import Scenario
from dumbbell.cli import app
from dumbbell.cli.front import Command
from dumbbell.studies import run_study, study
from hand_ins import hand_in
from python_disciplines import DROPTAIL
from required import require_packages

SWEEP = {
    "sweep": {"flows.cbr.application.rate": ["1 Mbit/s", "2 Mbit/s"], "flows.tcp.variant": ["newreno", "vegas"]},
    "repetitions": 5,
}
PARSED = (
    "--backend kernel",
    "--backend uml",
    "--backend ssh",
    "--cluster dask:",
    "dumbbell check first.toml --backend uml",
    "check target/release/",
    "dumbbell kernel",
    "dumbbell shell",
    "dumbbell study run",
    "dumbbell studio",
    "dumbbell validate",
)
"""Parts of examples that are only parsed: they need a kernel, a library, a build or minutes. Other tests run them."""
OF_HOST = ("dumbbell clean", "dumbbell doctor")
"""Commands about this host: `clean` stops the processes of killed runs, those of other tests too. Parsed only."""


def commands(group: click.Group = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Command]]:
    """Yield every command with its name, groups resolved."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        found = group.get_command(ctx, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        else:
            assert isinstance(found, Command), name
            yield from ((" ".join((*path, name, mode)), one) for mode, one in found.modes.items())
            yield " ".join((*path, name)), found


EXAMPLES = [(name, line) for name, command in commands() for line in command.examples]


def calls(line: str) -> list[list[str]]:
    """Return the arguments of each call of dumbbell in a line for the shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&>")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if word in {"|", "&&", ">"}:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part[1:] for part in parts if part[:1] == ["dumbbell"]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files that the examples name: scenarios, results, captures."""
    require_packages("matplotlib", "jinja2")
    place = tmp_path_factory.mktemp("examples")
    (place / "first.toml").write_text(FIRST, encoding="utf-8")
    (place / "my-scenario.toml").write_text(FIRST, encoding="utf-8")
    (place / "mine.py").write_text(DROPTAIL.replace("class Tail", "class Mine"), encoding="utf-8")
    (place / "reno.py").write_text(GOOD)
    first = Scenario.from_toml(FIRST, {"duration": "8 s", "network.access.jitter": "1.2 ms"})  # with evidence
    results = place / "results"
    dumbbell.run(first, out=results / "first", trace=True)
    for name, variant in (("before", "cubic"), ("after", "cubic"), ("sim", "cubic"), ("kernel", "reno")):
        dumbbell.run(first, out=results / name, repetitions=3, changes={"flows.a.variant": variant})
    dumbbell.run(Scenario.from_toml(BASE, SWEEP), out=results / "sweep", trace=True)
    for number, name in enumerate(["a", "b"]):  # parts of one sweep
        half = Scenario.from_toml(BASE, SWEEP)
        dumbbell.run(half, out=results / name, only=half.cells[number].__eq__)
    pairs = {"flows.a.variant": ["reno", "cubic"], "flows.b.variant": ["reno", "cubic"]}
    dumbbell.run(first, out=results / "pairs", changes={"sweep": pairs})
    run_study(study("quickstart"), results / "ns2-cbr", quick=True, jobs=1)
    points = ["sender", "receiver"]
    dumbbell.run(first, out=place / "captured", changes={"capture.at": points}, repetitions=2)
    found = sorted((place / "captured").rglob("*.pcapng"))
    assert found
    by_point = {point: next(path for path in found if point in path.name) for point in points}
    for name in ("trace.pcapng", "trace.pcap", "sender.pcap", "run-1.pcap"):
        shutil.copy(by_point["sender"], place / name)
    for name in ("receiver.pcap", "run-2.pcap"):
        shutil.copy(by_point["receiver"], place / name)
    subprocess.run(["gzip", "-k", "trace.pcap"], cwd=place, check=True)
    for student in ("s1", "s2"):
        hand_in(place / "class" / student / "slow-start", "slow-start", student)
    hand_in(place / "slow-start", "slow-start", "s3")
    programs = {
        "dumbbell": f'exec {shlex.quote(sys.executable)} -m dumbbell "$@"',
        "tcpdump": "cat trace.pcap",  # a capture on stdout, without the rights that tcpdump needs
    }
    (place / "bin").mkdir()
    for name, text in programs.items():
        (place / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (place / "bin" / name).chmod(0o755)
    return place


def test_every_command_has_examples() -> None:
    for name, command in commands():
        called = [args for line in command.examples for args in calls(line)]
        assert any(" ".join(args).startswith(name) for args in called) or name in {"study list", "kernel list"}


@pytest.mark.parametrize("line", [line for _, line in EXAMPLES])
def test_an_example_has_options_that_exist(line: str) -> None:
    made = calls(line)
    assert made, "an example calls dumbbell"
    known = dict(commands())
    for args in made:
        called = next(known_name for known_name in known if " ".join(args).startswith(known_name))
        known[called].make_context(called, args[len(called.split()) :])


@pytest.mark.parametrize("name", [name for name, command in commands() if command.examples])
def test_the_examples_of_a_command_run(files: Path, tmp_path: Path, name: str) -> None:
    """All examples of a command in their order, in one folder, as a user types them."""
    place = tmp_path / "folder"
    shutil.copytree(files, place)
    lines = [line for known, line in EXAMPLES if known == name]
    if any(line.startswith("dumbbell run first.toml") and "--out results/first" in line for line in lines):
        shutil.rmtree(place / "results" / "first")
    environment = {**os.environ, "PATH": f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    for line in lines:
        if any(part in line for part in (*PARSED, *OF_HOST)):
            continue
        call, _, query = line.partition(" | jq ")
        done = subprocess.run(
            ["sh", "-ec", call], cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        if query:
            keys = keys_of(json.loads(done.stdout))
            assert set(re.findall(r"[a-z_]{2,}", query.replace("select", ""))) <= keys, line


def keys_of(document: Any) -> set[str]:
    """Return all keys of a document."""
    if isinstance(document, dict):
        return set(document).union(*map(keys_of, document.values()))
    return set().union(*map(keys_of, document)) if isinstance(document, list) else set()
