"""The settings that the reports leave open: every other value can be run, and costs no more than the study's own."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from dumbbell.scenario import Scenario
from dumbbell.studies import Study, studies
from dumbbell.studies.open_settings import OpenSetting, OpenValue
from dumbbell.studies.video_real_traffic.fits import Setting

VALUES = [
    pytest.param(found, setting, value, experiment, id=f"{found.name} {value.name} {experiment}")
    for found in studies().values()
    for setting in found.paper.open
    for value in setting.values
    for experiment in setting.experiments
]


def cost(scenario: Scenario) -> float:
    """Return the simulated time of all its runs, s."""
    return len(scenario.cells) * scenario.repetitions * scenario.duration.seconds


@pytest.mark.parametrize(("found", "setting", "value", "name"), VALUES)
def test_another_value_of_an_open_setting_can_be_run(
    found: Study, setting: OpenSetting, value: OpenValue, name: str
) -> None:
    (experiment,) = (e for e in found.experiments if e.name == name)
    own = found.scenario(experiment)
    other = Scenario.load(found.folder / value.file) if value.file else own.with_changes(value.changes)
    assert other.to_dict() != own.to_dict()
    assert [cell.scenario.duration for cell in other.cells]
    assert cost(other) <= 1.01 * cost(own)
    assert value.name != setting.used


@pytest.mark.parametrize("name", ["queue", "policer", "wifi"])
def test_the_fits_of_the_video_report_have_its_settings_at_every_open_value(name: str) -> None:
    """An analysis refuses runs at a setting that its fit doesn't have."""
    found = studies()["video-real-traffic"]
    by_name = {e.name: found.scenario(e) for e in found.experiments}
    fitted = [Setting(cell.values, {}, 1.0) for cell in by_name[f"fit-{name}"].cells]
    changes = [v.changes for s in found.paper.open if name in s.experiments for v in s.values]
    for own in ({"repetitions": 1}, *changes):
        documents = [cell.scenario.to_dict() for cell in by_name[name].with_changes(own).cells]
        assert any(setting.is_of(document) for setting in fitted for document in documents), own


@pytest.mark.parametrize("name", ["geni-fairness", "video-real-traffic"])
def test_open_settings_are_listed_with_values_or_a_reason(name: str) -> None:
    settings = studies()[name].paper.open
    assert len({s.id for s in settings}) == len(settings)
    assert any(s.values for s in settings)
    for setting in settings:
        assert setting.reason.endswith(".") == (not setting.values), setting.id


def test_a_page_of_the_median_size_is_another_value_of_the_video_report() -> None:
    (page,) = (s for s in studies()["video-real-traffic"].paper.open if s.id == "page")
    assert {"page-load", "hall-rebuffering", "veno-qoe", "quic-best"} <= set(page.claims)
    assert [v.changes for v in page.values] == [{"flows.video.application.page": "2650 kB"}]


def test_a_setting_has_either_values_or_a_reason() -> None:
    with pytest.raises(ValidationError, match="either values or the reason"):
        OpenSetting(id="x", setting="page", used="a page of 750 kB")
