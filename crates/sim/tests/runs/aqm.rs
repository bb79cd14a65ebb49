//! Queue disciplines in the simulator: their known effects on flows, with bounds worked by hand.

use crate::plans::{Row, cbr};
use dumbbell_sim::Output;
use dumbbell_trace::ColumnData;
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

/// A bottleneck behind a fast link, measured from 20 s on; `rtt_ms` is the base round-trip time, of which 2 ms are on
/// other links.
fn bottleneck(discipline: &str, params: Value, rate: u64, rtt_ms: u64) -> Row {
    Row::new(&[(1000 * MBIT, MS), (rate, (rtt_ms / 2 - 1) * MS)])
        .link(1, 2, "queue", json!({"name": discipline, "params": params}))
        .set("/start_jitter_ns", json!(1000 * MS))
        .set("/duration_ns", json!(100_000 * MS))
        .set("/measure_from_ns", json!(20_000 * MS))
}

fn with_tcp(row: Row, flows: usize, variant: &str, stack: &Value) -> Row {
    (0..flows).fold(row, |row, _| row.tcp(0, 2, variant, stack.clone(), json!({"kind": "bulk"})))
}

fn column(out: &Output, table: &str, name: &str) -> Vec<f64> {
    match out.trace.table(table).unwrap().column(name).unwrap() {
        ColumnData::U64(v) => v.iter().map(|x| *x as f64).collect(),
        ColumnData::F64(v) => v.clone(),
        ColumnData::U32(v) => v.iter().map(|x| f64::from(*x)).collect(),
        ColumnData::U8(v) => v.iter().map(|x| f64::from(*x)).collect(),
    }
}

#[test]
fn codel_prevents_a_persistent_queue_of_one_flow() {
    // A queue above target persists for an interval (100 ms). The sender detects the drop one round trip later, and the
    // window is halved at most one round trip after that. So in any time of 100 ms + 3 RTT some packet waits less than
    // 5 ms. The peak of the queue is the backlog at target, the growth by one segment per round trip during the
    // interval, and that during the round trip of the drop, each rounded up to a packet.
    for (variant, rate, rtt_ms) in
        [("newreno", 10, 40), ("newreno", 10, 100), ("newreno", 50, 40), ("cubic", 10, 40), ("cubic", 50, 40)]
    {
        let row = bottleneck("codel", json!({}), rate * MBIT, rtt_ms);
        let row = with_tcp(row, 1, variant, &json!({"ack_every": 1, "increase": "ack"}));
        let out = row.set("/trace/series", json!(true)).run();
        let q = &out.queues[2];
        let sojourns = column(&out, "departures/n1->n2", "sojourn_ns");
        let times = column(&out, "departures/n1->n2", "t_ns");
        let mut low = 20e9;
        for (t, sojourn) in times.iter().zip(&sojourns).filter(|(t, _)| **t >= 20e9) {
            if *sojourn < 5e6 {
                low = *t;
            }
            let span = (t - low) * 1e-6;
            assert!(span <= (100 + 3 * rtt_ms) as f64, "{variant} {rate} {rtt_ms}: high for {span} ms");
        }
        let packet_ms = 12.0 / rate as f64;
        let peak = 5.0 + packet_ms * (100.0 / rtt_ms as f64 + 3.0);
        let most = q.max_sojourn_ms.get().unwrap();
        assert!((5.0..=peak).contains(&most), "{variant} {rate} {rtt_ms}: {most} not within 5..{peak}");
        assert!(q.drops_full == 0 && q.drops_early > 0);
        if variant == "newreno" {
            // From W/2 to W = (1 + f) BDP, where f is the peak of the delay divided by the RTT: 3/8 W^2 packets in (1 +
            // f + f^2) / 2 of the time that one BDP per RTT needs for them: utilization 3 (1 + f)^2 / (4 (1 + f +
            // f^2)). Recovery lowers it slightly.
            let f = most / rtt_ms as f64;
            let expected = 3.0 * (1.0 + f) * (1.0 + f) / (4.0 * (1.0 + f + f * f));
            assert!((q.utilization / expected - 1.0).abs() < 0.02, "{} {expected}", q.utilization);
        }
    }
}

