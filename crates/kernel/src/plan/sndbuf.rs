//! Bounds of a sender's socket buffer (`tcp_wmem`).
//!
//! The kernel lets the buffer grow to two windows [Linux tcp_input.c tcp_sndbuf_expand]. The memory that it counts
//! (truesize) is up to twice the payload.

use dumbbell_plan::{Plan, Routes};

/// Bandwidth-delay products: a queue of three and the path's own, times two for truesize, times two windows, times two
/// as a margin.
const PRODUCTS: u64 = 32;
/// Bounds of one buffer, bytes.
const MIN: u64 = 1 << 20;
const MAX: u64 = 32 << 20;
/// Bound of all buffers together, bytes.
const TOTAL: u64 = 256 << 20;

/// Returns the bound of a flow's buffer, bytes.
pub(crate) fn send_buffer(plan: &Plan, routes: &Routes, number: usize) -> u64 {
    let (mut node, mut rate, mut round_trip) = (plan.flows[number].from, u64::MAX, 0);
    while let Some(link) = plan.links.get(routes.next(node, 2 * number as u32) as usize) {
        (rate, round_trip) = (rate.min(link.rate_bps), round_trip.max(link.base_rtt_ns));
        node = link.to;
    }
    let product = u128::from(rate) * u128::from(round_trip) / 8_000_000_000;
    let wanted = u64::try_from(product).unwrap_or(u64::MAX).saturating_mul(PRODUCTS);
    let share = TOTAL / plan.flows.len().max(1) as u64;
    wanted.clamp(MIN, share.clamp(MIN, MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(rate_bps: u64, round_trip_ms: u64, flows: usize) -> Plan {
        let link = json!({
            "name": "a->b", "from": 0, "to": 1, "rate_bps": rate_bps, "delay_ns": 1, "overhead_bytes": 0,
            "base_rtt_ns": round_trip_ms * 1_000_000, "queue": {"name": "droptail"},
        });
        let mut back = link.clone();
        (back["name"], back["from"], back["to"]) = ("b->a".into(), 1.into(), 0.into());
        let flow = |n| {
            json!({
                "name": format!("f{n}"), "from": 0, "to": 1, "start_ns": 0, "stop_ns": null, "class": 0,
                "application": {"kind": "bulk"}, "transport": {"kind": "udp"},
            })
        };
        let plan = json!({
            "seed": 1, "duration_ns": 1, "measure_from_ns": 0, "start_jitter_ns": 0, "nodes": ["a", "b"],
            "links": [link, back], "flows": (0..flows).map(flow).collect::<Vec<_>>(),
            "trace": {"series": false, "interval_ns": 0, "packets": false},
        });
        Plan::from_value(plan).unwrap()
    }

    #[test]
    fn a_buffer_follows_the_path_within_bounds() {
        let of = |rate, rtt, flows| {
            let plan = plan(rate, rtt, flows);
            send_buffer(&plan, &Routes::new(&plan).unwrap(), 0)
        };
        // 5 Mbit/s x 300 ms = 187,500 bytes; times 32.
        assert_eq!(of(5_000_000, 300, 1), 6_000_000);
        assert_eq!(of(1_000_000, 40, 1), 1 << 20);
        assert_eq!(of(1_000_000_000, 300, 1), 32 << 20);
        // 256 MiB for 64 flows.
        assert_eq!(of(1_000_000_000, 300, 64), 4 << 20);
        assert_eq!(of(1_000_000_000, 300, 500), 1 << 20);
    }
}
