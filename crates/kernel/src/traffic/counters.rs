//! Counters of an end's sockets, those of TCP from `TCP_INFO` [Linux include/uapi/linux/tcp.h struct tcp_info]: the
//! measurement of a machine whose packets nobody may observe.

use crate::netlink::head;
use crate::sys;
use serde::Serialize;
use std::os::fd::OwnedFd;

const TCPI_TOTAL_RETRANS: usize = 100;
const TCPI_BYTES_ACKED: usize = 120;
const TCPI_MIN_RTT: usize = 148;
const TCPI_DATA_SEGS_IN: usize = 152;
const TCPI_DATA_SEGS_OUT: usize = 156;
const TCPI_BYTES_SENT: usize = 200;
const TCPI_BYTES_RETRANS: usize = 208;
const TCPI_TOTAL_RTO: usize = 240;
/// `tcpi_min_rtt` before the first sample [Linux tcp_input.c tcp_init_sock: ~0U].
const NONE: u32 = u32::MAX;

/// Sums over the connections of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counters {
    /// Segments with payload (or datagrams) that were sent, retransmissions included.
    pub(crate) segments_sent: u64,
    /// Their payload (datagrams: IP), bytes.
    pub(crate) bytes_sent: u64,
    pub(crate) segments_retransmitted: u64,
    /// Payload that the peer has acknowledged, bytes.
    pub(crate) bytes_acknowledged: u64,
    pub(crate) bytes_retransmitted: u64,
    /// Expiries of the retransmission timer: `tcpi_total_rto`, which kernels before 6.7 lack; 0 there
    /// [Linux include/uapi/linux/tcp.h struct tcp_info].
    pub(crate) timeouts: u64,
    /// Segments with payload (or datagrams) that were received.
    pub(crate) segments_received: u64,
    /// Payload (datagrams: IP bytes) that the application has read, bytes.
    pub(crate) bytes_read: u64,
    /// Minimum round-trip time, µs.
    pub(crate) min_rtt_us: Option<u32>,
}

impl Counters {
    /// Reads the counters of a connection; zeros if there is none.
    pub(crate) fn of(fd: &OwnedFd) -> Counters {
        let mut bytes = [0; 256];
        match sys::option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes) {
            Ok(_) => Counters::read(&bytes),
            Err(_) => Counters::default(),
        }
    }

    fn read(bytes: &[u8; 256]) -> Counters {
        let word = |at: usize| u32::from_ne_bytes(head(&bytes[at..]));
        let long = |at: usize| u64::from_ne_bytes(head(&bytes[at..]));
        Counters {
            segments_sent: u64::from(word(TCPI_DATA_SEGS_OUT)),
            bytes_sent: long(TCPI_BYTES_SENT),
            segments_retransmitted: u64::from(word(TCPI_TOTAL_RETRANS)),
            bytes_acknowledged: long(TCPI_BYTES_ACKED),
            bytes_retransmitted: long(TCPI_BYTES_RETRANS),
            timeouts: u64::from(u16::from_ne_bytes(head(&bytes[TCPI_TOTAL_RTO..]))),
            segments_received: u64::from(word(TCPI_DATA_SEGS_IN)),
            bytes_read: 0,
            min_rtt_us: Some(word(TCPI_MIN_RTT)).filter(|us| ![0, NONE].contains(us)),
        }
    }

    /// Returns the sums of two, and the smaller round-trip time.
    pub(crate) fn and(self, other: Counters) -> Counters {
        Counters {
            segments_sent: self.segments_sent + other.segments_sent,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            segments_retransmitted: self.segments_retransmitted + other.segments_retransmitted,
            bytes_acknowledged: self.bytes_acknowledged + other.bytes_acknowledged,
            bytes_retransmitted: self.bytes_retransmitted + other.bytes_retransmitted,
            timeouts: self.timeouts + other.timeouts,
            segments_received: self.segments_received + other.segments_received,
            bytes_read: self.bytes_read + other.bytes_read,
            min_rtt_us: self.min_rtt_us.into_iter().chain(other.min_rtt_us).min(),
        }
    }

    /// Returns these counters with the payload that the application has read.
    pub(crate) fn with_read(self, bytes_read: u64) -> Counters {
        Counters { bytes_read, ..self }
    }

    /// Returns the counts since an earlier reading.
    pub(crate) fn since(self, before: Counters) -> Counters {
        let less = u64::saturating_sub;
        Counters {
            segments_sent: less(self.segments_sent, before.segments_sent),
            bytes_sent: less(self.bytes_sent, before.bytes_sent),
            segments_retransmitted: less(self.segments_retransmitted, before.segments_retransmitted),
            bytes_acknowledged: less(self.bytes_acknowledged, before.bytes_acknowledged),
            bytes_retransmitted: less(self.bytes_retransmitted, before.bytes_retransmitted),
            timeouts: less(self.timeouts, before.timeouts),
            segments_received: less(self.segments_received, before.segments_received),
            bytes_read: less(self.bytes_read, before.bytes_read),
            min_rtt_us: self.min_rtt_us,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_at_their_offsets() {
        let mut bytes = [0; 256];
        bytes[100..104].copy_from_slice(&3u32.to_ne_bytes()); // tcpi_total_retrans
        bytes[120..128].copy_from_slice(&90_000u64.to_ne_bytes()); // tcpi_bytes_acked
        bytes[148..152].copy_from_slice(&40_500u32.to_ne_bytes()); // tcpi_min_rtt
        bytes[152..156].copy_from_slice(&7u32.to_ne_bytes()); // tcpi_data_segs_in
        bytes[156..160].copy_from_slice(&100u32.to_ne_bytes()); // tcpi_data_segs_out
        bytes[200..208].copy_from_slice(&144_800u64.to_ne_bytes()); // tcpi_bytes_sent
        bytes[208..216].copy_from_slice(&4344u64.to_ne_bytes()); // tcpi_bytes_retrans
        bytes[240..242].copy_from_slice(&2u16.to_ne_bytes()); // tcpi_total_rto
        let expected = Counters {
            segments_sent: 100,
            bytes_sent: 144_800,
            segments_retransmitted: 3,
            bytes_acknowledged: 90_000,
            bytes_retransmitted: 4344,
            timeouts: 2,
            segments_received: 7,
            bytes_read: 0,
            min_rtt_us: Some(40_500),
        };
        assert_eq!(Counters::read(&bytes), expected);
        bytes[148..152].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(Counters::read(&bytes).min_rtt_us, None);
    }

    #[test]
    fn sums_and_differences_are_those_of_each_counter() {
        let one = Counters { segments_sent: 10, bytes_sent: 1000, min_rtt_us: Some(30), ..Counters::default() };
        let two = Counters { segments_sent: 4, bytes_read: 5, min_rtt_us: Some(20), ..Counters::default() };
        let sum = one.and(two);
        assert_eq!((sum.segments_sent, sum.bytes_sent, sum.bytes_read), (14, 1000, 5));
        assert_eq!(sum.min_rtt_us, Some(20));
        assert_eq!(sum.since(two).segments_sent, 10);
        assert_eq!(Counters::default().and(Counters::default()).min_rtt_us, None);
    }
}
