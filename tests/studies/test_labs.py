"""The labs: a student's files, the check of answers, hand-ins that aren't what they should be."""

from __future__ import annotations

import math
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from browser import probe
from dumbbell import Scenario
from dumbbell.exceptions import DumbbellError
from dumbbell.report.markdown_html import html
from dumbbell.scenario import toml
from dumbbell.studies.labs import Lab, Verdict, check, kernel_hint, lab, labs, start
from dumbbell.studies.labs.definition import Question, Text
from dumbbell.studies.labs.hand_in import LARGEST, HandIn, read
from dumbbell.studies.labs.starting import handout
from dumbbell.studies.labs.student import assignment
from dumbbell.studies.labs.units import number
from hand_ins import fill
from machines import once, require_uml
from required import require, require_packages, require_programs

__all__ = ["require_uml"]

require_packages("jinja2")

NAMES = list(labs())
STUDENTS = [f"s{n}" for n in range(1, 7)]


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A started lab, answers still empty."""
    start(lab("slow-start"), "s1", tmp_path / "hand-in")
    return tmp_path / "hand-in"


def problems(folder: Path) -> list[str]:
    return [str(problem) for problem in read(folder).problems]


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_right_answers_of_students_are_accepted_and_wrong_ones_are_not(name: str, tmp_path: Path) -> None:
    found, figures = lab(name), dict[str, dict[str, float]]()
    for student in STUDENTS:
        start(found, student, tmp_path / student)
        hand_in = read(tmp_path / student)
        assert not hand_in.problems
        figures[student] = {c.question.id: c.figure for c in check(hand_in)}
        for factor in (-0.9, 0.9):  # within the tolerance
            assert all(c.verdict is Verdict.RIGHT for c in check(with_offset(hand_in, figures[student], factor)))
        for factor in (-1.1, 1.1):  # beyond it
            assert all(c.verdict is Verdict.WRONG for c in check(with_offset(hand_in, figures[student], factor)))
    assert {c.verdict for c in check(hand_in)} == {Verdict.MISSING}
    # The answers of the next student are wrong, but for a few that are within the tolerance by chance.
    others = dict(zip(STUDENTS, [*STUDENTS[1:], STUDENTS[0]], strict=True))
    own = [question for question in found.questions if question.id not in ALIKE.get(name, ())]
    right = [q.accepts(figures[others[s]][q.id], figures[s][q.id]) for s in STUDENTS for q in own]
    assert sum(right) <= 0.2 * len(right)


ALIKE = {"aqm": ("q4",), "bufferbloat": ("q6", "q7"), "fairness": ("q5", "q6")}
"""Questions whose figure is nearly the same for every student: it belongs to the lesson that it is."""


def with_offset(hand_in: HandIn, figures: dict[str, float], factor: float) -> HandIn:
    """Answer with each figure plus a multiple of its tolerance."""
    given = {
        q.id: figures[q.id] + factor * (q.absolute or abs(figures[q.id]) * (q.relative or 0))
        for q in hand_in.lab.questions
    }
    return replace(hand_in, given=given)


@pytest.mark.parametrize("name", NAMES)
def test_students_differ_and_one_student_always_has_the_same(name: str) -> None:
    found = lab(name)
    scenarios = {assignment(found, f"s{n}").scenario for n in range(60)}
    assert len(scenarios) == 60
    drawn = [tuple(assignment(found, f"s{n}").values[p] for p in found.parameters) for n in range(60)]
    assert math.prod(parameter.count for parameter in found.parameters.values()) >= 650
    assert len(set(drawn)) >= 55
    for name_, parameter in found.parameters.items():
        allowed = {parameter.value(n) for n in range(parameter.count)}
        assert {values[list(found.parameters).index(name_)] for values in drawn} <= allowed
    assert assignment(found, "s7").scenario == assignment(found, "s7").scenario


def test_a_draw_stays_the_same_in_later_versions() -> None:
    """Hand-ins are graded weeks after they were started: the draw is part of the format."""
    values = assignment(lab("bufferbloat"), "s1").values
    assert {k: values[k] for k in ("rate", "delay", "buffer")} == {
        "rate": "10 Mbit/s",
        "delay": "22 ms",
        "buffer": "290 packets",
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_started_lab_is_complete(name: str, tmp_path: Path) -> None:
    found = lab(name)
    files = start(found, "s1", tmp_path / "out")
    Scenario.load(files.scenario)
    text = handout(files.assigned)
    form = tomllib.loads(files.answers.read_text(encoding="utf-8"))
    parts: dict[str, Sequence[Question | Text]] = {
        "predict": found.predict,
        "answers": found.questions,
        "explain": found.explain,
    }
    for part, asked in parts.items():
        assert list(form[part]) == [q.id for q in asked]
        assert all(f"**{q.id}**" in text for q in asked)
    order = [text.index(f"## {part}\n") for part in ("Predict", "Run", "Observe", "Explain", "Check")]
    assert order == sorted(order)
    for planned_name, planned in files.assigned.runs.items():
        assert planned.command(planned_name) in text
    assert re.search(r"RFC \d+ §", text)
    assert "report" in text
    page = files.handout.read_text(encoding="utf-8")
    assert not re.search(r"\*\*|\$[a-z{]|^\{|src=|@import|url\(", page, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_the_handout_fits_a_window_and_a_phone(name: str, tmp_path: Path) -> None:
    page = start(lab(name), "s1", tmp_path / "out").handout
    for width in (1280, 400) if name == "bbr-cubic" else (400,):
        seen = probe(page, width=width)
        assert seen["page"] <= width
        assert seen["wide"] == []
        assert seen["requests"] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_of_the_handout_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command of a handout, in its order, as a student types them."""
    from dumbbell.cli import app

    start(lab(name), "s1", tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    lines = list(commands((tmp_path / "out" / "handout.md").read_text(encoding="utf-8")))
    assert lines[-1] == "dumbbell lab check ."
    for line in lines[:-1]:
        if "kernel" in line:
            continue
        arguments = [str(path) for word in shlex.split(line)[1:] for path in expanded(word)]
        assert app.main(arguments, prog_name="dumbbell", standalone_mode=False) in (None, 0), line
    assert app.main(["lab", "check", "."], prog_name="dumbbell", standalone_mode=False) == 1
    capsys.readouterr()


def expanded(word: str) -> list[Path] | list[str]:
    """Expand a pattern as a shell does."""
    return (sorted(Path().glob(word)) if "*" in word else []) or [word]


def commands(text: str) -> Iterator[str]:
    for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield from (line for line in block.splitlines() if line.startswith("dumbbell "))


def test_bad_answers_have_their_place(begun: Path) -> None:
    fill(
        begun,
        {"q1": '"fast"', "q2": '"12 ms"', "q3": "true", "q4": "[1]", "q5": '"3 kB"', "q6": "nan", "q7": '"0.5 s"'},
    )
    assert [p.split(": ")[1] for p in problems(begun)] == [f"answers.q{n}" for n in range(1, 8)]
    assert "'fast' does not start with a number" in problems(begun)[0]
    assert "unknown unit 'ms'" in problems(begun)[1]
    assert 'true given: a number in packets, such as 12.5 or "12.5 packets", is needed' in problems(begun)[2]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('lab = "slow-start"', 'lab = "slow-strat"', "unknown lab 'slow-strat': did you mean 'slow-start'?"),
        ('lab = "slow-start"', "", "answers.toml: lab: not given"),
        ('student = "s1"', "student = 1", "answers.toml: student: 1 given"),
        ('student = "s1"', 'student = "=1+1"', "answers.toml: student: '=1+1' given: 1 to 64 letters"),
        ('lab = "slow-start"', "lab = ", "answers.toml: not valid TOML"),
        ('lab = "slow-start"', "x = " + "[" * 20_000, "answers.toml: not valid TOML"),
        ('lab = "slow-start"', "x = " + "9" * 20_000, "answers.toml: not valid TOML"),
        ('lab = "slow-start"', "#" * (LARGEST + 1), "answers.toml: more than 64 KiB given"),
    ],
)  # fmt: skip
def test_a_form_that_cannot_be_read(begun: Path, old: str, new: str, message: str) -> None:
    edit(begun / "answers.toml", old, new)
    with pytest.raises(DumbbellError, match=re.escape(message)) as e:
        read(begun)
    assert len(str(e.value)) < 500


