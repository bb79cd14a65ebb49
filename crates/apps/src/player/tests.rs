//! The player against responses that arrive at given times.

use super::*;
use crate::abr::build;
use crate::plan::{AbrPlan, Http, ProgressivePlan, QoePlan, ThrottlePlan};

const S: fn(u64) -> Dur = Dur::secs;

fn at(ms: u64) -> Time {
    Time::ZERO + Dur::millis(ms)
}

/// 20 s of video in segments of 4 s, at 1 or 2 Mbit/s.
fn plan() -> VideoPlan {
    VideoPlan {
        http: HttpPlan { version: Http::H2, request_bytes: 300, header_bytes: 200, server_delay_ns: 0 },
        length_ns: S(20).0,
        segment_ns: S(4).0,
        ladder_bps: vec![1_000_000, 2_000_000],
        abr: AbrPlan::Fixed { level: 1 },
        buffer_ns: S(8).0,
        refill_ns: S(8).0,
        start_ns: S(4).0,
        resume_ns: S(4).0,
        page_bytes: 0,
        progressive: None,
        qoe: QoePlan { switches: 1.0, stalls: 3.0, startup: 3.0 },
    }
}

fn player(plan: VideoPlan) -> Player {
    plan.check().unwrap();
    let abr = build(&plan).unwrap();
    let mut player = Player::new(plan, abr, Time::ZERO);
    player.on_timer(Time::ZERO);
    player
}

/// Answers each request after `ms`; returns the times (ms) and contents of the requests.
fn serve(player: &mut Player, ms: u64) -> Vec<(u64, u64)> {
    let mut requests = Vec::new();
    let mut now = Time::ZERO;
    let mut arrival: Option<(Time, u32)> = None;
    loop {
        while let Some(r) = player.take_request(now) {
            requests.push((now.0 / 1_000_000, r.content));
            arrival = Some((now + Dur::millis(ms), r.id));
        }
        let timer = player.next_timer();
        match (arrival, timer) {
            (Some((when, id)), _) if timer.is_none_or(|t| when <= t) => {
                now = when;
                arrival = None;
                player.on_first_byte(id, now);
                player.on_complete(id, now);
            }
            (_, Some(t)) => {
                now = t;
                player.on_timer(now);
            }
            (_, None) => return requests,
        }
    }
}

/// Segments of 4 s x 2 Mbit/s = 1,000,000 bytes arrive 1 s after their request. Playback begins at 1 s. At 2 s 7 s are
/// buffered (4 + 4 - 1), so the third is requested; at 3 s 10 s are buffered; less than 8 s from 5 s on: fourth; at 6 s
/// 11 s; from 9 s on: fifth, which arrives at 10 s. The video ends at 21 s.
#[test]
fn the_buffer_limit_paces_the_requests() {
    let mut p = player(plan());
    let mb = 1_000_000;
    assert_eq!(serve(&mut p, 1000), [(0, mb), (1000, mb), (2000, mb), (5000, mb), (9000, mb)]);
    let m = p.metrics(at(30_000));
    assert_eq!((m.startup_delay_s, m.stalls), (Some(1.0), 0));
    assert!((m.load_time_s.unwrap() - 10.0).abs() < 1e-6); // requests wait one nanosecond more
    assert_eq!((m.played_s, m.mean_bitrate_bps, m.switches), (20.0, Some(2e6), 0));
    // Five segments of 2 Mbit/s, less 3 x 1 s of startup delay: (10 - 3) / 5.
    assert!((m.qoe.unwrap() - 1.4).abs() < 1e-12);
}

/// After 8 s are reached, requests wait until less than 2 s are left: bursts. At 3 s 10 s are buffered; 2 s at 11 s;
/// the fourth arrives at 12 s with 1 + 4 s buffered, the fifth at 13 s.
#[test]
fn refill_makes_bursts() {
    let mut p = player(VideoPlan { refill_ns: S(2).0, ..plan() });
    let times: Vec<u64> = serve(&mut p, 1000).into_iter().map(|r| r.0).collect();
    assert_eq!(times, [0, 1000, 2000, 11_000, 12_000]);
    assert_eq!(p.metrics(at(30_000)).stalls, 0);
}

/// Segments take 5 s each: playback begins at 5 s and stalls for 1 s before each of the four others. The stall ratio is
/// 4 / 24.
#[test]
fn a_slow_path_stalls() {
    let mut p = player(plan());
    serve(&mut p, 5000);
    let m = p.metrics(at(60_000));
    assert_eq!((m.startup_delay_s, m.stalls, m.stall_s), (Some(5.0), 4, 4.0));
    assert_eq!((m.stall_ratio, m.load_time_s), (Some(4.0 / 24.0), Some(25.0)));
    // 5 x 2 - 3 x 4 - 3 x 5 = -17, over five segments.
    assert!((m.qoe.unwrap() + 3.4).abs() < 1e-12);
}

/// A run that ends in a stall counts it up to its end.
#[test]
fn the_last_stall_counts_until_the_end() {
    let mut p = player(plan());
    p.take_request(Time::ZERO).unwrap();
    p.on_complete(0, at(1000));
    let m = p.metrics(at(7000));
    assert_eq!((m.stalls, m.stall_s, m.played_s), (1, 2.0, 4.0));
    assert_eq!(m.load_time_s, None);
}

#[test]
fn the_page_comes_first_and_the_last_segment_is_shorter() {
    let mut p = player(VideoPlan { page_bytes: 5000, length_ns: S(6).0, ..plan() });
    assert_eq!(serve(&mut p, 1000), [(0, 5000), (1000, 1_000_000), (2000, 500_000)]);
    let m = p.metrics(at(60_000));
    assert_eq!((m.startup_delay_s, m.first_byte_s, m.segments), (Some(2.0), Some(1.0), (2, 2)));
}

/// 20 s at 2 Mbit/s are 5,000,000 bytes; 1,000,000 bytes are 4 s of media. The server sends 8 s at once, then 1.25
/// times the bit rate.
#[test]
fn a_progressive_download_plays_as_it_arrives() {
    let throttle = ThrottlePlan { burst_ns: S(8).0, factor: 1.25, block_bytes: 64_000 };
    let progressive = Some(ProgressivePlan { throttle: Some(throttle) });
    let mut p = player(VideoPlan { progressive, ..plan() });
    let r = p.take_request(Time::ZERO).unwrap();
    assert_eq!((r.content, r.response.bytes), (5_000_000, 5_000_200));
    let limit = r.response.limit.unwrap();
    assert_eq!((limit.burst, limit.bytes_per_s, limit.block), (2_000_200, 312_500.0, 64_000));
    p.on_content(0, 999_999, at(500));
    assert_eq!(p.row(at(500)).state, State::Starting);
    p.on_content(0, 1_500_000, at(1000));
    assert_eq!((p.row(at(2000)).state, p.row(at(2000)).buffer), (State::Playing, S(5)));
    assert_eq!(p.row(at(8000)).state, State::Stalled, "six seconds were there");
    p.on_complete(0, at(9000));
    let m = p.metrics(at(60_000));
    assert_eq!((m.stalls, m.stall_s, m.load_time_s, m.played_s), (1, 2.0, Some(9.0), 20.0));
}
