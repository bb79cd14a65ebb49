//! FQ-PIE: a queue for each flow, served in turn, those that build no queue first, each under PIE of its own.
//!
//! Linux's combination of FQ-CoDel's scheduler ([`crate::flows`]) with PIE ([`crate::aqm::pie`], each queue with a
//! probability of its own); there is no document but its manual page, tc-fq_pie(8).
//!
//! ```text
//! arrival    into the queue that the flow's hash says, if its PIE admits it; dropped if limit or memory_limit would be
//!            passed: no other queue pays
//! ```
//! Hash, flows and directions are as in [`crate::fq_codel`].

use super::fq_codel::{FLOWS, MEMORY_LIMIT, QUANTUM};
use super::pie::{ALPHA, BETA, BYTEMODE, DQ_RATE_ESTIMATOR, ECN, Settings, TARGET, TUPDATE};
use crate::aqm::pie::Pie as Law;
use crate::discipline::{Discipline, LinkInfo, some_bytes};
use crate::flows::{Empty, Flow, Flows, hash, place, pop};
use crate::ticks::Ticks;
use crate::{Backlog, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{Kind, ParamError, Params, Spec};
use dumbbell_units::{Bytes, Time};

pub(crate) const ROW: Discipline = Discipline {
    name: "fq_pie",
    title: "flow queueing: a queue for each flow, each under PIE, flows without a queue first",
    year: 2020,
    source: "RFC 8033, RFC 8290 (scheduler), Linux 5.6",
    doc: "Flows are hashed into queues, which take turns in bytes; a queue that was empty goes before those that have a \
          backlog. PIE runs on each. What arrives when the limit is reached is dropped.",
    params: &[
        Spec {
            name: "limit",
            kind: Kind::Length,
            default: "10240 packets",
            doc: "how much may wait in all queues together; the arrival pays",
        },
        FLOWS,
        TARGET,
        TUPDATE,
        ALPHA,
        BETA,
        QUANTUM,
        MEMORY_LIMIT,
        ECN,
        Spec {
            name: "ecn_prob",
            kind: Kind::Probability,
            default: "10 %",
            doc: "probability from which on ECN-capable packets are dropped too",
        },
        BYTEMODE,
        DQ_RATE_ESTIMATOR,
    ],
    columns: &["active", "new", "old", "fattest", "probability"],
    build: |params, link| Ok(Box::new(FqPie::new(params, link)?)),
};

/// The PIE of one queue with its own clock, so that only queues in use are updated.
#[derive(Debug)]
struct Clocked {
    law: Law,
    ticks: Ticks,
}

/// See the top of this file.
#[derive(Debug)]
pub(crate) struct FqPie {
    flows: Flows<Option<Clocked>>,
    settings: Settings,
    memory_limit: u64,
    salt: u64,
}

impl FqPie {
    fn new(params: &Params, link: &LinkInfo) -> Result<FqPie, ParamError> {
        let mut settings = Settings::new(params, link, params.probability("ecn_prob"))?;
        Ok(FqPie {
            flows: Flows::new(params.int("flows") as usize, some_bytes(params, "quantum")?, Empty::Revisit),
            memory_limit: params.bytes("memory_limit").0,
            salt: settings.draws.next_u64(),
            settings,
        })
    }
}

/// The law of a queue, up to date.
fn law<'a>(flow: &'a mut Flow<Option<Clocked>>, settings: &Settings, now: Time) -> &'a mut Law {
    let fresh = || Clocked { law: Law::default(), ticks: Ticks::new(settings.law.tupdate) };
    let Clocked { law, ticks } = flow.state.get_or_insert_with(fresh);
    let waiting = flow.fifo.bytes();
    ticks.run(now, |_| law.update(&settings.law, waiting));
    law
}

impl Qdisc for FqPie {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let place = place(hash(packet.flow, self.salt), self.flows.len());
        let total = self.flows.backlog();
        let straight_on = total.packets == 0 && !cx.link_busy; // goes into service, however small the limit
        let in_memory = total.bytes + u64::from(packet.bytes) <= self.memory_limit;
        let has_room = in_memory && self.settings.limit.has_room(total, &packet);
        let flow = self.flows.flow(place);
        let waiting = Bytes(flow.fifo.bytes());
        let law = law(flow, &self.settings, cx.now);
        if !straight_on && !has_room {
            self.settings.refuse(law, packet, cx);
        } else if let Some(packet) = self.settings.admit(law, waiting, packet, cx) {
            self.flows.push(place, packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let FqPie { flows, settings, .. } = self;
        flows.next(|flow, total| {
            law(flow, settings, cx.now);
            let packet = pop(&mut flow.fifo, total)?;
            let left = flow.fifo.bytes();
            if let Some(Clocked { law, .. }) = &mut flow.state {
                law.depart(&settings.law, cx.now, cx.now.since(packet.enqueued), packet.bytes, left);
            }
            Some(packet)
        })
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let (new, old) = self.flows.list_lengths();
        let active = self.flows.listed().filter(|f| !f.fifo.is_empty()).count();
        let fattest = self.flows.listed().map(|f| f.fifo.bytes()).max().unwrap_or(0);
        row.extend([active, new, old, fattest as usize].map(|n| n as f64));
        let probability = |f: &Flow<Option<Clocked>>| f.state.as_ref().map_or(0.0, |c| c.law.probability());
        row.push(self.flows.listed().map(probability).fold(0.0, f64::max));
    }
}
