"""Scenarios of any topology in the studio's page: their plans are those of `dumbbell run`, and so are the results."""

from __future__ import annotations

import base64
import json
import re
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dumbbell import Scenario, _core
from dumbbell.cli import app
from dumbbell.exceptions import DumbbellError
from dumbbell.plan.text import plan_text, plan_values
from dumbbell.studies.labs import lab, labs, start
from dumbbell.studio import given, write
from dumbbell.studio.any_scenario import MOST_CELLS, MOST_FLOWS, fragment
from studio_page import ROOT, acted, assert_native, require_studio

HOPS = Scenario.from_dict(
    {
        "name": "two hops",
        "duration": "2 s",
        "repetitions": 2,
        "network": {
            "topology": "parking-lot",
            "hops": 2,
            "bottleneck": {"rate": "8 Mbit/s", "delay": "5 ms", "queue": {"limit": "30 packets"}},
            "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
        },
        "flows": [
            {"name": "long", "variant": "cubic"},
            {"name": "second", "variant": "bbr3", "enter": "r2"},
            {"name": "calls", "application": {"kind": "voice"}},
        ],
        "sweep": {"network.bottleneck.delay": ["5 ms", "10 ms"]},
    }
)


@pytest.fixture
def engine() -> None:
    require_studio()


def plan_of(shown: dict[str, Any], cell: int, repetition: int) -> str:
    """Join a run's plan as the page does."""
    parts = shown["cells"][cell]
    return f"{parts['before']}{parts['seeds'][repetition]}{parts['after']}"


def native(scenario: Scenario, cell: int, repetition: int) -> Any:
    return _core.run(plan_text(scenario.cells[cell]).with_seed(scenario.repetition_seed(repetition)))


def test_the_examples_and_labs_open_with_the_plans_of_dumbbell_run() -> None:
    paths = sorted((ROOT / "examples").glob("*.toml"))
    for path in paths:
        scenario = Scenario.load(path)
        shown = given(scenario)
        assert [cell["seeds"] for cell in shown["cells"]] == [
            [str(scenario.repetition_seed(n)) for n in range(scenario.repetitions)]
        ] * len(scenario.cells)
        for n, cell in enumerate(scenario.cells):
            plan, expected = json.loads(plan_of(shown, n, 0)), plan_values(cell)
            assert plan.pop("trace")["series"] == ["flows", "queues", "departures", "drops"], path
            assert {**plan, "seed": 0} == {
                k: v for k, v in {**expected, "seed": 0}.items() if k not in {"trace", "captures"}
            }, path
    assert len(paths) > 15


def test_what_a_page_cant_hold_is_refused_by_name() -> None:
    delays = [f"{n + 1} ms" for n in range(MOST_CELLS + 1)]
    many = HOPS.to_dict() | {"flows": [{"name": f"f{n}", "variant": "cubic"} for n in range(MOST_FLOWS + 1)]}
    for scenario, message in (
        (HOPS.with_changes({"sweep": {"network.bottleneck.delay": delays}}),
         "two hops: 101 cells given: the page holds at most 100: choose values with --set"),
        (HOPS.with_changes({"repetitions": 1001}),
         "two hops: 2002 runs given: the page holds at most 2000: set fewer repetitions"),
        (Scenario.from_dict(many), "two hops: 65 flows given: the page holds at most 64"),
    ):  # fmt: skip
        with pytest.raises(DumbbellError) as error:
            given(scenario)
        assert str(error.value) == message


def test_a_wrong_file_has_the_message_of_dumbbell_run(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(HOPS.to_toml().replace("cubic", "cubik").replace("hops = 2", "hops = 0"))
    answers = [CliRunner().invoke(app, [command, str(wrong)]) for command in ("run", "studio")]
    messages = [str(answer.exception) for answer in answers]
    assert messages[0] == messages[1]
    assert "did you mean 'cubic'?" in messages[0]
    alone = CliRunner().invoke(app, ["studio", "--set", "seed=2"])
    assert str(alone.exception) == "--set: changes a scenario: give its FILE too"


def test_a_link_holds_the_runs_and_no_file() -> None:
    packed = fragment(HOPS).removeprefix("given=")
    assert re.fullmatch(r"[\w-]+", packed)
    content = zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), -15)
    assert json.loads(content) == {**given(HOPS), "file": None}


