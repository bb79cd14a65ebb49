"""Pages in a browser: their size, width, colors and requests; values, zoom and sorting; foreign names; contrast."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dumbbell
from browser import posted, probe, with_script
from dumbbell import Scenario
from dumbbell.capture import analyze, pair
from dumbbell.capture.pair_report import write_pair_report
from dumbbell.capture.report import write_capture_report
from dumbbell.plots import Curve, Panel, Picture, look
from dumbbell.plots.inline_svg import inline
from dumbbell.plots.interactive import as_json, figure, page
from dumbbell.plots.style import FAMOUS, LOOKS
from dumbbell.plots.web import DARK_PAPER, contrast, on_dark, pack, script, style
from dumbbell.report import write_results_report
from dumbbell.report.text_page import text_page
from dumbbell.studies import Done
from dumbbell.studio import page as studio_page
from scenario_texts import PAIR

LARGEST = 2_000_000
"""Bytes of an ordinary report's page at most."""

SWEEP = {
    "name": "sweep",
    "description": "two variants at two rates",
    "duration": "20 s",
    "repetitions": 3,
    "network.bottleneck.delay": "20 ms",
    "network.bottleneck.queue.limit": "60 packets",
    "flows.a.variant": "cubic",
    "flows.b.variant": "reno",
    "trace.series": True,
    "capture.at": ["sender", "receiver"],
    "sweep": {"flows.a.variant": ["cubic", "bbr1"], "network.bottleneck.rate": ["500 kbit/s", "20 Mbit/s"]},
}
"""Changes to the scenario of a pair."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, done: Callable[[str], Done]) -> dict[str, Path]:
    """Make a page of every kind."""
    out = tmp_path_factory.mktemp("pages")
    results = dumbbell.run(Scenario.from_toml(PAIR, SWEEP), out=out / "runs")
    captures = results.captures(len(results.runs) - 1)
    a, b = captures["sender"], captures["receiver"]
    return {
        "results": write_results_report(out / "runs"),
        "capture": write_capture_report(analyze(a), out / "capture", "dumbbell analyze"),
        "pair": write_pair_report(pair(a, b), out / "pair", "dumbbell analyze"),
        "study": done("quickstart").report,
        "plot": results.plot.cwnd().save(out / "plot.html"),
    }


KINDS = ("results", "capture", "pair", "study", "plot")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_small_and_needs_no_network(pages: dict[str, Path], kind: str) -> None:
    text = pages[kind].read_text(encoding="utf-8")
    assert len(text.encode()) < (LARGEST if kind != "plot" else 300_000)
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert not re.search(
        r"<(?:script|img|iframe)[^>]*\bsrc=|<link[^>]*href=\"(?!data:,)|@import|url\(['\"]?(?!#)", text
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)])
def test_a_page_fits_its_window(pages: dict[str, Path], kind: str, width: int, dark: bool) -> None:
    found = probe(pages[kind], width=width, dark=dark)
    assert found["width"] == width
    assert found["page"] == width  # no horizontal scrolling of the page
    assert found["wide"] == []
    assert found["requests"] == []
    assert found["drawn"] >= found["figures"] > 0
    red, green, blue = (int(c) for c in re.findall(r"\d+", found["paper"]))
    assert (f"#{red:02x}{green:02x}{blue:02x}" == DARK_PAPER) if dark else red == green == blue == 255


def test_contents_on_a_phone(pages: dict[str, Path]) -> None:
    steps = """{
        const contents = document.querySelector("nav details"), before = contents.open;
        contents.open = true;
        const links = [...contents.querySelectorAll("a")];
        const missing = links.filter((a) => !document.getElementById(a.hash.slice(1))).length;
        const least = Math.min(...links.map((a) => a.getBoundingClientRect().height));
        links.at(-1).click();
        await new Promise((done) => setTimeout(done, 200));
        const top = document.getElementById("again").getBoundingClientRect().top;
        return { before, missing, least, after: contents.open, top, bar: contents.getBoundingClientRect().top,
                 count: links.length };
    }"""
    found = probe(pages["results"], width=400, script=steps)["result"]
    assert not found["before"]
    assert not found["after"]
    assert found["missing"] == 0
    assert found["count"] > 10
    assert found["least"] >= 30
    assert 0 <= found["top"] < 1000
    assert found["bar"] == pytest.approx(0, abs=2)  # it stays at the top of the window
    assert probe(pages["results"], script="document.querySelector('nav details').open")["result"]


def test_values_zoom_and_legend_with_mouse_and_keys(pages: dict[str, Path]) -> None:
    steps = """{
        const plot = document.querySelector(".live .plot");
        const box = plot.getBoundingClientRect();
        const ticks = () => [...plot.querySelectorAll("svg text")].map((t) => t.textContent).join();
        const mouse = { pointerId: 1, pointerType: "mouse", button: 0, bubbles: true };
        const send = (type, x, y) => plot.dispatchEvent(
            new PointerEvent(type, { clientX: box.left + x, clientY: box.top + y, ...mouse }));
        plot.setPointerCapture = () => {};
        const key = (name) => plot.dispatchEvent(new KeyboardEvent("keydown", { key: name, cancelable: true }));
        const whole = ticks();
        send("pointermove", box.width / 2, 100);
        const read = plot.querySelector(".readout").textContent;
        send("pointerdown", 200, 100); send("pointermove", 400, 105); send("pointerup", 400, 105);
        const zoomed = ticks();
        key("0");
        const again = ticks();
        key("+");
        const keyed = ticks();
        key("0");
        key("ArrowRight");
        const spoken = document.querySelector(".unseen").textContent;
        const curves = () => plot.querySelectorAll("svg g > path").length;
        const before = curves();
        document.querySelector(".legend button").click();
        const button = document.querySelector(".legend button");
        return { whole, read, zoomed, again, keyed, spoken, before, hidden: curves(), pressed: button.ariaPressed,
                 label: plot.getAttribute("aria-label") };
    }"""
    found = probe(pages["plot"], script=steps)["result"]
    assert "time, s" in found["read"]
    assert "a (cubic)" in found["read"]
    assert found["zoomed"] != found["whole"] == found["again"]
    assert found["keyed"] != found["whole"]
    assert "a (cubic)" in found["spoken"]
    assert found["hidden"] < found["before"]
    assert found["pressed"] == "false"
    assert "a (cubic), b (reno)" in found["label"]


def test_tables_sort_by_number_and_unit(pages: dict[str, Path]) -> None:
    steps = """{
        const table = document.querySelector("#tables table.data");
        const names = [...table.querySelectorAll("th")].map((th) => th.textContent);
        const column = names.findIndex((name) => name.includes("rate"));
        const heading = table.querySelectorAll("th button")[column];
        const values = () => [...new Set([...table.tBodies[0].rows].map((row) => row.cells[column].textContent))];
        heading.click();
        const up = values(), sorted = heading.parentElement.getAttribute("aria-sort");
        heading.click();
        return { up, down: values(), sorted };
    }"""
    found = probe(pages["results"], script=steps)["result"]
    assert found["up"] == ["500 kbit/s", "20 Mbit/s"]
    assert found["down"] == ["20 Mbit/s", "500 kbit/s"]
    assert found["sorted"] == "ascending"


def test_a_capture_is_listed_by_fields_and_in_seconds(pages: dict[str, Path]) -> None:
    # Few connections with many columns: a row for each column, so that a phone shows them without scrolling.
    steps = """{
        const table = document.querySelector("#table-flows ~ .wide table");
        const names = [...table.querySelectorAll("th")].map((th) => th.textContent);
        return { turned: table.classList.contains("turned"), names: names, rows: table.rows.length,
                 first: document.querySelector("dl.setting").textContent };
    }"""
    found = probe(pages["capture"], width=400, script=steps)["result"]
    assert found["turned"]
    assert found["rows"] == len(found["names"]) > 50
    assert "start, s" in found["names"]
    assert not any(name.endswith("_ns") for name in found["names"])
    assert "sender.pcapng" in found["first"]
    header = (pages["capture"].parent / "tables/flows.csv").read_text().splitlines()[0]
    assert "start_ns" in header.split(",")  # files keep the names of the reference


def test_numbers_have_no_exponent_and_a_reading_has_its_units(pages: dict[str, Path]) -> None:
    for kind in ("results", "capture"):
        text = re.sub(r"<(script|style|svg).*?</\1>", "", pages[kind].read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"\d[eE]\+\d", text), kind
    text = pages["results"].read_text(encoding="utf-8")
    assert re.search(r"Highest: [\d.]+ Mbit/s \(\w+, bottleneck.rate 20 Mbit/s, \w+\); lowest: ", text)


def test_print_is_light_and_whole(pages: dict[str, Path]) -> None:
    # The elements that @media print hides and shows, read from the rules themselves.
    steps = """{
        const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
        const printed = rules.filter((r) => r.media?.mediaText === "print").flatMap((r) => [...r.cssRules]);
        const dark = rules.filter((rule) => rule.media?.mediaText.includes("dark"));
        return { hidden: printed.filter((r) => r.style.display === "none").map((r) => r.selectorText).join(),
                 shown: printed.filter((r) => r.style.display === "block").map((r) => r.selectorText).join(),
                 dark: dark.every((rule) => rule.media.mediaText.startsWith("screen")), count: dark.length };
    }"""
    found = probe(pages["results"], script=steps)["result"]
    assert "nav" in found["hidden"]
    assert ".live" in found["hidden"]
    assert ".drawn .static" in found["shown"]
    assert found["dark"]
    assert found["count"] >= 2


def test_the_report_begins_with_what_was_run(pages: dict[str, Path]) -> None:
    text = re.sub(r"<(script|style|svg).*?</\1>", "", pages["results"].read_text(encoding="utf-8"), flags=re.DOTALL)
    words = re.sub(r"<[^>]+>", " ", text)
    parts = ("two variants at two rates", "droptail (limit 60 packets)", "swept: flows.a.variant", "4 cells x 3 rep")
    places = [words.index(part) for part in (*parts, "busiest link")]
    assert places == sorted(places)
    foot = re.search(r"<footer>.*?</footer>", text, re.DOTALL)
    assert foot
    assert "sweep: 12 runs, seed 1" in foot[0]
    assert f"Dumbbell {dumbbell.__version__}" in foot[0]


HOSTILE = (
    "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\"> & '\" ]]> "
    "\u2028 {{ 7 * 7 }}"
)


def test_foreign_names_are_text(tmp_path: Path, kept_capture: Path) -> None:
    nasty = Curve(HOSTILE, HOSTILE, np.arange(3.0), np.arange(3.0))
    picture = Picture("p", HOSTILE, HOSTILE, [Panel(HOSTILE, HOSTILE, HOSTILE, [nasty]),
                      Panel(HOSTILE, "x", "y", [nasty], categories=[HOSTILE, "b", "c"])])  # fmt: skip
    place = tmp_path / "p.html"
    place.write_text(page([picture]), encoding="utf-8")
    shown = "[document.title, document.querySelector('.panel-title').textContent, document.images.length]"
    found = probe(place, script=shown)
    title, panel, images = found["result"]
    assert title == " ".join(HOSTILE.replace("\u2028", " ").split()) or title == HOSTILE
    assert panel == HOSTILE
    assert images == 0
    # A capture's file name reaches the title, the tables and the command of its report.
    named = tmp_path / "<img src=x onerror=alert(1)>&{{ 7 * 7 }}.pcap"
    shutil.copy(kept_capture, named)
    report = write_capture_report(analyze(named), tmp_path / "out", f"dumbbell analyze '{named}'")
    result = probe(report, script="[document.images.length, document.querySelector('h1').textContent]")["result"]
    assert result == [0, f"Capture {named.name}"]


ATTACKS = """
const blocked = [];
addEventListener("securitypolicyviolation", ({ effectiveDirective }) => blocked.push(effectiveDirective));
const attempts = document.createElement("div");
document.body.append(attempts);
attempts.innerHTML = `<img src="http://127.0.0.1:1/a.png" onerror="window.broken = 1">
  <button onclick="window.broken = 1"></button>
  <iframe src="http://127.0.0.1:1/"></iframe><form action="http://127.0.0.1:1/"><button></button></form>`;
