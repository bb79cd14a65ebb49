//! Reads `TCP_INFO` [Linux include/uapi/linux/tcp.h struct tcp_info, tcp.c tcp_get_info].

use crate::meter::TcpSample;
use crate::meter::tcp_cc_info::{self, CcInfo};
use crate::netlink::head;
use crate::sys;
use dumbbell_cc::Phase;
use std::io::Result;
use std::os::fd::OwnedFd;

/// Offsets of fields (`tcpi_...`); the structure only grows at its end.
const TCPI_STATE: usize = 0;
const TCPI_CA_STATE: usize = 1;
const TCPI_RTO: usize = 8;
const TCPI_SND_MSS: usize = 16;
const TCPI_LOST: usize = 32;
const TCPI_RTT: usize = 68;
const TCPI_RTTVAR: usize = 72;
const TCPI_SND_SSTHRESH: usize = 76;
const TCPI_SND_CWND: usize = 80;
const TCPI_REORDERING: usize = 88;
const TCPI_TOTAL_RETRANS: usize = 100;
const TCPI_PACING_RATE: usize = 104;
const TCPI_MIN_RTT: usize = 148;
const TCPI_DELIVERY_RATE: usize = 160;
const TCPI_TOTAL_RTO: usize = 240;

/// States [Linux include/net/tcp_states.h].
const TCP_SYN_SENT: u8 = 2;
const TCP_SYN_RECV: u8 = 3;
const TCP_CLOSE: u8 = 7;
/// `enum tcp_ca_state` [Linux include/uapi/linux/tcp.h].
const TCP_CA_RECOVERY: u8 = 3;
const TCP_CA_LOSS: u8 = 4;
/// [Linux include/net/tcp.h TCP_INFINITE_SSTHRESH].
const TCP_INFINITE_SSTHRESH: u32 = 0x7fff_ffff;
const MICROSECOND: f64 = 1000.0;

/// Samples a connection; None while it isn't established.
pub(crate) fn state(fd: &OwnedFd, variant: &str) -> Result<Option<TcpSample>> {
    let mut bytes = [0; 256];
    sys::option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(read(&bytes, tcp_cc_info::of(fd, variant)?))
}

pub(crate) fn read(bytes: &[u8; 256], cc_info: CcInfo) -> Option<TcpSample> {
    let word = |at: usize| u32::from_ne_bytes(head(&bytes[at..]));
    let long = |at: usize| u64::from_ne_bytes(head(&bytes[at..]));
    if [TCP_SYN_SENT, TCP_SYN_RECV, TCP_CLOSE].contains(&bytes[TCPI_STATE]) {
        return None;
    }
    let half = |at: usize| u16::from_ne_bytes(head(&bytes[at..]));
    let (cwnd, ssthresh) = (word(TCPI_SND_CWND), word(TCPI_SND_SSTHRESH));
    let phase = match bytes[TCPI_CA_STATE] {
        TCP_CA_LOSS => Phase::Loss,
        TCP_CA_RECOVERY => Phase::Recovery,
        _ if cwnd < ssthresh => Phase::SlowStart,
        _ => Phase::Avoidance,
    };
    // A rate that isn't set is all ones: ~0UL [Linux tcp.c tcp_get_info].
    let rate = |at: usize| if long(at) == u64::MAX { f64::INFINITY } else { long(at) as f64 * 8.0 };
    let srtt = word(TCPI_RTT);
    Some(TcpSample {
        cwnd: f64::from(cwnd),
        ssthresh: if ssthresh >= TCP_INFINITE_SSTHRESH { f64::INFINITY } else { f64::from(ssthresh) },
        srtt: (srtt > 0).then(|| f64::from(srtt) * MICROSECOND),
        rttvar: f64::from(word(TCPI_RTTVAR)) * MICROSECOND,
        rto: f64::from(word(TCPI_RTO)) * MICROSECOND,
        mss: word(TCPI_SND_MSS).max(1),
        phase: phase as u8,
        pacing_rate: rate(TCPI_PACING_RATE),
        delivery_rate: rate(TCPI_DELIVERY_RATE),
        min_rtt: f64::from(word(TCPI_MIN_RTT)) * MICROSECOND,
        lost: word(TCPI_LOST),
        retransmits: word(TCPI_TOTAL_RETRANS),
        timeouts: half(TCPI_TOTAL_RTO),
        reordering: word(TCPI_REORDERING),
        cc_info,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_at_their_offsets() {
        let mut b = [0; 256];
        b[TCPI_STATE] = 1;
        b[TCPI_SND_CWND..TCPI_SND_CWND + 4].copy_from_slice(&20u32.to_ne_bytes());
        b[TCPI_SND_SSTHRESH..TCPI_SND_SSTHRESH + 4].copy_from_slice(&TCP_INFINITE_SSTHRESH.to_ne_bytes());
        b[TCPI_RTT..TCPI_RTT + 4].copy_from_slice(&40_000u32.to_ne_bytes());
        b[TCPI_SND_MSS..TCPI_SND_MSS + 4].copy_from_slice(&1448u32.to_ne_bytes());
        let more = [(TCPI_RTTVAR, 5000u32), (TCPI_LOST, 2), (TCPI_TOTAL_RETRANS, 7), (TCPI_REORDERING, 3)];
        more.iter().for_each(|(at, v)| b[*at..*at + 4].copy_from_slice(&v.to_ne_bytes()));
        b[TCPI_TOTAL_RTO..TCPI_TOTAL_RTO + 2].copy_from_slice(&9u16.to_ne_bytes());
        let s = read(&b, CcInfo::default()).unwrap();
        assert_eq!((s.cwnd, s.ssthresh, s.srtt, s.mss), (20.0, f64::INFINITY, Some(40e6), 1448));
        assert_eq!((s.rttvar, s.lost, s.retransmits, s.reordering), (5e6, 2, 7, 3));
        assert_eq!(s.timeouts, 9);
        assert_eq!(s.phase, Phase::SlowStart as u8);
        b[TCPI_STATE] = 2;
        assert!(read(&b, CcInfo::default()).is_none());
    }
}
