//! What the tests of the stack `linux` share: a law that holds a window (one segment after a timeout, then growing back), on
//! a wire with a round trip of 100 ms.
//!
//! The handshake takes 100 ms and is the first sample: srtt 100 ms, timeout 300 ms, smallest RTT 100 ms. Data leaves at
//! 0.1 s. Timers are exact and the receive window is open from the start, unless a test says otherwise.

use dumbbell_testkit::cc_recorder::{CcCall, CcRecorder};
use dumbbell_testkit::wire::{Faults, Wire};

pub(crate) const MSS: u64 = 1448;

/// The changes of a test, after those that all have.
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

/// A connection with that many segments as its window; changes come after the preset.
pub(crate) fn linux<'a>(
    segments: u64,
    changes: &[(&str, &str)],
    faults: Faults<'a>,
) -> (CcRecorder, Wire<'a>) {
    let law = CcRecorder::new((segments * MSS) as f64).collapsing();
    let copy = law.clone();
    let wire =
        Wire::with_cc("fixed", move |_| Box::new(copy.clone()), "linux", &with_usual(&[], changes), faults);
    (law, wire)
}

/// Everything that was sent: time in ms, number, whether again.
pub(crate) fn timeline(wire: &Wire<'_>) -> Vec<(u64, u64, bool)> {
    wire.sent.iter().map(|s| (s.at.0 / 1_000_000, s.number, s.again)).collect()
}

/// The same of what was sent again.
pub(crate) fn resent(wire: &Wire<'_>) -> Vec<(u64, u64)> {
    timeline(wire).into_iter().filter(|s| s.2).map(|(at, number, _)| (at, number)).collect()
}

/// Words for what the law heard beside sendings, losses of segments and ACKs.
pub(crate) fn answers(law: &CcRecorder) -> Vec<String> {
    let word = |h: &CcCall| match h {
        CcCall::Congestion(ev) => Some(format!("{:?}", ev.kind).to_lowercase()),
        CcCall::Exit => Some("exit".into()),
        CcCall::Undo => Some("undo".into()),
        CcCall::Restart => Some("restart".into()),
        _ => None,
    };
    law.calls().iter().filter_map(word).collect()
}
