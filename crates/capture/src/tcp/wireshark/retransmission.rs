//! What a segment is that has nothing new: retransmission (plain, fast, spurious) or out of order.

use super::super::label::{Label, Labels};
use super::tcp_flow::TcpFlow;
use crate::tcp::segment::Segment;
use dumbbell_wire::TcpFlags;
use dumbbell_wire::seq::{le, lt};

/// A fast retransmission comes within this time after a segment from the receiver, ns.
const FAST: u64 = 20_000_000;
/// Reordering is no longer than the initial RTT; without one than this, ns.
const REORDERING: u64 = 3_000_000;

/// Labels a segment with data, SYN or FIN if what it carries isn't new.
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
    // Without a sign: a clock that goes back is far beyond any limit.
    let since = |t: i64| s.time.wrapping_sub(t) as u64;
    if r.dupacknum >= 2 && since(r.lastacktime) < FAST {
        let at_hole = r.lastack == s.seq;
        let other_hole = V44
            && !r.sack.is_empty()
            && !r.sack.as_slice().iter().any(|b| le(b.left.0, s.seq) && le(end, b.right.0));
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
    if since(f.nextseqtime) < threshold
        && (!newest || may_be_newest)
        && !(V44 && f.unacked.covers(s.seq, end))
    {
        labels.set(Label::OutOfOrder);
    } else {
        labels.set(Label::Retransmission);
    }
}
