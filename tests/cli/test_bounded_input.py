"""Input and surroundings that no author means: each ends soon, with one line, and without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import BASE

from dumbbell import Scenario, ScenarioError, mahimahi
from dumbbell.cli.output import visible
from dumbbell.common import reading
from required import require

SHORT = BASE.replace('"2 s"', '"100 ms"').replace('"100 ms"\n\n', '"10 ms"\n\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SHORT + "\nx = " + "[" * 2000 + "]" * 2000, "nested too deeply"),
        (SHORT.replace("seed = 7", "seed = " + "9" * 4000), r"seed: 9{200}\.\.\. given"),
        (SHORT.replace("seed = 7", "seed = " + "9" * 5000), "not valid TOML: .*4300 digits"),
        (SHORT.replace('limit = "10 packets"', "limit = " + "9" * 400), r"limit: 9{200}\.\.\. given: it is too large"),
        (SHORT.replace('{ kind = "cbr"', '{ kind = "ping", interval = "1 ns" } #'), "'1 ns' given: must be at least"),
        (SHORT.replace("seed = 7", "seed" + ".x" * 2000 + " = 1"), "nested too deeply"),
        (
            SHORT.replace("seed = 7", "seed = 0x" + "f" * 9000),
            "not valid TOML: a number of 9002 characters: at most 200",
        ),
        (
            SHORT.replace("seed = 7", f"seed = '{'x y ' * 3000}'"),
            r"seed: '(x y ){50}\.\.\.' given: a whole number is needed",
        ),
        (SHORT.replace("seed = 7", f"{'y' * 3000} = 7"), r"y{100}\.\.\.y{100}: unknown key 'y{200}\.\.\.'"),
        (SHORT.replace('"10 packets"', f"'{'z' * 3000}'"), r"limit: 'z{200}\.\.\.' does not start with a number"),
        ("\0", "not valid TOML"),
        ("", "needed, but not given"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=message) as error:
        Scenario.load(tmp_path / "s.toml")
    assert len(str(error.value)) < 1000


def test_a_byte_order_mark_and_the_greek_mu_are_read(tmp_path: Path) -> None:
    text = SHORT.replace('start_jitter = "', 'start_jitter = "10 \u03bcs" # "')
    (tmp_path / "s.toml").write_text("\ufeff" + text, encoding="utf-8")
    jitter = Scenario.load(tmp_path / "s.toml").start_jitter
    assert jitter is not None
    assert jitter.ns == 10_000


def test_files_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE_S", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ScenarioError, match="pipe has no content, and nobody writes into it"):
        Scenario.load(pipe)
    silent = os.open(pipe, os.O_RDWR)  # a writer that writes nothing
    with pytest.raises(ScenarioError, match=r"nothing was written into it for 0\.1 s"):
        Scenario.load(pipe)
    os.write(silent, SHORT.encode())
    os.close(silent)
    with pytest.raises(ScenarioError, match="can't be read: it has no end within 32 MB"):
        Scenario.load("/dev/zero")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(100_000_000)
    with pytest.raises(ScenarioError, match="it has 100 MB: at most 32 MB"):
        Scenario.load(tmp_path / "large")
    with pytest.raises((OSError, ValueError), match="has no content"):
        mahimahi.read(pipe)


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SHORT)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"cat {tmp_path}/s.toml > {pipe}"]):
        reader = os.open(pipe, os.O_RDONLY)  # waits for the writer
        assert Scenario.load(f"/dev/fd/{reader}").name == "base"
        os.close(reader)


def test_two_spellings_of_one_place_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"flows\.0\.start: the same place as 'flows\.tcp\.start': it is set twice"):
        Scenario.from_toml(SHORT, {"flows.tcp.start": "1 ms", "flows.0.start": "2 ms"})


# ---------------------------------------------------------------- surroundings


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "s.toml").write_text(SHORT)
    program = f"{sys.executable} -m dumbbell {command}"
    return subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False, cwd=folder, timeout=300)


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("run s.toml > /dev/full", 1, "error: No space left on device\n"),
        ("run s.toml --json > /dev/full", 1, "error: No space left on device\n"),
        ("run s.toml >&-", 1, "error: stdout is closed: send it to /dev/null if it isn't needed\n"),
        (
            "run s.toml --out /proc/none/such",
            2,
            "error: /proc/none/such: can't be written: No such file or directory\n",
        ),
        ("run s.toml --out /sys/dumbbell", 2, "error: /sys/dumbbell: can't be written: "),
        ("results s.toml", 2, "error: Invalid value for 'DIR': Directory 's.toml' is a file."),
        ("run .", 2, "error: .: can't be read: Is a directory\n"),
    ],
)
def test_surroundings_that_fail_are_one_line(tmp_path: Path, command: str, code: int, message: str) -> None:
    done = run(command, tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    errors = [line for line in done.stderr.splitlines(keepends=True) if line.startswith("error: ")]
    assert len(errors) == 1 and errors[0].startswith(message.rstrip("\n"))


def test_a_closed_stderr_harms_nothing(tmp_path: Path) -> None:
    done = run("run s.toml --out kept --json 2>&-", tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith('{"runs"')


# ---------------------------------------------------------------- names


def test_controls_of_the_terminal_are_shown_as_codes() -> None:
    assert visible("a\x1b[31mb\u202ec\x7f\td") == "a\\x1b[31mb\\u202ec\\x7f\td"


def test_names_with_markup_and_controls_are_data(cli: Callable[..., Any], tmp_path: Path) -> None:
    name = r'name = "a [/b] \u001b[31m <!--<script>"'
    (tmp_path / "s.toml").write_text(SHORT.replace('name = "tcp"', name).replace('"base"', '"delay [/ms] \\u001b[2J"'))
    done = cli("run", "s.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert r"a [/b] \x1b[31m <!--<script>" in done.stdout and r"delay [/ms] \x1b[2J" in done.stdout


# ---------------------------------------------------------------- memory


SHORT_OF_MEMORY = """
import resource, sys
from pathlib import Path

