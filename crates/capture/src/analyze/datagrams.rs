//! The tables `udp` and `quic`. Their columns are documented in `docs/reference/capture-tables.md`, and a test compares
//! both lists.

use super::flows::{finite, ms, ms_i};
use crate::dscp;
use crate::quic::Quic;
use crate::table::{Table, column};
use crate::udp::Conversation;

/// `udp`: one row for each direction of each conversation.
pub(super) fn udp(conversations: &[Conversation], origin: i64) -> Table {
    let rows: Vec<(&Conversation, usize)> = conversations.iter().flat_map(|c| [(c, 0), (c, 1)]).collect();
    let rows = &rows[..];
    let ends = |r: &(&Conversation, usize)| r.0.key.endpoints(r.0.low_first);
    let count = |value: fn(&crate::udp::Side) -> u64| column(rows, |r| value(&r.0.sides[r.1]));
    let span = |r: &(&Conversation, usize)| {
        let seen = || r.0.sides.iter().filter(|s| s.packets > 0);
        (seen().map(|s| s.first).min().unwrap_or(0), seen().map(|s| s.last).max().unwrap_or(0))
    };
    Table::default()
        .with("conversation", column(rows, |r| r.0.number))
        .with("direction", column(rows, |r| r.1 as u8))
        .with("first_frame", column(rows, |r| r.0.first_frame))
        .with("src", column(rows, |r| ends(r)[r.1].0.to_string()))
        .with("src_port", column(rows, |r| u32::from(ends(r)[r.1].1)))
        .with("dst", column(rows, |r| ends(r)[1 - r.1].0.to_string()))
        .with("dst_port", column(rows, |r| u32::from(ends(r)[1 - r.1].1)))
        .with("start_ns", column(rows, |r| span(r).0 - origin))
        .with("end_ns", column(rows, |r| span(r).1 - origin))
        .with("packets", count(|s| s.packets))
        .with("bytes", count(|s| s.bytes))
        .with("payload_bytes", count(|s| s.payload_bytes))
        .with(
            "throughput_bps",
            column(rows, |r| {
                let (first, last) = span(r);
                finite(r.0.sides[r.1].bytes as f64 * 8e9 / (last - first) as f64)
            }),
        )
        .with("fragments", count(|s| s.fragments))
        .with("ect1", count(|s| s.ecn[1]))
        .with("ect0", count(|s| s.ecn[2]))
        .with("ce", count(|s| s.ecn[3]))
        .with("dscp", column(rows, |r| dscp::text(&r.0.sides[r.1].dscp)))
}

/// `quic`: one row for each QUIC connection.
pub(super) fn quic(conversations: &[Conversation]) -> Table {
    let rows: Vec<(&Conversation, &Quic)> =
        conversations.iter().filter_map(|c| c.quic.as_deref().map(|q| (c, q))).collect();
    let rows = &rows[..];
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let version = |v: u32| match v {
        1 => "1".to_owned(),
        0x6b33_43cf => "2".to_owned(),
        v @ 0xff00_001d..=0xff00_0022 => format!("draft-{}", v & 0xff),
        0 => "unknown".to_owned(),
        v => format!("{v:#010x}"),
    };
    let trips = |r: &(&Conversation, &Quic)| r.1.round_trips();
    let client = |r: &(&Conversation, &Quic)| usize::from(r.1.client);
    let spin = |server: bool, q: f64| {
        column(rows, |r| {
            let side = &r.1.sides[if server { 1 - client(r) } else { client(r) }];
            if side.spins() { ms(side.spin_rtt.quantile(q)) } else { f64::NAN }
        })
    };
    let losses = |server: bool, l: bool| {
        column(rows, |r| {
            let side = &r.1.sides[if server { 1 - client(r) } else { client(r) }];
            side.losses().map_or(f64::NAN, |(q, by_l)| if l { by_l } else { q })
        })
    };
    Table::default()
        .with("conversation", column(rows, |r| r.0.number))
        .with("client_direction", column(rows, |r| r.1.client))
        .with("version", column(rows, |r| version(r.1.version)))
        .with("client_cid", column(rows, |r| hex(&r.1.client_cid)))
        .with("server_cid", column(rows, |r| hex(&r.1.server_cid)))
        .with("original_cid", column(rows, |r| hex(&r.1.original_cid)))
        .with("sni", column(rows, |r| r.1.sni.clone().unwrap_or_default()))
        .with("alpn", column(rows, |r| r.1.alpn.join(",")))
        .with("retry", column(rows, |r| u8::from(r.1.retry)))
        .with("version_negotiation", column(rows, |r| u8::from(r.1.negotiated)))
        .with("zero_rtt", column(rows, |r| u8::from(r.1.zero_rtt)))
        .with("server_rtt_ms", column(rows, |r| ms_i(trips(r).0)))
        .with("client_rtt_ms", column(rows, |r| ms_i(trips(r).1)))
        .with("handshake_rtt_ms", column(rows, |r| ms_i(trips(r).0.zip(trips(r).1).map(|(a, b)| a + b))))
        .with("client_short_packets", column(rows, |r| r.1.sides[client(r)].short))
        .with("server_short_packets", column(rows, |r| r.1.sides[1 - client(r)].short))
        .with("client_spin_rtt_p50_ms", spin(false, 0.5))
        .with("client_spin_rtt_p95_ms", spin(false, 0.95))
        .with("server_spin_rtt_p50_ms", spin(true, 0.5))
        .with("server_spin_rtt_p95_ms", spin(true, 0.95))
        .with("client_square_loss", losses(false, false))
        .with("client_loss_bit", losses(false, true))
        .with("server_square_loss", losses(true, false))
        .with("server_loss_bit", losses(true, true))
}
