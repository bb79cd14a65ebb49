"""Videos and pages in scenarios: what is refused, what the plan has, own rules in Python, the examples."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import pytest
from one_link import one_link, refused

import dumbbell
from dumbbell import Scenario
from dumbbell.exceptions import DumbbellError, ScenarioError
from dumbbell.plan.build import build
from dumbbell.scenario.flow.page_presets import PRESETS, objects_of

ROOT = Path(__file__).parents[2]
VIDEO = {"kind": "video", "length": "60 s", "ladder": ["500 kbit/s", "1 Mbit/s", "2 Mbit/s"]}
PAGE = {"kind": "page", "preset": "small"}


def scenario(application: dict[str, Any], **flow: Any) -> Scenario:
    return one_link({"name": "f", "variant": "cubic", "application": application, **flow}, duration="80 s")


BAD: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    (VIDEO | {"ladder": ["2 Mbit/s", "1 Mbit/s"]}, {}, "ladder", "must ascend"),
    (VIDEO | {"ladder": []}, {}, "ladder", "at least one bit rate"),
    (VIDEO | {"abr": "bole"}, {}, "abr", "did you mean 'bola'?"),
    (VIDEO | {"abr": {"kind": "rates"}}, {}, "abr.kind", "did you mean 'rate'?"),
    (VIDEO | {"abr": {"kind": "fixed", "bitrate": "3 Mbit/s"}}, {}, "abr.bitrate", "'500 kbit/s', '1 Mbit/s'"),
    (VIDEO | {"abr": {"kind": "bola", "minimun": "5 s"}}, {}, "abr", "did you mean 'minimum'?"),
    (VIDEO | {"abr": "bola", "buffer": "10 s"}, {}, "buffer", "above '10 s'"),
    (VIDEO | {"abr": {"kind": "bola", "minimum": "40 s"}}, {}, "abr.minimum", "'40 s' given: must be below '30 s'"),
    (VIDEO | {"start_buffer": "60 s"}, {}, "start_buffer", "at most '30 s', the buffer"),
    (VIDEO | {"resume_buffer": "60 s"}, {}, "resume_buffer", "at most '30 s', the buffer"),
    (VIDEO | {"abr": "bola", "refill": "10 s"}, {}, "refill", "limits the buffer itself"),
    (VIDEO | {"refill": "40 s"}, {}, "refill", "at most '30 s'"),
    (VIDEO | {"throttle": {}}, {}, "throttle", "progressive = true"),
    (VIDEO | {"progressive": True}, {}, "ladder", "one bit rate"),
    (VIDEO | {"progressive": True, "abr": "fixed", "segment": "2 s"}, {}, "segment", "one response"),
    (VIDEO | {"http": "h3"}, {}, "http", "a tcp flow has h2 or h1"),
    (VIDEO | {"http": "h2"}, {"transport": "quic"}, "http", "a quic flow has h3"),
    (VIDEO | {"lenght": "5 s"}, {}, "lenght", "did you mean 'length'?"),
    (VIDEO | {"abr": {"python": "nowhere.py:Mine"}}, {}, "abr.python", "can't be read"),
    (PAGE | {"size": "10 kB"}, {}, "preset", "'size' is given already"),
    ({"kind": "page"}, {}, "size", "one of 'size', 'preset' and 'objects'"),
    ({"kind": "page", "size": "10 kB", "http": "h1"}, {}, "http", "'preset' or 'objects' only"),
    (PAGE | {"every": "5 s"}, {}, "every", "'size' only"),
    (
        {"kind": "page", "objects": [{"name": "a", "size": "1 kB"}, {"name": "b", "size": "1 kB", "after": "c"}]},
        {},
        "objects.1.after",
        "an earlier object is needed: a, onload",
    ),
    (
        {"kind": "page", "objects": [{"name": "a", "size": "1 kB"}, {"name": "a", "size": "1 kB"}]},
        {},
        "objects.1.name",
        "a name of its own",
    ),
]


@pytest.mark.parametrize(
    ("application", "flow", "place", "message"), BAD, ids=[f"{b[2]} {n}" for n, b in enumerate(BAD)]
)
def test_refusals(application: dict[str, Any], flow: dict[str, Any], place: str, message: str) -> None:
    with refused(f"application.{place}", message):
        scenario(application, **flow)


def test_defaults_follow_the_transport() -> None:
    for flow, version in (({}, "h2"), ({"transport": "quic"}, "h3")):
        plan = build(scenario(VIDEO, **flow))["flows"][0]["application"]
        assert plan["http"]["version"] == version
        assert [plan[f"{name}_ns"] / 1e9 for name in ("start", "resume", "refill")] == [4, 4, 30]
    progressive = VIDEO | {"progressive": True, "abr": {"kind": "fixed", "bitrate": "1 Mbit/s"}}
    plan = build(scenario(progressive))["flows"][0]["application"]
    assert (plan["start_ns"], plan["abr"], plan["progressive"]) == (
        2_000_000_000, {"kind": "fixed", "level": 1}, {"throttle": None},
    )  # fmt: skip


@pytest.mark.parametrize(
    "application", [VIDEO | {"abr": "bola"}, VIDEO | {"abr": {"kind": "dynamic", "switch": "12 s"}}, PAGE]
)
def test_a_scenario_survives_its_own_text(application: dict[str, Any]) -> None:
    first = scenario(application)
    assert build(Scenario.from_toml(first.to_toml())) == build(first)


def test_presets_have_their_stated_sizes() -> None:
    for name, number, size in (("small", 10, 250_000), ("median", 71, 2_652_000)):
        objects = list(objects_of(PRESETS[name]))
        assert len(objects) == number
        assert sum(int(o["size"].split()[0]) for o in objects) == size
        assert {o["after"] for o in objects if "after" in o} <= {"style 1", "script 1", "onload"}


def test_the_page_example_shows_the_order_of_the_versions() -> None:
    results = dumbbell.run(ROOT / "examples" / "page.toml")
    frame = results.flows
    median = {}
    for (loss, version, transport), rows in frame.group_by(
        "network.bottleneck.loss", "flows.page.application.http", "flows.page.transport"
    ):
        loads = rows["load_time_s"].to_list()
        median[loss, version or transport] = statistics.median(loads)
    # Without losses one connection is enough; with losses TCP's one is slowest, and six are fastest.
    assert median["0 %", "quic"] < median["0 %", "h1"]
    assert median["1 %", "h1"] < median["1 %", "quic"] < median["1 %", "h2"]
    assert frame["onload_s"].is_not_null().all()
    assert (frame["onload_s"] <= frame["load_time_s"]).all()
    rows = results.transfers
    assert rows.height == 71 * 6 * 5
    assert (rows["first_byte_s"] <= rows["end_s"]).all()
    assert rows["slowdown"].is_null().all()


def test_the_video_example_shows_what_the_rules_do() -> None:
    frame = dumbbell.run(ROOT / "examples" / "video.toml").flows
    at = {row["flows.video.application.abr"]: row for row in frame.iter_rows(named=True)}
    assert at["fixed"]["mean_bitrate_bps"] == pytest.approx(2_850_000)
    assert at["fixed"]["stalls"] > 0
    for rule in ("rate", "bola", "dynamic"):
        assert at[rule]["stalls"] == 0
        assert at[rule]["switches"] > 0
        assert 750_000 < at[rule]["mean_bitrate_bps"] < 2_850_000
        assert at[rule]["qoe"] > at["fixed"]["qoe"]
        assert at[rule]["played_s"] == pytest.approx(270)


def test_figures_of_a_video_and_a_page_show_their_events() -> None:
    slow = scenario(VIDEO | {"length": "16 s", "abr": "fixed"})
    slow = slow.with_changes({"network.bottleneck.rate": "1 Mbit/s", "trace.series": True})
    results = dumbbell.run(slow)
    row = results.flows.row(0, named=True)
    picture = results.plot.video().picture
    assert [panel.y_label for panel in picture.panels] == [
        "buffer, s", "bit rate, Mbit/s", "cwnd, segments", "backlog, packets",
    ]  # fmt: skip
    spans = picture.panels[0].spans
    # 2 Mbit/s over 1 Mbit/s: a stall before each segment but the first.
    assert len(spans) == row["stalls"] == 3
    assert sum(span.end - span.begin for span in spans) == pytest.approx(row["stall_s"])
    buffer = picture.panels[0].curves[0]
    assert buffer.y.max() == pytest.approx(4.0)
    assert (buffer.y >= 0).all()
    results = dumbbell.run(scenario(PAGE))
    (panel,) = results.plot.waterfall().picture.panels
    assert list(panel.strips)[:2] == ["document (1)", "style 1 (1)"]
    ends = [span.end for span in panel.spans]
    assert max(ends) == pytest.approx(results.flows["load_time_s"][0])
    with pytest.raises(DumbbellError, match=r"trace\.series"):
        _ = results.plot.video().picture


RULE = '''
class Steady:
    """The highest bit rate below a share of the last throughput"""

    def __init__(self, share=0.8):
        self.share, self.last = share, 0.0

    def on_download(self, download):
        self.last = download.throughput

    def choose(self, view):
        fits = [n for n, bps in enumerate(view.ladder) if bps <= self.share * self.last]
        return max(fits, default=0)


class Broken:
    def choose(self, view):
        return len(view.ladder)
'''


def own(tmp_path: Path, class_name: str, params: str = "") -> Path:
    (tmp_path / "mine.py").write_text(RULE)
    path = tmp_path / "own.toml"
    text = scenario(VIDEO | {"abr": "bola"}).with_changes({"network.bottleneck.rate": "3 Mbit/s"}).to_toml()
    path.write_text(text.replace('kind = "bola"', f'python = "mine.py:{class_name}"\n{params}'))
    return path


@pytest.mark.usefixtures("allow_code")
def test_an_own_rule_decides(tmp_path: Path) -> None:
    results = dumbbell.run(own(tmp_path, "Steady"), out=tmp_path / "out")
    row = results.flows.row(0, named=True)
    # The first segment has the lowest bit rate. The others get 2.5 to 2.9 Mbit/s: 0.8 times that is 2 Mbit/s or more.
    assert (row["switches"], row["stalls"]) == (1, 0)
    assert row["mean_bitrate_bps"] == pytest.approx((0.5e6 + 14 * 2e6) / 15)
    assert dumbbell.read_results(tmp_path / "out").flows.equals(results.flows)
    low = dumbbell.run(own(tmp_path, "Steady", "params = { share = 0.4 }")).flows.row(0, named=True)
    assert low["mean_bitrate_bps"] == pytest.approx((0.5e6 + 14 * 1e6) / 15)


@pytest.mark.usefixtures("allow_code")
def test_an_own_rule_fails_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(DumbbellError) as caught:
        dumbbell.run(own(tmp_path, "Broken"))
    assert "flows.f.application.abr" in str(caught.value)
    assert "choose returned 3: an index from 0 to 2 is needed" in str(caught.value)
    with pytest.raises(ScenarioError, match="did you mean 'share'"):
        dumbbell.run(own(tmp_path, "Steady", "params = { shar = 0.4 }"))
    with pytest.raises(ScenarioError, match="unknown class 'Stead'"):
        dumbbell.run(own(tmp_path, "Stead"))
