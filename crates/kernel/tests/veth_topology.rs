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
            "transport" | "application" | "ip" => flow[key] = value.clone(),
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
    Plan::from_value(plan).unwrap()
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
    // A packet of 1500 bytes, and the bytes that 10 Mbit/s send in 4 µs: 5 bytes, and one more. 14 bytes of Ethernet
    // don't count.
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
            assert_eq!(wire.ends[here].namespace, namespace, "a route over an interface of another namespace");
            namespace = wire.ends[1 - here].namespace;
            seen.push(layout.namespaces[namespace].name.clone());
            assert!(seen.len() < 20, "a loop: {seen:?}");
        }
        assert_eq!(seen.len(), 7); // host, node, box, node, box, node, host
    }
}

#[test]
fn ipv6_has_addresses_neighbors_and_routes_of_its_own_and_forwarding_at_nodes() {
    let target = Target { kernel: Kernel::Host, ..Target::default() };
    let without_netem = json!({"ip": 6, "delay_ns": 0});
    let layout = VethTopology::new(&plan(without_netem), target).unwrap();
    assert!(layout.ipv6);
    let text = layout.steps().join("\n");
    assert!(text.contains("ip netns exec 'r1' sysctl -w net.ipv6.conf.all.forwarding='1'"), "{text}");
    assert!(!text.contains("ip netns exec 'f.from' sysctl -w net.ipv6.conf.all.forwarding"), "{text}");
    assert!(text.contains("addr add 2001:db8:1::1/128 nodad dev v"), "{text}");
    assert!(text.contains("neigh add fe80::1 lladdr 02:db"), "{text}");
    assert!(text.contains("ip -6 -n 'f.from' route add default via fe80::1 dev v"), "{text}");
    assert!(text.contains("ip -6 -n 'r1' route add 2001:db8:2::1 via fe80::1 dev v"), "{text}");
    let all: Vec<String> = layout.flows(&plan(json!({"ip": 6})));
    assert!(all[0].contains("from 2001:db8:1::1 to 2001:db8:2::1"), "{all:?}");
    // Without IPv6 it is switched off, so that the kernel sends no neighbor discovery of its own.
    let text = VethTopology::new(&plan(json!({"delay_ns": 0})), target).unwrap().steps().join("\n");
    assert!(text.contains("net.ipv6.conf.default.disable_ipv6='1'") && !text.contains("fe80"), "{text}");
}

#[test]
fn the_mtu_of_ipv6_carries_the_mss_with_a_longer_header() {
    let jumbo = json!({"kind": "tcp", "variant": {"name": "cubic"},
        "stack": {"name": "linux", "params": {"mss": "8000 bytes"}}});
    let target = Target { kernel: Kernel::Host, ..Target::default() };
    let mtu = |ip: u8| {
        let plan = plan(json!({"ip": ip, "delay_ns": 0, "transport": jumbo.clone()}));
        VethTopology::new(&plan, target).unwrap().mtu
    };
    assert_eq!((mtu(4), mtu(6)), (8040, 8060));
}

#[test]
fn the_guest_has_no_ipv6() {
    let text = refusal(json!({"ip": 6}));
    assert!(text.contains("flows.f.ip") && text.contains("built without IPv6"), "{text}");
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
    // The jitter stands behind the transmission: one netem with both would space packets again at the link's rate.
    assert!(text.contains("delay 0ns 0ns rate 10000000bit 0"), "{text}");
    assert!(text.contains("delay 20500000ns 500000ns rate 1000000000000000bit 0 loss 1% seed"), "{text}");
}