attempts.querySelector("button").click();
const script = document.createElement("script");
script.textContent = "window.broken = 1";
attempts.append(script);
try { eval("window.broken = 1"); } catch {}
try { await fetch("http://127.0.0.1:1/"); } catch {}
attempts.querySelector("form").requestSubmit();
const end = performance.now() + 60000;
while (new Set(blocked).size < EXPECTED && performance.now() < end) await new Promise((done) => setTimeout(done, 20));
await fetch("/", { method: "POST", body: JSON.stringify({ blocked, broken: window.broken ?? null }) });
"""
"""What markup that reached a page could try."""


@pytest.mark.parametrize("kind", ["figure", "report", "text", "studio"])
def test_a_page_runs_its_own_scripts_and_reaches_nothing(kind: str, tmp_path: Path, kept_capture: Path) -> None:
    picture = Picture("p", "t", "r", [Panel("a", "x", "y", [Curve("c", "c", np.arange(3.0), np.arange(3.0))])])
    makers: dict[str, Callable[[], str]] = {
        "figure": lambda: page([picture]),
        "report": lambda: write_capture_report(analyze(kept_capture), tmp_path / "out", "again").read_text(),
        "text": lambda: text_page("t", "s", [], "## a"),
        "studio": studio_page,
    }
    scripts = {"script-src", "script-src-attr", "script-src-elem"}
    expected = {"connect-src", "form-action", "frame-src", "img-src", *scripts}
    script = ATTACKS.replace("EXPECTED", str(len(expected)))
    found = posted(
        with_script(makers[kind](), script, kind="module", more="connect-src 'self'; "), tmp_path / "profile"
    )
    assert found["broken"] is None
    assert expected <= set(found["blocked"])


@pytest.fixture
def kept_capture(tmp_path: Path) -> Path:
    source = Path(__file__).parents[1] / "data/tshark/http.pcap.gz"
    place = tmp_path / "http.pcap"
    place.write_bytes(gzip.decompress(source.read_bytes()))
    return place


def test_curves_have_contrast_on_both_papers() -> None:
    for name in {*FAMOUS, *LOOKS, *dumbbell.variants(), *dumbbell.disciplines()}:
        color = look(name).color
        assert contrast(on_dark(color), DARK_PAPER) >= 4.5, name
    for rule in (style().split("@media screen")[0], style().split("@media screen")[1].split("}")[0]):
        colors = dict(re.findall(r"--(\w+): (#\w+);", rule))
        full = {k: "#" + "".join(2 * c for c in v[1:]) if len(v) == 4 else v for k, v in colors.items()}
        for text in ("ink", "muted", "link"):
            assert contrast(full[text], full["paper"]) >= 4.5, (text, rule)
            assert contrast(full[text], full["pale"]) >= 4.5, (text, rule)
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_colors_stay_apart_on_a_dark_page() -> None:
    used = sorted({look(name).color for name in (*dumbbell.variants(), *dumbbell.disciplines())})
    assert len({on_dark(color) for color in used}) == len(used) > 10


def test_series_are_bounded_and_keep_their_extremes() -> None:
    x = np.linspace(0, 100, 400_000)
    curves = [Curve(f"f{k}", "reno", x, np.sin(x * (k + 1)) * 1e6 + 3e9) for k in range(10)]
    picture = Picture("p", "t", "", [Panel("", "time, s", "y", curves)])
    described = figure(picture)
    assert len(as_json(described)) < 400_000
    first = described["panels"][0]["marks"][0]["y"]
    values = np.frombuffer(base64.b64decode(first["float32"]), "<f4") + first["offset"]
    assert values.max() == pytest.approx(3e9 + 1e6, abs=1)
    assert values.min() == pytest.approx(3e9 - 1e6, abs=1)
    assert as_json(described) == as_json(figure(replace(picture)))


def test_drawings_in_pages_are_short_and_have_ids_of_their_own() -> None:
    style = 'style="fill: none; stroke: #111111"/>'
    strokes = [f'<path d="M {k}.12345 1 \nL {k}.12345 2.5 \n" {style}' for k in range(3)]
    marker = '<metadata>x</metadata><g id="a"><use href="#a" x="1.98765"/></g>'
    text = "\n".join(['<?xml?><svg width="1">', marker, *strokes, '<path d="M 9 9" fill="red"/>', "</svg>"])
    drawn = inline(text, "p", 'a "title"').replace("\n", "")
    assert drawn == (
        '<svg role="img" aria-label="a &quot;title&quot;" width="1"><g id="p-a"><use href="#p-a" x="1.98"/></g>'
        f'<path d="M0.12 1L0.12 2.5M1.12 1L1.12 2.5M2.12 1L2.12 2.5" {style}<path d="M9 9" fill="red"/></svg>'
    )


def test_packed_numbers_keep_gaps() -> None:
    assert pack([1.0, np.nan, np.inf]) == [1.0, None, None]
    packed = pack(np.concatenate([np.full(20, np.nan), np.arange(20) + 1e9]))
    assert isinstance(packed, dict)
    assert packed["offset"] == 1e9


def test_the_scripts_are_one_strict_function() -> None:
    assert script().startswith('(() => {\n"use strict";')
    assert script().count('"use strict"') == 1
    assert "</script" not in script()
