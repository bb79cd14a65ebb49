//! Properties of the presets: rules that a source fixes, so that a scenario can't set them.
//!
//! A preset that differs from another in some of them is declared as `Facts { sack_kept: 8, ..LINUX }`.

use super::{ReduceFrom, RtoEstimator};
use dumbbell_units::{Dur, named};

/// Declares [`Facts`] and the list that documents show.
macro_rules! facts {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty,)+) => {
        /// The properties of a preset that a scenario can't set.
        #[derive(Clone, Copy, Debug)]
        pub struct Facts {
            $($(#[doc = $doc])+ pub(super) $name: $kind,)+
        }

        impl Facts {
            /// Returns every property, in the order of the documents.
            #[must_use]
            pub fn list(&self) -> Vec<Fact> {
                vec![$(Fact {
                    name: stringify!($name),
                    value: self.$name.to_string(),
                    doc: concat!($($doc),+).trim_start(),
                }),+]
            }
        }
    };
}

/// A property of a preset, as documents show it.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Its meaning.
    pub doc: &'static str,
}

named! {
    /// The ACK that completes the handshake.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HandshakeAck {
        /// The first data carries it.
        WithData = "with data",
        /// It is a segment of its own.
        Alone = "alone",
    }
}

named! {
    /// Source of the timer's samples.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RttFrom {
        /// The echo of timestamps.
        Echo = "echo",
        /// The time since the segment was sent.
        Segments = "segments",
    }
}

named! {
    /// Retransmissions that discard the round trip being timed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Karn {
        /// Any of earlier data.
        Any = "any",
        /// Those of a fast retransmit and a timeout.
        Reduction = "reduction",
    }
}

named! {
    /// Bytes that an ACK contributes to the window's growth.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GrowBy {
        /// Those acknowledged cumulatively.
        Acknowledged = "acknowledged",
        /// Those newly reported as delivered.
        Delivered = "delivered",
    }
}

named! {
    /// When sending counts as limited by cwnd.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CwndLimited {
        /// If cwnd limits it now.
        Now = "now",
        /// If cwnd limited it within the last window of data.
        Window = "window",
    }
}

named! {
    /// The rules of recovery with SACK and without RACK.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SackRules {
        /// RFC 6675.
        Rfc6675 = "rfc6675",
        /// ns-2's.
        Ns2 = "ns2",
    }
}

