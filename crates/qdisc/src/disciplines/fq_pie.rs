//! FQ-PIE: a queue for each flow with its own PIE, served by deficit round robin; flows without a standing queue are
//! served first [Linux sch_fq_pie.c fq_pie_qdisc_dequeue].
//!
//! It combines the scheduler of FQ-CoDel (`flow_queues.rs`) with PIE ([`crate::aqm::pie`], one probability per queue).
//! Its only documentation is the manual page tc-fq_pie(8).
//!
//! ```text
//! arrival    into the queue of the flow's hash, if the PIE of that queue accepts it. It is dropped if it would exceed
//!            limit or memory_limit; other queues lose nothing                [Linux sch_fq_pie.c fq_pie_qdisc_enqueue]
//! ```
//! The hash, flows and directions are those of FQ-CoDel.

use super::fq_codel::{FLOWS, MEMORY_LIMIT, QUANTUM};
use super::pie::{ALPHA, BETA, BYTEMODE, DQ_RATE_ESTIMATOR, ECN, Settings, TARGET, TUPDATE};
use crate::aqm::pie::Pie;
use crate::discipline::{Discipline, FOLLOWS, LinkInfo, positive_bytes};
use crate::flow_queues::{Flow, FlowQueues, flow_hash, reciprocal_scale};
use crate::update_timer::UpdateTimer;
use crate::{Backlog, KernelOptions, KernelQdisc, Packet, Qdisc, QdiscContext, kernel};
use dumbbell_units::param::{Kind, ParamError, Params, specs};
use dumbbell_units::{Bytes, Time};

pub(crate) const ROW: Discipline = Discipline {
    name: "fq_pie",
    title: "flow queueing: a queue with PIE for each flow, flows without a standing queue first",
    year: 2020,
    source: "RFC 8033, RFC 8290 (scheduler), Linux 5.6",
    doc: "Flows are hashed into queues, which are served by deficit round robin; a queue that was empty is served before \
          those with a backlog. PIE runs on each queue. An arrival beyond the limit is dropped.",
    params: specs! {
        /// maximum backlog of all queues together; an arrival beyond it is dropped
        limit = "10240 packets", Kind::Length;
        FLOWS;
        TARGET;
        TUPDATE;
        ALPHA;
        BETA;
        QUANTUM;
        MEMORY_LIMIT;
        ECN;
        /// probability from which on ECN-capable packets are dropped, not marked
        ecn_prob = "10 %", Kind::Probability;
        BYTEMODE;
        DQ_RATE_ESTIMATOR;
        FOLLOWS;
    },
    columns: &["active", "new", "old", "fattest", "probability"],
    kernel: Some(KernelQdisc {
        kinds: &["fq_pie"],
        options: KernelOptions::Attributes(&[
            kernel::packets(1, "limit"),           // TCA_FQ_PIE_LIMIT
            kernel::int(2, "flows"),               // TCA_FQ_PIE_FLOWS
            kernel::micros(3, "target"),           // TCA_FQ_PIE_TARGET
            kernel::micros(4, "tupdate"),          // TCA_FQ_PIE_TUPDATE
            kernel::whole(5, "alpha"),             // TCA_FQ_PIE_ALPHA
            kernel::whole(6, "beta"),              // TCA_FQ_PIE_BETA
            kernel::bytes(7, "quantum"),           // TCA_FQ_PIE_QUANTUM
            kernel::bytes(8, "memory_limit"),      // TCA_FQ_PIE_MEMORY_LIMIT
            kernel::percent(9, "ecn_prob"),        // TCA_FQ_PIE_ECN_PROB
            kernel::flag(10, "ecn"),               // TCA_FQ_PIE_ECN
            kernel::flag(11, "bytemode"),          // TCA_FQ_PIE_BYTEMODE
            kernel::flag(12, "dq_rate_estimator"), // TCA_FQ_PIE_DQ_RATE_ESTIMATOR
        ]),
        overlimit: Some(&[8, 12]),   // tc_fq_pie_xstats overlimit, overmemory
        separates_connections: true, // [Linux sch_fq_pie.c fq_pie_classify]
        ..KernelQdisc::EMPTY
    }),
    random: true,
    build: |params, link| Ok(Box::new(FqPie::new(params, link)?)),
};

/// The PIE of one queue with its own timer, so that only queues in use are updated.
#[derive(Debug)]
struct TimedPie {
    pie: Pie,
    update_timer: UpdateTimer,
}

/// The FQ-PIE discipline.
#[derive(Debug)]
pub(crate) struct FqPie {
    flows: FlowQueues<Option<TimedPie>>,
    settings: Settings,
    memory_limit: u64,
    perturbation: u64,
}

impl FqPie {
    fn new(params: &Params, link: &LinkInfo) -> Result<FqPie, ParamError> {
        let queues = params.int("flows") as usize;
        let mut settings = Settings::new(params, link, params.probability("ecn_prob"))?;
        Ok(FqPie {
            flows: FlowQueues::new(queues, positive_bytes(params, "quantum")?),
            memory_limit: params.bytes("memory_limit").0,
            perturbation: settings.random.next_u64(),
            settings,
        })
    }
}

/// Returns the PIE of a queue after running the updates that are due.
fn updated_pie<'a>(flow: &'a mut Flow<Option<TimedPie>>, settings: &Settings, now: Time) -> &'a mut Pie {
    let initial = || TimedPie { pie: Pie::default(), update_timer: UpdateTimer::new(settings.pie.period()) };
    let TimedPie { pie, update_timer } = flow.aqm.get_or_insert_with(initial);
    let backlog = flow.queue.bytes();
    update_timer.run(now, |_| pie.calculate_probability(&settings.pie, backlog));
    pie
}

impl Qdisc for FqPie {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        let index = reciprocal_scale(flow_hash(packet.flow, self.perturbation), self.flows.len());
        let total = self.flows.backlog();
        let sent_at_once = total.packets == 0 && !cx.link_busy; // whatever the limit
        let in_memory = total.bytes + u64::from(packet.bytes) <= self.memory_limit;
        let admitted = in_memory && self.settings.limit.admits(total + cx.held, &packet);
        let flow = self.flows.flow(index);
        let backlog = Bytes(flow.queue.bytes());
        let pie = updated_pie(flow, &self.settings, cx.now);
        if !sent_at_once && !admitted {
            self.settings.tail_drop(pie, packet, cx);
        } else if let Some(packet) = self.settings.admit(pie, backlog, packet, cx) {
            self.flows.enqueue(index, packet);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        let FqPie { flows, settings, .. } = self;
        flows.dequeue(|mut current| {
            updated_pie(current.flow, settings, cx.now);
            let packet = current.dequeue_head()?;
            let left = current.flow.queue.bytes();
            if let Some(TimedPie { pie, .. }) = &mut current.flow.aqm {
                pie.on_dequeue(&settings.pie, cx.now, cx.now.since(packet.enqueued), packet.bytes, left);
            }
            Some(packet)
        })
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn observe(&self, row: &mut Vec<f64>) {
        self.flows.observe(row);
        let drop_prob = |f: &Flow<Option<TimedPie>>| f.aqm.as_ref().map_or(0.0, |timed| timed.pie.drop_prob());
        row.push(self.flows.listed().map(drop_prob).fold(0.0, f64::max));
    }
}
