//! Videos and pages over connections: times by hand, head-of-line blocking, repeatable results.

use crate::plans::{Row, text};
use dumbbell_sim::{Output, run_one_by_one};
use dumbbell_trace::ColumnData;
use serde_json::{Value, json};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn http(version: &str) -> Value {
    json!({"version": version, "request_bytes": 300, "header_bytes": 300, "server_delay_ns": 0})
}

fn video(version: &str, abr: Value) -> Value {
    json!({
        "kind": "video", "http": http(version), "length_ns": 60 * S, "segment_ns": 4 * S,
        "ladder_bps": [500_000, 1_000_000, 2_000_000], "abr": abr, "buffer_ns": 30 * S, "refill_ns": 30 * S,
        "start_ns": 4 * S, "resume_ns": 4 * S, "page_bytes": 0, "progressive": null,
        "qoe": {"switches": 1.0, "stalls": 3.0, "startup": 3.0},
    })
}

fn object(name: &str, bytes: u64, after: Value) -> Value {
    json!({"name": name, "bytes": bytes, "after": after, "delay_ns": 0})
}

fn page(version: &str, objects: Value, repeat: u64) -> Value {
    json!({"kind": "objects", "http": http(version), "objects": objects, "repeat": repeat, "think_ns": S})
}

/// A document and eight images of 30 kB.
fn gallery(version: &str, repeat: u64) -> Value {
    let mut objects = vec![object("document", 10_000, json!("start"))];
    objects.extend((0..8).map(|n| object(&format!("image {n}"), 30_000, json!({"object": 0}))));
    page(version, json!(objects), repeat)
}

fn flow(row: Row, version: &str, app: Value) -> Row {
    if version == "h3" {
        row.quic(0, 1, "newreno", json!({}), app)
    } else {
        row.tcp(0, 1, "newreno", json!({"preset": "linux"}), app)
    }
}

fn ends(output: &Output) -> Vec<f64> {
    output.transfers.iter().map(|t| t.end_s.unwrap() * 1e3).collect()
}

/// The handshakes of TCP and QUIC take one round trip of 100 ms, the request and the response another one. A document
/// of 10,300 bytes fits into the first window, and takes 0.1 ms at 1 Gbit/s. With QUIC the server may send three times
/// what it has received before the client's address is validated, which is the case here when the request arrives.
#[test]
fn a_document_takes_two_round_trips() {
    for version in ["h1", "h2", "h3"] {
        let app = page(version, json!([object("document", 10_000, json!("start"))]), 1);
        let output = flow(Row::new(&[(1000 * MBIT, 50 * MS)]), version, app).run();
        let f = &output.flows[0];
        let ms = [f.first_byte_s, f.onload_s, f.load_time_s].map(|s| s.get().unwrap() * 1e3);
        assert!((200.0..200.5).contains(&ms[0]) && (200.0..201.0).contains(&ms[2]), "{version}: {ms:?}");
        assert_eq!((ms[1], f.transfers_completed), (ms[2], 1), "{version}");
        assert_eq!(output.transfers[0].first_byte_s, f.first_byte_s.get());
        assert_eq!(output.transfers[0].object.as_deref(), Some("document"));
    }
}

/// Eight images over HTTP/1.1: the first one uses the document's connection, five new connections follow, two images
/// wait. Each new connection costs a round trip of 100 ms more.
#[test]
fn http_1_has_six_connections() {
    let output = flow(Row::new(&[(1000 * MBIT, 50 * MS)]), "h1", gallery("h1", 1)).run();
    let of = |n: usize| output.transfers[n].connection.unwrap();
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(of), [1, 1, 2, 3, 4, 5, 6]);
    let first = |n: usize| output.transfers[n].first_byte_s.unwrap() * 1e3;
    // The document ends at 200 ms; the first image follows after one round trip, those on new connections after two.
    assert!((300.0..301.0).contains(&first(1)) && (400.0..402.0).contains(&first(2)), "{} {}", first(1), first(2));
    // The seventh and eighth wait for the first connections that are free.
    assert!([7, 8].iter().all(|n| first(*n) > 500.0 && of(*n) <= 6));
    for version in ["h2", "h3"] {
        let output = flow(Row::new(&[(1000 * MBIT, 50 * MS)]), version, gallery(version, 1)).run();
        assert!(output.transfers.iter().all(|t| t.connection == Some(1)), "{version}");
    }
}

/// The first packet of the images is lost. Its retransmission takes more than a round trip of 100 ms. Over HTTP/2 no
/// image can end before, because TCP delivers in order; over HTTP/3 only the image in that packet waits.
#[test]
fn a_loss_blocks_all_streams_of_tcp_and_one_of_quic() {
    let objects: Vec<Value> = (0..4).map(|n| object(&format!("o{n}"), 2000, json!({"object": 0}))).collect();
    let all = [vec![object("document", 500, json!("start"))], objects].concat();
    let waiting = |version: &str, lost: u64| -> usize {
        let drop = json!([{"flow": 0, "data_only": true, "packets": [lost], "spans_ns": []}]);
        let row = Row::new(&[(1000 * MBIT, 50 * MS)]).link(0, 1, "drops", drop);
        let output = flow(row, version, page(version, json!(all), 1)).run();
        assert_eq!(output.flows[0].dropped_packets, 1, "{version}");
        let ends = ends(&output);
        let soonest = ends[1..].iter().copied().fold(f64::INFINITY, f64::min);
        assert!((300.0..420.0).contains(&soonest), "{version}: {ends:?}");
        ends[1..].iter().filter(|end| **end > 390.0).count()
    };
    assert_eq!(waiting("h2", 2), 4, "all wait for the lost packet");
    assert_eq!(waiting("h3", 2), 1, "one waits");
}

