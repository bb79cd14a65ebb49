"""QUIC flows in scenarios: plan, stacks, results, lints, back ends that refuse them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from one_link import one_link

from dumbbell import DumbbellError, Scenario, registry, run
from dumbbell.plan.build import build
from dumbbell.results.runs.derived_columns import idle_paths

ROOT = Path(__file__).resolve().parents[2]


def scenario(**flow: Any) -> Scenario:
    return one_link({"name": "a", "transport": "quic", "variant": "newreno", **flow}, duration="5 s")


def test_the_plan_names_the_preset_and_its_changes() -> None:
    for given, name, params in (
        (None, "rfc9002", {}),
        ("quinn", "quinn", {}),
        ({"ack_frequency": 10}, "rfc9002", {"ack_frequency": 10}),
        ({"preset": "chromium", "streams": 3}, "chromium", {"streams": 3}),
    ):
        plan = build(scenario(**({} if given is None else {"stack": given})))
        assert plan["flows"][0]["transport"] == {
            "kind": "quic",
            "variant": {"name": "newreno", "params": {}},
            "stack": {"name": name, "params": params},
        }


def test_presets_belong_to_one_transport() -> None:
    assert list(registry.stacks("quic")) == ["rfc9002", "quinn", "aioquic", "chromium"]
    assert {s.transport for s in registry.stacks("tcp").values()} == {"tcp"}
    assert set(registry.stacks()) == {*registry.stacks("tcp"), *registry.stacks("quic")}


def test_results_have_the_columns_of_tcp() -> None:
    results = run(scenario(), trace=True)
    row = results.flows.row(0, named=True)
    assert row["stack"] == "rfc9002"
    # 1452 bytes of 1480 are a full datagram; 27 and 8 bytes of these are headers.
    assert row["snd_mss_bytes"] == 1452 - 27 - 8
    assert 0.9e7 < row["goodput_bps"] < row["throughput_bps"] <= 1e7
    assert row["rtt_min_ms"] < row["rtt_mean_ms"] < row["rtt_max_ms"]
    assert row["ack_delay_mean_ms"] == row["rtt_mean_ms"]
    series = results.table(0, "flow/a")
    assert series["cwnd"][0] == 12_000
    assert len(series) > 100


def test_the_idle_path_counts_a_full_datagram() -> None:
    assert idle_paths(scenario().cells[0])["a"].packet_bytes == 1452 + 28
    fixed = {"mtu_discovery": False}
    assert idle_paths(scenario(stack=fixed).cells[0])["a"].packet_bytes == 1200 + 28


def test_cubic_on_a_preset_without_hystart_is_warned_of() -> None:
    warned = {w.name: w.text for w in run(scenario(variant="cubic", stack="quinn")).lint()}
    assert warned["stack"].startswith("flow 'a': cubic is on stack 'quinn', which lacks a slow start")
    assert warned["stack"].endswith('): add slow_start = "hystart++" to the stack')
    assert "stack" not in {w.name for w in run(scenario(variant="cubic")).lint()}


def test_the_kernel_back_ends_refuse_quic() -> None:
    with pytest.raises(DumbbellError, match=r"flows\.a\.transport: the kernel has no QUIC: back end 'sim' runs it"):
        run(scenario(), backend="uml")


def test_the_example_shows_the_round_trip_that_0_rtt_saves() -> None:
    text = (ROOT / "examples" / "quic.toml").read_text(encoding="utf-8")
    flows = run(Scenario.from_toml(text)).flows
    for delay, rtt in (("5 ms", 0.01), ("20 ms", 0.04), ("100 ms", 0.2)):
        times = {
            r["name"]: r["completion_time_s"]
            for r in flows.iter_rows(named=True)
            if str(r["network.bottleneck.delay"]) == delay
        }
        # The response is larger than the server's first window, and starts with less before the address is validated.
        assert 0.3 * rtt < times["quic"] - times["quic, resumed"] < 1.2 * rtt


@pytest.mark.usefixtures("allow_code")
def test_an_own_variant_sends_over_quic(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n"
        "    def __init__(self, setup, segments=5):\n"
        "        self.cwnd = segments * setup.mss\n"
        "    def on_ack(self, ack): ...\n"
        "    def on_congestion(self, event): ...\n"
    )
    own = {"python": str(tmp_path / "mine.py:Mine")}
    results = run(scenario(variant=own, stack="quinn"), trace=True)
    assert results.flows["stack"].to_list() == ["quinn"]
    assert set(results.table(0, "flow/a")["cwnd"]) == {5 * 1452}
    with pytest.raises(DumbbellError, match="stack preset 'quin'"):
        run(scenario(variant=own, stack="quin"))