facts! {
    /// whether the first data, if any, carries the ACK that completes the handshake, or this ACK is sent
    /// before the data in a segment of its own [Linux tcp_input.c tcp_rcv_synsent_state_process]
    handshake_ack: HandshakeAck,
    /// whether timestamps and SACK blocks each start at a 32-bit word of the header, so that an ACK with both
    /// is 4 bytes longer [Linux tcp_output.c tcp_options_write]
    aligned_options: bool,
    /// where it is below ack_delay, the delay adapts: it starts here, follows the time between segments
    /// and doubles when it runs out [Linux tcp_input.c tcp_event_data_recv, tcp_timer.c tcp_delack_timer_handler]
    ack_delay_min: Dur,
    /// whether a segment that carries PSH, or is shorter than usual, is acknowledged at once, as after a read of the
    /// application; ack_every then counts segments of the usual length, which the receiver learns [Linux tcp_input.c
    /// tcp_measure_rcv_mss, __tcp_ack_snd_check; tcp.c __tcp_cleanup_rbuf]
    ack_pushed: bool,
    /// ranges that a receiver keeps for SACK blocks: a segment is merged with these only, and older ranges are not
    /// reported again; 0: all ranges out of order [RFC 2018 §4; Linux tcp_input.c tcp_sack_new_ofo_skb]
    sack_kept: u64,
    /// how the timeout follows from samples: as in RFC 6298, or by Linux's rule, where it falls slowly,
    /// ignores samples that only fall and is at least srtt + rto_min [Linux tcp_input.c tcp_rtt_estimator]
    rto_estimator: RtoEstimator,
    /// without timestamps: retransmissions that discard the round trip being timed: any of earlier data [RFC 6298 §3],
    /// or only those of a fast retransmit and a timeout (reduction), as in ns-2
    karn: Karn,
    /// source of the timer's round-trip samples where the connection has timestamps: their echo [RFC 7323 §4.1],
    /// or the time since the oldest segment was sent that the ACK newly reports, if it was sent once [Linux
    /// tcp_input.c tcp_clean_rtx_queue]
    rtt_from: RttFrom,
    /// longer timeout of the tail loss probe for a single segment, whose ACK may be delayed [RFC 8985 §7.2,
    /// TLP.max_ack_delay]
    tlp_ack_delay: Dur,
    /// window that a reduction multiplies: FlightSize [RFC 5681 (4)], cwnd [Linux tcp_cong.c tcp_reno_ssthresh], or
    /// min(cwnd, offered window) [ns-2 tcp.cc slowdown]
    reduce_from: ReduceFrom,
    /// bytes that an ACK contributes to the window's growth: those that it acknowledges cumulatively, or all
    /// that it newly reports as delivered, SACKed or not [RFC 5681 §3.1; Linux tcp_input.c tcp_cong_control]
    grow_by: GrowBy,
    /// when sending counts as limited by cwnd: cwnd limits it now, or it did so within the last window of data, or
    /// in slow start cwnd is less than twice the data outstanding [Linux include/net/tcp.h tcp_is_cwnd_limited]
    cwnd_limited: CwndLimited,
    /// whether the ACK that ends fast recovery also lets cwnd grow, as in ns-2 and in [Linux tcp_input.c
    /// tcp_may_raise_cwnd]; RFC 5681 §3.2 step 6 only deflates
    grow_on_exit: bool,
    /// whether after a timeout the first duplicate ACKs let lost segments be retransmitted, as in ns-2; RFC 3042
    /// allows new segments only
    limited_retransmit: bool,
    /// recovery with SACK and without RACK: as in RFC 6675, or as in ns-2: any hole below a SACKed segment is repaired,
    /// once; pipe counts ACKs and segments sent; no rescue retransmission; go-back-N after a timeout
    sack_rules: SackRules,
    /// whether a further timeout of the same segment halves ssthresh again, as in ns-2; RFC 5681 §3.1 keeps it
    reduce_each_timeout: bool,
    /// with SACK, unless sack_rules is ns2: whether a segment that isn't full counts as a full one in the window, in
    /// the data outstanding and in what an ACK delivers, so that cwnd is a number of segments [Linux
    /// include/net/tcp.h tcp_packets_in_flight]
    count_segments: bool,
}

pub(super) const RFC: Facts = Facts {
    handshake_ack: HandshakeAck::WithData,
    aligned_options: false,
    ack_delay_min: Dur::millis(500),
    ack_pushed: false,
    sack_kept: 0,
    rto_estimator: RtoEstimator::Rfc6298,
    karn: Karn::Any,
    rtt_from: RttFrom::Echo,
    tlp_ack_delay: Dur::millis(200),
    reduce_from: ReduceFrom::Flight,
    grow_by: GrowBy::Acknowledged,
    cwnd_limited: CwndLimited::Now,
    grow_on_exit: false,
    limited_retransmit: false,
    sack_rules: SackRules::Rfc6675,
    reduce_each_timeout: false,
    count_segments: false,
};

pub(super) const LINUX: Facts = Facts {
    handshake_ack: HandshakeAck::Alone,
    aligned_options: true,
    // [Linux include/net/tcp.h TCP_ATO_MIN]
    ack_delay_min: Dur::millis(40),
    ack_pushed: true,
    // [Linux include/linux/tcp.h TCP_NUM_SACKS]
    sack_kept: 4,
    rto_estimator: RtoEstimator::Linux,
    rtt_from: RttFrom::Segments,
    // [Linux tcp_cong.c tcp_reno_ssthresh]
    reduce_from: ReduceFrom::Cwnd,
    // [Linux tcp_input.c tcp_cong_control: acked_sacked]
    grow_by: GrowBy::Delivered,
    // [Linux tcp_output.c tcp_cwnd_validate]
    cwnd_limited: CwndLimited::Window,
    // [Linux tcp_input.c tcp_may_raise_cwnd]
    grow_on_exit: true,
    // [Linux include/net/tcp.h tcp_packets_in_flight]
    count_segments: true,
    ..RFC
};

pub(super) const NS2: Facts = Facts {
    karn: Karn::Reduction,
    reduce_from: ReduceFrom::Offered,
    grow_on_exit: true,
    limited_retransmit: true,
    sack_rules: SackRules::Ns2,
    reduce_each_timeout: true,
    ..RFC
};

pub(super) const NS2_VEGAS: Facts =
    Facts { karn: Karn::Any, limited_retransmit: false, reduce_each_timeout: false, ..NS2 };