#[test]
fn a_page_is_loaded_again_over_new_connections_after_the_think_time() {
    for version in ["h1", "h2", "h3"] {
        let output = flow(Row::new(&[(10 * MBIT, 20 * MS)]), version, gallery(version, 3)).run();
        let f = &output.flows[0];
        assert_eq!((f.transfers_started, f.transfers_completed, output.transfers.len()), (3, 3, 27), "{version}");
        let starts: Vec<f64> = output
            .transfers
            .iter()
            .filter(|t| t.object.as_deref().unwrap().starts_with("doc"))
            .map(|t| t.start_s)
            .collect();
        let load = f.load_time_s.get().unwrap();
        for (n, start) in starts.iter().enumerate() {
            // The loads differ by less than a packet's time.
            assert!((start - n as f64 * (load + 1.0)).abs() < 0.02, "{version}: {starts:?}, load {load}");
        }
        let connections: Vec<u64> = output.transfers.iter().filter_map(|t| t.connection).collect();
        assert!(connections[8] < connections[9] && connections[17] < connections[18], "{version}");
        // Each load: 9 headers of 300 bytes, the contents; over HTTP/2 one frame for the document and two for each
        // image, with 9 bytes of header each.
        let frames = if version == "h2" { 17 * 9 } else { 0 };
        assert_eq!(f.delivered_bytes, 3 * (9 * 300 + 10_000 + 8 * 30_000 + frames), "{version}");
    }
}

/// 60 s of video at 2 Mbit/s are 15 MB, over 10 Mbit/s: the buffer of 30 s is filled at 4 to 5 times the bit rate, then
/// the player requests a segment every 4 s.
#[test]
fn a_player_fills_its_buffer_and_then_keeps_pace() {
    for version in ["h1", "h2", "h3"] {
        let app = video(version, json!({"kind": "fixed", "level": 2}));
        let row =
            Row::new(&[(10 * MBIT, 20 * MS)]).set("/duration_ns", json!(70 * S)).set("/trace/series", json!(true));
        let output = flow(row, version, app).run();
        let f = &output.flows[0];
        assert_eq!((f.stalls, f.stall_s.get()), (Some(0), Some(0.0)), "{version}");
        assert!((f.played_s.get().unwrap() - 60.0).abs() < 1e-9, "{version}");
        assert_eq!((f.switches, f.mean_bitrate_bps.get(), f.transfers_completed), (Some(0), Some(2e6), 15));
        // The first segment of 1 MB takes 0.8 s, and slow start and the round trips some more.
        assert!((0.85..1.4).contains(&f.startup_delay_s.get().unwrap()), "{version}: {:?}", f.startup_delay_s.get());
        let starts: Vec<f64> = output.transfers.iter().map(|t| t.start_s).collect();
        let gaps: Vec<f64> = starts.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps[..8].iter().all(|g| *g < 1.4), "{version}: {gaps:?}");
        assert!(gaps[10..].iter().all(|g| (g - 4.0).abs() < 0.2), "{version}: {gaps:?}");
        let table = output.trace.table("video/f0").unwrap();
        let Some(ColumnData::U64(buffer)) = table.column("buffer_ns") else { unreachable!() };
        assert!(buffer.iter().max().is_some_and(|b| (30 * S..34 * S).contains(b)), "{version}");
    }
}

/// BOLA in a run: from an empty buffer on a path of 10 Mbit/s it requests level 0 below 14.84 s, level 1 below 25.20 s
/// and level 2 above, with the ladder 1, 2.5 and 5 Mbit/s, and no segment above 42.43 s.
#[test]
fn bola_decides_by_the_buffer_of_the_run() {
    let mut app = video("h2", json!({"kind": "bola", "minimum_ns": 10 * S}));
    app["ladder_bps"] = json!([MBIT, 2_500_000, 5 * MBIT]);
    app["length_ns"] = json!(200 * S);
    let row = Row::new(&[(10 * MBIT, 20 * MS)]).set("/duration_ns", json!(210 * S)).set("/trace/series", json!(true));
    let output = flow(row, "h2", app).run();
    let table = output.trace.table("video/f0").unwrap();
    let (Some(ColumnData::U64(t)), Some(ColumnData::U64(buffer)), Some(ColumnData::U8(state))) =
        (table.column("t_ns"), table.column("buffer_ns"), table.column("state"))
    else {
        unreachable!()
    };
    let mut seen = [0; 3];
    for transfer in &output.transfers {
        let at = (transfer.start_s * 1e9).round() as u64;
        let row = t.partition_point(|t| *t <= at) - 1;
        let played = if state[row] == 1 { at - t[row] } else { 0 };
        let seconds = (buffer[row] - played) as f64 * 1e-9;
        let level = usize::from(seconds >= 14.836) + usize::from(seconds >= 25.199);
        assert_eq!(transfer.bitrate_bps, Some([MBIT, 2_500_000, 5 * MBIT][level]), "with {seconds} s");
        assert!(seconds <= 42.428, "{seconds}");
        seen[level] += 1;
    }
    assert!(seen.iter().all(|n| *n > 0), "{seen:?}");
    let most = buffer.iter().max().unwrap();
    assert!((42 * S..47 * S).contains(most), "{most}");
}

