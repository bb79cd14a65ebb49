//! The shaper around a link's queue: one packet at a time at the link's rate [Linux sch_tbf.c, sch_htb.c, sch_ets.c].
//!
//! ```text
//! pfifo, bfifo          tbf, which leaves the next packet in the queue until it is sent    (qdisc_peek_head)
//! red                   tbf > ets > red: tbf alone never asks an empty queue for a packet, so RED never sees an idle
//!                       time
//!                 (red_start_of_idle_period), its average stays above the maximum after a burst, and the flow starves.
//!                       ets asks it, and takes the next packet out one transmission time early  (qdisc_peek_dequeued);
//!                       RED's thresholds and limit are therefore one packet less (`from_scenario.rs`)
//! others                htb with one class, which takes a packet when it is sent. Under tbf an AQM would decide, or
//!                       measure its delay, one packet early                                (qdisc_peek_dequeued)
//! ```

use super::Qdisc;

impl Qdisc {
    /// Returns a link's queue with the shaper around it. The bucket holds the tokens of `late` bytes, which are sent
    /// while the timer may be late; `packet` is the largest packet, bytes.
    pub(crate) fn shaped(self, rate_bps: u64, packet: u64, late: u64, overhead: i32) -> Qdisc {
        let inner = match self {
            Qdisc::Red(_) => Qdisc::Ets { inner: Box::new(self) },
            Qdisc::Pfifo { .. } | Qdisc::Bfifo { .. } => self,
            _ => return Qdisc::Htb { rate_bps, burst: late, overhead, inner: Box::new(self) },
        };
        Qdisc::Tbf { rate_bps, burst: packet + late, overhead, inner: Box::new(inner) }
    }

    /// The discipline inside of a shaper, or behind a netem; None for any other.
    #[must_use]
    pub fn inner(&self) -> Option<&Qdisc> {
        match self {
            Qdisc::Tbf { inner, .. } | Qdisc::Htb { inner, .. } | Qdisc::Ets { inner } => Some(inner),
            Qdisc::Netem { inner, .. } => inner.as_deref(),
            _ => None,
        }
    }

    /// This discipline, those inside, and the queues of classes, outer ones first.
    #[must_use]
    pub fn nested(&self) -> Vec<&Qdisc> {
        let mut all = vec![self];
        while let Some(inner) = all.last().and_then(|q| q.inner()) {
            all.push(inner);
        }
        if let Some(Qdisc::Drr { classes, .. }) = all.last() {
            all.extend(classes.iter().map(|class| &class.queue));
        }
        all
    }

    /// Bytes that are added to each packet's length by a shaper.
    pub(crate) fn overhead(&self) -> Option<i32> {
        match self {
            Qdisc::Tbf { overhead, .. } | Qdisc::Htb { overhead, .. } => Some(*overhead),
            _ => None,
        }
    }
}