def test_unknown_keys_and_questions_have_the_nearest_name(begun: Path) -> None:
    edit(begun / "answers.toml", "q3 = ", "q33 = ")
    edit(begun / "answers.toml", "[explain]", "[explained]")
    assert problems(begun) == [
        "answers.toml: unknown key 'explained': did you mean 'explain'?",
        "answers.toml: answers: unknown question 'q33': did you mean 'q3'?",
    ]


def test_an_edited_scenario_is_refused_and_its_comments_do_not_matter(begun: Path) -> None:
    scenario = begun / "scenario.toml"
    edit(scenario, "# Lab slow-start", "# My")
    assert problems(begun) == []
    edit(scenario, 'duration = "5 s"', 'duration = "50 s"')
    edit(scenario, 'variant = "reno"', 'variant = "cubic"\n"\\u001b[31m" = 1')
    duration, variant, more = problems(begun)
    assert duration.startswith("scenario.toml: duration: '50 s' given: '5 s' is needed")
    assert variant.startswith("scenario.toml: flows.a.variant: 'cubic' given: 'reno' is needed")
    assert "\x1b" not in more
    scenario.unlink()
    assert problems(begun) == [
        "scenario.toml: no such file: a hand-in has answers.toml and scenario.toml, which `dumbbell lab start` writes"
    ]


