"""The quick study netem-iperf from beginning to end, its physics and its page; interrupted, it goes on."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from browser import probe
from dumbbell.report.finding import Verdict
from dumbbell.report.html_page import page
from dumbbell.report.markdown import markdown
from dumbbell.studies import Done, run_study, study
from dumbbell.studies.ending import MOST, ending
from dumbbell.studies.lessons import declared, lessons
from dumbbell.studies.report import of_study
from dumbbell.studies.shared import counted
from kept_runs import count_made, kept
from quick import check_quick
from required import require_packages
from waiting import DEADLINE_S, wait_until

require_packages("matplotlib", "jinja2")


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("netem-iperf"))


def test_netem_iperf(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.netem_iperf.captured import Captured
    from dumbbell.studies.netem_iperf.data import DELAYS, LOSSES, Grid, mathis

    ran = done("netem-iperf")
    grid, long, offload = (Grid(ran.results[name]) for name in ("grid", "long", "offload"))
    for delay in DELAYS:
        for loss in LOSSES:
            # The formula's sqrt(3/2) is for periodic losses; random ones and timeouts make a fifth of difference.
            assert long.median("reno", delay, loss) == pytest.approx(float(mathis(delay, loss)), rel=0.25)
            assert offload.median("reno", delay, loss) > 2 * grid.median("reno", delay, loss)
    # 1448 bytes / 20 ms x sqrt(1.5 / 0.01) = 7.09 Mbit/s; ten times the round trip, a tenth of it.
    assert float(mathis(10, 1)) == pytest.approx(7.09, abs=0.01)
    assert float(mathis(100, 1)) == pytest.approx(0.709, abs=0.001)
    captured = Captured(ran.results["captured"])
    assert [one.figure for one in captured.transfers] == [7, 8, 9, 10]
    for one in captured.transfers:
        # The initial window of ten segments doubles each round: 300 segments after five.
        assert 3 <= one.phases()["slow start"][1] / (2e-3 * float(one.delay.split()[0])) <= 8
        assert one.sender["recoveries"] > 5


def _contents(place: Path) -> dict[str, bytes]:
    """Everything that a study leaves except the time and the host of the run."""
    kept = [p for p in place.rglob("*") if p.is_file() and p.name not in {"manifest.json", "report.html", "study.json"}]
    return {str(p.relative_to(place)): p.read_bytes() for p in kept}


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_study_goes_on(
    blow: signal.Signals, done: Callable[[str], Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = done("netem-iperf")
    out = tmp_path / "out"
    options = ["--quick", "--no-kernel", "--out", str(out)]
    command = [sys.executable, "-m", "dumbbell", "study", "run", "netem-iperf", *options]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: kept(out) >= 60, child)
    child.send_signal(blow)
    assert child.wait(timeout=DEADLINE_S) != 0
    before = kept(out)
    assert 60 <= before < whole.runs
    made = count_made(monkeypatch)
    again = run_study(study("netem-iperf"), out, quick=True, kernel=False)
    assert again.runs == whole.runs
    assert len(made) == whole.runs - before, "runs that were finished were made again"
    assert _contents(out) == _contents(whole.out)


# ------------------------------------------------------------ the page


@pytest.fixture(scope="module")
def netem(done: Callable[[str], Done]) -> Done:
    return done("netem-iperf")


def test_a_page_begins_with_lessons_then_verdicts_by_strength(netem: Done) -> None:
    text = netem.report.read_text(encoding="utf-8")
    markup = unescape(re.sub(r"<(script|style|svg)\b.*?</\1>", "", text, flags=re.DOTALL))
    places = [markup.index(f'id="{part}"') for part in ("lessons", "summary", "claims", "figures", "tables")]
    assert places == sorted(places)
    first = markup[places[0] : places[1]]
    for lesson in lessons(netem.study, {f.claim: f.verdict for f in netem.analysis.findings}, _names(netem)):
        assert lesson.question in first
        assert lesson.sentence in first
        assert f'<figure id="{lesson.figure}"' in first
    groups = re.findall(r'<h3 id="verdict-([a-z-]+)">', markup)
    assert groups == [
        v.value.replace(" ", "-") for v in Verdict if v in {f.verdict for f in netem.analysis.findings}
    ] + ["not-testable"]
    for claim in netem.study.paper.claims:
        assert markup.count(f'<tr id="{claim.id}">') == 1
    open_ = re.sub(r"<details>.*?</details>", "", markup[places[2] : places[3]], flags=re.DOTALL)
    assert "Rule." not in open_
    assert not re.search(r"\[[-+\d]", open_)  # no interval


def test_an_answer_leaves_a_page_whose_verdicts_are_others(netem: Done) -> None:
    lesson = declared(netem.study)[0]

    def shown(verdicts: dict[str, Verdict]) -> str:
        findings = [replace(f, verdict=verdicts.get(f.claim, f.verdict)) for f in netem.analysis.findings]
        changed = replace(netem, analysis=replace(netem.analysis, findings=findings))
        return page(of_study(changed), netem.drawn)

    assert lesson.answer in unescape(shown(lesson.verdicts))
    claim = next(iter(lesson.verdicts))
    text = unescape(shown({**lesson.verdicts, claim: Verdict.DIFFERS}))
    assert lesson.answer not in text
    assert f"In these runs “{netem.study.claim(claim).text.rstrip('.')}” differs." in text


def test_a_study_ends_with_ten_lines(netem: Done) -> None:
    lines = ending(netem)
    assert len(lines) <= MOST
    assert lines[-1] == ("report", str(netem.report))
    assert ("verdicts", counted(netem.study.paper, netem.analysis.findings)) in lines
    given = [text for head, text in lines if head == "lesson"]
    assert [text.split("?")[0] + "?" for text in given] == [x.question for x in declared(netem.study)]
    # However much there is to state, the page stays the last line.
    none = replace(netem, analysis=replace(netem.analysis, findings=[], summary=[f"§{k}." for k in range(30)]))
    assert len(ending(none)) == MOST
    assert ending(none)[-1] == lines[-1]
    assert ending(none)[1] == ("result", "§0.")


def test_markdown_begins_with_the_lessons_too(netem: Done) -> None:
    text = markdown(of_study(netem), netem.drawn, netem.out)
    places = [text.index(f"\n## {part}\n") for part in ("Lessons", "Summary", "Claims", "Figures")]
    assert places == sorted(places)
    for lesson in declared(netem.study):
        assert f"### {lesson.question}" in text
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert sorted(links) == sorted(str(d.png.relative_to(netem.out)) for d in netem.drawn)
    assert text.count("| not testable |") == len(netem.study.paper.claims) - len(netem.study.paper.judged)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_the_first_screen_fits_its_window(netem: Done, width: int, dark: bool) -> None:
    steps = """{
        const part = (name) => document.querySelector(name).getBoundingClientRect();
        return { lesson: part("#lessons .lesson").bottom, figure: part("#lessons figure").top,
                 drawn: document.querySelectorAll("#lessons figure.drawn").length };
    }"""
    found = probe(netem.report, width=width, dark=dark, script=steps)
    assert found["page"] == width
    assert found["wide"] == []
    assert found["drawn"] >= found["figures"] == len(netem.drawn)
    assert found["result"]["drawn"] == len(declared(netem.study))
    # The frame has 1000 pixels: the first sentence, and at least the beginning of its figure.
    assert 0 < found["result"]["lesson"] < found["result"]["figure"] < 1000


def test_print_has_what_the_screen_folds(netem: Done) -> None:
    steps = """{
        const parts = [...document.querySelectorAll("#claims details")];
        const opened = () => parts.filter((p) => p.open).length;
        parts[3].open = true;
        const screen = opened();
        dispatchEvent(new Event("beforeprint"));
        const paper = opened(), scenarios = document.querySelectorAll("#run details[open]").length;
        dispatchEvent(new Event("afterprint"));
        return { screen, paper, all: parts.length, scenarios, after: opened(), kept: parts[3].open };
    }"""
    found = probe(netem.report, script=steps)["result"]
    assert found["paper"] == found["all"] > len(netem.study.paper.claims)
    assert (found["screen"], found["after"], found["kept"], found["scenarios"]) == (1, 1, True, 0)


def _names(done: Done) -> list[str]:
    return [d.picture.name for d in done.drawn]