#[test]
fn the_guests_shaper_holds_the_largest_packet_of_the_flows() {
    let small = json!({"transport": {
        "kind": "tcp", "variant": {"name": "cubic"},
        "stack": {"name": "linux", "params": {"mss": "1000 bytes"}},
    }});
    let burst = |change: &Value, target: Target| {
        let text = VethTopology::new(&plan(change.clone()), target).unwrap().steps().join("\n");
        let (_, after) = text.split_once("tbf rate 10000000bit burst ").unwrap();
        after.split_once('b').unwrap().0.parse::<u32>().unwrap()
    };
    // Segments of 1000 bytes with headers of 40; 5 bytes in 4 us, and one more.
    assert_eq!(burst(&small, Target::default()), 1040 + 5 + 1);
    assert_eq!(burst(&json!({}), Target::default()), 1500 + 5 + 1);
    // On the host, calibration sends packets of the MTU; 1250 bytes in 1 ms.
    let host = Target { kernel: Kernel::Host, offloads: false };
    assert_eq!(burst(&small, host), 1500 + 1250 + 1);
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
        steps.into_iter().filter(|s| s.contains("dev v10 parent")).collect::<Vec<_>>()
    };
    // CoDel is under htb, which takes a packet when it is sent; the bucket holds 4 µs of 10 Mbit/s.
    let codel = step(json!({"name": "codel", "params": {"limit": "100 packets", "ce_threshold": "1 ms"}}));
    assert!(codel[0].ends_with("parent 1: classid 1:1 htb rate 10000000bit burst 6b cburst 6b"), "{codel:?}");
    assert!(codel[1].ends_with("codel target 5000us limit 100 interval 100000us ce_threshold 1000us"), "{codel:?}");
    let red = json!({
        "gentle": false, "min_th": "10 packets", "max_th": "30 packets", "weight": 0.001953125, "max_p": "10 %",
        "mean_packet": "1000 bytes", "limit": "100 packets", "ecn": true,
    });
    let red = step(json!({"name": "red", "params": red}));
    // RED is in a band of ets, so that it sees idle times. ets holds one packet of 1500 bytes: 10 packets are
    // 15,000 - 1500.
    assert!(red[0].ends_with("parent 1:1 handle 2: ets bands 1 strict 1"), "{red:?}");
    assert!(red[1].contains("parent 2:1 handle 3:"), "{red:?}");
    assert!(red[1].contains("red limit 148500 min 13500 max 43500 avpkt 1000 probability 0.1"), "{red:?}");
    assert!(red[1].ends_with("ecn harddrop # weight 2^-9"), "{red:?}");
}

#[test]
fn thresholds_of_red_mean_the_same_as_in_the_simulator() {
    let queue = |min: &str, max: &str, weight: f64| {
        json!({"queue": {"name": "red", "params": {
            "gentle": false, "min_th": min, "max_th": max, "weight": weight, "mean_packet": "1000 bytes", "limit": "1000 packets",
        }}})
    };
    // 10,000 bytes are 10 packets of mean_packet, and 10 full packets of 1500 are 15,000 bytes, less the packet that
    // ets holds.
    let steps = VethTopology::new(&plan(queue("10000 bytes", "30 packets", 1.0 / 512.0)), Target::default());
    let text = steps.unwrap().steps().join("\n");
    assert!(text.contains("red limit 1498500 min 13500 max 43500"), "{text}");
    // The average has 31 bits, of which the weight takes 13: 2^18 = 262,144 bytes; 180 packets are 270,000.
    let refused = refusal(queue("100 packets", "180 packets", 1.0 / 8192.0));
    assert!(
        refused.contains("links.r1->d1.queue.max_th: 270000 bytes (180 full packets): with a weight of 2^-13"),
        "{refused}"
    );
    assert!(refused.contains("less than 262144 bytes"), "{refused}");
}

#[test]
fn a_stacks_buffers_become_sysctls_of_its_hosts() {
    let sysctls = |stack: Value| {
        let flow = json!({"transport": {"kind": "tcp", "variant": {"name": "cubic"}, "stack": stack}});
        let layout = VethTopology::new(&plan(flow), Target::default()).unwrap();
        let host = layout.namespaces.into_iter().find(|n| n.name == "f.from").unwrap();
        host.sysctls.into_iter().filter(|(name, _)| name.ends_with("mem")).collect::<Vec<_>>()
    };
    let of = |receive: &str, send: &str| vec![("tcp_rmem", receive.to_owned()), ("tcp_wmem", send.to_owned())];
    // [Linux tcp.c tcp_init: sysctl_tcp_rmem, sysctl_tcp_wmem]; half of 128 KiB is window at the start
    // [Linux include/net/tcp.h TCP_DEFAULT_SCALING_RATIO].
    let stock = of("4096 131072 6291456", "4096 16384 4194304");
    assert_eq!(sysctls(json!({"name": "linux"})), stock);
    assert_eq!(sysctls(json!({"name": "rfc"})), stock);
    let tuned = of("4096 33554432 268435456", "4096 1048576 268435456");
    assert_eq!(sysctls(json!({"name": "linux-tuned"})), tuned);
    let other = json!({"name": "linux-tuned", "params": {"window_start": "1 MiB", "receive_buffer": "8 MiB"}});
    assert_eq!(sysctls(other)[0].1, "4096 2097152 8388608");
}

