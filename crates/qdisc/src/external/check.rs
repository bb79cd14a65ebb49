//! The link's side of an external discipline: a [`Qdisc`] that calls the user's code and checks each answer.
//!
//! | check | when |
//! |---|---|
//! | a packet leaves once, and is one of those that wait | each dequeue and drop |
//! | a dequeue without a packet while packets wait has a time at which the next packet is ready, later than now | each dequeue |
//! | those times lead to a packet: not [`IDLE_CALLS`] of them in turn without one | each dequeue |
//! | the number of waiting packets is bounded | each arrival |
//! | no column is infinite | each row of the trace |
//! | every packet that waits at the end of the run can leave | [`Qdisc::close`] |

use super::{Code, External, Fail, Held};
use crate::{Backlog, LinkInfo, Packet, Qdisc, QdiscContext};
use dumbbell_units::Time;
use dumbbell_units::param::{ParamError, Raw};
use std::cell::Cell;
use std::fmt;

/// Dequeues in turn that may return no packet while packets wait: more than any shaper needs.
const IDLE_CALLS: u32 = 1_000_000;

/// See the top of this file.
pub struct ExternalQdisc {
    code: Box<dyn Code>,
    held: Held,
    columns: &'static [&'static str],
    /// Time of the next dequeue after one without a packet.
    ready: Option<Time>,
    /// Dequeues without a packet in turn while packets waited.
    idle_calls: u32,
    now: Time,
    fail: Fail,
    failed: Cell<bool>,
}

impl fmt::Debug for ExternalQdisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalQdisc").field("code", &self.code).finish_non_exhaustive()
    }
}

impl ExternalQdisc {
    /// Starts the code of an external discipline for one queue. A failure is reported once to `fail`; the caller then
    /// ends the run.
    ///
    /// # Errors
    /// The errors of [`External::make`].
    pub fn new(
        external: &dyn External,
        given: &[(String, Raw)],
        link: &LinkInfo,
        fail: Fail,
    ) -> Result<ExternalQdisc, ParamError> {
        Ok(ExternalQdisc {
            code: external.make(given, link)?,
            held: Held::default(),
            columns: external.columns(),
            ready: None,
            idle_calls: 0,
            now: Time::ZERO,
            fail,
            failed: Cell::new(false),
        })
    }

    fn fail(&self, message: String) {
        if !self.failed.replace(true) {
            (self.fail)(self.now, message);
        }
    }

    fn try_dequeue(&mut self, cx: &mut QdiscContext) -> Result<Option<Packet>, String> {
        self.ready = None;
        if let Some(handle) = self.code.dequeue(&mut self.held, cx)? {
            self.idle_calls = 0;
            let packet = self.held.release(handle);
            let refused = || format!("{}: dequeue returned a packet that isn't in the queue", self.code.name());
            return packet.ok_or_else(refused).map(Some);
        }
        if self.held.backlog().packets == 0 {
            self.idle_calls = 0;
            return Ok(None);
        }
        let ready = self.code.next_ready(cx.now)?;
        let name = self.code.name();
        let waiting = || format!("{name}: dequeue returned no packet at {}, while {}", cx.now, self.held.describe());
        match ready {
            None => Err(format!("{}, and next_ready gives no time: a packet was lost without a drop", waiting())),
            Some(at) if at <= cx.now => {
                Err(format!("{}, and next_ready gives {at}: a later time is needed", waiting()))
            }
            Some(_) if self.idle_calls == IDLE_CALLS => {
                Err(format!("{}, as {IDLE_CALLS} times before at the times of next_ready", waiting()))
            }
            Some(at) => {
                self.idle_calls += 1;
                self.ready = Some(at);
                Ok(None)
            }
        }
    }
}

impl Qdisc for ExternalQdisc {
    fn enqueue(&mut self, packet: Packet, cx: &mut QdiscContext) {
        self.now = cx.now;
        let handle = match self.held.admit(packet) {
            Ok(handle) => handle,
            Err(packet) => {
                cx.drop_packet(packet, crate::DropReason::Full);
                let Backlog { packets, .. } = self.held.backlog();
                return self.fail(format!(
                    "{}: {packets} packets wait, and one more arrives: the discipline needs a limit",
                    self.code.name()
                ));
            }
        };
        if self.failed.get() {
            return;
        }
        self.idle_calls = 0;
        if let Err(message) = self.code.enqueue(handle, &mut self.held, cx) {
            self.fail(message);
        }
    }

    fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Packet> {
        self.now = cx.now;
        if self.failed.get() {
            return None;
        }
        self.try_dequeue(cx).unwrap_or_else(|message| {
            self.fail(message);
            None
        })
    }

    fn backlog(&self) -> Backlog {
        self.held.backlog()
    }

    fn classes(&self) -> Option<u32> {
        self.code.classes()
    }

    fn next_ready(&self) -> Option<Time> {
        self.ready
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let begin = row.len();
        if !self.columns.is_empty() && !self.failed.get() {
            if let Err(message) = self.code.observe(row) {
                self.fail(message);
            } else if let Some((column, value)) =
                self.columns.iter().zip(&row[begin..]).find(|(_, value)| value.is_infinite())
            {
                self.fail(format!("{}: column '{column}' is {value}: a finite number is needed", self.code.name()));
            }
        }
        row.resize(begin + self.columns.len(), f64::NAN);
    }

    /// Takes out the packets that wait, at the times that the code gives.
    fn close(&mut self, end: Time) {
        let mut cx = QdiscContext { now: end.max(self.ready.unwrap_or(end)), ..QdiscContext::default() };
        while !self.failed.get() && self.held.backlog().packets > 0 {
            match self.dequeue(&mut cx) {
                Some(_) => cx = QdiscContext { now: cx.now, ..QdiscContext::default() },
                None => cx.now = self.ready.unwrap_or(cx.now),
            }
        }
    }
}
