//! Small plans translated to veth topologies, and plans that are refused.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use dumbbell_kernel::{Kernel, Qdisc, Target, VethTopology};
use dumbbell_plan::Plan;
use serde_json::{Value, json};

/// One flow s1 -> r1 -> d1; `change` is merged into the bottleneck r1->d1.
fn plan(change: Value) -> Plan {
    let mut bottleneck = json!({
        "name": "r1->d1", "from": 1, "to": 2, "rate_bps": 10_000_000, "delay_ns": 20_000_000,
        "overhead_bytes": 0, "base_rtt_ns": 40_000_000,
        "queue": {"name": "droptail", "params": {"limit": "33 packets"}},
    });
    let mut flow = json!({
        "name": "f", "from": 0, "to": 2, "start_ns": 0, "stop_ns": null, "class": 0,
        "application": {"kind": "bulk"},
        "transport": {"kind": "tcp", "variant": {"name": "cubic"}, "stack": {"name": "rfc"}},
    });
    for (key, value) in change.as_object().unwrap() {
        match key.as_str() {
            "transport" | "application" => flow[key] = value.clone(),
            _ => bottleneck[key] = value.clone(),
        }
    }
    let link = |name: &str, from: usize, to: usize, rate: u64| {
        json!({
            "name": name, "from": from, "to": to, "rate_bps": rate, "delay_ns": 0, "overhead_bytes": 0,
            "base_rtt_ns": 40_000_000, "queue": {"name": "droptail"},
        })
    };
    let plan = json!({
        "seed": 1, "duration_ns": 1_000_000_000u64, "measure_from_ns": 0, "start_jitter_ns": 0,
        "nodes": ["s1", "r1", "d1"],
        "links": [
            bottleneck, link("d1->r1", 2, 1, 10_000_000),
            link("s1->r1", 0, 1, 100_000_000), link("r1->s1", 1, 0, 100_000_000),
        ],
        "flows": [flow],
        "trace": {"series": false, "interval_ns": 0, "packets": false},
    });
    serde_json::from_value(plan).unwrap()
}

fn refusal(change: Value) -> String {
    VethTopology::new(&plan(change), Target::default()).unwrap_err().to_string()
}

#[test]
fn a_link_is_a_queue_at_the_node_and_a_netem_in_its_own_namespace() {
    let layout = VethTopology::new(&plan(json!({})), Target::default()).unwrap();
    let names: Vec<&str> = layout.namespaces.iter().map(|s| s.name.as_str()).collect();
    // Three nodes, a namespace for each of two links, two hosts of one flow.
    assert_eq!(names, ["s1", "r1", "d1", "r1~d1", "s1~r1", "f.from", "f.to"]);
    assert_eq!(layout.pairs.len(), 2 * 2 + 2);
    let find = |index: u32| layout.pairs.iter().flat_map(|w| &w.ends).find(|e| e.index == index).unwrap();
    let link = &layout.links[0];
    let queue = find(link.egress);
    assert_eq!(queue.namespace, 1); // r1
    // A packet of 1500 bytes, and the bytes that 10 Mbit/s send in 4 µs: 5 bytes, and one more. 14 bytes of Ethernet don't count.
    let expected = Qdisc::Tbf {
        rate_bps: 10_000_000,
        burst: 1500 + 5 + 1,
        overhead: -14,
        inner: Box::new(Qdisc::Pfifo { limit: 33 }),
    };
    assert_eq!(queue.qdisc, Some(expected));
    let wire = find(link.netem);
    assert_eq!(layout.namespaces[wire.namespace].name, "r1~d1");
    let Some(Qdisc::Netem { rate_bps, delay_ns, jitter_ns, loss, overhead, .. }) = &wire.qdisc else {
        panic!("{:?}", wire.qdisc)
    };
    assert_eq!((*rate_bps, *delay_ns, *jitter_ns, *loss, *overhead), (10_000_000, 20_000_000, 0, 0.0, -14));
    assert_eq!(layout.namespaces[find(link.ingress).namespace].name, "d1");
}

