//! Tries an external discipline on random packets: the properties that hold for every discipline of the registry.
//!
//! ```text
//! each case   up to 300 steps: a packet arrives, the transmission ends, time passes; then the queue is emptied
//! overload    20,000 packets arrive while none leaves
//! ```
//! A case that fails is made shorter: steps are left out as long as it still fails. The cases follow from the seed.

use super::{External, ExternalQdisc, Fail};
use crate::{DropReason, Ecn, LinkInfo, Packet, Qdisc, QdiscContext};
use dumbbell_units::param::{ParamError, Raw};
use dumbbell_units::random::Stream;
use dumbbell_units::{Dur, Rate};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Packets of the overload.
const OVERLOAD: u32 = 20_000;
/// Most steps of a case.
const STEPS: u64 = 300;
/// Cases that may be tried to make a failing one shorter.
const SHORTENINGS: u32 = 400;

/// The cases to try.
#[derive(Clone, Copy, Debug)]
pub struct Exercise {
    /// Their number.
    pub cases: u32,
    /// Other seeds make other cases.
    pub seed: u64,
}

/// A property that a discipline lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// True for an error; false for a property that most disciplines have and some rightly lack.
    pub is_error: bool,
    /// The observation.
    pub message: String,
    /// The steps that lead to it.
    pub steps: Vec<String>,
}

/// The result of [`exercise`].
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Packets that arrived, in all cases.
    pub arrived: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that waited at the end of the overload.
    pub longest: u64,
    /// The properties that it lacks; at most one error.
    pub findings: Vec<Finding>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive {
        flow: u32,
        bytes: u32,
        ecn: Ecn,
    },
    /// The transmission ends, and the next packet is dequeued.
    Send,
    Wait(Dur),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Arrive { flow, bytes, ecn } => {
                let ecn = ["not ECN-capable", "ECT(1)", "ECT(0)", "CE"][usize::from(ecn.bits())];
                write!(f, "a packet of {bytes} bytes arrives: flow {}, {ecn}", flow / 2)
            }
            Step::Send => f.write_str("the transmission ends: dequeue"),
            Step::Wait(time) => write!(f, "{time} pass"),
        }
    }
}

/// The fate of a packet, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sent(u32, Ecn),
    Dropped(u32, DropReason),
}

/// The course of a case.
#[derive(Debug, Default)]
struct Course {
    /// The step in which the discipline failed, and the message.
    failure: Option<(usize, String)>,
    fates: Vec<Fate>,
    arrived: u64,
    dropped: u64,
    marked: u64,
    /// The first step in which a packet was dropped although link and queue were idle.
    idle_drop: Option<usize>,
    /// The first step in which a packet overtook one of its flow with the same codepoint.
    overtaking: Option<usize>,
}

/// Tries a discipline with these parameters on a link of 10 Mbit/s with a base RTT of 60 ms.
///
/// # Errors
/// The discipline refuses its parameters.
pub fn exercise(external: &dyn External, given: &[(String, Raw)], exercise: &Exercise) -> Result<Report, ParamError> {
    let mut report = Report::default();
    let mut notes: BTreeMap<&str, Finding> = BTreeMap::new();
    for case in 0..exercise.cases {
        let steps = steps(exercise.seed, case);
        let course = play(external, given, &steps)?;
        report.arrived += course.arrived;
        report.dropped += course.dropped;
        report.marked += course.marked;
        if let Some((at, message)) = course.failure {
            let (steps, message) = shortest(external, given, &steps[..steps.len().min(at + 1)], message)?;
            report.findings.push(Finding { is_error: true, message, steps: described(&steps) });
            break;
        }
        let remarks = [
            (course.idle_drop, "drops a packet although the link is idle and the queue empty"),
            (course.overtaking, "packets of a flow leave in another order than they arrived"),
        ];
        for (at, remark) in remarks {
            let Some(at) = at else { continue };
            notes.entry(remark).or_insert_with(|| Finding {
                is_error: false,
                message: remark.to_owned(),
                steps: described(&steps[..steps.len().min(at + 1)]),
            });
        }
        // Few repetitions show what depends on a clock, an address, or another queue.
        if case % 10 == 0 && play(external, given, &steps)?.fates != course.fates {
            report.findings.push(Finding {
                is_error: true,
                message: "two queues with the same seed treat the same packets differently: results would not repeat"
                    .to_owned(),
                steps: described(&steps),
            });
            break;
        }
    }
    if report.findings.is_empty() {
        overload(external, given, &mut report)?;
    }
    report.findings.extend(notes.into_values());
    Ok(report)
}

fn described(steps: &[Step]) -> Vec<String> {
    steps.iter().map(ToString::to_string).collect()
}

