//! Labels, RTT and bytes in flight of a segment, after Wireshark's `tcp_analyze_sequence_number`, in the same order of
//! checks. `V44`: the rules of 4.4, otherwise those of 4.0. `f` is the flow of the segment (`fwd`), `r` the reverse
//! flow (`rev`).

use super::super::label::Label;
use super::super::track::Placed;
use super::tcp_flow::{MPTCP, Scale, Stream, TcpFlow};
use super::{Verdict, retransmission};
use crate::tcp::segment::Segment;
use dumbbell_wire::TcpFlags;
use dumbbell_wire::seq::{gt, lt};

/// Values of bytes in flight from here on are discarded.
const FLIGHT_LIMIT: u32 = 2_000_000_000;

impl Stream {
    /// Labels the next segment and updates the state.
    #[inline]
    pub(crate) fn segment<const V44: bool>(&mut self, placed: &Placed, s: &Segment) -> Verdict {
        let [a, b] = &mut self.flows;
        let (f, r) = if placed.direction == 0 { (a, b) } else { (b, a) };
        let mut found = Verdict::default();
        f.base_seq = placed.base_seq;
        if placed.reused {
            found.labels.set(Label::ReusedPorts);
        } else if placed.syn_again {
            // Corrects `nextseq` after a RST with an unexpected number.
            f.nextseq = f.maxseqtobeacked;
        }
        f.sack.clear();
        // Wireshark has analysis results for every SYN of a known stream, even without a label.
        let mut has_result = placed.reused || placed.syn_again;
        if let Some(len) = s.len {
            has_result |= analyze::<V44>(f, r, s, len, self.initial_rtt, self.mptcp, &mut found);
            f.mptcp = self.mptcp;
        }
        // An invalid header length ends the dissection: no results, no options.
        if s.header_len < 20 {
            return Verdict::default();
        }
        let ends = ends_in_options(s, r);
        self.after_analysis(placed.direction, s, ends, if V44 { 4 } else { 3 });
        if ends {
            return Verdict::default();
        }
        if has_result {
            found.initial_rtt = self.initial_rtt;
        }
        found
    }

    /// The part of the dissection after the analysis: initial RTT and options.
    #[inline]
    fn after_analysis(&mut self, direction: u8, s: &Segment, ends: bool, most_blocks: u8) {
        let [a, b] = &mut self.flows;
        let (f, r) = if direction == 0 { (a, b) } else { (b, a) };
        let syn = s.flags.contains(TcpFlags::SYN);
        let ack = s.flags.contains(TcpFlags::ACK);
        if syn {
            if !ack {
                self.syn_time = Some(s.time);
            }
            f.is_first_ack = true;
        } else if ack {
            if let Some(t) = self.syn_time
                && self.initial_rtt == 0
            {
                self.initial_rtt = s.time.wrapping_sub(t);
            }
            f.is_first_ack = false;
        }
        let options = &s.options;
        if let Some(shift) = options.wscale {
            f.scale = Scale::Shift(shift.min(14));
        }
        if !options.sack.is_empty() {
            f.sack = options.sack;
            f.sack.truncate(most_blocks);
        }
        self.mptcp |= (options.mptcp & MPTCP) as u8;
        if syn && !ends {
            if f.scale == Scale::Unknown {
                f.scale = Scale::Unused;
                r.scale = Scale::Unused;
            } else if ack && r.scale == Scale::Unused {
                f.scale = Scale::Unused;
            }
        }
    }
}

/// True if Wireshark's dissection ends in the options, before it shows results: because the capture ends there, or
/// because a SACK option without a block is searched for a D-SACK, unless the ACK is below the base of the reverse flow
/// [Wireshark packet-tcp.c `dissect_tcpopt_sack`].
#[inline]
fn ends_in_options(s: &Segment, r: &TcpFlow) -> bool {
    s.header_cut || s.options.sack_empty && (r.nextseq == 0 || !lt(s.ack, r.base_seq))
}

/// Result of the checks of the forward direction.
enum Forward {
    /// A probe or its answer, which has no further label (`finished_fwd`).
    Finished,
    /// The checks continue.
    Open,
}

