"""Changes of a scenario that are refused, with the parts of the message."""

from __future__ import annotations

from typing import Any

__all__ = ["BAD"]

LINK = {"rate": "1 Mbit/s", "delay": "1 ms"}
CUSTOM = {
    "topology": "custom",
    "nodes": ["a", "b", "c", "far"],
    "links": [{"from": "a", "to": "b", **LINK}, {"from": "b", "to": "c", **LINK}],
}
ENDS = [{"name": "x", "variant": "reno", "from": "a", "to": "c"}]
ROW = {"topology": "parking-lot", "hops": 3, "bottleneck": LINK, "access": LINK}
TCP = {"name": "tcp", "variant": "reno"}

# Changes to the base scenario, and what the message must contain.
BAD: list[tuple[str, dict[str, Any], list[str]]] = [
    # names
    ("variant", {"flows.tcp.variant": "brr"}, ["flows.tcp.variant: unknown variant 'brr'", "'bbr'?"]),
    ("variant near", {"flows.tcp.variant": "vegsa"}, ["flows.tcp.variant", "'vegsa': did you mean 'vegas'?"]),
    ("variant long", {"flows.tcp.variant": {"name": "cubci"}}, ["flows.tcp.variant.name", "did you mean 'cubic'?"]),
    ("variant nameless", {"flows.tcp.variant": {"alpha": 2}}, ["flows.tcp.variant.name", "needed"]),
    ("variant number", {"flows.tcp.variant": 3}, ["flows.tcp.variant", "3 given"]),
    (
        "parameters at odds",
        {"flows.tcp.variant": {"name": "vegas", "alpha": 4, "beta": 2}},
        ["flows.tcp.variant.alpha", "4 given", "at most beta, which is 2"],
    ),
    ("parameter", {"flows.tcp.variant": {"name": "vegas", "alpah": 2}}, ["flows.tcp.variant.alpah", "'alpha'?"]),
    ("parameter value", {"flows.tcp.variant": {"name": "vegas", "alpha": -2}}, ["flows.tcp.variant.alpha", "-2 given"]),
    (
        "parameter table",
        {"flows.tcp.variant": {"name": "vegas", "alpha": [1]}},
        ["flows.tcp.variant.alpha", "[1] given"],
    ),
    ("preset", {"flows.tcp.stack": "ns3"}, ["flows.tcp.stack: unknown stack preset 'ns3'", "'ns2'?"]),
    (
        "stack value",
        {"flows.tcp.stack": {"preset": "ns2", "window": 20}},
        ["flows.tcp.stack.window", "20 given", "packets"],
    ),
    ("stack against itself", {"flows.tcp.stack": {"rto_min": "5 s", "rto_max": "2 s"}}, ["flows.tcp.stack.rto_max"]),
    ("stack against variant", {"flows.tcp.stack": {"recovery": "sack"}}, ["flows.tcp.stack.recovery", "newreno"]),
    ("traced table", {"trace.series": ["flow"]}, ["trace.series", "'flow'", "'flows'?"]),
    ("traced name", {"trace.series": True, "trace.only": ["tpc"]}, ["trace.only.0", "'tpc'", "'tcp'?"]),
    ("until without a width", {"until.at_most": 5}, ["until.half_width", "needed"]),
    ("until no width", {"until.half_width": "0 %"}, ["until.half_width", "above zero"]),
    ("until few", {"until": {"half_width": "5 %", "at_most": 2}, "repetitions": 3}, ["until.at_most", "3"]),
    ("until whose", {"until": {"half_width": "5 %", "flow": "tpc"}}, ["until.flow", "'tpc'", "'tcp'?"]),
    ("discipline", {"network.bottleneck.queue": "droptial"}, ["network.bottleneck.queue: unknown", "'droptail'?"]),
    (
        "queue limit",
        {"network.bottleneck.queue.limit": 10},
        ["network.bottleneck.queue.limit", "10 given", '"10 packets"'],
    ),
    ("fq-codel", {"network.bottleneck.queue": "fq-codel"}, ["network.bottleneck.queue: unknown", "'fq_codel'?"]),
    (
        "class of a queue",
        {"network.bottleneck.queue": "prio", "flows.tcp.class": 3},
        ["flows.tcp.class: 3 given", "(prio) has classes 0 to 2"],
    ),
    (
        "thresholds at odds",
        {"network.bottleneck.queue": {"discipline": "red", "min_th": "20 packets", "max_th": "10 packets"}},
        ["network.bottleneck.queue.max_th: 10 packets is not above min_th"],
    ),
    (
        "two limits",
        {"network.bottleneck.queue": {"discipline": "tbf", "limit": "1 bdp", "latency": "5 ms"}},
        ["network.bottleneck.queue.latency: both limit and latency are given"],
    ),
    (
        "inner discipline",
        {"network.bottleneck.queue": {"discipline": "tbf", "inner": "fq-codel"}},
        ["network.bottleneck.queue.inner.discipline: unknown", "'fq_codel'?"],
    ),
    (
        "inner parameter",
        {"network.bottleneck.queue": {"discipline": "tbf", "inner": {"discipline": "codel", "target": 5}}},
        ["network.bottleneck.queue.inner.target: 5 given", '"40 ms"'],
    ),
    (
        "inner list",
        {"network.bottleneck.queue": {"discipline": "tbf", "inner": {"discipline": "codel", "target": [5]}}},
        ["network.bottleneck.queue.inner.target: [5] given"],
    ),
    (
        "inner nameless",
        {"network.bottleneck.queue": {"discipline": "tbf", "inner": {"target": "5 ms"}}},
        ["network.bottleneck.queue.inner: needed", "'discipline'"],
    ),
    (
        "table for a value",
        {"network.bottleneck.queue": {"discipline": "codel", "target": {"ms": 5}}},
        ["network.bottleneck.queue.target: a table given"],
    ),
    ("topology", {"network.topology": "dumbell"}, ["network.topology: unknown topology 'dumbell'", "'dumbbell'?"]),
    ("kind", {"flows.cbr.application.kind": "cbrr"}, ["flows.cbr.application.kind: unknown kind 'cbrr'", "'cbr'?"]),
    ("no kind", {"flows.cbr.application": {"rate": "1 Mbit/s"}}, ["flows.cbr.application.kind: needed"]),
    ("transport", {"flows.tcp.transport": "tpc"}, ["flows.tcp.transport: unknown value 'tpc'", "'tcp'?"]),
    # keys
    ("top key", {"durration": "1 s"}, ["durration: unknown key 'durration': did you mean 'duration'?"]),
    ("link key", {"network.bottleneck.rat": "1 Mbit/s"}, ["network.bottleneck.rat: unknown key", "'rate'?"]),
    ("flow key", {"flows.tcp.varient": "reno"}, ["flows.tcp.varient: unknown key", "'variant'?"]),
    ("misplaced key", {"flows.cbr.rate": "1 Mbit/s"}, ["flows.cbr.rate", "application = { kind"]),
    ("buffer", {"network.bottleneck.buffer": "1 bdp"}, ["network.bottleneck.buffer", "limit"]),
    ("application key", {"flows.cbr.application.size": "1 MB"}, ["flows.cbr.application.size: unknown key"]),
    ("trace key", {"trace.serie": True}, ["trace.serie: unknown key", "'series'?"]),
    # quantities
    ("no unit", {"duration": 10}, ["duration: 10 given", '"40 ms"']),
    (
        "no unit in text",
        {"network.bottleneck.rate": "10"},
        ["network.bottleneck.rate", "'10' has no unit", '"10 Mbit/s"'],
    ),
    ("wrong unit", {"network.bottleneck.rate": "10 ms"}, ["network.bottleneck.rate", "'10 ms'", '"10 Mbit/s"']),
    ("case of unit", {"network.bottleneck.rate": "10 mbit/s"}, ["did you mean 'Mbit/s'?"]),
    ("bool", {"duration": True}, ["duration: true given"]),
    ("loss without %", {"network.bottleneck.loss": 0.1}, ["network.bottleneck.loss: 0.1 given", "%"]),
    ("loss above 100 %", {"network.bottleneck.loss": "101 %"}, ["network.bottleneck.loss", "above 100 %"]),
    ("packet", {"flows.cbr.application.packet": 1000}, ["flows.cbr.application.packet: 1000 given", "bytes"]),
    # impossible values
    ("negative delay", {"network.bottleneck.delay": "-1 ms"}, ["network.bottleneck.delay", "negative"]),
    ("zero rate", {"network.bottleneck.rate": "0 Mbit/s"}, ["network.bottleneck.rate", "above zero"]),
    ("zero duration", {"duration": "0 s"}, ["duration", "longer than zero"]),
    ("zero cbr", {"flows.cbr.application.rate": "0 bit/s"}, ["flows.cbr.application.rate", "above zero"]),
    ("jitter above 1", {"flows.cbr.application.jitter": 1.5}, ["flows.cbr.application.jitter: 1.5 given", "at most 1"]),
    ("jitter nan", {"flows.cbr.application.jitter": float("nan")}, ["flows.cbr.application.jitter"]),
    ("tiny datagram", {"flows.cbr.application.packet": "20 bytes"}, ["flows.cbr.application.packet", "at least 28"]),
    ("giant datagram", {"flows.cbr.application.packet": "70 kB"}, ["flows.cbr.application.packet", "65535"]),
    ("repetitions", {"repetitions": 0}, ["repetitions: 0 given", "at least 1"]),
    ("repetitions text", {"repetitions": "3"}, ["repetitions: '3' given", "a whole number"]),
    ("seed", {"seed": -1}, ["seed: -1 given"]),
    ("seed fraction", {"seed": 1.5}, ["seed: 1.5 given", "a whole number"]),
    ("class", {"flows.tcp.class": 70000}, ["flows.tcp.class: 70000 given"]),
    # times
    ("start after end", {"flows.tcp.start": "3 s"}, ["flows.tcp.start", "'3 s' given", "'2 s'"]),
    ("jitter past end", {"flows.tcp.start": "1950 ms"}, ["flows.tcp.start", "start_jitter"]),
    ("stop before start", {"flows.tcp.start": "1 s", "flows.tcp.stop": "500 ms"}, ["flows.tcp.stop", "later than"]),
    ("stop after end", {"flows.tcp.stop": "3 s"}, ["flows.tcp.stop", "'3 s' given"]),
    ("measure_from", {"measure_from": "2 s"}, ["measure_from", "'2 s' given"]),
    # transports
    ("udp with variant", {"flows.cbr.variant": "reno"}, ["flows.cbr.variant", "a udp flow has none"]),
    ("udp with stack", {"flows.cbr.stack": "ns2"}, ["flows.cbr.stack", "a udp flow has none"]),
    ("tcp without variant", {"flows": [{"name": "a"}]}, ["flows.a.variant: needed"]),
    ("udp bulk", {"flows": [{"name": "a", "transport": "udp"}]}, ["flows.a.application: needed"]),
    (
        "udp transfer",
        {"flows.cbr.application": {"kind": "transfer", "size": "1 MB"}},
        ["flows.cbr.application.kind", "tcp"],
    ),
    (
        "tcp ping",
        {"flows": [{"name": "p", "transport": "tcp", "variant": "reno", "application": {"kind": "ping"}}]},
        ["flows.p.transport", "datagrams"],
    ),
    ("quic without variant", {"flows": [{"name": "a", "transport": "quic"}]}, ["flows.a.variant: needed", "quic"]),
    (
        "quic with a TCP preset",
        {"flows": [{"name": "a", "transport": "quic", "variant": "reno", "stack": "linux"}]},
        ["flows.a.stack", "'linux' given", "rfc9002, quinn, aioquic, chromium"],
    ),
    ("tcp with a QUIC preset", {"flows.tcp.stack": "quinn"}, ["flows.tcp.stack", "rfc, linux, linux-tuned, ns2"]),
    (
        "quic with a misspelled parameter",
        {"flows": [{"name": "a", "transport": "quic", "variant": "reno", "stack": {"ack_frequensy": 10}}]},
        ["flows.a.stack.ack_frequensy", "'ack_frequency'?"],
    ),
    (
        "quic with small datagrams",
        {"flows": [{"name": "a", "transport": "quic", "variant": "reno", "stack": {"initial_datagram": "1 kB"}}]},
        ["flows.a.stack.initial_datagram", "1000 bytes given", "1200 to 65507"],
    ),
    (
        "quic program",
        {"flows": [{"name": "a", "transport": "quic", "variant": "reno", "application": {"kind": "iperf3"}}]},
        ["flows.a.application.kind", "'iperf3'", "bulk, transfer, cbr, onoff, page, video or workload"],
    ),
    ("long name", {"flows": [{**TCP, "name": "f" * 300}]}, ["flows.f", ".name: 300 characters given: at most 80"]),
    ("long name of all", {"name": "f" * 300}, ["name: 300 characters given: at most 80"]),
    ("long names of copies", {"flows": [{**TCP, "name": "f" * 80, "count": 3}]}, ["names of copies have at most 80"]),
    (
        "long node",
        {"network": {**CUSTOM, "nodes": ["a", "b", "c", "n" * 300]}, "flows": ENDS},
        ["network.nodes.3: 300 characters given: at most 80"],
    ),
    # places
    ("duplicate name", {"flows": [TCP, TCP]}, ["flows.1.name", "'tcp' is taken"]),
    ("no flows", {"flows": []}, ["flows", "at least 1"]),
    ("half an end", {"flows.tcp.from": "r1"}, ["flows.tcp.to: needed"]),
    ("unknown node", {"flows.tcp.from": "r1", "flows.tcp.to": "r3"}, ["flows.tcp.to: unknown node 'r3'", "'r"]),
    ("flow to itself", {"flows.tcp.from": "r1", "flows.tcp.to": "r1"}, ["flows.tcp.to", "a flow to itself"]),
    ("at and ends", {"flows.cbr.from": "r1", "flows.cbr.to": "r2"}, ["flows.cbr.at", "exclude"]),
    ("access at routers", {"flows.cbr.access": {"delay": "1 ms"}}, ["flows.cbr.access"]),
    ("enter in a dumbbell", {"flows.tcp.enter": "r1"}, ["flows.tcp.enter", "parking-lot"]),
    ("too few pairs", {"network.pairs": 1, "flows": [TCP, {**TCP, "name": "b"}]}, ["network.pairs: 1 given"]),
    ("no access", {"network": {"bottleneck": LINK}}, ["network.access: needed: flow 'tcp'"]),
    ("enter unknown", {"network": ROW, "flows.tcp.enter": "r9"}, ["flows.tcp.enter: unknown router 'r9'"]),
    (
        "enter right of leave",
        {"network": ROW, "flows.tcp.enter": "r3", "flows.tcp.leave": "r2"},
        ["flows.tcp.leave", "right of"],
    ),
    ("hops", {"network": {**ROW, "hops": 0}}, ["network.hops: 0 given"]),
    ("no hops", {"network": {"topology": "chain", "bottleneck": LINK}}, ["network.hops: needed"]),
    ("hops disagree", {"network": {"topology": "chain", "hops": 3, "bottlenecks": [LINK]}}, ["network.hops: 3 given"]),
    ("custom node", {"network": CUSTOM, "flows": [{**ENDS[0], "to": "d"}]}, ["flows.x.to: unknown node 'd'"]),
    (
        "unreachable",
        {"network": CUSTOM, "flows": [{**ENDS[0], "to": "far"}]},
        ["flows.x.to", "no path leads from 'a' to 'far'"],
    ),
    ("custom at", {"network": CUSTOM, "flows": [{**TCP, "at": "routers"}]}, ["flows.tcp.at", "custom"]),
    ("custom no ends", {"network": CUSTOM, "flows": [TCP]}, ["flows.tcp.from: needed"]),
    ("custom bottleneck", {"network": {**CUSTOM, "bottleneck": LINK}}, ["network.bottleneck", "links"]),
    (
        "link to unknown node",
        {"network": {**CUSTOM, "links": [{"from": "a", "to": "z", **LINK}]}, "flows": ENDS},
        ["network.links.a->z.to: unknown node 'z'"],
    ),
    (
        "link twice",
        {"network": {**CUSTOM, "links": [*CUSTOM["links"], {"from": "b", "to": "a", **LINK}]}, "flows": ENDS},
        ["network.links.b->a", "linked already"],
    ),
    (
        "link to itself",
        {"network": {**CUSTOM, "links": [{"from": "a", "to": "a", **LINK}]}, "flows": ENDS},
        ["network.links.a->a.to", "itself"],
    ),
    ("node twice", {"network": {**CUSTOM, "nodes": ["a", "b", "c", "a"]}, "flows": ENDS}, ["network.nodes.3", "'a'"]),
    # links
    ("drop flow", {"network.bottleneck.drops": [{"flow": "tpc", "packets": [1]}]}, ["drops.0.flow", "'tcp'?"]),
    ("drop nothing", {"network.bottleneck.drops": [{"flow": "tcp"}]}, ["network.bottleneck.drops.0", "packets"]),
    ("drop number 0", {"network.bottleneck.drops": [{"packets": [0]}]}, ["drops.0.packets.0: 0 given"]),
    ("drop twice", {"network.bottleneck.drops": [{"packets": [2, 2]}]}, ["drops.0.packets", "twice"]),
    ("drop half a span", {"network.bottleneck.drops": [{"from": "1 s"}]}, ["drops.0.to: needed"]),
    ("drop span", {"network.bottleneck.drops": [{"from": "2 s", "to": "1 s"}]}, ["drops.0.to", "later"]),
    (
        "drop elsewhere",
        {"network.bottleneck.reverse": {"drops": [{"flow": "tcp", "packets": [1]}]}},
        ["network.bottleneck.reverse.drops.0.flow", "do not cross"],
    ),
    ("reordering without jitter", {"network.bottleneck.jitter_reorders": True}, ["jitter_reorders"]),
    (
        "bdp without delay",
        {"network.bottleneck.delay": "0 ms", "network.access.delay": "0 ms", "network.bottleneck.queue.limit": "2 bdp"},
        ["network.bottleneck.queue.limit", "'2 bdp' is zero"],
    ),
    # impairments of links
    ("rate table", {"network.bottleneck.rate": {"at": "1 s"}}, ["network.bottleneck.rate.at: unknown key"]),
    ("no steps", {"network.bottleneck.rate": {"steps": []}}, ["network.bottleneck.rate.steps", "at least 1"]),
    (
        "first step",
        {"network.bottleneck.rate": {"steps": [{"at": "1 s", "rate": "1 Mbit/s"}]}},
        ["network.bottleneck.rate.steps.0.at: '1 s' given", '"0 s"'],
    ),
    (
        "first ramp",
        {"network.bottleneck.rate": {"steps": [{"at": "0 s", "rate": "1 Mbit/s", "ramp": True}]}},
        ["network.bottleneck.rate.steps.0.ramp", "no earlier value to start from"],
    ),
    (
        "steps descend",
        {"network.bottleneck.delay": {"steps": [{"at": t, "delay": "1 ms"} for t in ("0 s", "2 s", "1 s")]}},
        ["network.bottleneck.delay.steps.2.at: '1 s' given", "later than the step before, at '2 s'"],
    ),
    (
        "step beyond the period",
        {
            "network.bottleneck.rate": {
                "steps": [{"at": "0 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "2 Mbit/s"}],
                "period": "1 s",
            }
        },
        ["network.bottleneck.rate.steps.1.at: '1 s' given", "begin again before, after '1 s'"],
    ),
    (
        "step of zero",
        {"network.bottleneck.rate": {"steps": [{"at": "0 s", "rate": "0 bit/s"}]}},
        ["network.bottleneck.rate.steps.0.rate", "above zero"],
    ),
    (
        "no trace",
        {"network.bottleneck.rate": {"trace": "nowhere.up"}},
        ["network.bottleneck.rate.trace: 'nowhere.up' can't be read: No such file"],
    ),
    ("trace is a number", {"network.bottleneck.rate": {"trace": 3}}, ["network.bottleneck.rate.trace: 3 given"]),
    ("trace as a key", {"network.bottleneck.trace": "x"}, ["network.bottleneck.trace", "rate = { trace = ... }"]),
    ("outage no end", {"network.bottleneck.outages": [{"at": "1 s"}]}, ["network.bottleneck.outages.0.for: needed"]),
    (
        "outage without pause",
        {"network.bottleneck.outages": [{"at": "1 s", "for": "2 s", "every": "2 s"}]},
        ["network.bottleneck.outages.0.every: '2 s' given", "longer than the outage"],
    ),
    (
        "outage packets",
        {"network.bottleneck.outages": [{"at": "1 s", "for": "1 s", "packets": "lose"}]},
        ["network.bottleneck.outages.0.packets: unknown value 'lose'"],
    ),
    (
        "loss model",
        {"network.bottleneck.loss": {"model": "gilbret"}},
        ["network.bottleneck.loss.model: unknown model 'gilbret'", "'gilbert'?"],
    ),
    ("loss without model", {"network.bottleneck.loss": {"p": "1 %"}}, ["network.bottleneck.loss.model: needed"]),
    (
        "loss half a pair",
        {"network.bottleneck.loss": {"model": "gilbert", "p": "1 %"}},
        ["network.bottleneck.loss.r: needed: 'p' is given"],
    ),
    (
        "loss both pairs",
        {"network.bottleneck.loss": {"model": "gilbert", "p": "1 %", "r": "9 %", "mean": "1 %", "burst": "3 packets"}},
        ["network.bottleneck.loss.mean", "give one pair"],
    ),
    ("loss no pair", {"network.bottleneck.loss": {"model": "gilbert"}}, ["network.bottleneck.loss.p: needed"]),
    (
        "loss mean too large",
        {"network.bottleneck.loss": {"model": "gilbert", "mean": "80 %", "burst": "3 packets"}},
        ["network.bottleneck.loss.mean: '80 %' given", "at most 75 %"],
    ),
    (
        "loss burst below one",
        {"network.bottleneck.loss": {"model": "gilbert", "mean": "1 %", "burst": "0.5 packets"}},
        ["network.bottleneck.loss.burst: '0.5 packets' given", "at least 1 packet"],
    ),
    (
        "loss in netem's words",
        {"network.bottleneck.loss": {"model": "gilbert-elliott", "p": "1 %", "r": "9 %", "1-h": "50 %"}},
        ["network.bottleneck.loss.1-h", "'loss_bad'"],
    ),
    (
        "bit errors",
        {"network.bottleneck.corruption": {"bit_error_rate": 2.0}},
        ["network.bottleneck.corruption.bit_error_rate: 2.0 given", "at most 1"],
    ),
    (
        "jitter distribution",
        {"network.bottleneck.jitter": {"distribution": "gaussian", "mean": "1 ms"}},
        ["network.bottleneck.jitter.distribution: unknown distribution 'gaussian'", "normal"],
    ),
    (
        "jitter shape",
        {"network.bottleneck.jitter": {"distribution": "pareto", "mean": "1 ms", "shape": 1.0}},
        ["network.bottleneck.jitter.shape: 1.0 given", "above 1"],
    ),
    (
        "reordering without delay",
        {"network.bottleneck.reordering": {"share": "1 %"}},
        ["network.bottleneck.reordering.delay: needed"],
    ),
    (
        "reordering gap",
        {"network.bottleneck.reordering": {"share": "1 %", "delay": "1 ms", "gap": 5}},
        ["network.bottleneck.reordering.gap: 5 given", '"3 packets"'],
    ),
    (
        "policer without burst",
        {"network.bottleneck.policer": {"rate": "1 Mbit/s"}},
        ["network.bottleneck.policer.burst: needed"],
    ),
    (
        "policer's word",
        {"network.bottleneck.policer": {"rate": "1 Mbit/s", "burst": "15 kB", "exceed": "markk"}},
        ["network.bottleneck.policer.exceed: unknown value 'markk'", "'mark'?"],
    ),
    # sweeps
    ("sweep path", {"sweep": {"flows.tpc.variant": ["reno"]}}, ['sweep."flows.tpc.variant"', "'tcp'?"]),
    ("sweep key", {"sweep": {"flows.tcp.varint": ["reno"]}}, ['sweep."flows.tcp.varint": unknown key', "'variant'?"]),
    ("sweep table", {"sweep": {"netwrk.bottleneck.rate": ["1 Mbit/s"]}}, ["unknown key 'netwrk'", "'network'?"]),
    ("sweep value", {"sweep": {"flows.tcp.variant": ["reno", "vgas"]}}, ['sweep."flows.tcp.variant"', "'vegas'?"]),
    ("sweep no list", {"sweep": {"flows.tcp.variant": "reno"}}, ['sweep."flows.tcp.variant"', "list"]),
    ("sweep empty", {"sweep": {"flows.tcp.variant": []}}, ['sweep."flows.tcp.variant"', "empty"]),
    ("sweep twice", {"sweep": {"flows.tcp.variant": ["reno", "reno"]}}, ["'reno' is given twice"]),
    ("sweep of the seed", {"sweep": {"seed": [1, 2]}}, ["sweep.seed", "same in every cell"]),
    ("sweep of a name", {"sweep": {"flows.tcp.name": ["a"]}}, ['sweep."flows.tcp.name"', "same in every cell"]),
    (
        "sweep overlap",
        {"sweep": {"flows.tcp.variant": ["reno"], "flows.0.variant": ["vegas"]}},
        ['sweep."flows.0.variant"', "flows.tcp.variant"],
    ),
    (
        "case overlap",
        {"sweep": {"flows.tcp.variant": ["reno"], "cases": [{"flows.tcp.variant": "vegas"}]}},
        ["sweep", "twice"],
    ),
    ("case empty", {"sweep": {"cases": [{}]}}, ["sweep.cases.0"]),
    (
        "combination",
        {"sweep": {"duration": ["1 s", "9 s"], "flows.tcp.start": ["500 ms", "5 s"]}},
        ['sweep."flows.tcp.start"', "'5 s' given"],
    ),
]