/// 20 s at 2 Mbit/s are 5 MB. The server sends 8 s at once, the rest at 1.25 times the bit rate: 12 s / 1.25 = 9.6 s
/// later it is complete.
#[test]
fn a_throttled_download_keeps_its_rate() {
    let mut app = video("h1", json!({"kind": "fixed", "level": 2}));
    app["length_ns"] = json!(20 * S);
    app["start_ns"] = json!(2 * S);
    app["progressive"] = json!({"throttle": {"burst_ns": 8 * S, "factor": 1.25, "block_bytes": 64_000}});
    let row = Row::new(&[(100 * MBIT, 20 * MS)]).set("/duration_ns", json!(30 * S));
    let f = &flow(row, "h1", app).run().flows[0];
    // The last block of 64 kB is whole or less: up to 64,000 x 8 / 2.5 Mbit/s = 0.2 s. Connecting takes 0.08 s.
    assert!((9.6..9.95).contains(&f.load_time_s.get().unwrap()), "{:?}", f.load_time_s.get());
    assert_eq!((f.stalls, f.played_s.get()), (Some(0), Some(20.0)));
    assert!(f.startup_delay_s.get().unwrap() < 0.5);
}

/// QUIC's idle timeout of 2 s ends the connection in each pause of the player.
#[test]
fn a_connection_that_ended_in_a_pause_is_replaced() {
    let mut app = video("h3", json!({"kind": "fixed", "level": 0}));
    app["refill_ns"] = json!(8 * S);
    let row = Row::new(&[(10 * MBIT, 20 * MS)]).set("/duration_ns", json!(70 * S)).quic(
        0,
        1,
        "newreno",
        json!({"idle_timeout": "2 s"}),
        app,
    );
    let output = row.run();
    assert_eq!(output.flows[0].transfers_completed, 15);
    assert_eq!(output.flows[0].stalls, Some(0));
    let connections: Vec<u64> = output.transfers.iter().filter_map(|t| t.connection).collect();
    assert!(connections.windows(2).all(|w| w[0] <= w[1]) && connections[14] >= 2, "{connections:?}");
}

/// A flow that stops in the middle reports what a viewer saw until then.
#[test]
fn a_stopped_player_reports_its_time() {
    let row = flow(Row::new(&[(MBIT, 20 * MS)]), "h2", video("h2", json!({"kind": "fixed", "level": 2})))
        .set("/flows/0/stop_ns", json!(60 * S))
        .set("/duration_ns", json!(80 * S));
    let f = &row.run().flows[0];
    let (startup, stall, played) =
        (f.startup_delay_s.get().unwrap(), f.stall_s.get().unwrap(), f.played_s.get().unwrap());
    assert!((startup + stall + played - 60.0).abs() < 1e-6, "{startup} {stall} {played}");
    // At half the bit rate, a bit less than half of the time is played.
    assert!((20.0..30.0).contains(&played) && f.load_time_s.get().is_none(), "{played}");
    assert_eq!(f.stall_ratio.get(), Some(stall / (stall + played)));
}

#[test]
fn results_are_the_same_again_and_event_by_event() {
    for version in ["h1", "h2", "h3"] {
        let row = flow(
            Row::new(&[(5 * MBIT, 20 * MS), (50 * MBIT, 5 * MS)]),
            version,
            video(
                version,
                json!({
                    "kind": "dynamic", "minimum_ns": 10 * S, "switch_ns": 10 * S, "factor": 0.9, "segments": 4,
                }),
            ),
        );
        let row =
            flow(row, version, gallery(version, 0)).link(0, 1, "loss", json!(0.01)).set("/trace/series", json!(true));
        let plan = row.plan();
        let [a, b] = [row.run(), row.run()];
        assert_eq!(text(&a), text(&b), "{version}");
        assert_eq!(text(&a), text(&run_one_by_one(&plan).unwrap()), "{version}");
        assert!(a.transfers.len() > 30, "{version}");
    }
}

#[test]
fn a_version_of_http_needs_its_transport() {
    let plan = Row::new(&[(MBIT, MS)]).tcp(0, 1, "newreno", json!({}), gallery("h3", 1)).plan();
    let message = dumbbell_sim::run(&plan).unwrap_err().to_string();
    assert_eq!(message, "flows.f0.application: h1 and h2 need TCP, and h3 needs QUIC");
}
