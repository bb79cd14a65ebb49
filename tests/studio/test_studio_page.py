"""The studio's page: its plans and files are those of Python, byte for byte; its examples and controls work."""

from __future__ import annotations

import gzip
import json
import random
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from dumbbell import Scenario, _core, registry
from dumbbell.cli import app
from dumbbell.exceptions import DumbbellError, ScenarioError
from dumbbell.metrics import jain
from dumbbell.studio import templates, write
from dumbbell.studio.presets import PRESETS
from dumbbell.studio.settings import FLOW, MOST_FLOWS, PATH, Choice, Number, document, scenario
from studio_page import FOLDER, ROOT, acted, assert_native, in_node, require_studio


@cache
def model() -> dict[str, Any]:
    return write.model()


def ask(*questions: tuple[str, Any]) -> list[Any]:
    """Call functions of the page in Node."""
    return in_node("studio_page.mjs", {"model": model(), "questions": questions})


def at_random(field: Number | Choice, draw: random.Random) -> Any:
    """Draw a value; the ends of a range are frequent."""
    if isinstance(field, Choice):
        return draw.choice(field.options)[0]
    end = draw.random()
    if end < 0.2:
        return field.least if end < 0.1 else field.most
    return round(field.least + draw.randrange(round((field.most - field.least) / field.step) + 1) * field.step, 6)


@cache
def several() -> list[dict[str, Any]]:
    """Make settings: the examples, and hundreds at random."""
    draw = random.Random(24)
    drawn = [
        {
            **{field.name: at_random(field, draw) for field in PATH},
            "flows": [
                {field.name: at_random(field, draw) for field in FLOW} for _ in range(draw.randint(1, MOST_FLOWS))
            ],
        }
        for _ in range(330)
    ]
    for settings in drawn[:300]:  # most of the others begin too late
        for flow in settings["flows"]:
            flow["start"] = round(flow["start"] * (settings["duration"] - 0.1) / 60, 1)
    return [*(preset.settings for preset in PRESETS), *drawn]


def test_plans_files_and_links_are_those_of_python() -> None:
    answers = ask(*(("texts", settings) for settings in several()))
    valid = 0
    for settings, answer in zip(several(), answers, strict=True):
        assert answer["again"] == [settings, []], answer["fragment"]
        try:
            expected = scenario(settings)
        except ScenarioError as error:
            found = {(f"flows.flow{n + 1}.{setting}", message) for n, setting, message in answer["refusals"]}
            assert found == {(problem.place, problem.message) for problem in error.problems}
            continue
        valid += 1
        assert answer["refusals"] == []
        assert answer["plan"] == templates.plan_of(expected)
        assert Scenario.from_toml(answer["file"]) == expected
    assert valid >= 300


def test_every_choice_makes_a_plan() -> None:
    first = PRESETS[0].settings
    for field in PATH:
        for value in of(field):
            scenario({**first, field.name: value, "flows": [{**first["flows"][0], "start": 0}]})
    for field in FLOW:
        for value in of(field):
            flow = {**first["flows"][0], field.name: value}
            scenario({**first, "duration": 60, "flows": [{**flow, "start": min(flow["start"], 59)}]})


def of(field: Number | Choice) -> list[Any]:
    if isinstance(field, Choice):
        return [name for name, _ in field.options]
    return [field.least, field.default, field.most]


def test_sliders_reach_both_ends_and_give_accepted_values() -> None:
    for slider in ask(("sliders", None))[0]:
        (field,) = (each for each in (*PATH, *FLOW) if each.name == slider["name"])
        assert isinstance(field, Number)
        assert slider["values"][0] == field.least
        assert slider["values"][-1] == field.most
        assert slider["ends"] == [0, 1000]
        assert slider["values"] == sorted(slider["values"])
        assert set(slider["problems"]) == {None}


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("rate=1e9", "Rate: 1000000000 Mbit/s given, 0.1 to 100 Mbit/s is allowed here"),
        ("rate=", "Rate: '' given, a number from 0.1 to 100 Mbit/s is allowed here"),
        ("rate=NaN", "Rate: 'NaN' given, a number from 0.1 to 100 Mbit/s is allowed here"),
        ("discipline=__proto__", "Discipline: '__proto__' given, one of droptail, "),
        ("flow=variant:brr", "Variant: 'brr' given, one of tahoe, "),
        ("flow=own:1", "unknown setting 'own'"),
        ("__proto__=1", "unknown setting '__proto__'"),
        ("&".join(["flow="] * 9), "at most 8 flows are possible here"),
    ],
)
def test_a_wrong_link_names_the_problem_and_opens(link: str, problem: str) -> None:
    ((settings, problems),) = ask(("link", link))
    assert len(problems) == 1
    assert problems[0].startswith(problem)
    scenario(settings)


