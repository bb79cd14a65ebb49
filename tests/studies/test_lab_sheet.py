"""The instructor's sheet over a class's hand-ins, and the exit codes of ``dumbbell lab``."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path

import polars as pl
import pytest

from dumbbell.cli import app
from dumbbell.exceptions import DumbbellError
from dumbbell.studies.labs import check, find_hand_ins, grading, lab, labs, own_runs, write_sheet
from dumbbell.studies.labs.hand_in import read
from dumbbell.studies.labs.student import Assignment
from hand_ins import fill, hand_in
from required import require_packages

require_packages("jinja2")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def run(*arguments: str) -> object:
    return app.main([*arguments], prog_name="dumbbell", standalone_mode=False)


def test_hand_ins_of_every_lab_are_graded(tmp_path: Path) -> None:
    names = list(labs())
    for n in range(2 * len(names)):
        hand_in(tmp_path / f"s{n:02}" / "hand-in", names[n % len(names)], f"s{n:02}", wrong=n % 3)
    found = find_hand_ins([tmp_path])
    assert len(found) == 2 * len(names)
    graded = rows(write_sheet(found).text)
    for n, row in enumerate(graded):
        questions = len(lab(row["lab"]).questions)
        assert (row["student"], row["problems"]) == (f"s{n:02}", "")
        assert (int(row["right"]), int(row["questions"])) == (questions - n % 3, questions)
        assert [row[f"q{q}"] for q in range(1, 4)] == ["not right" if q <= n % 3 else "right" for q in range(1, 4)]
    assert "q1 run" not in graded[0]


def test_the_sheet_has_texts_without_formulas_and_figures_on_request(tmp_path: Path) -> None:
    folder = hand_in(tmp_path / "s1", "slow-start", "s1")
    texts = {"p1": '"=HYPERLINK(1)"', "p2": '"\\u202eabc\\u001b[2J"'}
    fill(folder, texts, "predict")
    fill(folder, {"e1": '"""+1\nand more"""', "e2": '"fine, \\"quoted\\""'}, "explain")
    row = rows(write_sheet([folder], solutions=True).text)[0]
    assert (row["p1"], row["e1"], row["e2"]) == ("'=HYPERLINK(1)", "'+1 and more", 'fine, "quoted"')
    assert row["p2"] == "abc [2J"
    assert float(row["q1 run"]) == pytest.approx(float(row["q1 given"]), rel=1e-5)


def test_bad_hand_ins_have_a_row_and_the_others_are_graded(tmp_path: Path) -> None:
    hand_in(tmp_path / "class" / "a", "slow-start", "s1")
    hand_in(tmp_path / "class" / "b", "slow-start", "s2")
    (tmp_path / "class" / "b" / "answers.toml").write_text("lab = 1", encoding="utf-8")
    fill_wrong = hand_in(tmp_path / "class" / "c", "slow-start", "s3")
    text = (fill_wrong / "answers.toml").read_text(encoding="utf-8")
    (fill_wrong / "answers.toml").write_text(text.replace("q1 = ", "q1 = 'ten' # "), encoding="utf-8")
    a, b, c = rows(write_sheet(find_hand_ins([tmp_path / "class"])).text)
    assert (a["right"], a["problems"]) == ("7", "")
    assert (b["right"], b["student"]) == ("", "")
    assert b["problems"].startswith("answers.toml: lab: 1 given")
    assert (c["right"], c["q1"]) == ("6", "unreadable")
    assert c["problems"].startswith("answers.toml: answers.q1: 'ten'")


def test_two_hand_ins_of_one_student_are_reported(tmp_path: Path) -> None:
    hand_in(tmp_path / "a", "slow-start", "s1")
    hand_in(tmp_path / "b", "slow-start", "s1")
    assert {row["problems"] for row in rows(write_sheet(find_hand_ins([tmp_path])).text)} == {
        "answers.toml: student: s1 has 2 hand-ins for slow-start"
    }


def test_places_without_hand_ins_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DumbbellError, match=r"no answers\.toml in it"):
        find_hand_ins([tmp_path])
    with pytest.raises(DumbbellError, match="no such directory"):
        find_hand_ins([tmp_path / "nowhere"])


def test_exit_codes_and_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = hand_in(tmp_path / "a", "slow-start", "s1")
    assert run("lab", "check", str(folder)) == 0
    assert "7 of 7 answers right" in capsys.readouterr().out
    assert run("lab", "check", str(hand_in(tmp_path / "b", "slow-start", "s2", wrong=1)), "--json") == 1
    answers = json.loads(capsys.readouterr().out)["answers"]
    assert [a["verdict"] for a in answers] == ["not right", *["right"] * 6]
    assert "figure" not in answers[0]
    assert run("lab", "check", str(tmp_path / "b")) == 1
    out = capsys.readouterr().out
    figure = check(read(tmp_path / "b"))[0].figure
    assert "q1  not within 0.5 ms of the run's figure" in out
    assert f"{figure:.4g}" not in out
    assert run("lab", "check", str(tmp_path / "b"), "--solutions") == 1
    assert f"({figure:.4g} ms)" in capsys.readouterr().out
    with pytest.raises(DumbbellError, match="student: 's1' given: 's2' is needed"):
        run("lab", "check", str(folder), "--student", "s2")
    assert run("lab", "grade", str(tmp_path), "--out", str(tmp_path / "grades.csv")) == 0
    assert len(rows((tmp_path / "grades.csv").read_text(encoding="utf-8"))) == 2
    (folder / "scenario.toml").unlink()
    assert run("lab", "grade", str(tmp_path), "--out", str(tmp_path / "grades.csv")) == 2
    assert "scenario.toml: no such file" in capsys.readouterr().err


def test_lists_and_descriptions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("lab", "list", "--json") is None
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == list(labs())
    for name in labs():
        assert run("lab", "show", name) is None
        assert lab(name).questions[0].id in capsys.readouterr().out


def test_no_hand_in_stops_the_class_and_each_folder_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each folder of the class is a row: files that are missing, of another kind or deep, and what fails."""
    place = tmp_path / "class"
    names = ("deep", "device", "directory", "fifo", "fails", "good", "large", "link", "nul", "panics", "empty")
    folders = {name: hand_in(place / name, "slow-start", f"s{n}") for n, name in enumerate(names)}
    forms = {name: folder / "answers.toml" for name, folder in folders.items()}
    head = forms["deep"].read_text(encoding="utf-8").partition("[predict]")[0]
    forms["deep"].write_text(f"{head}a{'.x' * 30_000} = 1\n", encoding="utf-8")
    for name in ("device", "directory", "fifo", "link", "empty"):
        forms[name].unlink()
    forms["device"].symlink_to("/dev/zero")
    forms["directory"].mkdir()
    os.mkfifo(forms["fifo"])
    forms["link"].symlink_to(forms["good"])
    forms["large"].write_bytes(b"#" * 100_000)
    forms["nul"].write_bytes(b"\0")
    (place / "linked").symlink_to(folders["good"])
    (place / ".hidden").mkdir()
    (place / "notes.txt").touch()

    def figures_of(assigned: Assignment) -> dict[str, float]:
        if assigned.student == f"s{names.index('fails')}":
            raise ZeroDivisionError("no packets")
        if assigned.student == f"s{names.index('panics')}":
            raise pl.exceptions.PanicException("stopped")
        return own_runs.figures_of(assigned)

    monkeypatch.setattr("dumbbell.studies.labs.grading.figures_of", figures_of)
    grading._figures.cache_clear()
    graded = {Path(row["directory"]).name: row for row in rows(write_sheet(find_hand_ins([place])).text)}
    assert set(graded) == {*names, "linked"}
    assert {name: row["problems"].partition(":")[2].partition(":")[0].strip() for name, row in graded.items()} == {
        "deep": "not valid TOML",
        "device": "a link, which is not followed",
        "directory": "no such file",
        "empty": "no such file",
        "fails": "ZeroDivisionError",
        "fifo": "no such file",
        "good": "",
        "large": "more than 64 KiB given",
        "link": "a link, which is not followed",
        "linked": "",
        "nul": "not valid TOML",
        "panics": "stopped",
    }
    assert graded["linked"]["problems"] == "a link, which is not followed"
    assert graded["good"]["right"] == "7"


def test_a_malformed_answer_is_a_row(tmp_path: Path) -> None:
    answers = ("12,5", "'''", "nan", "inf", "9" * 400, "1e999", "[[]]", "1979-05-27", "{a.b = 1}")
    for n, answer in enumerate(answers):
        folder = hand_in(tmp_path / f"s{n}", "slow-start", f"s{n}")
        text = (folder / "answers.toml").read_text(encoding="utf-8")
        (folder / "answers.toml").write_text(text.replace("q1 = ", f"q1 = {answer} # "), encoding="utf-8")
    graded = rows(write_sheet(find_hand_ins([tmp_path])).text)
    assert len(graded) == 9
    assert all("answers.toml: " in row["problems"] and len(row["problems"]) < 400 for row in graded)
