//! A constant window: for tests, and for traffic that doesn't respond to congestion.
//!
//! ```text
//! cwnd = window
//! ```
//! Losses are repaired, but neither losses nor delay nor marks change the window.

use crate::Variant;
use crate::{AckEvent, CongestionControl, CongestionEvent, Control, Cx, Phase, RecoveryExit, Setup};
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, Params, specs};
use dumbbell_units::parse::Size;

pub(crate) const ROW: Variant = Variant {
    name: "fixed",
    title: "a constant window, for tests",
    year: 1981,
    source: "sliding window without congestion control, RFC 793",
    on_loss: "none",
    on_delay: "none",
    on_ecn: "none",
    params: specs! {
        /// the window; at least one segment
        window = "50 packets", Kind::Size;
    },
    build: |params, setup| Ok(Box::new(Fixed::new(params, setup))),
    ..Variant::EMPTY
};

/// The constant window.
#[derive(Clone, Debug)]
struct Fixed {
    cwnd: f64,
}

impl Fixed {
    fn new(params: &Params, setup: &Setup) -> Fixed {
        let cwnd = match params.size("window") {
            Size::Packets(n) => n.0 as f64 * setup.mss,
            Size::Bytes(n) => n.0 as f64,
        };
        Fixed { cwnd: cwnd.max(setup.mss) }
    }
}

impl CongestionControl for Fixed {
    fn on_ack(&mut self, _ev: &AckEvent, _cx: &Cx) {}

    fn on_congestion(&mut self, _ev: &CongestionEvent, _cx: &Cx) {}

    fn on_recovery_exit(&mut self, _ev: &RecoveryExit, _cx: &Cx) {}

    fn on_restart(&mut self, _idle: Dur, _cx: &Cx) {}

    fn wants_sent(&self) -> bool {
        false
    }

    fn wants_one_way(&self) -> bool {
        false
    }

    fn wants_rates(&self) -> bool {
        false
    }

    fn control(&self) -> Control {
        Control { cwnd: self.cwnd, ssthresh: f64::INFINITY, pacing: None, quantum: None }
    }

    fn phase(&self) -> Phase {
        Phase::Avoidance
    }
}