def test_reduced_series_keep_extremes_and_the_held_value() -> None:
    draw = np.random.default_rng(24)
    times = np.sort(draw.uniform(0, 10, 5000)).tolist()
    values = draw.normal(size=5000).tolist()
    columns, start, end = 50, 1.0, 9.0
    given = {"times": times, "values": values, "from": start, "to": end, "columns": columns}
    held, single = ask(("reduced", {**given, "holds": True}), ("reduced", {**given, "holds": False}))
    edges = np.linspace(start, end, columns + 1)
    for n in range(columns):
        within = [v for t, v in zip(times, values, strict=True) if edges[n] < t <= edges[n + 1]]
        before = [v for t, v in zip(times, values, strict=True) if t <= edges[n]][-1:]
        assert sorted(single[2 * n : 2 * n + 2]) == [min(within), max(within)]
        assert sorted(held[2 * n : 2 * n + 2]) == [min(before + within), max(before + within)]
    assert held[-1] == [v for t, v in zip(times, values, strict=True) if t <= end][-1]
    ((empty),) = ask(("reduced", {**given, "times": [0.5, 9.5], "values": [3, 4], "holds": True}))
    assert empty == [3] * 101
    assert ask(("reduced", {**given, "times": [], "values": [], "holds": True})) == [[None] * 101]


def test_rates_and_the_index_are_those_of_the_definitions() -> None:
    given = {"times": [0.05, 0.1, 0.15, 0.25], "bytes": [1000, 2000, 3000, 4000], "end": 0.25, "width": 0.1}
    found, width, index = ask(("rates", given), ("widths", 0.13), ("jain", [1.0, 2.5, 4.0]))
    # 1000 bytes in [0, 0.1); 2000 + 3000 in [0.1, 0.2); 4000 in the rest of 0.05 s.
    assert found == pytest.approx([0.08, 0.4, 0.64])
    assert width == 0.2
    assert index == pytest.approx(float(jain([1.0, 2.5, 4.0])), rel=1e-15)


def test_points_of_a_prediction() -> None:
    def results(*goodputs: float) -> dict[str, Any]:
        flows = [{"goodput_bps": rate} for rate in goodputs]
        return {"flows": flows, "queues": [{"utilization": 0.9, "p95_sojourn_ms": 20.0}]}

    two, one, none = ask(
        ("predicted", [results(3e6, 1e6), [65, 10]]),
        ("predicted", [results(9e6), [90, 20]]),
        ("predicted", [results(0, 0), [100, 1e6]]),
    )
    # 75 %: ten points of difference cost 20. 20 ms: half of it costs 50.
    assert [(value, points) for _, value, points in two] == [(75, 80), (20, 50)]
    assert [(name, points) for name, _, points in one] == [("Utilization", 100), ("Delay in the queue, 95 %", 100)]
    assert [points for _, _, points in none] == [0, 0]


@cache
def html() -> str:
    require_studio()
    return write.page()


def test_the_page_is_one_small_file_without_references() -> None:
    page = html()
    assert len(gzip.compress(page.encode())) < 2_000_000
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", page)
    assert "{{" not in page.split('id="model"')[0]
    assert "Permission is hereby granted" in page


def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = html()
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["studio", "--out", "page.html"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_without_the_engine_one_line_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "FOLDER", tmp_path)
    with pytest.raises(DumbbellError, match=r"^this installation has no dumbbell.wasm: `make studio` .* builds it$"):
        write.page()


