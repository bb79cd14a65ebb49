//! Properties that hold for every row of the registry. A new row is tested without a change here.

#![expect(clippy::expect_used, reason = "a property that cannot be checked has failed")]

use dumbbell_qdisc::{Backlog, Discipline, Ecn, KernelOptions, Packet, Qdisc, QdiscContext, build, find, registry};
use dumbbell_testkit::{any_given, check_specs, link};
use dumbbell_units::param::Raw;
use dumbbell_units::parse::{Length, length};
use dumbbell_units::{Dur, Time};
use proptest::prelude::*;
use std::collections::HashMap;

#[test]
fn rows_are_complete() {
    for row in registry() {
        for text in [row.name, row.title, row.source, row.doc] {
            assert!(!text.is_empty(), "{row:?}");
        }
        assert!(row.year >= 1960, "{}", row.name);
        check_specs(row.name, row.params);
        let qdisc = build(row.name, &[], &link()).expect("the defaults fit together");
        let mut columns = Vec::new();
        qdisc.observe(&mut columns);
        assert_eq!(columns.len(), row.columns.len(), "{}", row.name);
        assert_eq!(find(row.name).expect("a registered name").name, row.name);
        let refused = find(&format!("{}x", row.name)).expect_err("an unknown name");
        assert!(refused.message.contains(row.name), "{refused}");
    }
}

/// The kernel's options are made from parameters of the row.
#[test]
fn rows_name_their_parameters_for_the_kernel() {
    for row in registry() {
        let Some(kernel) = &row.kernel else { continue };
        let named = match kernel.options {
            KernelOptions::Attributes(all) => all.iter().map(|attribute| attribute.param).collect(),
            _ => Vec::new(),
        };
        let only = kernel.only.iter().map(|(param, _)| *param);
        for param in named.into_iter().chain(only) {
            assert!(row.params.iter().any(|spec| spec.name == param), "{}: {param}", row.name);
        }
        assert!(!kernel.kinds.is_empty(), "{}", row.name);
    }
}

/// Without its page in the docs a discipline is unfinished. Its test file must exist: `with_disciplines` declares it.
#[test]
fn every_row_has_a_page() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for row in registry() {
        let page = format!("{root}/docs/reference/disciplines/{}.md", row.name);
        assert!(std::path::Path::new(&page).exists(), "{page} is missing");
    }
}

#[derive(Clone, Debug)]
enum Op {
    Arrive {
        flow: u32,
        bytes: u32,
        ecn: Ecn,
    },
    /// The transmission ends and the next packet is dequeued.
    Send,
    Wait(u64),
}

const CODEPOINTS: [Ecn; 4] = [Ecn::NOT_ECT, Ecn::ECT0, Ecn::ECT1, Ecn::CE];

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let arrive = (0u32..7, prop_oneof![40u32..=1500, Just(9000)], proptest::sample::select(&CODEPOINTS[..]))
        .prop_map(|(flow, bytes, ecn)| Op::Arrive { flow, bytes, ecn });
    let op = prop_oneof![5 => arrive, 4 => Just(Op::Send), 1 => (0u64..50_000_000).prop_map(Op::Wait)];
    proptest::collection::vec(op, 0..400)
}

/// The fields of a packet at its arrival.
#[derive(Clone, Copy)]
struct Arrived {
    flow: u32,
    bytes: u32,
    ecn: Ecn,
}

/// The account of all packets, kept by the link.
struct Account {
    row: &'static Discipline,
    waiting: HashMap<u32, Arrived>,
    bytes: u64,
    /// The last packet of each flow, or of each codepoint of a flow.
    last_of_flow: HashMap<(u32, Option<u8>), u32>,
    /// True if a flow has packets of several codepoints, which may wait in different queues.
    mixed: bool,
    limit: Option<Length>,
}

impl Account {
    fn leave(&mut self, packet: &Packet) -> Arrived {
        let arrived = self.waiting.remove(&packet.body).expect("a packet that arrived and has not left");
        assert_eq!((arrived.flow, arrived.bytes), (packet.flow, packet.bytes));
        self.bytes -= u64::from(arrived.bytes);
        arrived
    }

    fn departed(&mut self, packet: &Packet) {
        let arrived = self.leave(packet);
        let marked = packet.ecn == Ecn::CE && arrived.ecn.is_capable();
        assert!(packet.ecn == arrived.ecn || marked, "{:?} became {:?}", arrived.ecn, packet.ecn);
        let codepoint = CODEPOINTS.iter().position(|c| *c == arrived.ecn).map(|c| c as u8).filter(|_| self.mixed);
        let before = self.last_of_flow.insert((packet.flow, codepoint), packet.body).unwrap_or(0);
        assert!(before < packet.body, "{}: flow {} overtook itself", self.row.name, packet.flow);
    }

    fn check(&self, q: &dyn Qdisc) {
        let Backlog { packets, bytes } = q.backlog();
        assert_eq!((packets, bytes), (self.waiting.len() as u64, self.bytes), "{}", self.row.name);
        if packets == 1 && q.next_ready().is_some() {
            return; // accepted by an idle link and delayed by the shaper
        }
        match self.limit {
            Some(Length::Packets(limit)) => assert!(packets <= limit.0, "{packets} wait, limit {limit}"),
            Some(Length::Bytes(limit)) => assert!(bytes <= limit.0, "{bytes} wait, limit {limit}"),
            _ => {}
        }
    }
}