fn steps(seed: u64, case: u32) -> Vec<Step> {
    let mut random = Stream::new(seed, &format!("exercise/{case}"));
    let mut below = |n: u64| random.next_u64() % n;
    let mixed = below(2) == 0;
    (0..below(STEPS) + 1)
        .map(|_| match below(10) {
            0..5 => {
                let flow = below(6) as u32;
                let bytes = if below(10) == 0 { 9000 } else { 40 + below(1461) as u32 };
                let ecn = Ecn::from_bits(if mixed { below(4) as u8 } else { flow as u8 });
                Step::Arrive { flow, bytes, ecn }
            }
            5..9 => Step::Send,
            _ => Step::Wait(Dur(below(50_000_000))),
        })
        .collect()
}

/// The place where a queue reports its failure.
type Failure = Arc<Mutex<Option<String>>>;

/// A queue under test, and the place where it reports its failure.
fn queue(external: &dyn External, given: &[(String, Raw)]) -> Result<(ExternalQdisc, Failure), ParamError> {
    let link = LinkInfo::new(Rate(10_000_000), Dur::millis(60));
    let link = LinkInfo { seed: 1, path: "link/exercise/queue".to_owned(), ..link };
    let failure = Failure::default();
    let place = Arc::clone(&failure);
    let fail: Fail = Arc::new(move |_, message| {
        *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    });
    Ok((ExternalQdisc::new(external, given, &link, fail)?, failure))
}

fn play(external: &dyn External, given: &[(String, Raw)], steps: &[Step]) -> Result<Course, ParamError> {
    let (mut queue, failure) = queue(external, given)?;
    let failed = || failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (mut course, mut cx) = (Course::default(), QdiscContext::default());
    let mut last_of_flow: BTreeMap<(u32, u8), u32> = BTreeMap::new();
    let mut codepoints: Vec<u8> = Vec::new();
    let mut row = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let mut dequeues = false;
        match *step {
            Step::Arrive { flow, bytes, ecn } => {
                let idle = !cx.link_busy && queue.backlog().packets == 0;
                let (body, class) = (codepoints.len() as u32, (flow % 3) as u16);
                codepoints.push(ecn.bits());
                queue.enqueue(Packet { bytes, flow, body, class, ecn, enqueued: cx.now }, &mut cx);
                if idle && cx.has_dropped() {
                    course.idle_drop.get_or_insert(number);
                }
                dequeues = !cx.link_busy;
            }
            Step::Send => {
                cx.link_busy = false;
                dequeues = true;
            }
            Step::Wait(time) => cx.now += time,
        }
        if dequeues {
            // A link waits for the time that the discipline has given.
            cx.now = cx.now.max(queue.next_ready().unwrap_or(cx.now));
            if let Some(packet) = queue.dequeue(&mut cx) {
                cx.link_busy = true;
                let of = (packet.flow, codepoints[packet.body as usize]);
                if last_of_flow.insert(of, packet.body).is_some_and(|before| before > packet.body) {
                    course.overtaking.get_or_insert(number);
                }
                course.fates.push(Fate::Sent(packet.body, packet.ecn));
            }
        }
        row.clear();
        queue.observe(&mut row);
        course.count(&mut cx);
        if let Some(message) = failed() {
            course.failure = Some((number, message));
            return Ok(course);
        }
    }
    queue.close(cx.now);
    course.arrived = codepoints.len() as u64;
    course.failure = failed().map(|message| (steps.len(), message));
    Ok(course)
}

impl Course {
    fn count(&mut self, cx: &mut QdiscContext) {
        while let Some((packet, reason)) = cx.take_dropped() {
            self.fates.push(Fate::Dropped(packet.body, reason));
            self.dropped += 1;
        }
        self.marked += cx.take_marked();
    }
}

/// Leaves steps out as long as the case fails; returns the steps that are left and the message.
fn shortest(
    external: &dyn External,
    given: &[(String, Raw)],
    steps: &[Step],
    message: String,
) -> Result<(Vec<Step>, String), ParamError> {
    let (mut steps, mut message) = (steps.to_vec(), message);
    let (mut size, mut left) = (steps.len().div_ceil(2), SHORTENINGS);
    while size > 0 && left > 0 {
        let mut from = 0;
        while from < steps.len() && left > 0 {
            left -= 1;
            let mut fewer = steps.clone();
            fewer.drain(from..(from + size).min(steps.len()));
            match play(external, given, &fewer)?.failure {
                Some((at, found)) => {
                    fewer.truncate(at + 1);
                    (steps, message) = (fewer, found);
                }
                None => from += size,
            }
        }
        size /= 2;
    }
    Ok((steps, message))
}