@pytest.mark.parametrize(
    ("programs", "reason"),
    [
        ({}, "Rust is needed: https://rustup.rs"),
        ({"rustc": "echo /none", "cargo": ""}, "rustc has no standard library for wasm32-unknown-unknown: rustup"),
        (
            {"rustc": "echo /none", "cargo": "", "rustup": "echo error: no network >&2; exit 1"},
            "`rustup target add wasm32-unknown-unknown` failed: error: no network",
        ),
    ],
)
def test_the_build_names_what_it_needs(programs: dict[str, str], reason: str, tmp_path: Path) -> None:
    for name, script in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    command = [sys.executable, str(ROOT / "packaging" / "build_web.py")]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"dumbbell.wasm is not built: {reason}")
    assert done.stderr.endswith(". Everything but `dumbbell studio` works.\n")
    assert done.stderr.count("\n") == 1


def test_every_example_has_the_native_results(tmp_path: Path) -> None:
    found = acted(html(), "examples", tmp_path / "profile")
    assert [example["name"] for example in found["examples"]] == [preset.name for preset in PRESETS]
    for preset, example in zip(PRESETS, found["examples"], strict=True):
        assert example["about"] == preset.about
        assert example["plan"] == templates.plan_of(scenario(preset.settings))
        assert Scenario.from_toml(example["file"]).to_dict() == scenario(preset.settings).to_dict()
        assert_native(example, _core.run(example["plan"]))
    links = ask(*(("link", example["link"][1:]) for example in found["examples"]))
    assert links == [[preset.settings, []] for preset in PRESETS]


def another(field: Number | Choice) -> Any:
    """Return a value of a field that isn't its default, for a short run."""
    if isinstance(field, Choice):
        return [name for name, _ in field.options if name != field.default][-1]
    short = {"duration": 1, "rate": 3.7, "start": 0.4}
    return short.get(field.name, round(field.least + 7 * field.step, 6))


def test_every_control_changes_the_run_as_its_field(tmp_path: Path) -> None:
    base = {**PRESETS[0].settings, "duration": 2, "flows": [dict(flow) for flow in PRESETS[0].settings["flows"]]}
    base["flows"][1]["start"] = 0
    places = (("path", PATH), ("flow-1", FLOW))
    changes = [(f"{place}-{field.name}", "change", another(field)) for place, fields in places for field in fields]
    (fragment,) = ask(("texts", base))
    found = acted(html(), "controls", tmp_path / "profile", {**fragment, "changes": changes})
    settings = base
    for (name, _, value), report in zip(changes, found["changed"], strict=True):
        part, own = name.rsplit("-", 1)
        if part == "path":
            settings = {**settings, own: value}
        else:
            settings = {**settings, "flows": [settings["flows"][0], {**settings["flows"][1], own: value}]}
        assert report["plan"] == templates.plan_of(scenario(settings)), name
    assert_native(found["changed"][-1], _core.run(found["changed"][-1]["plan"]))
    assert float(found["box"]) == json.loads(found["slider"]["plan"])["links"][1]["delay_ns"] * 2 / 1e6
    assert len(json.loads(found["added"]["plan"])["flows"]) == 3
    assert found["focus"] == "flow-2-variant"
    assert len(json.loads(found["removed"]["plan"])["flows"]) == 2
    assert json.loads(found["last"]["plan"])["links"][0]["rate_bps"] == 4_000_000
    assert found["late"] == "flow 1, start: '50 s' given: must be before the end at '1 s'"
    assert found["rate"] == "100"
    assert found["message"] == "Rate: 4000 Mbit/s given, 0.1 to 100 Mbit/s is allowed here"


def on_link(output: Any, link: str, now: int) -> int:
    """Count the packets on a link of 20 ms."""
    table = output.table(f"departures/{link}")
    return int(np.count_nonzero((table["t_ns"] <= now) & (now <= table["end_ns"] + 20_000_000)))


def assert_is_figure(svg: str) -> None:
    """Assert that SVG has axes, units and a legend."""
    assert len(svg) < 200_000
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    for words in ("time (s)", "Congestion window (packets)", "RTT (ms)", "1 cubic, pinned", "packet dropped"):
        assert words in svg
    assert not re.search("undefined|NaN|null", svg)
    ElementTree.fromstring(svg)