#[test]
fn pi_controllers_keep_their_target() {
    // The integral part leaves no steady-state error: the sum of alpha (delay - target) over n updates is the change of
    // the probability, which is below 1 (PIE scales its steps, so its sum is weighted). With 20 and 50 flows a single
    // drop does not empty the queue. Tolerance 5 %: 80 s include some hundred oscillations of the delay, each at most
    // half the target.
    for (discipline, default) in [("pie", 15.0), ("pi2", 20.0), ("dualpi2", 15.0)] {
        for (flows, rate, rtt_ms, variant, target) in [
            (20, 50, 40, "sack", None),
            (50, 50, 100, "sack", None),
            (20, 50, 40, "cubic", None),
            (20, 100, 20, "newreno", None),
            (20, 50, 40, "sack", Some(30.0)),
        ] {
            let params = target.map_or(json!({}), |t| json!({"target": format!("{t} ms")}));
            let row = bottleneck(discipline, params, rate * MBIT, rtt_ms);
            let out = with_tcp(row, flows, variant, &json!({})).run();
            let (q, target) = (&out.queues[2], target.unwrap_or(default));
            let mean = q.mean_sojourn_ms.get().unwrap();
            let what = format!("{discipline} {flows} {variant} {rate} Mbit/s {rtt_ms} ms: {mean} for {target}");
            assert!((mean / target - 1.0).abs() < 0.05, "{what}");
            assert!(q.utilization > 0.995 && q.drops_full == 0, "{what}, use {}", q.utilization);
        }
    }
}

#[test]
fn blue_drops_the_excess_share() {
    // 12.5 Mbit/s into 10 Mbit/s: a fifth must be dropped. The probability rises by 0.25 % per 100 ms while the queue
    // overflows, to 20 %, and further while the queue drains from its limit. Then the queue does not overflow, and at
    // exactly 20 % it is never empty. A step is 0.25 %; the tolerance is four steps.
    let source = json!({"kind": "cbr", "rate_bps": 12_500_000, "packet_bytes": 1000, "jitter": 0.5, "phase_ns": 0});
    let row = bottleneck("blue", json!({}), 10 * MBIT, 20).udp(0, 2, source);
    let out = row.set("/trace/series", json!(true)).set("/measure_from_ns", json!(50_000 * MS)).run();
    let q = &out.queues[2];
    assert_eq!(q.drops_full, 0);
    let dropped = q.drops_early as f64 / q.arrivals as f64;
    assert!((0.2..0.21).contains(&dropped), "{dropped}");
    let (p, t) = (column(&out, "queue/n1->n2", "probability"), column(&out, "queue/n1->n2", "t_ns"));
    let settled = p.iter().zip(&t).filter(|(_, t)| **t > 50e9);
    assert!(settled.into_iter().all(|(p, _)| (0.19..=0.21).contains(p)));
}

#[test]
fn flow_queues_share_the_link_between_a_responsive_and_an_unresponsive_flow() {
    // 8 Mbit/s of datagrams beside a TCP flow on 10 Mbit/s: half each, and the datagrams use the part that TCP leaves
    // unused in its sawtooth. With CoDel a lone flow uses 85 % of its share (RTT 20 ms: f = 0.4 or so, above: 0.94);
    // with a FIFO queue all datagrams that are sent are delivered.
    let shares = |discipline: &str| {
        let row = with_tcp(bottleneck(discipline, json!({}), 10 * MBIT, 20), 1, "sack", &json!({}));
        let out = row.udp(0, 2, cbr(8 * MBIT, 1500)).run();
        let [tcp, udp] = [0, 1].map(|n| out.flows[n].throughput_bps * 1e-6);
        assert!(tcp + udp > 9.9, "{discipline}: {tcp} + {udp}");
        tcp / (tcp + udp)
    };
    for discipline in ["sfq", "drr", "fq_pie"] {
        let share = shares(discipline);
        assert!((0.49..0.51).contains(&share), "{discipline}: {share}");
    }
    for discipline in ["fq_codel", "cake"] {
        let share = shares(discipline);
        assert!((0.94 * 0.5..0.51).contains(&share), "{discipline}: {share}");
    }
    for discipline in ["droptail", "codel", "pie"] {
        let share = shares(discipline);
        assert!(share < 0.25, "{discipline}: {share}");
    }
}

#[test]
fn flow_queues_share_the_link_among_many() {
    // Four TCP flows of different variants and two floods of 10 Mbit/s: a sixth each. The hash gives these flows
    // different queues (a collision is unlikely: 15 pairs in 1024 queues).
    for discipline in ["fq_codel", "fq_pie", "sfq", "drr", "cake"] {
        let mut row = bottleneck(discipline, json!({}), 24 * MBIT, 20);
        for variant in ["newreno", "sack", "cubic", "vegas"] {
            row = with_tcp(row, 1, variant, &json!({}));
        }
        let out = row.udp(0, 2, cbr(10 * MBIT, 1500)).udp(0, 2, cbr(10 * MBIT, 500)).run();
        for f in &out.flows {
            let share = f.throughput_bps * 1e-6;
            assert!((4.0 * 0.8..=4.0 * 1.25).contains(&share), "{discipline} {}: {share}", f.name);
        }
    }
}