fn run(row: &'static Discipline, given: &[(String, Raw)], ops: &[Op], mixed: bool) {
    let Ok(mut q) = build(row.name, given, &link()) else {
        return; // contradictory values, which the tests of the disciplines cover
    };
    let value = |name: &str| given.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
    // The limit of ns-2 has another meaning, which the tests of the disciplines cover.
    let ns2 = value("counting") == Some(Raw::Text("ns2".into()));
    // Linux's RED decides on every arrival [Linux sch_red.c red_enqueue].
    let drops_while_idle = row.name == "red" && value("follows") == Some(Raw::Text("linux".into()));
    let mut account = Account {
        row,
        waiting: HashMap::new(),
        bytes: 0,
        last_of_flow: HashMap::new(),
        mixed,
        limit: match value("limit") {
            Some(Raw::Text(t)) if !ns2 => length(&t).ok(),
            _ => None,
        },
    };
    let mut cx = QdiscContext::default();
    let mut number = 0;
    for op in ops {
        let mut dequeue = false;
        match *op {
            Op::Arrive { flow, bytes, ecn } => {
                number += 1;
                let ecn = if mixed { ecn } else { CODEPOINTS[flow as usize % CODEPOINTS.len()] };
                let class = (flow % 3) as u16;
                let sent_at_once = !cx.link_busy && account.waiting.is_empty();
                account.waiting.insert(number, Arrived { flow, bytes, ecn });
                account.bytes += u64::from(bytes);
                q.enqueue(Packet { bytes, flow, class, ecn, body: number, enqueued: cx.now }, &mut cx);
                while let Some((packet, _)) = cx.take_dropped() {
                    assert!(!sent_at_once || drops_while_idle, "{}: dropped although the link was idle", row.name);
                    account.leave(&packet);
                }
                dequeue = !cx.link_busy;
            }
            Op::Send => {
                cx.link_busy = false;
                dequeue = true;
            }
            Op::Wait(ns) => cx.now += Dur(ns),
        }
        if dequeue {
            match q.dequeue(&mut cx) {
                Some(packet) => {
                    account.departed(&packet);
                    cx.link_busy = true;
                }
                None => {
                    assert!(
                        q.backlog().packets == 0 || q.next_ready().is_some(),
                        "{}: nothing to send with packets waiting",
                        row.name
                    );
                }
            }
            // A discipline may also drop packets at a dequeue.
            while let Some((packet, _)) = cx.take_dropped() {
                account.leave(&packet);
            }
        }
        account.check(q.as_ref());
        let mut columns = Vec::new();
        q.observe(&mut columns);
        assert_eq!(columns.len(), row.columns.len(), "{}", row.name);
        assert!(columns.iter().all(|c| !c.is_infinite()), "{}: {columns:?}", row.name);
    }
    // Finally all waiting packets can be dequeued.
    for _ in 0..100_000 {
        if account.waiting.is_empty() {
            break;
        }
        match q.dequeue(&mut cx) {
            Some(packet) => account.departed(&packet),
            None => cx.now = q.next_ready().unwrap_or(Time::NEVER),
        }
        while let Some((packet, _)) = cx.take_dropped() {
            account.leave(&packet);
        }
    }
    assert!(account.waiting.is_empty(), "{}: packets were never dequeued", row.name);
    account.check(q.as_ref());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// After every step arrived = departed + dropped + waiting, in packets and bytes; the backlog is correct; a flow
    /// keeps its order; the link is never idle while packets wait; limits hold; only ECN-capable packets are marked,
    /// and codepoints do not change otherwise.
    #[test]
    fn every_discipline_accounts_for_all_packets(
        (row, given) in (0..registry().len()).prop_flat_map(|i| (Just(&registry()[i]), any_given(registry()[i].params))),
        ops in ops(),
        mixed in any::<bool>(),
    ) {
        run(row, &given, &ops, mixed);
    }

    /// Equal seeds and paths give equal decisions.
    #[test]
    fn every_discipline_repeats_itself(i in 0..registry().len(), ops in ops()) {
        let fates = || {
            let mut q = build(registry()[i].name, &[], &link()).expect("the defaults fit together");
            let (mut cx, mut fates) = (QdiscContext::default(), Vec::new());
            cx.link_busy = true;
            for (body, op) in (0..).zip(&ops) {
                match *op {
                    Op::Arrive { flow, bytes, .. } => {
                        let packet = Packet { bytes, flow, class: 0, ecn: Ecn::ECT0, body, enqueued: cx.now };
                        q.enqueue(packet, &mut cx);
                    }
                    Op::Send => fates.extend(q.dequeue(&mut cx).map(|p| p.body)),
                    Op::Wait(ns) => cx.now += Dur(ns),
                }
            }
            fates
        };
        prop_assert_eq!(fates(), fates());
    }
}
