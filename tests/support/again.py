"""Runs a command of cargo or pytest, and the tests that failed once more, alone. They pass: so does the command.

    python tests/support/again.py NOTES cargo test --workspace
    python tests/support/again.py NOTES .venv/bin/pytest -m quick

``NOTES`` is a file that gets a line for each test that passed only the second time, and for each that pytest itself
has repeated (`note_repeated`). A test that fails twice, or a failure without the name of a test (no build, no
collection, a process that dies), fails the command.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main", "note_repeated"]

NOTES = "DUMBBELL_UNSTABLE_TESTS"
"""The environment variable that names the file in the processes of the command."""


def main(notes: Path, command: list[str]) -> int:
    """Run it, and note the unstable tests. Return the exit code."""
    os.environ[NOTES] = str(notes.absolute())
    code, failed, repeats = (cargo if Path(command[0]).name == "cargo" else pytest)(command)
    if code == 0 or not failed:
        return code
    print(f"once more, alone: {', '.join(failed)}", flush=True)
    codes = [subprocess.run(repeat, check=False).returncode for repeat in repeats]
    if any(codes):
        return code
    _note(notes, failed)
    return 0


def note_repeated(test: str) -> None:
    """Note a test that pytest repeats, such as one on the host's own clock, if notes are kept."""
    if notes := os.environ.get(NOTES):
        _note(Path(notes), [test])


def _note(notes: Path, tests: list[str]) -> None:
    with notes.open("a", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in tests)


def pytest(command: list[str]) -> tuple[int, list[str], list[list[str]]]:
    """Return the exit code, the failed tests, and the command that repeats them."""
    with tempfile.TemporaryDirectory() as cache:
        code = subprocess.run([*command, "-o", f"cache_dir={cache}"], check=False).returncode
        last = Path(cache) / "v" / "cache" / "lastfailed"
        failed = list(json.loads(last.read_text(encoding="utf-8"))) if code == 1 and last.exists() else []
    return code, failed, [[command[0], *failed]]


def cargo(command: list[str]) -> tuple[int, list[str], list[list[str]]]:
    """Return the exit code, the failed tests, and the commands that repeat them, one per target."""
    call = [*command[:2], "--no-fail-fast", *command[2:]]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.decode(errors="replace"))
            print(lines[-1], end="", flush=True)
    failed: list[str] = []
    repeats = []
    parts = re.split(r"^error: (?:doc)?test failed, to rerun pass `(.*)`\n", "".join(lines), flags=re.MULTILINE)
    for output, target in zip(parts[::2], parts[1::2], strict=False):
        names = re.findall(r"^    (\S.*)$", output.rpartition("\nfailures:\n")[2].split("\n\n")[0], re.MULTILINE)
        if not names:
            return process.returncode, [], []
        failed += [f"{target}: {name}" for name in names]
        one = [] if "--doc" in target else ["--", "--exact", "--include-ignored", "--test-threads", "1", *names]
        repeats.append([command[0], "test", *target.split(), *one])  # rustdoc can't choose names with spaces
    return process.returncode, failed, repeats


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