import dumbbell
from dumbbell.__main__ import main
from dumbbell.cli import run
dumbbell.Scenario.load(sys.argv[1])  # its modules are imported before the limit
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 16_000_000,) * 2)
sys.argv[1:] = ["run", sys.argv[2]]
main()
"""


def test_a_scenario_that_memory_cannot_hold_is_one_line(tmp_path: Path) -> None:
    limited = Path("/proc/self/statm").exists()
    require("linux", None if limited else "the size of the process is read from /proc")
    (tmp_path / "small.toml").write_text(SHORT)
    with (tmp_path / "large.toml").open("w") as file:
        file.write(SHORT)
        file.writelines("# no content\n" for _ in range(2_300_000))  # 30 MB, less than the largest file
    call = [sys.executable, "-c", SHORT_OF_MEMORY, str(tmp_path / "small.toml"), str(tmp_path / "large.toml")]
    done = subprocess.run(call, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: out of memory\n")


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv.pop()) * 1_000_000,) * 2)
from dumbbell.__main__ import main
main()
"""


@pytest.mark.parametrize("megabytes", [200, 300, 350, 400, 450, 500])
def test_a_run_without_memory_has_no_traceback(tmp_path: Path, megabytes: int) -> None:
    """Libraries are loaded, or not, and allocate in turn; where one ends the process, Python can state nothing."""
    (tmp_path / "s.toml").write_text(SHORT)
    arguments = ["run", str(tmp_path / "s.toml"), "--trace", "--out", str(tmp_path / "out"), str(megabytes)]
    done = subprocess.run([sys.executable, "-c", LIMITED, *arguments], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    if "error: " in done.stderr and "OpenBLAS" not in done.stderr:
        assert "out of memory" in done.stderr