#[test]
fn data_and_acknowledgments_have_a_route_at_every_hop() {
    let layout = VethTopology::new(&plan(json!({})), Target::default()).unwrap();
    let [from, to] = layout.flows[0].addresses;
    for (start, target) in [("f.from", to), ("f.to", from)] {
        let mut namespace = layout.namespaces.iter().position(|s| s.name == start).unwrap();
        let mut seen = vec![layout.namespaces[namespace].name.clone()];
        while layout.namespaces[namespace].address != Some(target) {
            let routes = &layout.namespaces[namespace].routes;
            let route = routes.iter().find(|r| r.to == Some(target) || r.to.is_none()).unwrap();
            let wire = layout.pairs.iter().find(|w| w.ends.iter().any(|e| e.index == route.oif)).unwrap();
            let here = wire.ends.iter().position(|e| e.index == route.oif).unwrap();
            assert_eq!(
                wire.ends[here].namespace, namespace,
                "a route over an interface of another namespace"
            );
            namespace = wire.ends[1 - here].namespace;
            seen.push(layout.namespaces[namespace].name.clone());
            assert!(seen.len() < 20, "a loop: {seen:?}");
        }
        assert_eq!(seen.len(), 7); // host, node, box, node, box, node, host
    }
}

#[test]
fn framing_byte_limits_and_jitter_become_options_of_tbf_bfifo_and_netem() {
    let layout = VethTopology::new(
        &plan(json!({
            "overhead_bytes": 14, "jitter": {"distribution": "uniform", "max_ns": 1_000_000},
            "queue": {"name": "droptail", "params": {"limit": "0.5 bdp"}}, "loss": 0.01,
        })),
        Target::default(),
    )
    .unwrap();
    let text = layout.steps().join("\n");
    // 0.5 x 10 Mbit/s x 40 ms / 8 = 25,000 bytes; frames of 1514 bytes; a jitter of 0..1 ms is 0.5 ± 0.5 ms.
    assert!(text.contains("bfifo limit 25000"), "{text}");
    assert!(text.contains("stab overhead 0 linklayer ethernet tbf rate 10000000bit burst 1520b"), "{text}");
    assert!(text.contains("delay 20500000ns 500000ns rate 10000000bit 0 loss 1% seed"), "{text}");
}

#[test]
fn the_hosts_kernel_gets_netem_only_where_it_is_needed() {
    let host = Target { kernel: Kernel::Host, offloads: false };
    let direct = VethTopology::new(&plan(json!({"delay_ns": 0})), host).unwrap();
    // Nothing delays or loses: no netem. The shaper keeps the tokens of 1 ms: 1250 bytes at 10 Mbit/s, and one more.
    let needs: Vec<_> = direct.disciplines.iter().map(|(kind, place)| (*kind, place.as_str())).collect();
    assert_eq!(needs, [("pfifo", "links.r1->d1.queue"), ("tbf", "links.r1->d1.rate")]);
    let text = direct.steps().join("\n");
    assert!(!text.contains("netem"), "{text}");
    assert!(text.contains("tbf rate 10000000bit burst 2751b"), "{text}");
    assert!(text.contains("sysctl -w net.ipv4.conf.all.rp_filter='0'"), "{text}");
    assert!(text.contains("ip netns add 'r1'  # without a name"), "{text}");
    assert_eq!(direct.variants(), ["cubic"]);
    for (change, key) in [(json!({}), "delay"), (json!({"delay_ns": 0, "loss": 0.1}), "loss")] {
        let far = VethTopology::new(&plan(change), host).unwrap();
        assert_eq!(far.disciplines["netem"], format!("links.r1->d1.{key}"));
    }
    // 64 KiB at once, so that super-packets pass whole; 1250 + 1.
    let offloads = VethTopology::new(&plan(json!({})), Target { offloads: true, ..host }).unwrap();
    let text = offloads.steps().join("\n");
    assert!(text.contains("burst 66787b"), "{text}");
    assert!(text.contains("tso on gso on gro on"), "{text}");
}

#[test]
fn disciplines_are_described_in_the_syntax_of_tc() {
    let step = |queue: Value| {
        let steps = VethTopology::new(&plan(json!({"queue": queue})), Target::default()).unwrap().steps();
        steps.into_iter().find(|s| s.contains("dev v10 parent 1:1")).unwrap()
    };
    let codel = step(json!({"name": "codel", "params": {"limit": "100 packets", "ce_threshold": "1 ms"}}));
    assert!(
        codel.ends_with("codel target 5000us limit 100 interval 100000us ce_threshold 1000us"),
        "{codel}"
    );
    let red = json!({
        "gentle": false, "min_th": "10 packets", "max_th": "30 packets", "weight": 0.001953125, "max_p": "10 %",
        "mean_packet": "1000 bytes", "limit": "100 packets", "ecn": true,
    });
    let red = step(json!({"name": "red", "params": red}));
    assert!(red.contains("red limit 150000 min 15000 max 45000 avpkt 1000 probability 0.1"), "{red}");
    assert!(red.ends_with("ecn harddrop # weight 2^-9"), "{red}");
}

