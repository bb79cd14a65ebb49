//! The type of a segment without new data: retransmission (plain, fast, spurious) or out-of-order.
//! [Wireshark packet-tcp.c `tcp_analyze_sequence_number`, "RETRANSMISSION/FAST RETRANSMISSION/OUT-OF-ORDER"]

use super::super::label::{Label, Labels};
use super::tcp_flow::TcpFlow;
use crate::tcp::segment::Segment;
use dumbbell_wire::TcpFlags;
use dumbbell_wire::seq::{le, lt};

/// Longest time from a segment of the receiver to a fast retransmission, ns.
const FAST: u64 = 20_000_000;
/// Longest time of reordering if the initial RTT is unknown, ns.
const REORDERING: u64 = 3_000_000;

/// Labels a segment with data, SYN or FIN that has no new sequence numbers.
#[inline]
pub(super) fn retransmission_type<const V44: bool>(
    f: &TcpFlow,
    r: &TcpFlow,
    s: &Segment,
    len: u32,
    initial_rtt: i64,
    labels: &mut Labels,
) {
    if labels.has(Label::KeepAlive) {
        return;
    }
    let end = s.seq.wrapping_add(len);
    let old = f.nextseq != 0 && lt(s.seq, f.nextseq) && !(len > 1 && s.seq == f.nextseq.wrapping_sub(1));
    if len > 0 && r.lastack != 0 && le(end, r.lastack) {
        labels.set(Label::SpuriousRetransmission);
        labels.set(Label::Retransmission);
        return;
    }
    if !old {
        return;
    }
    // Unsigned, as in Wireshark: if the clock was set back, the difference exceeds any threshold.
    let since = |t: i64| s.time.wrapping_sub(t) as u64;
    if r.dupacknum >= 2 && since(r.lastacktime) < FAST {
        let at_hole = r.lastack == s.seq;
        let other_hole =
            V44 && !r.sack.is_empty() && !r.sack.as_slice().iter().any(|b| le(b.left.0, s.seq) && le(end, b.right.0));
        if at_hole || other_hole {
            labels.set(Label::FastRetransmission);
            labels.set(Label::Retransmission);
            return;
        }
    }
    let threshold = if initial_rtt == 0 { REORDERING } else { initial_rtt as u64 };
    let virtual_byte = u32::from(s.flags.intersects(TcpFlags::SYN | TcpFlags::FIN));
    let newest = end.wrapping_add(virtual_byte) == f.nextseq;
    let may_be_newest = V44 && f.nextseq_by_empty;
    if since(f.nextseqtime) < threshold && (!newest || may_be_newest) && !(V44 && f.unacked.covers(s.seq, end)) {
        labels.set(Label::OutOfOrder);
    } else {
        labels.set(Label::Retransmission);
    }
}
