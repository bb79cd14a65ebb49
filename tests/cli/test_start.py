"""The start of the command line: a call imports only what it needs, so that it answers at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import dumbbell.cli
from captures import connection, pcap

Cli = Callable[..., "subprocess.CompletedProcess[str]"]
SLOW = {"jinja2", "matplotlib", "numpy", "polars", "pydantic", "rich", "scipy"}
"""Libraries that take long to import."""
FIRST = re.findall(
    r'^```toml title="first.toml"\n(.*?)^```',
    (Path(__file__).parents[2] / "docs" / "tutorials" / "first-run.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)[0]
"""The first scenario of the tutorial."""
COMMANDS = {name: one.text for section in dumbbell.cli.app.sections.values() for name, one in section.items()}
"""The commands of the core and of the satellites, with the help that `dumbbell --help` shows."""


def command(name: str) -> click.Command:
    """Import a command."""
    found = dumbbell.cli.app.get_command(click.Context(dumbbell.cli.app), name)
    assert found is not None
    return found


def imported(folder: Path, *args: str) -> set[str]:
    """Return the modules that a call of the command line has imported at its end."""
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=open('modules', 'w')))\n"
        "from dumbbell.cli import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *args], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set((folder / "modules").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("args", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)], ids=" ".join)
def test_help_and_version_import_no_slow_library(tmp_path: Path, args: list[str]) -> None:
    found = imported(tmp_path, *args)
    assert "click" in found
    assert not found & SLOW


def test_a_run_imports_no_library_for_data_or_figures(tmp_path: Path) -> None:
    (tmp_path / "first.toml").write_text(FIRST, encoding="utf-8")
    found = imported(tmp_path, "run", "first.toml")
    assert found & SLOW == {"pydantic"}
    unwanted = {m for m in found if m.startswith(("dumbbell.plots", "dumbbell.metrics", "dumbbell.studies"))}
    assert unwanted <= {"dumbbell.studies", "dumbbell.studies.satellite"}  # what it registers


@pytest.mark.parametrize("args", [[], ["--json"], ["--classify"]], ids=" ".join)
def test_an_analysis_imports_no_library_for_data_or_figures(tmp_path: Path, args: list[str]) -> None:
    (tmp_path / "one.pcap").write_bytes(pcap(connection()))
    assert not imported(tmp_path, "analyze", "one.pcap", *args) & SLOW


def test_a_call_imports_only_its_own_command(tmp_path: Path) -> None:
    frame = {f"dumbbell.cli{part}" for part in ("", ".front", ".output", ".signals", ".table_layout")}
    assert {m for m in imported(tmp_path, "--help") if m.startswith("dumbbell.cli")} == frame
    found = {m for m in imported(tmp_path, "stacks", "--json") if m.startswith("dumbbell.cli")}
    assert found == frame | {"dumbbell.cli.stacks", "dumbbell.cli.registry_entry"}


def test_the_list_of_commands_has_the_help_of_each() -> None:
    for name, text in COMMANDS.items():
        found = command(name)
        assert found.name == name
        assert " ".join((found.help or "").split("\n\n")[0].split()) == text


def test_every_command_and_option_has_a_help() -> None:
    def commands(one: click.Command) -> list[click.Command]:
        inner = one.commands if isinstance(one, click.Group) else getattr(one, "modes", {})
        return [one, *(c for part in inner.values() for c in commands(part))]

    for name in COMMANDS:
        for one in commands(command(name)):
            assert one.help, one.name
            assert all(getattr(p, "help", None) for p in one.params), one.name


def test_unknown_commands_and_options_have_a_suggestion(cli: Cli) -> None:
    cases = {
        "rnu": "unknown command 'rnu': did you mean 'run'?",
        "stats --metrc x": "unknown option '--metrc': did you mean '--metric'?",
        "study run --quik": "unknown option '--quik': did you mean '--quick'?",
        "study lst": "unknown command 'lst': did you mean 'list'?",
        "analyze pair --same-clok": "unknown option '--same-clok': did you mean '--same-clock'?",
        "analyze --pair a b": "--pair: use `dumbbell analyze pair A B`",
        "plot x -o y.png": "-o: use --out",
    }
    for args, message in cases.items():
        done = cli(*args.split())
        assert done.returncode == 2
        assert done.stderr.splitlines()[0] == f"error: {message}"


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("dumbbell va", {"variants", "validate"}),
        ("dumbbell run first.toml --rep", {"--repetitions"}),
        ("dumbbell run first.toml --backend u", {"uml"}),
        ("dumbbell disciplines fq", {"fq_codel", "fq_pie"}),
        ("dumbbell study s", {"show"}),
        ("dumbbell results ve", {"verify"}),
        ("dumbbell results verify results --jo", {"--jobs"}),
        ("dumbbell study run ns2", {"ns2-cbr"}),
    ],
)
def test_bash_completes_names(words: str, completed: set[str]) -> None:
    environment = {
        **os.environ,
        "_DUMBBELL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    call = [sys.executable, "-m", "dumbbell"]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} >= completed


def test_a_folder_named_like_a_mode_is_reached_by_its_path(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "verify").mkdir()
    for place, words in (("verify", "Missing argument 'DIR'"), ("./verify", "no results here")):
        done = cli("results", place)
        assert done.returncode == 2
        assert words in done.stderr