#[test]
fn variants_and_stacks_are_set_as_far_as_the_kernel_can() {
    let layout = VethTopology::new(&plan(json!({"transport": {
        "kind": "tcp",
        "variant": {"name": "cubic", "params": {"beta": 0.8, "fast_convergence": false}},
        "stack": {"name": "linux", "params": {"initial_window": "4 packets", "mss": "1000 bytes", "rack": false,
                                              "prr": true}},
    }})), Target::default())
    .unwrap();
    // 0.8 x 1024 = 819.2.
    assert_eq!(layout.boot, ["tcp_cubic.beta=819", "tcp_cubic.fast_convergence=0"]);
    let text = layout.steps().join("\n");
    assert!(text.starts_with("boot the kernel with tcp_cubic.beta=819\n"), "{text}");
    assert!(text.contains("sysctl -w net.ipv4.tcp_recovery='0'"), "{text}");
    assert!(text.contains("src 10.1.0.0 advmss 1000 initcwnd 4"), "{text}");
}

#[test]
fn flows_of_one_variant_must_have_the_same_parameters() {
    let mut plan = plan(json!({"transport": {
        "kind": "tcp", "variant": {"name": "vegas", "params": {"alpha": 3}}, "stack": {"name": "linux"},
    }}));
    let mut other = plan.flows[0].clone();
    other.name = "g".into();
    plan.flows.push(other);
    assert_eq!(VethTopology::new(&plan, Target::default()).unwrap().boot, ["tcp_vegas.alpha=3"]);
    let dumbbell_plan::TransportPlan::Tcp { variant, .. } = &mut plan.flows[1].transport else {
        unreachable!()
    };
    variant.params.clear();
    let message = VethTopology::new(&plan, Target::default()).unwrap_err().to_string();
    assert!(message.starts_with("flows.g.variant: other parameters than flow 'f'"), "{message}");
}

#[test]
fn refusals_name_the_place_and_the_reason() {
    let cases = [
        (
            json!({"drops": [{"flow": null, "data_only": true, "packets": [3], "spans_ns": []}]}),
            "links.r1->d1.drops",
        ),
        (json!({"loss": {"p": 0.1, "r": 0.5, "loss_bad": 1.0, "loss_good": 0.0}}), "links.r1->d1.loss"),
        (json!({"queue": {"name": "blue"}}), "links.r1->d1.queue.discipline: 'blue' given"),
        (json!({"queue": {"name": "red"}}), "links.r1->d1.queue.gentle"),
        (json!({"queue": {"name": "codel", "params": {"limit": "1 bdp"}}}), "links.r1->d1.queue.limit"),
        (
            json!({"transport": {"kind": "tcp", "variant": {"name": "tahoe"}, "stack": {"name": "rfc"}}}),
            "flows.f.variant: 'tahoe' given: the kernel doesn't have it",
        ),
        (
            json!({"transport": {
                "kind": "tcp", "variant": {"name": "illinois", "params": {"theta": 3}}, "stack": {"name": "rfc"},
            }}),
            "flows.f.variant.theta: the kernel's module doesn't have it",
        ),
        (
            json!({"transport": {
                "kind": "tcp", "variant": {"name": "vegas", "params": {"alpha": 2.5}}, "stack": {"name": "rfc"},
            }}),
            "flows.f.variant.alpha: 2.5 given: the kernel's module takes whole numbers",
        ),
        (
            json!({"transport": {
                "kind": "tcp", "variant": {"name": "reno"},
                "stack": {"name": "linux", "params": {"prr": false}},
            }}),
            "flows.f.stack.prr: the kernel has no setting for it",
        ),
        (
            json!({"transport": {"kind": "tcp", "variant": {"name": "reno"}, "stack": {"name": "ns2"}}}),
            "flows.f.stack: 'ns2' given",
        ),
    ];
    for (change, expected) in cases {
        let message = refusal(change);
        assert!(message.starts_with(expected), "{message}");
    }
}
