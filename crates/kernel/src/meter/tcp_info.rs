//! `TCP_INFO`: what the kernel says of a connection.

use crate::meter::TcpSample;
use crate::meter::tcp_cc_info::{self, CcInfo};
use crate::netlink::head;
use crate::sys;
use dumbbell_cc::Phase;
use std::io::Result;
use std::os::fd::OwnedFd;

/// Offsets in the kernel's structure, which only ever grows at its end.
const STATE: usize = 0;
const RECOVERY: usize = 1;
const RTO: usize = 8;
const MSS: usize = 16;
const LOST: usize = 32;
const SRTT: usize = 68;
const RTTVAR: usize = 72;
const SSTHRESH: usize = 76;
const CWND: usize = 80;
const REORDERING: usize = 88;
const RETRANSMITS: usize = 100;
const PACING_RATE: usize = 104;
const MIN_RTT: usize = 148;
const DELIVERY_RATE: usize = 160;

const CONNECTING: [u8; 2] = [2, 3]; // SYN sent, SYN received
const CLOSED: u8 = 7;
/// The recovery state machine: open, disorder, congestion window reduced, recovery, loss.
const RECOVERING: u8 = 3;
const LOSS: u8 = 4;
const INFINITE: u32 = 0x7fff_ffff;
const MICROSECOND: f64 = 1000.0;

/// The state of a connection under a congestion control; None while it isn't established or is over.
pub(crate) fn state(fd: &OwnedFd, variant: &str) -> Result<Option<TcpSample>> {
    let mut bytes = [0; 256];
    sys::option(fd, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(read(&bytes, tcp_cc_info::of(fd, variant)?))
}

pub(crate) fn read(bytes: &[u8; 256], law: CcInfo) -> Option<TcpSample> {
    let word = |at: usize| u32::from_ne_bytes(head(&bytes[at..]));
    let long = |at: usize| u64::from_ne_bytes(head(&bytes[at..]));
    if CONNECTING.contains(&bytes[STATE]) || bytes[STATE] == CLOSED {
        return None;
    }
    let (cwnd, ssthresh) = (word(CWND), word(SSTHRESH));
    let phase = match bytes[RECOVERY] {
        LOSS => Phase::Loss,
        RECOVERING => Phase::Recovery,
        _ if cwnd < ssthresh => Phase::SlowStart,
        _ => Phase::Avoidance,
    };
    // A rate that isn't set is all ones.
    let rate = |at: usize| if long(at) == u64::MAX { f64::INFINITY } else { long(at) as f64 * 8.0 };
    let srtt = word(SRTT);
    Some(TcpSample {
        cwnd: f64::from(cwnd),
        ssthresh: if ssthresh >= INFINITE { f64::INFINITY } else { f64::from(ssthresh) },
        srtt: (srtt > 0).then(|| f64::from(srtt) * MICROSECOND),
        rttvar: f64::from(word(RTTVAR)) * MICROSECOND,
        rto: f64::from(word(RTO)) * MICROSECOND,
        mss: word(MSS).max(1),
        phase: phase as u8,
        pacing_rate: rate(PACING_RATE),
        delivery_rate: rate(DELIVERY_RATE),
        min_rtt: f64::from(word(MIN_RTT)) * MICROSECOND,
        lost: word(LOST),
        retransmits: word(RETRANSMITS),
        reordering: word(REORDERING),
        law,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_where_the_kernel_puts_them() {
        let mut b = [0; 256];
        b[STATE] = 1;
        b[CWND..CWND + 4].copy_from_slice(&20u32.to_ne_bytes());
        b[SSTHRESH..SSTHRESH + 4].copy_from_slice(&INFINITE.to_ne_bytes());
        b[SRTT..SRTT + 4].copy_from_slice(&40_000u32.to_ne_bytes());
        b[MSS..MSS + 4].copy_from_slice(&1448u32.to_ne_bytes());
        let more = [(RTTVAR, 5000u32), (LOST, 2), (RETRANSMITS, 7), (REORDERING, 3)];
        more.iter().for_each(|(at, v)| b[*at..*at + 4].copy_from_slice(&v.to_ne_bytes()));
        let s = read(&b, CcInfo::default()).unwrap();
        assert_eq!((s.cwnd, s.ssthresh, s.srtt, s.mss), (20.0, f64::INFINITY, Some(40e6), 1448));
        assert_eq!((s.rttvar, s.lost, s.retransmits, s.reordering), (5e6, 2, 7, 3));
        assert_eq!(s.phase, Phase::SlowStart as u8);
        b[STATE] = 2;
        assert!(read(&b, CcInfo::default()).is_none());
    }
}