def assert_zooms_and_reads(found: dict[str, Any]) -> None:
    """Assert that a pointer and keys zoom, and that a pointer shows values, its line in all panels and the state."""
    assert re.fullmatch(r"time \(s\): [\d.]+(2 newreno: [\d.]+|1 cubic: [\d.]+){2}", found["read"])
    assert re.fullmatch(r"At [\d.]+ s", found["at"])
    assert found["at"] != "At 20.000 s"
    assert found["cursors"] == 4
    assert found["keys"] == [[disabled, found["keys"][0][1]] for disabled in (False, False, False, True)]


def test_playhead_figures_and_exports(tmp_path: Path) -> None:
    found = acted(html(), "playhead", tmp_path / "profile")
    assert found["first"]["end"] == 20
    assert found["first"]["plots"] == 4
    output: Any = _core.run(templates.plan_of(scenario(PRESETS[0].settings)))
    goodputs = [flow["goodput_bps"] for flow in output.rows.flows]
    assert found["labels"][1].startswith("Queue: mean ")
    assert f"Jain's index {float(jain(goodputs)):.3f}" in found["status"]
    for flow in output.rows.flows:
        assert f"{flow['goodput_bps'] / 1e6:.3f}" in found["figures"]
    assert found["unlabeled"] == []
    # The first events: the same in the native series.
    drops = output.table("drops/r1->r2")["t_ns"] / 1e9
    phases = [output.table(f"flow/{name}") for name in ("flow1", "flow2")]
    changes = [float(p["t_ns"][1:][np.diff(p["phase"].astype(int)) != 0][0]) / 1e9 for p in phases]
    assert found["home"] == 0
    assert found["event"] == pytest.approx(min(float(drops[0]), *changes), abs=1e-3)
    assert found["back"] == found["event"]
    shortest = min(flow["rtt_min_ms"] for flow in output.rows.flows) / 1000
    assert found["rtt"] == pytest.approx(found["event"] + shortest, abs=2e-3)
    assert found["scrub"] == 10
    row = int(np.searchsorted(phases[0]["t_ns"], 10_000_000_000, side="right")) - 1
    assert f"{phases[0]['cwnd'][row] / output.rows.flows[0]['snd_mss_bytes']:.1f}" in found["state"]
    now = 10_000_000_000
    waiting = output.table("queue/r1->r2")
    count = waiting["packets"][np.searchsorted(waiting["t_ns"], now, side="right") - 1]
    assert f"Waiting at r1: {count}. On the link to r2: {on_link(output, 'r1->r2', now)}. " in found["packets"]
    recent = int(np.count_nonzero((drops > 10 - 0.004) & (drops <= 10)))  # a tenth of the base RTT
    assert f"On the way back: {on_link(output, 'r2->r1', now)}. Dropped just before: {recent}." in found["packets"]
    assert found["playing"] == "Pause"
    assert found["end"] == 20
    assert re.search(r"\((RFC|Source)|Source: ", found["why"])
    assert found["hidden"] == "false"
    assert found["guessing"] == ["guess-0", "hidden", "hidden", "hidden", "Goodput of flow 1, part of all, %"]
    assert found["silent"] == ""
    assert found["unguessed"] is False
    assert found["guessed"][:4] == ["predict", "visible", "visible", "visible"]
    other: Any = _core.run(templates.plan_of(scenario({**PRESETS[0].settings, "seed": 2}))).rows
    part = 100 * other.flows[0]["goodput_bps"] / sum(flow["goodput_bps"] for flow in other.flows)
    delay = other.queues[0]["p95_sojourn_ms"]
    assert f"guessed 60 %, the run has {part:.1f} %. Points: {round(100 - 2 * abs(60 - part))}." in found["guessed"][4]
    assert f"guessed 100 ms, the run has {delay:.1f} ms. Points: {round(delay)}." in found["guessed"][4]
    assert (found["zoomed"], found["whole"]) == ([False, "0px"], True)
    assert_zooms_and_reads(found)
    assert f"pinned {goodputs[0] / 1e6:.3f}" in found["pinned"]
    lines = found["csv"].splitlines()
    longer = _core.run(templates.plan_of(scenario({**PRESETS[0].settings, "buffer": 200})))
    rows = [
        longer.table(name)["t_ns"].size
        for name in ("flow/flow1", "rtt/flow1", "flow/flow2", "rtt/flow2", "queue/r1->r2")
    ]
    assert len(lines) == 1 + sum(rows)
    assert_is_figure(found["svg"])
    assert found["png"] == ["image/png", [0x89, 0x50, 0x4E, 0x47]]
    assert found["size"][0] > 300
    assert found["size"][1] > 700