#[test]
fn strict_priority_starves_lower_classes() {
    let shares = |tcp_class: u16, udp_class: u16, udp: u64| {
        let row = with_tcp(bottleneck("prio", json!({}), 10 * MBIT, 20), 1, "sack", &json!({}));
        let row = row.udp(0, 2, cbr(udp, 1000));
        let row = row.set("/flows/0/class", json!(tcp_class)).set("/flows/1/class", json!(udp_class));
        let out = row.run();
        [0, 1].map(|n| out.flows[n].throughput_bps * 1e-6)
    };
    // Datagrams have priority: all of them are delivered, and TCP uses the rest, which may be zero.
    let [tcp, udp] = shares(1, 0, 6 * MBIT);
    assert!((udp - 6.0).abs() < 0.01 && (tcp - 4.0).abs() < 0.05, "{tcp} {udp}");
    let [tcp, udp] = shares(2, 1, 11 * MBIT);
    assert!((udp - 10.0).abs() < 0.01 && tcp < 0.01, "{tcp} {udp}");
    // TCP has priority: it fills the link.
    let [tcp, udp] = shares(0, 1, 6 * MBIT);
    assert!(tcp > 9.9 && udp < 0.1, "{tcp} {udp}");
}

#[test]
fn a_flow_of_an_unknown_class_is_refused() {
    let row = with_tcp(bottleneck("prio", json!({"bands": 2}), 10 * MBIT, 20), 2, "sack", &json!({}));
    let refused = dumbbell_sim::run(&row.set("/flows/1/class", json!(2)).plan()).unwrap_err().to_string();
    assert_eq!(refused, "flows.f1.class: 2 given: n1->n2 has classes 0 to 1");
}

#[test]
fn short_flows_in_their_own_queue_are_not_delayed_by_a_long_flow() {
    // The two queues of the bufferbloat experiment: 1.5 Mbit/s, 20 ms, 100 packets each; a long flow in one, pings or a
    // page in the other. With one queue up to 100 packets of 8 ms are ahead of each ping. With two it is the packet in
    // service and one packet of the long flow's turn; a page gets half the link, so it takes twice as long plus a few
    // round trips.
    let base = |queue: &Value| {
        let row = Row::new(&[(1000 * MBIT, MS), (3 * MBIT / 2, 9 * MS)]).link(1, 2, "queue", queue.clone());
        row.set("/duration_ns", json!(100_000 * MS)).set("/measure_from_ns", json!(20_000 * MS))
    };
    let beside_long = |row: Row, class: u16| {
        let row = row.tcp(0, 2, "newreno", json!({}), json!({"kind": "bulk"}));
        row.set("/flows/1/class", json!(class)).run()
    };
    let page = json!({"kind": "page", "bytes": 177_669, "request_bytes": 100, "repeat": 5, "every_ns": 15_000 * MS});
    let ping =
        json!({"kind": "ping", "interval_ns": 100 * MS, "packet_bytes": 84, "count": 0, "timeout_ns": 5000 * MS});
    let page_time = |out: Output| {
        let times: Vec<f64> = out.transfers[1..].iter().filter_map(|t| Some(t.end_s? - t.start_s)).collect();
        assert_eq!(times.len(), 4);
        times.iter().sum::<f64>() / times.len() as f64
    };
    let fifo = json!({"name": "droptail", "params": {"limit": "100 packets"}});
    let two = json!({"name": "drr", "params": {"by": "class", "limit": "200 packets", "queue_limit": "100 packets"}});
    let priority = json!({"name": "prio", "params": {"queue_limit": "100 packets"}});
    let alone = page_time(base(&fifo).tcp(0, 2, "newreno", json!({}), page.clone()).run());
    for (queue, class, rtt, pages) in [
        (&fifo, 0, 300.0..900.0, 3.0..20.0),
        (&two, 1, 20.0..20.0 + 2.0 * 8.0, 1.9..2.1),
        (&priority, 1, 20.0..20.0 + 8.5, 1.0..1.1),
    ] {
        let pings = beside_long(base(queue).udp(0, 2, ping.clone()), class).flows[0].rtt_mean_ms.get().unwrap();
        assert!(rtt.contains(&pings), "{queue}: {pings} ms");
        let page = page_time(beside_long(base(queue).tcp(0, 2, "newreno", json!({}), page.clone()), class)) / alone;
        assert!(pages.contains(&page), "{queue}: {page} times {alone} s");
    }
}