/// Sets labels, RTT and bytes in flight. Returns true if Wireshark has an analysis result for this frame.
#[inline]
fn analyze<const V44: bool>(
    f: &mut TcpFlow,
    r: &mut TcpFlow,
    s: &Segment,
    len: u32,
    initial_rtt: i64,
    mptcp: u8,
    found: &mut Verdict,
) -> bool {
    let ack_set = s.flags.contains(TcpFlags::ACK);
    if ack_set {
        r.valid_bif = true;
    }
    let probe = matches!(check_forward::<V44>(f, r, s, len, mptcp, found), Forward::Finished)
        && found.labels.has(Label::ZeroWindowProbe);

    if s.ack != f.lastack {
        f.dupacknum = 0;
    }
    let unseen = ack_set && r.maxseqtobeacked != 0 && gt(s.ack, r.maxseqtobeacked);
    if unseen {
        ack_lost_segment::<V44>(r, s.ack, found);
    }
    let virtual_byte = s.flags.intersects(TcpFlags::SYN | TcpFlags::FIN);
    if len > 0 || virtual_byte {
        retransmission::retransmission_type::<V44>(f, r, s, len, initial_rtt, &mut found.labels);
    }

    let mut end = s.seq.wrapping_add(len);
    if (len > 0 || virtual_byte) && f.unacked.has_space() {
        end = end.wrapping_add(u32::from(virtual_byte));
        f.unacked.insert(s.seq, end, s.time);
    }
    if !probe && (f.nextseq == 0 || gt(end, f.nextseq)) {
        f.nextseq = end;
        f.nextseqtime = s.time;
        f.nextseq_by_empty = len == 0;
    }
    if !probe && (f.maxseqtobeacked == 0 || s.seq == f.maxseqtobeacked) {
        f.maxseqtobeacked = f.nextseq;
    }
    f.window = u32::from(s.window);
    f.lastack = s.ack;
    f.lastacktime = s.time;
    f.lastsegmentflags = found.labels;

    let mut has_result = unseen || !found.labels.is_empty();
    if let Some(age) = r.unacked.acknowledge(s.ack, s.time, V44) {
        found.ack_rtt = age;
        has_result = true;
    }
    if len > 0 && f.valid_bif && !f.unacked.is_empty() {
        let sacked = r.sack.as_slice().iter().map(|b| b.right.0.wrapping_sub(b.left.0)).fold(0, u32::wrapping_add);
        let flight = f.unacked.span(f.base_seq).wrapping_sub(sacked);
        if flight > 0 && flight < FLIGHT_LIMIT {
            found.bytes_in_flight = flight - u32::from(virtual_byte);
        }
        has_result = true;
    }
    has_result
}

/// The checks from zero window probe to duplicate ACK.
#[inline]
fn check_forward<const V44: bool>(
    f: &mut TcpFlow,
    r: &mut TcpFlow,
    s: &Segment,
    len: u32,
    mptcp: u8,
    found: &mut Verdict,
) -> Forward {
    let labels = &mut found.labels;
    let window = u32::from(s.window);
    let plain = s.is_plain();
    if len == 1 && s.seq == f.nextseq && r.window == 0 {
        labels.set(Label::ZeroWindowProbe);
        return Forward::Finished;
    }
    if window == 0 && plain {
        labels.set(Label::ZeroWindow);
    }
    if f.nextseq != 0 && gt(s.seq, f.nextseq) && !s.flags.contains(TcpFlags::RST) {
        labels.set(Label::LostSegment);
        f.valid_bif = false;
    }
    if !plain {
        return Forward::Open;
    }
    if len <= 1 && s.seq == f.nextseq.wrapping_sub(1) {
        labels.set(Label::KeepAlive);
    }
    if len > 0 {
        if r.scale != Scale::Unknown {
            let limit = r.lastack.wrapping_add(r.window.wrapping_shl(u32::from(r.shift())));
            if s.seq.wrapping_add(len) == limit {
                labels.set(Label::WindowFull);
            }
        }
        return Forward::Open;
    }
    // From here on: segments without data.
    if s.seq != f.nextseq {
        return Forward::Open;
    }
    let probed = r.lastsegmentflags.has(Label::ZeroWindowProbe);
    // The receiver may have accepted the byte of a probe.
    let one_more = V44 && probed && s.ack == f.lastack.wrapping_add(1);
    let repeats = s.ack == f.lastack;
    if !repeats && !one_more {
        return Forward::Open;
    }
    if window != 0 && window != f.window {
        labels.set(Label::WindowUpdate);
        if one_more {
            zero_window_probe_acked(r, s.ack);
        }
        return Forward::Open;
    }
    if window != f.window {
        return Forward::Open;
    }
    if window != 0 {
        if !repeats {
            return Forward::Open;
        }
        if r.lastsegmentflags.has(Label::KeepAlive) {
            labels.set(Label::KeepAliveAck);
            return Forward::Finished;
        }
        // MPTCP repeats ACKs to carry new options: such a repetition is no sign of a loss.
        if mptcp == f.mptcp {
            f.dupacknum = f.dupacknum.wrapping_add(1).max(1);
            found.duplicate_ack = f.dupacknum;
            found.labels.set(Label::DuplicateAck);
        }
        return Forward::Open;
    }
    if probed {
        labels.set(Label::ZeroWindowProbeAck);
        if one_more {
            zero_window_probe_acked(r, s.ack);
        }
        return Forward::Finished;
    }
    Forward::Open
}

/// The receiver has accepted the byte of a probe: it counts as sent.
fn zero_window_probe_acked(r: &mut TcpFlow, ack: u32) {
    r.nextseq = ack;
    r.maxseqtobeacked = ack;
}

/// An ACK of a segment that is not in the capture.
fn ack_lost_segment<const V44: bool>(r: &mut TcpFlow, ack: u32, found: &mut Verdict) {
    if V44 {
        found.labels.set(Label::AckLostSegment);
        r.maxseqtobeacked = r.unacked.run_from(ack);
    } else if gt(r.nextseq, r.maxseqtobeacked) {
        r.maxseqtobeacked = r.nextseq;
        found.labels.set(Label::AckLostSegment);
    } else {
        if r.dupacknum == 0 {
            found.labels.set(Label::AckLostSegment);
        }
        r.dupacknum = u32::MAX;
    }
}
