//! Segments that aren't full: with `count_segments` each takes a segment of the window, as in Linux [Linux
//! include/net/tcp.h tcp_packets_in_flight]; else its bytes do. And windows after an idle time, in whole segments.

use crate::linux_stack::{MSS, config};
use dumbbell_tcp::Config;
use dumbbell_testkit::cc_recorder::{CcCall, CcRecorder};
use dumbbell_testkit::wire::{Wire, losing};

/// Returns a connection with this congestion control 200 ms after its start, on a wire that loses these segments.
fn connected(cc: CcRecorder, changes: &[(&str, &str)], lost: &[u64]) -> Wire<'static> {
    with_config(cc, config(&[("nagle", "false")], changes), lost)
}

/// The same with a configuration.
fn with_config(cc: CcRecorder, config: Config, lost: &[u64]) -> Wire<'static> {
    let mut wire = Wire::with_config(config, move |_| Box::new(cc.clone()), losing(lost));
    wire.receiver.listen();
    wire.sender.connect();
    wire.run_until(0.2);
    wire
}

/// Writes `count` times `bytes`, each 0.1 ms after the last.
fn write(wire: &mut Wire<'_>, count: u32, bytes: u64) {
    for n in 0..count {
        wire.sender.write(bytes);
        wire.run_until(0.2 + 0.0001 * f64::from(n));
    }
}

/// Returns the segments that are sent at once of 40 writes of 700 bytes, with a window of ten full segments.
fn sent_at_once(count_segments: bool, weight: u64) -> usize {
    let mut config = config(&[("nagle", "false")], &[]);
    config.growth.count_segments = count_segments;
    let mut wire = with_config(CcRecorder::new(10.0 * MSS as f64), config, &[]);
    write(&mut wire, 40, 700);
    let sent = wire.sent.len();
    assert_eq!(wire.sender.inflight(), sent as u64 * weight);
    wire.run_until(3.0);
    assert_eq!(wire.receiver.delivered(), 40 * 700);
    assert_eq!(wire.sender.inflight(), 0);
    sent
}

#[test]
fn each_segment_takes_a_whole_one_of_the_window() {
    assert_eq!(sent_at_once(true, MSS), 10);
}

#[test]
fn without_the_rule_its_bytes_count() {
    // 20 of 700 bytes are 14,000; the 21st doesn't fit into 14,480.
    assert_eq!(sent_at_once(false, 700), 20);
}

#[test]
fn an_ack_delivers_as_much_as_it_frees() {
    let cc = CcRecorder::new(10.0 * MSS as f64);
    let calls = cc.clone();
    let mut wire = connected(cc, &[], &[1]);
    write(&mut wire, 8, 100);
    wire.run_until(3.0);
    assert_eq!(wire.receiver.delivered(), 800);
    let acks: Vec<(u64, u64)> = calls
        .calls()
        .iter()
        .filter_map(|call| if let CcCall::Ack(ev) = call { Some((ev.delivered, ev.lost)) } else { None })
        .collect();
    // Eight segments of any length are eight full ones; the lost one counts as one, too.
    assert_eq!(acks.iter().map(|(delivered, _)| delivered).sum::<u64>(), 8 * MSS);
    assert_eq!(acks.iter().map(|(_, lost)| lost).sum::<u64>(), MSS);
}

/// Returns the windows to which a pause of `idle` seconds leads, in segments: cwnd and ssthresh at least; None if it
/// changes nothing.
fn after_idle(cwnd: u64, idle: f64) -> Option<(f64, f64)> {
    let cc = CcRecorder::new((cwnd * MSS) as f64);
    let calls = cc.clone();
    let mut wire = connected(cc, &[("timer_tick", "4 ms")], &[]);
    wire.sender.write(MSS);
    wire.run_until(0.2 + idle);
    let before = calls.calls().len();
    wire.sender.write(MSS);
    wire.run_until(1.0 + idle);
    let mss = MSS as f64;
    calls.calls()[before..].iter().find_map(|call| match call {
        CcCall::Validation(ev) => Some((ev.cwnd / mss, ev.ssthresh / mss)),
        _ => None,
    })
}

#[test]
fn an_idle_time_leaves_whole_segments() {
    // [Linux tcp_output.c tcp_cwnd_restart, include/net/tcp.h tcp_current_ssthresh]: the timeout is 300 ms, 75 ticks.
    // cwnd is halved for each that passed, but the first ends with the restart; ssthresh becomes a half and a quarter
    // of cwnd.
    assert_eq!(after_idle(27, 0.4), Some((13.0, 13.0 + 6.0)));
    assert_eq!(after_idle(103, 0.7), Some((25.0, 51.0 + 25.0)));
    assert_eq!(after_idle(23, 5.0), Some((10.0, 11.0 + 5.0)));
    // Not below the initial window of ten.
    assert_eq!(after_idle(19, 0.7), Some((10.0, 9.0 + 4.0)));
    // The pause has to be longer than the timeout.
    assert_eq!(after_idle(103, 0.25), None);
}

#[test]
fn a_window_that_isnt_used_is_kept_while_acks_arrive() {
    // A segment each 200 ms: each ACK shows that the window could grow [Linux tcp_input.c tcp_cong_avoid], so that it
    // is never taken as unused for an RTO.
    let cc = CcRecorder::new(50.0 * MSS as f64);
    let calls = cc.clone();
    let mut wire = connected(cc, &[], &[]);
    for n in 1..30 {
        wire.run_until(0.2 * f64::from(n));
        wire.sender.write(MSS);
    }
    wire.run_until(7.0);
    assert_eq!(wire.receiver.delivered(), 29 * MSS);
    assert!(!calls.calls().iter().any(|call| matches!(call, CcCall::Validation(_))));
}
