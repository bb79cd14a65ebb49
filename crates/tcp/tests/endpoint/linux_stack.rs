//! Common parts of the tests of the stack `linux`: congestion control with a constant window (one segment after a timeout,
//! then growing back), on a wire with a round trip of 100 ms.
//!
//! The handshake takes 100 ms and is the first sample: srtt 100 ms, timeout 300 ms, smallest RTT 100 ms. The first data is
//! sent at 0.1 s. Timers are exact and the receive window is open from the start, unless a test changes that.

use dumbbell_testkit::cc_recorder::{CcCall, CcRecorder};
use dumbbell_testkit::wire::{Faults, Wire};

pub(crate) const MSS: u64 = 1448;

/// Returns the changes of a test, after those that all tests have.
pub(crate) fn with_usual<'a>(
    usual: &[(&'a str, &'a str)],
    changes: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let mut all = vec![("timer_tick", "0 ms"), ("autotuning", "false")];
    all.extend(usual);
    all.retain(|(name, _)| changes.iter().all(|(n, _)| n != name));
    all.extend(changes);
    all
}

/// Returns a connection with a window of `segments`; changes are applied after the preset.
pub(crate) fn linux<'a>(
    segments: u64,
    changes: &[(&str, &str)],
    faults: Faults<'a>,
) -> (CcRecorder, Wire<'a>) {
    let cc = CcRecorder::new((segments * MSS) as f64).collapsing();
    let copy = cc.clone();
    let wire =
        Wire::with_cc("fixed", move |_| Box::new(copy.clone()), "linux", &with_usual(&[], changes), faults);
    (cc, wire)
}

/// Returns all segments sent: time in ms, number, true for a retransmission.
pub(crate) fn timeline(wire: &Wire<'_>) -> Vec<(u64, u64, bool)> {
    wire.sent.iter().map(|s| (s.at.0 / 1_000_000, s.number, s.again)).collect()
}

/// Returns the retransmissions: time in ms, number.
pub(crate) fn resent(wire: &Wire<'_>) -> Vec<(u64, u64)> {
    timeline(wire).into_iter().filter(|s| s.2).map(|(at, number, _)| (at, number)).collect()
}

/// Returns the events of congestion control, without those of single segments and ACKs.
pub(crate) fn responses(cc: &CcRecorder) -> Vec<String> {
    let name = |call: &CcCall| match call {
        CcCall::Congestion(ev) => Some(format!("{:?}", ev.kind).to_lowercase()),
        CcCall::Exit => Some("exit".into()),
        CcCall::Undo => Some("undo".into()),
        CcCall::Restart => Some("restart".into()),
        _ => None,
    };
    cc.calls().iter().filter_map(name).collect()
}