#[test]
fn variants_and_stacks_are_set_as_far_as_the_kernel_can() {
    let layout = VethTopology::new(
        &plan(json!({"transport": {
            "kind": "tcp",
            "variant": {"name": "cubic", "params": {"beta": 0.8, "fast_convergence": false}},
            "stack": {"name": "linux", "params": {"initial_window": "4 packets", "mss": "1000 bytes", "rack": false,
                                                  "prr": true}},
        }})),
        Target::default(),
    )
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
    let dumbbell_plan::TransportPlan::Tcp { variant, .. } = &mut plan.flows[1].transport else { unreachable!() };
    variant.params.clear();
    let message = VethTopology::new(&plan, Target::default()).unwrap_err().to_string();
    assert!(message.starts_with("flows.g.variant: other parameters than flow 'f'"), "{message}");
}

#[test]
fn drr_has_a_class_for_each_class_of_packets_chosen_by_their_source() {
    let drr = json!({"queue": {"name": "drr", "params": {
        "by": "class", "limit": "200 packets", "queue_limit": "100 packets",
    }}});
    let mut two = plan(drr);
    let mut other = two.flows[0].clone();
    (other.name, other.class) = ("g".into(), 1);
    two.flows.push(other);
    let layout = VethTopology::new(&two, Target::default()).unwrap();
    let text: Vec<String> = layout.steps().into_iter().filter(|s| s.starts_with("tc -n 'r1'")).collect();
    let device = "dev v10";
    // Only the forward direction crosses r1->d1: sources 10.1.0.0 and 10.1.0.1.
    for step in [
        format!("tc -n 'r1' qdisc add {device} parent 1:1 handle 2: drr"),
        format!("tc -n 'r1' class add {device} parent 2: classid 2:1 drr quantum 1500"),
        format!("tc -n 'r1' qdisc add {device} parent 2:1 handle 3: pfifo limit 100"),
        format!("tc -n 'r1' filter add {device} parent 2: protocol ip prio 1 flower src_ip 10.1.0.0 classid 2:1"),
        format!("tc -n 'r1' filter add {device} parent 2: protocol ip prio 1 flower src_ip 10.1.0.1 classid 2:2"),
    ] {
        assert!(text.contains(&step), "{step}\n{text:#?}");
    }
    assert_eq!(layout.disciplines["drr"], "links.r1->d1.queue");
}

#[test]
fn a_policer_is_a_filter_where_the_links_packets_reach_its_node() {
    let policer = json!({"rate_bps": 1_024_000, "burst_bytes": 10_000, "marks": false});
    let change = json!({"policer": policer, "overhead_bytes": 4});
    let layout = VethTopology::new(&plan(change.clone()), Target::default()).unwrap();
    // Packets of the only flow's forward direction reach r1 over s1->r1.
    let ingress = layout.links[2].ingress;
    assert_eq!(layout.policers.len(), 1);
    assert_eq!(layout.policers[0].inputs, [(ingress, layout.flows[0].addresses[0])]);
    let text = layout.steps().join("\n");
    assert!(text.contains(&format!("tc -n 'r1' qdisc add dev v{ingress} ingress")), "{text}");
    assert!(text.contains("police index 1 rate 1024000bit burst 10000b overhead 4"), "{text}");
    let host = Target { kernel: Kernel::Host, offloads: false };
    let message = VethTopology::new(&plan(change), host).unwrap_err().to_string();
    assert!(message.starts_with("links.r1->d1.policer: links of the host's kernel"), "{message}");
}