def packed(content: object) -> str:
    """Pack a document for a link, as others may do."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    made = packer.compress(json.dumps(content).encode()) + packer.flush()
    return f"given={base64.urlsafe_b64encode(made).decode().rstrip('=')}"


def test_a_page_offers_no_file_of_a_link(engine: None, tmp_path: Path) -> None:  # noqa: ARG001
    """The file of a link could differ from the plans that the page runs."""
    crafted = packed({**given(HOPS), "file": 'name = "another scenario"'})
    found = acted(write.page(), "link", tmp_path / "profile", {"fragment": crafted})
    assert found["name"] == "two hops"
    assert found["file_disabled"]


def test_the_page_runs_each_cell_repetition_and_link(engine: None, tmp_path: Path) -> None:  # noqa: ARG001
    file = tmp_path / "hops.toml"
    file.write_text(HOPS.to_toml())
    out = tmp_path / "hops.html"
    done = CliRunner().invoke(app, ["studio", str(file), "--set", "duration=1 s", "--out", str(out)])
    assert done.exit_code == 0, done.output
    wifi = Scenario.load(ROOT / "examples" / "wifi.toml", {"duration": "2 s", "measure_from": "0 s"})
    page = out.read_text(encoding="utf-8")
    found = acted(page, "given", tmp_path / "profile", {"fragment": fragment(wifi)})
    scenario = HOPS.with_changes({"duration": "1 s"})
    places = [(scenario, 0, 0), (scenario, 1, 0), (scenario, 1, 1), (scenario, 1, 1), (wifi, 0, 0), (wifi, 1, 0)]
    for report, (of, cell, repetition) in zip(found["runs"], places, strict=True):
        assert_native(report, native(of, cell, repetition))
    assert found["runs"][3]["link"] == "#cell=1&repetition=1&link=r2-%3Er3"
    assert found["names"] == ["1 long", "2 second", "3 calls"]
    queues = {queue["name"]: queue for queue in native(scenario, 1, 1).rows.queues}
    assert found["utilization"] == [f"{100 * queues[name]['utilization']:.1f}" for name in ("r1->r2", "r2->r3")]
    assert "Waiting at r2" in found["packets"]
    assert Scenario.from_toml(found["file"]) == scenario
    assert found["own"] == [True, False]
    assert found["broken"].startswith("the link can't be read: ")


def test_figures_of_the_documentation_are_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "generator"))
    figures, pages = import_module("figures"), import_module("pages")

    monkeypatch.setattr(write, "available", lambda: True)
    for figure in (figures.variant("cubic"), figures.discipline("red")):
        text = pages.live(figure)
        assert f'<iframe data-source="../../studio.html#{fragment(Scenario.from_toml(figure.scenario))}"' in text
        assert "ontoggle=" in text
    monkeypatch.setattr(write, "available", lambda: False)
    assert pages.live(figures.variant("cubic")) == ""


@pytest.mark.parametrize("name", labs())
def test_labs_begin_with_predictions_of_their_runs(name: str, engine: None, tmp_path: Path) -> None:  # noqa: ARG001
    files = start(lab(name), "s1", tmp_path / "out")
    assert files.studio == tmp_path / "out" / "studio.html"
    model = re.search(r'id="model">(.*?)</script>', files.studio.read_text(encoding="utf-8"))
    assert model is not None
    shown = json.loads(model[1])["given"]
    assert shown["predict"] is True
    own = [run for run, planned in files.assigned.runs.items() if planned.backend == "sim"]
    assert [cell["label"] for cell in shown["cells"]] == own
    plans = [json.loads(plan_of(shown, n, 0)) for n in range(len(own))]
    assert len({json.dumps(plan) for plan in plans}) == len(plans)
    assert "open `studio.html`" in (tmp_path / "out" / "handout.md").read_text(encoding="utf-8")


def test_an_installation_without_the_engine_starts_labs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(write, "FOLDER", tmp_path)
    files = start(lab("fairness"), "s1", tmp_path / "out")
    assert files.studio is None
    assert not (tmp_path / "out" / "studio.html").exists()
    assert "studio" not in (tmp_path / "out" / "handout.md").read_text(encoding="utf-8")