#[test]
fn departure_times_of_shapers_are_exact() {
    // 1500 bytes per millisecond (12 Mbit/s) into 6 Mbit/s (750 bytes per millisecond), on a link of 1 Gbit/s.
    let departures = |queue: Value| {
        let row = Row::new(&[(1000 * MBIT, MS)]).link(0, 1, "queue", queue).udp(0, 1, cbr(12 * MBIT, 1500));
        let out = row.set("/trace/series", json!(true)).set("/duration_ns", json!(99 * MS)).run();
        column(&out, "departures/n0->n1", "t_ns").iter().map(|t| t * 1e-6).collect::<Vec<_>>()
    };
    // A bucket of 6000: before each of the arrivals at 0, 1, 2, ... ms it holds 6000, 5250, 4500, 3750, 3000, 2250,
    // 1500, 750: the eighth waits until 8 ms, and the rest leave 2 ms apart.
    let tbf = departures(json!({"name": "tbf", "params": {"rate": "6 Mbit/s", "burst": "6000 bytes"}}));
    let expected: Vec<f64> = (0..7).map(f64::from).chain((4..50).map(|n| 2.0 * f64::from(n))).collect();
    assert_eq!(tbf.len(), expected.len());
    assert!(tbf.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{tbf:?}");
    // In deficit mode idle time gives no credit: 2 ms apart from the first packet on.
    let cake = departures(json!({"name": "cake", "params": {"bandwidth": "6 Mbit/s"}}));
    assert!(cake.iter().enumerate().all(|(n, t)| (t - 2.0 * n as f64).abs() < 1e-9), "{cake:?}");
    assert_eq!(cake.len(), 50);
}

#[test]
fn a_shaped_link_is_a_link_of_that_rate() {
    // TCP through 5 Mbit/s on a link of 100 Mbit/s, compared with a link of 5 Mbit/s: equal except for the burst
    // of the bucket, one packet, which sends the first packet after idle time at once.
    let run = |queue: Value, rate: u64| {
        let row = Row::new(&[(1000 * MBIT, MS), (rate, 19 * MS)]).link(1, 2, "queue", queue);
        let row = with_tcp(row, 1, "newreno", &json!({"ack_every": 1}));
        let row = row.set("/duration_ns", json!(60_000 * MS)).set("/measure_from_ns", json!(10_000 * MS));
        let out = row.run();
        (out.flows[0].goodput_bps, out.queues[2].mean_sojourn_ms.get().unwrap())
    };
    let fifo = json!({"name": "droptail", "params": {"limit": "25000 bytes"}});
    let (goodput, sojourn) = run(fifo, 5 * MBIT);
    let tbf = json!({"name": "tbf", "params": {"rate": "5 Mbit/s", "burst": "1500 bytes", "limit": "25000 bytes"}});
    let (shaped, waited) = run(tbf, 100 * MBIT);
    assert!((shaped / goodput - 1.0).abs() < 0.01, "{shaped} {goodput}");
    // The packet in service on the slow link waits inside the shaper instead: it counts there, so one fewer packet is
    // behind it, and its waiting time includes 2.4 ms of service. The mean is the same.
    assert!((waited - sojourn).abs() < 0.5, "{waited} {sojourn}");
}

#[test]
fn marks_avoid_retransmissions() {
    for (discipline, params) in [
        ("codel", json!({"ecn": true})),
        ("fq_codel", json!({})),
        ("pie", json!({"ecn": true})),
        ("fq_pie", json!({"ecn": true})),
        ("pi2", json!({})),
        ("dualpi2", json!({})),
        ("cake", json!({})),
    ] {
        let row = bottleneck(discipline, params, 10 * MBIT, 40);
        let out = with_tcp(row, 2, "sack", &json!({"ecn": true})).run();
        let q = &out.queues[2];
        assert!(q.marks > 50 && q.drops == 0, "{discipline}: {} marks, {} drops", q.marks, q.drops);
        let repeated: u64 = out.flows.iter().map(|f| f.retransmitted_packets).sum();
        assert_eq!(repeated, 0, "{discipline}");
        assert!(q.utilization > 0.85, "{discipline}: {}", q.utilization);
    }
}

#[test]
fn drops_at_dequeue_are_counted_and_traced() {
    let row = with_tcp(bottleneck("codel", json!({}), 10 * MBIT, 40), 2, "sack", &json!({}));
    let out = row.set("/trace/series", json!(true)).set("/measure_from_ns", json!(0)).run();
    let q = &out.queues[2];
    let rows = |name: &str| out.trace.table(name).unwrap().rows() as u64;
    assert!(q.drops_early > 50);
    assert_eq!((q.drops, q.drops_early + q.drops_full), (rows("drops/n1->n2"), rows("drops/n1->n2")));
    assert_eq!(q.arrivals, q.departures + q.drops + q.waiting_at_end);
    assert_eq!(out.flows.iter().map(|f| f.dropped_packets).sum::<u64>(), q.drops);
}
