"""The Rust core as Python sees it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dumbbell import Scenario, _core, registry
from dumbbell.plan.build import build


def test_registry_is_complete() -> None:
    assert {"tahoe", "reno", "newreno", "sack", "vegas", "cubic"} <= set(registry.variants())
    assert {"droptail", "red", "drr", "codel", "fq_codel", "pie", "dualpi2", "cake"} <= set(registry.disciplines())
    assert {"ns2", "rfc"} <= set(registry.stacks())
    assert "slow start" in registry.phases()
    assert "full" in registry.drop_reasons()
    every: list[registry.Variant | registry.Discipline | registry.Preset] = [
        *registry.variants().values(),
        *registry.disciplines().values(),
        *registry.stacks().values(),
    ]
    for entry in every:
        assert entry.title
        for param in entry.params:
            assert param.kind
            assert param.doc
            assert "  " not in param.doc


def test_defaults_of_presets_are_their_own() -> None:
    defaults = {s: {p.name: p.default for p in registry.stack(s).params} for s in ("ns2", "rfc")}
    assert defaults["ns2"]["window"] == "20 packets"
    assert defaults["rfc"]["initial_window"] == "10 packets"


def test_run_and_tables(base: Scenario) -> None:
    plan = {**build(base.cells[0].scenario), "seed": 1, "trace": {"series": True, "interval_ns": 0, "packets": False}}
    output = _core.run(json.dumps(plan))
    assert [f["name"] for f in output.rows.flows] == ["tcp", "cbr"]
    assert "flow/tcp" in output.tables()
    table = output.table("flow/tcp")
    assert table["t_ns"].dtype == np.uint64
    assert table["cwnd"].dtype == np.float64
    assert len({len(column) for column in table.values()}) == 1
    assert output.table("flow/tcp")["cwnd"] is table["cwnd"]  # moved once, not copied
    with pytest.raises(KeyError):
        output.table("flow/unknown")


def test_run_refuses_documents_that_are_no_plan() -> None:
    with pytest.raises(_core.RunError, match="invalid plan"):
        _core.run("{}")
