"""The column of the real kernel in a study, on the virtual-time kernel itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dumbbell.kernel.uml.backend import Uml
from dumbbell.studies import Study, run_study, study
from kept_runs import kept
from machines import KERNELS
from required import require_packages
from small_studies import only, without_analysis

__all__ = ["without_analysis"]  # a fixture

pytestmark = pytest.mark.usefixtures("require_uml")
require_packages("matplotlib", "jinja2")


@pytest.fixture
def pair(without_analysis: None) -> Study:
    """One experiment of a report, with one decisive cell; its analysis, which needs the others, is left out."""
    del without_analysis
    found = study("ns2-cbr")
    assert found.kernel is not None
    quick = {"repetitions": 2, 'sweep."flows.cbr.application.rate"': ["7 Mbit/s"]}
    kernel = found.kernel.model_copy(update={"cells": {"exp2": found.kernel.cells["exp2"]}})
    return only(found, {"exp2": quick}, kernel=kernel)


def test_the_column_is_measured_kept_and_shown(pair: Study, tmp_path: Path) -> None:
    done = run_study(pair, tmp_path, quick=True)
    assert done.column is not None
    version = KERNELS[0].version
    assert done.column.kernel == version
    newreno, vegas = done.column.rows
    for row in (newreno, vegas):
        assert row.here.size == row.there.size == 2
    # The CBR stream leaves 3 Mbit/s, of which the payload is 1000 of 1040 bytes; both back ends use most of it.
    for both in (newreno.here + vegas.here, newreno.there + vegas.there):
        assert 2.0 < both.mean() < 2.9
    page = done.report.read_text(encoding="utf-8")
    assert f"Linux {version}" in page
    assert "exp2-uml-quick" in page
    content = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))["kernel"]
    assert content["runs"] == {"exp2": 2}
    assert [n["linux"] for n in content["numbers"]] == [row.there.tolist() for row in (newreno, vegas)]
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob("runs/exp2-uml-quick/runs/*.parquet")}
    assert kept(tmp_path / "runs" / "exp2-uml-quick") == 2
    again = run_study(pair, tmp_path, quick=True)
    assert {p: p.stat().st_mtime_ns for p in before} == before
    assert again.column is not None
    assert again.column.document() == done.column.document()


def test_a_study_runs_on_the_kernel_as_a_whole(pair: Study, tmp_path: Path) -> None:
    done = run_study(pair, tmp_path, quick=True, backend=Uml())
    assert done.column is not None
    assert done.column.added == "sim"
    assert done.column.kernel == KERNELS[0].version
    assert [row.here.size for row in done.column.rows] == [row.there.size for row in done.column.rows] == [2, 2]
    assert done.refused == {}
    assert len(done.results["exp2"]) == 4 * 2  # four pairs, two repetitions
    assert "back end uml" in next(iter(done.results.values())).made_by