#[test]
fn settings_that_the_kernel_counts_differently_are_converted() {
    let layout = VethTopology::new(
        &plan(json!({
            "queue": {"name": "droptail", "params": {"limit": "10 packets", "counting": "ns2"}},
            "transport": {"kind": "tcp", "variant": {"name": "cubic"}, "stack": {"name": "linux", "params": {
                "mss": "9000 bytes", "timestamps": false, "window": "20 packets", "slow_start": "hystart",
            }}},
        })),
        Target::default(),
    )
    .unwrap();
    let text = layout.steps().join("\n");
    // ns-2's 10 packets include the one in transmission. 9000 bytes need an MTU of 9040; 20 of them are 180,000 bytes.
    assert!(text.contains("pfifo limit 9"), "{text}");
    assert_eq!(layout.mtu, 9040);
    assert!(text.contains("src 10.1.0.0 window 180000 advmss 9000"), "{text}");
    // With timestamps, 12 of the 1460 bytes of an Ethernet are the option's: 2 x 1448.
    let ethernet = json!({"transport": {
        "kind": "tcp", "variant": {"name": "cubic"}, "stack": {"name": "linux", "params": {"window": "2 packets"}},
    }});
    let layout = VethTopology::new(&plan(ethernet), Target::default()).unwrap();
    assert_eq!(layout.flows[0].window, Some(2896));
}

#[test]
fn refusals_name_the_place_and_the_reason() {
    let cases = [
        (json!({"drops": [{"flow": null, "data_only": true, "packets": [3], "spans_ns": []}]}), "links.r1->d1.drops"),
        (json!({"loss": {"p": 0.1, "r": 0.5, "loss_bad": 1.0, "loss_good": 0.0}}), "links.r1->d1.loss"),
        (json!({"queue": {"name": "blue"}}), "links.r1->d1.queue.discipline: 'blue' given"),
        (json!({"queue": {"name": "red"}}), "links.r1->d1.queue.gentle"),
        (
            json!({"queue": {"name": "droptail", "params": {"limit": "1 packets", "counting": "ns2"}}}),
            "links.r1->d1.queue.limit: with counting 'ns2' nothing may wait",
        ),
        (
            json!({"queue": {"name": "drr", "params": {"limit": "20 packets", "queue_limit": "30 packets"}}}),
            "links.r1->d1.queue.limit: the kernel's drr has no limit over all queues",
        ),
        (
            json!({"policer": {"rate_bps": 1_000_000, "burst_bytes": 10_000, "marks": true}}),
            "links.r1->d1.policer: the kernel's policer drops packets",
        ),
        // 2^32 - 1 ticks of 64 ns are 274.88 s, in which 1 Mbit/s fills 34,359,738 bytes.
        (
            json!({"policer": {"rate_bps": 1_000_000, "burst_bytes": 40_000_000, "marks": false}}),
            "links.r1->d1.policer: burst of 40000000 bytes given: the kernel allows up to 34359738 bytes at 1 Mbit/s",
        ),
        (
            json!({"policer": {"rate_bps": 7, "burst_bytes": 100, "marks": false}}),
            "links.r1->d1.policer: 7 bit/s given: the kernel's rates begin at 8 bit/s",
        ),
        (
            json!({"queue": {"name": "drr", "params": {"limit": "5 GB", "queue_limit": "5 GB"}}}),
            "links.r1->d1.queue.queue_limit: 5000000000 bytes given: the kernel counts up to 4294967295 bytes",
        ),
        (
            json!({"queue": {"name": "drr", "params": {"quantum": "5 GB", "queue_limit": "10 packets"}}}),
            "links.r1->d1.queue.quantum: 5000000000 bytes given: the kernel takes 1 to 4294967295 bytes",
        ),
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
        // HyStart belongs to the module [Linux tcp_cubic.c hystart_update].
        (
            json!({"transport": {
                "kind": "tcp", "variant": {"name": "cubic"},
                "stack": {"name": "linux", "params": {"slow_start": "standard"}},
            }}),
            "flows.f.stack.slow_start: the kernel has no setting for it",
        ),
        (
            json!({"transport": {"kind": "tcp", "variant": {"name": "reno"}, "stack": {"name": "ns2"}}}),
            "flows.f.stack: 'ns2' given",
        ),
        // Nagle's algorithm is turned off by an option of the program's sockets.
        (
            json!({
                "application": {
                    "kind": "program", "name": "command", "server": null, "file": null,
                    "client": {"at_receiver": false, "command": ["true"]},
                },
                "transport": {
                    "kind": "tcp", "variant": {"name": "reno"},
                    "stack": {"name": "linux", "params": {"nagle": false}},
                },
            }),
            "flows.f.stack.nagle: the kernel has no setting for it that holds for a program's sockets",
        ),
    ];
    for (change, expected) in cases {
        let message = refusal(change);
        assert!(message.starts_with(expected), "{message}");
    }
}