fn overload(external: &dyn External, given: &[(String, Raw)], report: &mut Report) -> Result<(), ParamError> {
    let (mut queue, failure) = queue(external, given)?;
    let mut cx = QdiscContext { link_busy: true, ..QdiscContext::default() };
    for body in 0..OVERLOAD {
        let packet = Packet { bytes: 1500, flow: 0, body, class: 0, ecn: Ecn::NOT_ECT, enqueued: cx.now };
        queue.enqueue(packet, &mut cx);
        while cx.take_dropped().is_some() {}
        cx.now += Dur::micros(600); // twice the rate
    }
    report.longest = queue.backlog().packets;
    let message = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(message) = message {
        let steps = vec![format!("up to {OVERLOAD} packets of 1500 bytes arrive, none leaves")];
        report.findings.push(Finding { is_error: true, message, steps });
    } else if report.longest == u64::from(OVERLOAD) {
        let message = format!("all {OVERLOAD} packets of an overload wait: is there a limit?");
        report.findings.push(Finding { is_error: false, message, steps: Vec::new() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external::{Code, Handle, Held};
    use dumbbell_units::Time;
    use std::collections::VecDeque;

    /// A FIFO with a limit of five packets, or one with a mistake.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kind {
        Good,
        Forgets,
        ReturnsTwice,
        Stalls,
        LooksBack,
        Infinite,
        Unlimited,
        Last,
        Unlike,
    }

    #[derive(Debug)]
    struct Queue {
        kind: Kind,
        waiting: VecDeque<Handle>,
        last: Option<Handle>,
        calls: u32,
    }

    impl External for Kind {
        fn columns(&self) -> &'static [&'static str] {
            &["length"]
        }

        fn make(&self, _: &[(String, Raw)], _: &LinkInfo) -> Result<Box<dyn Code>, ParamError> {
            thread_local! {
                // Queues of this test, whose thread is its own.
                static MADE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
            }
            let calls = if *self == Kind::Unlike { MADE.replace(MADE.get() + 1) } else { 0 };
            Ok(Box::new(Queue { kind: *self, waiting: VecDeque::new(), last: None, calls }))
        }
    }

    impl Code for Queue {
        fn name(&self) -> &str {
            "five"
        }

        fn enqueue(&mut self, packet: Handle, held: &mut Held, cx: &mut QdiscContext) -> Result<(), String> {
            self.calls += 1;
            match self.kind {
                Kind::Forgets if self.calls == 3 => {}
                Kind::Unlimited => self.waiting.push_back(packet),
                _ if self.waiting.len() == 5 || (self.kind == Kind::Unlike && self.calls.is_multiple_of(7)) => {
                    assert!(held.drop_packet(packet, DropReason::Full, cx));
                }
                _ => self.waiting.push_back(packet),
            }
            Ok(())
        }

        fn dequeue(&mut self, _: &mut Held, _: &mut QdiscContext) -> Result<Option<Handle>, String> {
            let next = if self.kind == Kind::Last { self.waiting.pop_back() } else { self.waiting.pop_front() };
            match self.kind {
                Kind::Stalls | Kind::LooksBack if self.waiting.len() == 2 => Ok(None),
                Kind::ReturnsTwice if next.is_none() => Ok(self.last),
                _ => {
                    self.last = next.or(self.last);
                    Ok(next)
                }
            }
        }

        fn next_ready(&mut self, now: Time) -> Result<Option<Time>, String> {
            Ok((self.kind == Kind::LooksBack).then_some(now))
        }

        fn observe(&self, row: &mut Vec<f64>) -> Result<(), String> {
            row.push(if self.kind == Kind::Infinite { f64::INFINITY } else { self.waiting.len() as f64 });
            Ok(())
        }
    }

    fn report(kind: Kind) -> Report {
        exercise(&kind, &[], &Exercise { cases: 40, seed: 1 }).unwrap()
    }

    #[test]
    fn a_discipline_without_mistakes_passes() {
        let found = report(Kind::Good);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        assert_eq!((found.longest, found.marked), (5, 0));
        assert!(found.arrived > 1000 && found.dropped > 100, "{found:?}");
    }

    #[test]
    fn mistakes_are_found_with_the_steps_that_lead_to_them() {
        for (kind, steps, words) in [
            // The third packet is forgotten; at the end one packet waits that no dequeue returns.
            (Kind::Forgets, 3, "while 1 packet waits (number 2), and next_ready gives no time: a packet was lost"),
            (Kind::ReturnsTwice, 2, "dequeue returned a packet that isn't in the queue"),
            (Kind::Stalls, 3, "and next_ready gives no time"),
            (Kind::LooksBack, 3, "and next_ready gives 0.000000 s: a later time is needed"),
            (Kind::Infinite, 1, "column 'length' is inf"),
            (Kind::Unlike, 0, "two queues with the same seed treat the same packets differently"),
        ] {
            let found = report(kind);
            let [finding] = &found.findings[..] else { panic!("{kind:?}: {:?}", found.findings) };
            assert!(finding.is_error && finding.message.contains(words), "{kind:?}: {finding:?}");
            assert!(steps == 0 || finding.steps.len() <= steps + 1, "{kind:?}: {finding:?}");
        }
    }

    #[test]
    fn rare_properties_are_notes() {
        for (kind, words) in [(Kind::Unlimited, "is there a limit?"), (Kind::Last, "in another order")] {
            let found = report(kind);
            let [finding] = &found.findings[..] else { panic!("{kind:?}: {:?}", found.findings) };
            assert!(!finding.is_error && finding.message.contains(words), "{finding:?}");
        }
    }
}