def test_the_scenario_of_another_student_is_refused(begun: Path, tmp_path: Path) -> None:
    start(lab("slow-start"), "s2", tmp_path / "other")
    (begun / "scenario.toml").write_bytes((tmp_path / "other" / "scenario.toml").read_bytes())
    assert problems(begun) == ["scenario.toml: the scenario of student 's2', but the answers are of 's1'"]


def test_the_scenario_of_another_lab_is_one_problem(begun: Path, tmp_path: Path) -> None:
    start(lab("aqm"), "s1", tmp_path / "other")
    (begun / "scenario.toml").write_bytes((tmp_path / "other" / "scenario.toml").read_bytes())
    assert problems(begun) == ["scenario.toml: the scenario 'aqm of s1', but the answers are of 'slow-start of s1'"]


def test_a_scenario_of_a_hand_in_is_never_loaded(begun: Path) -> None:
    """A variant in Python that a scenario names would be run: the check compares the text only."""
    (begun / "evil.py").write_text("raise SystemExit('run')\n", encoding="utf-8")
    edit(begun / "scenario.toml", 'variant = "reno"', 'variant = "evil.py:Evil"')
    assert len(problems(begun)) == 1
    assert len(check(read(begun))) == 7  # of the lab's own scenario


def test_links_are_not_followed(begun: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("password = 1", encoding="utf-8")
    (begun / "answers.toml").unlink()
    (begun / "answers.toml").symlink_to(secret)
    with pytest.raises(DumbbellError, match="a link, which is not followed"):
        read(begun)


def test_texts_are_bounded(begun: Path) -> None:
    fill(begun, {"e1": f'"{"x" * 5001}"'}, "explain")
    assert problems(begun) == ["answers.toml: explain.e1: 5001 characters given: at most 5000 are allowed"]


def test_windows_line_ends_and_several_lines_are_fine(begun: Path) -> None:
    fill(begun, {"e1": '"""one\ntwo"""'}, "explain")
    for path in begun.glob("*.toml"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    hand_in = read(begun)
    assert hand_in.problems == []
    assert hand_in.texts == {"e1": "one\ntwo"}


def test_a_lab_is_not_started_over_files(begun: Path) -> None:
    with pytest.raises(DumbbellError, match="holds files already"):
        start(lab("slow-start"), "s1", begun)
    with pytest.raises(DumbbellError, match="unknown lab 'bufferblaot': did you mean 'bufferbloat'"):
        lab("bufferblaot")


@pytest.mark.parametrize(
    ("given", "unit", "value"),
    [(12.5, "ms", 12.5), ("0.0125 s", "ms", 12.5), ("900 kbit/s", "Mbit/s", 0.9), ("3 packets", "packets", 3),
     ("2.5 %", "%", 2.5), (3, "", 3), ("1.25", "", 1.25), (" 12.5 ", "ms", 12.5), ("-3", "packets", -3)],
)  # fmt: skip
def test_units_are_converted(given: object, unit: str, value: float) -> None:
    assert number(given, unit) == pytest.approx(value)


def test_the_tolerance_is_a_bound_on_either_side() -> None:
    question = next(q for q in lab("slow-start").questions if q.id == "q1")
    assert question.absolute == 0.5
    assert question.accepts(40.5, 40) and question.accepts(39.5, 40)
    assert not question.accepts(40.51, 40) and not question.accepts(39.49, 40)


def test_markdown_is_escaped() -> None:
    assert html("a <b> **c** `<d>` [e](https://f)") == (
        '<p>a &lt;b&gt; <strong>c</strong> <code>&lt;d&gt;</code> <a href="https://f">e</a></p>'
    )
    assert html("- a\n  b\n- c") == "<ul><li>a b</li><li>c</li></ul>"
    assert "<a" not in html("[x](javascript:alert(1))")
    assert html("```\n**x** <\n```") == "<pre>**x** &lt;</pre>"


def test_every_lab_folder_is_a_package_and_listed() -> None:
    folders = [path.parent for path in (Path(start.__code__.co_filename).parent).glob("*/lab.toml")]
    assert len(folders) == len(NAMES)
    for folder in folders:
        assert {"__init__.py", "figures.py", "handout.md", "lab.toml", "scenario.toml"} <= {
            p.name for p in folder.iterdir()
        }
    assert [one.order for one in labs().values()] == sorted({one.order for one in labs().values()})
    assert isinstance(lab(NAMES[0]), Lab)


def test_answers_from_the_real_kernel_are_right(require_uml: None, tmp_path: Path) -> None:  # noqa: ARG001
    """The tolerances of the lab hold the figures of Linux in virtual time."""
    files = start(lab("real-kernel"), "s3", tmp_path / "out")
    answers: dict[str, object] = {}
    for n, name in enumerate(("cubic_kernel", "reno_kernel", "bbr_kernel")):
        changes = {path: toml.value(value) for path, value in files.assigned.runs[name].changes.items()}
        row = once(Scenario.load(files.scenario, changes)).flows.row(0, named=True)
        answers |= {f"q{2 * n + 1}": f'"{row["goodput_bps"]} bit/s"', f"q{2 * n + 2}": row["rtt_mean_ms"]}
    fill(files.answers.parent, answers)
    assert {c.verdict for c in check(read(files.answers.parent))} == {Verdict.RIGHT}


def test_the_hint_is_one_line_and_only_where_the_kernel_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_hint, "why_no_kernel", lambda: "not built")
    assert "dumbbell kernel build" in (hint := kernel_hint.kernel_hint(lab("real-kernel")))
    assert "\n" not in hint
    assert kernel_hint.kernel_hint(lab("slow-start")) == ""
    monkeypatch.setattr(kernel_hint, "why_no_kernel", lambda: "")
    assert kernel_hint.kernel_hint(lab("real-kernel")) == ""


def test_the_package_has_the_files_of_every_lab(tmp_path: Path) -> None:
    """The source distribution, from which wheels are made: it follows .gitignore and the settings of maturin."""
    require("packages", None if find_spec("maturin") else "needs maturin: `pip install maturin`")
    require_programs("cargo")
    root = Path(__file__).parents[2]
    call = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(call, cwd=root, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    folder = root / "python" / "dumbbell"
    needed = [path for path in (folder / "studies" / "labs").rglob("*.*") if "__pycache__" not in path.parts]
    needed += [folder / "report" / "templates" / name for name in ("text.html", "contents.js", "report.css")]
    assert len(needed) > 5 * len(NAMES)
    assert {path.relative_to(root).as_posix() for path in needed} <= packed
