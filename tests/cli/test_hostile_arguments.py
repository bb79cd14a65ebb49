"""Arguments that no author means: each is refused with short lines, or does what it says; none is a traceback."""

from __future__ import annotations

import random
import re
from pathlib import Path

import click
import pytest
from conftest import BASE

import dumbbell
from dumbbell.cli import app
from dumbbell.exceptions import LONGEST_LINE, DumbbellError, bounded

VALUES = (
    "²", "٣", "-1", "0", "1e999", "nan", "inf", "true", "[]", "{}", "[[1]]", '"\\ud800"', "\udcff", "\x1b[2J", "a\nb",
    "9" * 30, "9" * 5000, "0x" + "f" * 9000, "a" * 5000, "a " * 3000, "'" * 400, "../..", "/dev/zero", "1979-05-27",
    "{a=1}", "[1,2", "=", ".", "..", " ", "", "1 ms", "*", "{x}", "%s", "x" + ".y" * 3000, "<b>", "é", "-", "--x",
    "1_000", "9" * 400 + " ms", "1e400 Mbit/s",
)  # fmt: skip
PATHS = (
    "name", "seed", "duration", "repetitions", "flows.a.variant", "flows.0.variant", "flows.²", "flows.*.start",
    "flows", "flows.a", "network", "network.bottleneck.rate", "network.bottleneck.queue.limit", "sweep.seed", "sweep",
    "capture", "trace.series", "until", "until.half_width", "start_jitter", "x", "variants.x.python", "preset",
    "disciplines.q.library", "flows.tcp.application.kind", "flows.tcp.stack.initial_cwnd", "network.topology", "format",
    "extends", "flows.tcp.count",
)  # fmt: skip
OPTIONS = ["--seed", "--repetitions", "--until", "--jobs", "--backend", "--option", "--cluster", "--qlog"]
OF_PLOTS = ["--kind", "--flow", "--metric", "--cell", "--run", "--width", "--x"]
NAMED = [["variants"], ["disciplines"], ["stacks"], ["results"], ["lab", "show"], ["lab", "check"]]


def commands(file: Path, kept: Path) -> list[list[str]]:
    """Return calls: each value at several places, the same in each run."""
    draw = random.Random(38)
    calls = []
    for value in VALUES:
        first, second, third = draw.sample(PATHS, 3)
        option = draw.choice(OPTIONS)
        more = draw.choice([["variant", "check"], ["compare", str(kept)], ["results", "query", str(kept)]])
        calls += [
            ["check", str(file), "--set", f"{first}={value}"],
            ["check", str(file), "--set", f"{second}={value}", "--set", f"{third}={value}"],
            ["check", str(file), "--set", f"{value}={value}"],
            ["run", str(file), option, value, "--order", "x"],
            ["run", str(file), "--set", "duration=x", option, value],
            ["stats", str(kept), draw.choice(["--metric", "--by", "--flow", "--format"]), value],
            ["plot", str(kept), "--kind", "bars", draw.choice(OF_PLOTS), value],
            [*draw.choice(NAMED), value],
            [*more, value],
            [value],
        ]
    return calls


def test_hostile_arguments_are_short_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "s.toml"
    file.write_text(BASE.replace('"2 s"', '"100 ms"').replace('"100 ms"\n\n', '"10 ms"\n\n'))
    dumbbell.run(file, out=tmp_path / "kept")
    refused = 0
    for call in commands(file, tmp_path / "kept"):
        try:
            app.main(call, prog_name="dumbbell", standalone_mode=False)
        except (click.ClickException, DumbbellError, OSError) as e:
            message = e.format_message() if isinstance(e, click.ClickException) else str(e)
            assert all(len(line) <= LONGEST_LINE + 3 for line in bounded(message).split("\n")), call
            refused += 1
        except click.exceptions.Exit:
            pass
        except SystemExit as e:
            assert e.code in (0, 1, 2), call
    assert refused > 300


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "s.toml", "--set", 'seed=1\nname="x"'], r"--set: 'seed=1\\nname=\"x\"' given: control characters"),
        (["run", "s.toml", "--option", "sample_ms=1\n"], r"--option: 'sample_ms=1\\n' given: control characters"),
        (["check", "s.toml", "--set", "flows.²=1"], "flows.²: unknown name '²'"),
        (
            ["check", "s.toml", "--set", "seed=0x" + "f" * 9000],
            r"seed: '0xf{198}\.\.\.' given: a whole number is needed",
        ),
        (["run", "s.toml", "--out", "o\udcff"], r"'o\\udcff' given: not UTF-8"),
        (["check", "s.toml", "--set", "name=o\udcff"], r"'name=o\\udcff' given: not UTF-8"),
        (["lab", "show", "\udcff"], r"'\\udcff' given: not UTF-8"),
        (["run", "s.toml", "--" + "a" * 9000], r"unknown option '--a{198}\.\.\.'"),
        (["check", "s.toml", "--set", "b " * 3000], r"--set: '(b ){100}\.\.\.' given: PATH=VALUE is needed"),
        (["run", "s.toml", "-o", "a" * 9000], r"--option: 'a{200}\.\.\.' given: NAME=VALUE is needed"),
    ],
)
def test_what_was_a_traceback_or_a_long_line(
    base_file: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    (base_file.parent / "s.toml").write_text(BASE)
    monkeypatch.chdir(base_file.parent)
    with pytest.raises((click.ClickException, DumbbellError)) as error:
        app.main(arguments, prog_name="dumbbell", standalone_mode=False)
    text = error.value.format_message() if isinstance(error.value, click.ClickException) else str(error.value)
    assert re.search(message, bounded(text)), text[:500]


@pytest.mark.parametrize(
    "document",
    [
        {"\ud800": 1},
        {"name": "\ud800"},
        {"seed": 1 << 36_000},
        {"network": {"topology": "\ud800"}},
        {"flows": [{"name": "tcp", "variant": "\ud800"}]},
        {"flows": [{"name": "a", "variant": {"name": "cubic", "\ud800": 1}}]},
        {"flows": [{"name": "a", "variant": {"name": "cubic", "beta": 1 << 36_000}}]},
    ],
)
def test_documents_with_texts_and_numbers_that_cannot_be_written(document: dict[str, object]) -> None:
    whole = dumbbell.Scenario.from_toml(BASE).to_dict()
    with pytest.raises(dumbbell.ScenarioError) as error:
        dumbbell.Scenario.from_dict(whole | document)
    assert len(str(error.value).encode()) < 1000
    assert "codec" not in str(error.value)
