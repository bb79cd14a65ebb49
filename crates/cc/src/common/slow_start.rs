//! The common slow start: how fast it grows, and what ends it before a loss.

use super::{HyStart, HyStartPlusPlus};
use crate::{AckEvent, Cx, Setup, SlowStart};

/// What looks for the end.
#[derive(Clone, Copy, Debug)]
enum Exit {
    /// Only ssthresh.
    Threshold,
    HyStart(HyStart),
    /// With the ssthresh of the first slow start, the only one in which it works.
    PlusPlus(HyStartPlusPlus, f64),
}

/// See the top of this file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlowStarter {
    /// Segments that an ACK adds at most.
    limit: f64,
    exit: Exit,
}

impl SlowStarter {
    pub(super) fn new(setup: &Setup) -> SlowStarter {
        let exit = match setup.slow_start {
            SlowStart::Standard => Exit::Threshold,
            SlowStart::HyStart => Exit::HyStart(HyStart::new(setup.paced)),
            SlowStart::HyStartPlusPlus => Exit::PlusPlus(HyStartPlusPlus::new(setup.paced), setup.ssthresh),
        };
        SlowStarter { limit: setup.slow_start_limit, exit }
    }

    /// Takes in an ACK of slow start; gives whether that is over.
    pub(super) fn on_ack(&mut self, ev: &AckEvent, cwnd: f64, ssthresh: f64, cx: &Cx) -> bool {
        match &mut self.exit {
            Exit::Threshold => false,
            Exit::HyStart(hystart) => hystart.on_ack(ev, cwnd, cx),
            Exit::PlusPlus(plus_plus, first) => ssthresh == *first && plus_plus.on_ack(ev),
        }
    }

    /// Everything was lost.
    pub(super) fn collapse(&mut self) {
        if let Exit::HyStart(hystart) = &mut self.exit {
            hystart.restart();
        }
    }

    /// Most segments that an ACK counts for, and what of them is added to the window.
    pub(super) fn growth(&self, ssthresh: f64) -> (f64, f64) {
        match &self.exit {
            Exit::PlusPlus(plus_plus, first) if ssthresh == *first => plus_plus.growth(),
            _ => (self.limit, 1.0),
        }
    }
}
