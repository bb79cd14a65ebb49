"""Reports of results: on a page, as Markdown; comparisons; warnings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Results, ResultsError, Scenario
from dumbbell.results.statistics.changes import compare
from scenario_texts import PAIR


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report") / "pair"
    dumbbell.run(Scenario.from_toml(PAIR), out=place)
    return place


# ------------------------------------------------------------ warnings


def warned(results: Results) -> set[str]:
    return {w.name for w in results.lint()}


def test_warnings_name_weak_results(changed: Callable[..., Scenario]) -> None:
    long = {"duration": "8 s", "flows.cbr.application.rate": "0.5 Mbit/s", "repetitions": 3}
    assert warned(dumbbell.run(changed(long))) == set()
    assert "one-repetition" in warned(dumbbell.run(changed({**long, "repetitions": 1})))
    still = dumbbell.run(changed({**long, "start_jitter": "0 s"}))
    assert "phase-effects" in warned(still)
    slow = changed({**long, "flows.tcp.application": {"kind": "cbr", "rate": "100 kbit/s", "packet": "500 bytes"}})
    (limited,) = [w for w in dumbbell.run(slow).lint() if w.name == "not-window-limited"]
    assert "flow 'tcp'" in limited.text
    deep = {"discipline": "droptail", "limit": "9000 packets"}
    assert "no-loss" in warned(dumbbell.run(changed({**long, "network.bottleneck.queue": deep, "duration": "1 s"})))


LINK, CBR = "network.bottleneck.jitter", "flows.cbr.application.jitter"


@pytest.mark.parametrize(
    ("path", "jitter", "constant"),
    [
        (LINK, "1 ms", False),
        (LINK, {"distribution": "normal", "mean": "1 ms", "sd": "0.1 ms"}, False),
        (LINK, {"distribution": "exponential", "mean": "1 ms"}, False),
        (CBR, 0.5, False),
        (LINK, "0 ms", True),
        (LINK, {"distribution": "uniform", "max": "0 ms"}, True),
        (LINK, {"distribution": "normal", "mean": "1 ms", "sd": "0 ms"}, True),
    ],
)
def test_jitter_of_a_link_or_of_cbr_intervals_prevents_phase_effects(
    changed: Callable[..., Scenario], path: str, jitter: str | dict[str, str] | float, constant: bool
) -> None:
    still = {"duration": "1 s", "repetitions": 1, "start_jitter": "0 s", CBR: 0.0}
    assert ("phase-effects" in warned(dumbbell.run(changed({**still, path: jitter})))) == constant


def test_identical_repetitions_give_a_warning() -> None:
    text = PAIR.replace('start_jitter = "200 ms"', "").replace("repetitions = 5", "repetitions = 3")
    assert "identical-repetitions" in warned(dumbbell.run(Scenario.from_toml(text)))


def test_rates_over_different_intervals_give_a_warning(kept: Path) -> None:
    assert "different-intervals" in warned(Results.load(kept))


# ------------------------------------------------------------ comparison


def test_the_same_shows_no_difference(kept: Path) -> None:
    results = Results.load(kept)
    changes = compare(results, results)
    assert changes
    assert not any(c.significant or c.worse for c in changes)


def test_a_worse_queue_fails_the_gate(cli: Callable[..., Any], kept: Path, tmp_path: Path) -> None:
    worse = tmp_path / "worse"
    shallow = {"network.bottleneck.queue": {"discipline": "droptail", "limit": "3 packets"}}
    dumbbell.run(Scenario.from_toml(PAIR).with_changes(shallow), out=worse)
    done = cli("compare", str(kept), str(worse), "--gate", "--json")
    assert done.returncode == 1
    changes = json.loads(done.stdout)["changes"]
    utilization = [c for c in changes if c["metric"] == "utilization"]
    assert len(utilization) == 4
    assert all(c["worse"] and c["b"] < c["a"] and c["paired"] and c["n"] == 5 for c in utilization)
    assert all(c["adjusted"] >= c["p"] for c in changes if c["p"] is not None)
    assert cli("compare", str(kept), str(kept), "--gate").returncode == 0
    table = cli("compare", str(kept), str(worse)).stdout
    assert "worse" in table
    assert "comparisons:" in table
    assert "did you mean 'goodput_bps'" in cli("compare", str(kept), str(worse), "--metric", "godput_bps").stderr


def test_nothing_in_common_is_an_error(kept: Path, changed: Callable[..., Scenario]) -> None:
    with pytest.raises(ResultsError, match="no cell in common"):
        compare(Results.load(kept), dumbbell.run(changed({"repetitions": 1})))


# ------------------------------------------------------------ report


def test_the_page_holds_everything(cli: Callable[..., Any], kept: Path) -> None:
    done = cli("report", str(kept))
    assert done.returncode == 0, done.stderr
    page = (kept / "report.html").read_text()
    assert Path(done.stdout.strip()) == kept / "report.html"
    assert not re.search(r'(src|href)="https?:', page.split("<script>")[0])
    for words in ("what a pair does", "Run it again", "Seed 1, which gives", "different intervals", "topology"):
        assert words in page, words
    figures = re.findall(r'<figure id="([^"]+)"', page)
    assert {"lines-goodput", "matrix", "cwnd", "queue", "ellipse"} <= set(figures)
    for name in figures:
        rows = (kept / "tables" / f"{name}.csv").read_text().splitlines()
        assert len(rows) > 1
        assert (kept / "figures" / f"{name}.png").exists()
        assert f"tables/{name}.csv" in page or f'id="csv-{name}"' in page


def test_markdown_links_its_figures(cli: Callable[..., Any], kept: Path) -> None:
    done = cli("report", str(kept), "--format", "md")
    assert done.returncode == 0, done.stderr
    text = (kept / "report.md").read_text()
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
    assert len(links) >= 5
    assert all((kept / link).exists() for link in links)
