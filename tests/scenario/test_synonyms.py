"""Words of other programs are suggested by their names here: iperf, ns-2, ns-3, flent, mininet, tc, Linux."""

from __future__ import annotations

from typing import get_args

import pytest
from conftest import BASE

import dumbbell
from dumbbell import registry
from dumbbell.common.synonyms import SYNONYMS, suggestions
from dumbbell.scenario.flow.application import Application, Bulk, Cbr, OnOff, Page, Ping, Transfer
from dumbbell.scenario.flow.model import Flow
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.network.link import Link
from dumbbell.scenario.network.model import Network


def message(changes: dict[str, object]) -> str:
    with pytest.raises(dumbbell.ScenarioError) as e:
        dumbbell.Scenario.from_toml(BASE, changes)
    return str(e.value)


@pytest.mark.parametrize(
    ("path", "word", "named"),
    [
        ("flows.tcp.application", {"kind": "download"}, "'bulk' or 'page' or 'transfer'"),
        ("flows.tcp.application", {"kind": "ftp"}, "'bulk'"),
        ("flows.tcp.application", {"kind": "iperf"}, "'iperf3'"),
        ("flows.tcp.application", {"kind": "web"}, "'page' or 'http'"),
        ("flows.tcp.application", {"kind": "ns3::BulkSendApplication"}, "'bulk'"),
        ("flows.tcp.application", {"kind": "voip"}, "'voice'"),
        ("flows.tcp.variant", "TcpNewReno", "'newreno'"),
        ("flows.tcp.variant", "bbrv2", "'bbr3'"),
        ("flows.tcp.variant", "ctcp", "'compound'"),
        ("flows.tcp.stack", "modern", "'linux'"),
        ("flows.tcp.stack", {"preset": "linux", "iw": 10}, "'initial_window'"),
        ("network.bottleneck.queue", "pfifo", "'droptail'"),
        ("network.bottleneck.queue", "pfifo_fast", "'droptail'"),
        ("network.bottleneck.queue", "FqCoDelQueueDisc", "'fq_codel'"),
        ("network.bottleneck.queue", {"qdisc": "red"}, "'discipline'"),
        ("network.bottleneck.queue", {"discipline": "red", "buffer": "20 packets"}, "'limit'"),
    ],
)
def test_a_name_of_another_program_is_suggested(path: str, word: object, named: str) -> None:
    assert message({path: word}).endswith(f": did you mean {named}?")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("runs", "repetitions"),
        ("time", "duration"),
        ("warmup", "measure_from"),
        ("network.bottleneck_bw", "bottleneck"),
        ("network.bottleneck.bandwidth", "rate"),
        ("network.bottleneck.latency", "delay"),
        ("network.bottleneck.plr", "loss"),
        ("network.bottleneck.qdisc", "queue"),
        ("flows.tcp.algorithm", "variant"),
        ("flows.tcp.cc", "variant"),
        ("flows.tcp.congestion_control", "variant"),
        ("flows.tcp.traffic", "application"),
        ("flows.tcp.src", "from"),
        ("flows.tcp.end", "stop"),
    ],
)
def test_a_key_of_another_program_is_suggested(path: str, named: str) -> None:
    key = path.rpartition(".")[2]
    assert message({path: "1"}).endswith(f"unknown key '{key}': did you mean '{named}'?")


def test_a_link_has_a_delay_not_a_round_trip_time() -> None:
    assert "one-way 'delay'" in message({"network.bottleneck.rtt": "40 ms"})


def test_the_table_has_only_names_of_dumbbell() -> None:
    models = [m for union in (Application, Network) for m in get_args(get_args(union)[0])]
    kinds = {str(get_args(m.model_fields["kind"].annotation)[0]) for m in models if "kind" in m.model_fields}
    networks = {"dumbbell", "chain", "parking-lot", "custom"}
    keys: set[str] = set()
    for model in (Scenario, Flow, Link, Bulk, Cbr, OnOff, Page, Ping, Transfer, *models):
        keys |= {f.alias or name for name, f in getattr(model, "model_fields", {}).items()}
    rows: list[registry.Variant | registry.Discipline | registry.Preset] = [
        *registry.variants().values(),
        *registry.disciplines().values(),
        *registry.stacks().values(),
    ]
    names = {row.name for row in rows} | {p.name for row in rows for p in row.params}
    others = {"discipline", "sim", "kernel", "uml", "bottleneck", "access", "routers"}
    assert set(SYNONYMS) <= kinds | networks | keys | names | others


def test_a_synonym_is_no_name_of_the_same_kind() -> None:
    """A word that is itself a variant, discipline or kind of application is not suggested away."""
    for names in (list(registry.variants()), list(registry.disciplines()), list(registry.stacks())):
        assert [suggestions(name, names) for name in names] == [[name] for name in names]
