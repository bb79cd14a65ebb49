//! Descriptions of a plan's links and flows, and the memory that the virtual machine needs.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use dumbbell_kernel::{Target, TunTopology, VethTopology};
use dumbbell_plan::Plan;
use serde_json::{Value, json};

/// One flow a -> b over one link, with these changes.
fn plan(link: &Value, flow: &Value) -> Plan {
    let mut there = json!({
        "name": "a->b", "from": 0, "to": 1, "rate_bps": 10_000_000, "delay_ns": 20_000_000,
        "overhead_bytes": 0, "base_rtt_ns": 40_000_000, "queue": {"name": "droptail"},
    });
    let mut back = there.clone();
    (back["name"], back["from"], back["to"]) = ("b->a".into(), 1.into(), 0.into());
    let mut f = json!({
        "name": "f", "from": 0, "to": 1, "start_ns": 0, "stop_ns": null, "class": 0,
        "application": {"kind": "bulk"},
        "transport": {"kind": "tcp", "variant": {"name": "cubic"}, "stack": {"name": "linux"}},
    });
    for (target, changes) in [(&mut there, link), (&mut f, flow)] {
        for (key, value) in changes.as_object().unwrap() {
            target[key] = value.clone();
        }
    }
    Plan::from_value(json!({
        "seed": 1, "duration_ns": 5_000_000_000u64, "measure_from_ns": 0, "start_jitter_ns": 0,
        "nodes": ["a", "b"], "links": [there, back], "flows": [f],
        "trace": {"series": false, "interval_ns": 0, "packets": false},
    }))
    .unwrap()
}

fn link(change: Value) -> String {
    let plan = plan(&change, &json!({}));
    let steps = TunTopology::new(&plan, None).unwrap().steps(&plan);
    steps.into_iter().find(|s| s.starts_with("link a->b")).unwrap()
}

#[test]
fn a_link_is_described_with_all_its_features() {
    assert_eq!(link(json!({})), "link a->b: 10 Mbit/s; delay 20 ms; queue droptail");
    let limit = json!({"name": "droptail", "params": {"limit": "33 packets"}});
    let cases = [
        (json!({"queue": limit}), "queue droptail limit 33 packets"),
        (json!({"loss": 0.07}), "loss 7 %"),
        (
            json!({"loss": {"p": 0.01, "r": 0.25, "loss_bad": 0.5, "loss_good": 0.001}}),
            "loss in bursts (Gilbert-Elliott): p 1 %, r 25 %, loss 50 % bad, 0.1 % good",
        ),
        (json!({"corruption": {"bits": 1e-6}}), "corrupts a bit with probability 1e-6"),
        (json!({"jitter": {"distribution": "uniform", "max_ns": 2_000_000}}), "jitter uniform up to 2 ms"),
        (
            json!({"outages": [{"at_ns": 1_000_000_000u64, "for_ns": 100_000_000, "every_ns": null, "drops": false}]}),
            "outage at 1 s for 100 ms, packets wait",
        ),
        (
            json!({"policer": {"rate_bps": 5_000_000, "burst_bytes": 50_000, "marks": true}}),
            "policer 5 Mbit/s burst 50000 bytes, excess marked",
        ),
        (
            json!({"drops": [{"flow": 0, "data_only": true, "packets": [4, 7], "spans_ns": [[0, 1_000_000_000]]}]}),
            "drops of f: 4, 7, all from 0 s to 1 s",
        ),
        (json!({"duplication": {"share": 0.005, "delay_ns": 1_000_000}}), "duplicates 0.5 % of packets, 1 ms later"),
        (
            json!({"reordering": {"share": 0.01, "gap": 1, "correlation": 0.0, "delay_ns": 3_000_000, "extent": 2}}),
            "holds 1 % of packets back for 3 ms or 2 packets",
        ),
        (json!({"overhead_bytes": 14}), "14 bytes of framing on each packet"),
    ];
    for (change, description) in cases {
        assert_eq!(link(change).split("; ").last(), Some(description));
    }
}

#[test]
fn memory_holds_taps_buffers_and_the_network() {
    let plan = plan(&json!({}), &json!({}));
    let layout = VethTopology::new(&plan, Target::default()).unwrap();
    // Two nodes, a box, two hosts; two pairs for the link and one for each host. Every tap but the box's sees both
    // directions' 20 Mbit/s: 250 packets of 100 bytes in 10 ms, less than the least, 512. The buffer: 32 x 50 kB.
    assert_eq!((layout.namespaces.len(), layout.pairs.len(), layout.send_buffers), (5, 4, 1_600_000));
    assert_eq!(layout.memory(&plan), 1_600_000 + 5 * 300_000 + 4 * 100_000 + 4 * 512 * 256);
}

#[test]
fn values_over_time_and_traces_are_described() {
    let step = |at: u64, value: u64, ramp: bool| json!({"at_ns": at, "value": value, "ramp": ramp});
    let steps = [step(0, 10_000_000, false), step(1_000_000_000, 5_000_000, true)];
    let rate = json!({"rate_course": {"steps": steps, "period_ns": 2_000_000_000u64, "start_ns": 0}});
    assert!(link(rate).starts_with("link a->b: 10 Mbit/s from 0 s, 5 Mbit/s linearly until 1 s, repeated every 2 s;"));
    let trace = json!({"opportunities": {"counts": [[1, 2], [5, 1]], "period_ms": 6}});
    assert!(link(trace).starts_with("link a->b: 3 opportunities of 1500 bytes in 6 ms, repeated;"));
}

#[test]
fn a_flow_is_described_with_its_application_links_and_times() {
    let description = |change: Value| {
        let plan = plan(&json!({}), &change);
        let own = TunTopology::new(&plan, None).unwrap().flows(&plan);
        assert_eq!(VethTopology::new(&plan, Target::default()).unwrap().flows(&plan), own);
        own.concat()
    };
    assert_eq!(
        description(json!({"start_ns": 1_500_000_000, "stop_ns": 4_000_000_000u64})),
        "flow f: bulk from 10.1.0.0 to 10.2.0.0 by a->b, TCP_CONGESTION cubic, starts at 1500 ms, stops at 4 s"
    );
    let cbr = json!({
        "transport": {"kind": "udp"},
        "application": {"kind": "cbr", "rate_bps": 1_000_000, "packet_bytes": 500, "jitter": 0.0, "phase_ns": 0},
    });
    assert_eq!(
        description(cbr),
        "flow f: cbr of 1 Mbit/s in packets of 500 bytes (UDP) from 10.1.0.0 to 10.2.0.0 by a->b, starts at 0 s"
    );
}

#[test]
fn programs_get_their_congestion_control_from_the_route() {
    let program = json!({"application": {
        "kind": "program", "name": "command", "server": null, "file": null,
        "client": {"at_receiver": false, "command": ["true"]},
    }});
    for (change, routes) in [(program, 2), (json!({}), 0)] {
        let plan = plan(&json!({}), &change);
        let steps = TunTopology::new(&plan, None).unwrap().steps(&plan);
        assert_eq!(steps.iter().filter(|s| s.ends_with(" congctl cubic")).count(), routes);
    }
}
