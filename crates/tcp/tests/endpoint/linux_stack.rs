//! Common parts of the tests of the stack `linux`: congestion control with a constant window (one segment after a
//! timeout, then growing back), on a wire with a round trip of 100 ms.
//!
//! The handshake takes 100 ms and is the first sample: srtt 100 ms, timeout 300 ms, smallest RTT 100 ms. The first data
//! is sent at 0.1 s. Timers are exact and the receive window is open from the start, unless a test changes that.

use dumbbell_tcp::Config;
use dumbbell_testkit::cc_recorder::{CcCall, CcRecorder};
use dumbbell_testkit::wire::{self, Fate, Faults, Wire};

pub(crate) const MSS: u64 = 1448;

/// Returns the changes of a test, after those that all tests have.
pub(crate) fn with_usual<'a>(usual: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = vec![("timer_tick", "0 ms"), ("autotuning", "false")];
    all.extend(usual);
    all.retain(|(name, _)| changes.iter().all(|(n, _)| n != name));
    all.extend(changes);
    all
}

/// Returns a connection with a window of `segments`; changes are applied after the preset.
pub(crate) fn linux<'a>(segments: u64, changes: &[(&str, &str)], faults: Faults<'a>) -> (CcRecorder, Wire<'a>) {
    with_config(segments, config(&[], changes), faults)
}

/// The same with a configuration.
pub(crate) fn with_config(segments: u64, config: Config, faults: Faults<'_>) -> (CcRecorder, Wire<'_>) {
    let cc = CcRecorder::new((segments * MSS) as f64).collapsing();
    let copy = cc.clone();
    (cc, Wire::with_config(config, move |_| Box::new(copy.clone()), faults))
}

/// The configuration of the stack `linux` with the changes of a test, which come after the usual ones. What the preset
/// fixes can be changed in it.
pub(crate) fn config(usual: &[(&str, &str)], changes: &[(&str, &str)]) -> Config {
    wire::config("fixed", "linux", &with_usual(usual, changes))
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

#[test]
fn the_receivers_window_is_no_limit_by_cwnd() {
    // cwnd 100, the receiver offers 20 segments: sending waits for the receiver, also where a longer burst is awaited
    // [Linux tcp_output.c tcp_tso_should_defer].
    let (cc, wire) = linux(100, &[("window", "20 packets")], Box::new(|_, _, _| Fate::Arrives));
    let wire = wire.send(400).until_done();
    assert!(wire.sent.len() >= 400);
    let calls = cc.calls();
    let limited = calls.iter().filter(|c| matches!(c, CcCall::Ack(ev) if ev.cwnd_limited)).count();
    assert_eq!(limited, 0);
}

#[test]
fn a_small_send_buffer_limits_as_the_application_does() {
    // cwnd 100, the send buffer holds about 40 segments: when the application may write again, all is sent [Linux
    // tcp_rate.c tcp_rate_check_app_limited].
    let app_limited = |buffer: &str| {
        let changes = [("send_buffer_start", buffer), ("send_buffer", buffer)];
        let (cc, wire) = linux(100, &changes, Box::new(|_, _, _| Fate::Arrives));
        let _ = wire.send(1000).until_done();
        let calls = cc.calls();
        let rates = calls.iter().filter_map(|c| if let CcCall::Ack(ev) = c { ev.rate } else { None });
        let (limited, not): (Vec<_>, Vec<_>) = rates.partition(|rate| rate.app_limited);
        (limited.len(), not.len())
    };
    let (limited, not) = app_limited("64 KiB");
    assert!(limited > 4 * not, "{limited} {not}");
    let (limited, not) = app_limited("4 MiB");
    assert!(not > 4 * limited, "{limited} {not}");
}