def test_each_event_of_each_variant_and_discipline_has_a_reason() -> None:
    html()
    base = {**PRESETS[0].settings, "duration": 2, "buffer": 20, "loss": 0.5}
    flows = base["flows"]
    changes: list[dict[str, Any]] = [
        *({"flows": [{**flows[0], "variant": name}, flows[1]]} for name in registry.variants()),
        *({"discipline": name, "flows": [{**flow, "ecn": "on"} for flow in flows]} for name in registry.disciplines()),
    ]
    plans = [templates.plan_of(scenario({**base, **change})) for change in changes]
    wasm = str(FOLDER / "dumbbell.wasm")
    kinds = set()
    (answers,) = ask(("explained", {"wasm": wasm, "plans": plans}))
    for answer, plan in zip(answers, plans, strict=True):
        output: Any = _core.run(plan)
        for n, name in enumerate(("flow1", "flow2")):
            table = output.table(f"flow/{name}")
            cwnd = table["cwnd"] / output.rows.flows[n]["snd_mss_bytes"]
            assert max(value for value in answer["cwnd"][n] if value is not None) == cwnd.max()
            row = np.searchsorted(table["t_ns"], 500_000_000, side="right") - 1
            assert answer["state"]["flows"][n]["cwnd"] == cwnd[row]
        drops = [text for kind, *text in answer["texts"] if kind == "drop"]
        assert len(drops) == output.table("drops/r1->r2")["t_ns"].size
        for kind, *lines in answer["texts"]:
            kinds.add(kind)
            assert len(lines) > 1
            assert all(lines), lines
            assert not re.search(r"undefined|null|NaN|None", " ".join(lines)), lines
    assert kinds == {"drop", "mark", "phase", "timeout", "cut"}


def of_preset(name: str) -> Any:
    (preset,) = (each for each in PRESETS if each.name == name)
    return _core.run(templates.plan_of(scenario(preset.settings)))


def test_the_examples_show_their_subject() -> None:
    slow, saw, bloat = of_preset("slow-start"), of_preset("sawtooth"), of_preset("bufferbloat")
    cwnd = slow.table("flow/flow1")["cwnd"] / slow.rows.flows[0]["snd_mss_bytes"]
    assert cwnd.max() > 16 * cwnd[0]
    assert saw.rows.flows[0]["timeouts"] == 0
    assert saw.rows.flows[0]["fast_retransmits"] > 3
    assert bloat.rows.flows[0]["rtt_max_ms"] > 500
    goodput = {
        name: [flow["goodput_bps"] for flow in of_preset(name).rows.flows]
        for name in ("vegas-starves", "rtt-unfairness")
    }
    assert all(max(rates) > 2 * min(rates) for rates in goodput.values())
    assert goodput["vegas-starves"][1] > goodput["vegas-starves"][0]
    assert goodput["rtt-unfairness"][0] > goodput["rtt-unfairness"][1]
    red, codel = of_preset("red").rows.queues[0], of_preset("codel").rows.queues[0]
    assert red["drops_early"] > 0
    assert red["drops_full"] == 0
    assert codel["p95_sojourn_ms"] < 20
    l4s = of_preset("l4s").rows.queues[0]
    assert l4s["marks"] > 100 * max(l4s["drops"], 1)
    incast = of_preset("incast")
    assert sum(flow["timeouts"] > 0 for flow in incast.rows.flows) in range(1, 8)
    assert incast.rows.queues[0]["drops_full"] > 0


def test_the_document_has_no_other_keys_than_the_fields() -> None:
    assert set(document(PRESETS[0].settings)) == {
        "name", "duration", "seed", "start_jitter", "trace", "network", "flows",
    }  # fmt: skip
