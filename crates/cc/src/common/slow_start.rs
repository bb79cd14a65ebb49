//! The common slow start: its growth per ACK, and the rule that may end it before a loss (HyStart, HyStart++).

use super::{HyStart, HyStartPlusPlus};
use crate::{AckEvent, Cx, Setup, SlowStart};

/// The rule that ends slow start.
#[derive(Clone, Copy, Debug)]
enum Exit {
    /// No rule: slow start ends at ssthresh.
    Threshold,
    HyStart(HyStart),
    /// With the ssthresh of the initial slow start: HyStart++ works only there [RFC 9406 §4.3].
    PlusPlus(HyStartPlusPlus, f64),
}

/// The slow start of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlowStartRule {
    /// Most segments by which one ACK increases cwnd (L).
    limit: f64,
    exit: Exit,
}

impl SlowStartRule {
    pub(super) fn new(setup: &Setup) -> SlowStartRule {
        let exit = match setup.slow_start {
            SlowStart::Standard => Exit::Threshold,
            SlowStart::HyStart => Exit::HyStart(HyStart::new(setup.paced)),
            SlowStart::HyStartPlusPlus => Exit::PlusPlus(HyStartPlusPlus::new(setup.paced), setup.ssthresh),
        };
        SlowStartRule { limit: setup.slow_start_limit, exit }
    }

    /// Processes an ACK in slow start. Returns true if slow start ends.
    pub(super) fn on_ack(&mut self, ev: &AckEvent, cwnd: f64, ssthresh: f64, cx: &Cx) -> bool {
        match &mut self.exit {
            Exit::Threshold => false,
            Exit::HyStart(hystart) => hystart.on_ack(ev, cwnd, cx),
            Exit::PlusPlus(plus_plus, initial_ssthresh) => ssthresh == *initial_ssthresh && plus_plus.on_ack(ev),
        }
    }

    /// cwnd was set to one segment.
    pub(super) fn on_loss_window(&mut self) {
        if let Exit::HyStart(hystart) = &mut self.exit {
            hystart.reset();
        }
    }

    /// Returns the most segments that one ACK counts for, and the fraction of them that is added to cwnd.
    pub(super) fn growth(&self, ssthresh: f64) -> (f64, f64) {
        match &self.exit {
            Exit::PlusPlus(plus_plus, initial_ssthresh) if ssthresh == *initial_ssthresh => plus_plus.growth(),
            _ => (self.limit, 1.0),
        }
    }
}
