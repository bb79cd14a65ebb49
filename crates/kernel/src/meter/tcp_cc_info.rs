//! Reads `TCP_CC_INFO`, the state of a congestion control [Linux inet_diag.h union tcp_cc_info], under the simulator's
//! column names.

use crate::netlink::head;
use crate::sys;
use std::io::Result;
use std::os::fd::OwnedFd;

/// The state of a congestion control: columns and values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CcInfo {
    pub(crate) columns: &'static [&'static str],
    pub(crate) values: [f64; 4],
}

/// The socket option [Linux include/uapi/linux/tcp.h].
const TCP_CC_INFO: i32 = 26;
/// Bytes that are read: more than the largest structure of the union.
pub(crate) const BYTES: usize = 32;
/// Unknown times, µs, are 0x7fffffff [Linux tcp_vegas.c tcp_vegas_init] or 0xffffffff.
const UNKNOWN: u32 = 0x7fff_ffff;

/// Reads the state of a socket's congestion control. Empty if it has no `get_info` (struct_ops can't have one).
pub(crate) fn of(fd: &OwnedFd, variant: &str) -> Result<CcInfo> {
    let mut bytes = [0; BYTES];
    let length = sys::option(fd, libc::IPPROTO_TCP, TCP_CC_INFO, &mut bytes)?;
    Ok(read(variant, &bytes[..length.min(BYTES)]))
}

/// Reads the state of a congestion control by its kernel name.
pub(crate) fn read(variant: &str, bytes: &[u8]) -> CcInfo {
    let word = |n: usize| bytes.get(4 * n..4 * n + 4).map(|b| u32::from_ne_bytes(head(b)));
    let time = |n: usize| word(n).filter(|us| *us < UNKNOWN).map_or(f64::NAN, |us| f64::from(us) / 1e6);
    let info = |columns, values| CcInfo { columns, values };
    match (variant, bytes.len()) {
        // tcpvegas_info: tcpv_enabled, tcpv_rttcnt, tcpv_rtt (baseRTT), tcpv_minrtt [Linux tcp_vegas.c
        // tcp_vegas_get_info; tcp_yeah.c has the same function].
        ("vegas", 16..) => info(&["base_rtt", "rtt"], [time(2), time(3), 0.0, 0.0]),
        ("yeah", 16..) => info(&["base_rtt"], [time(2), 0.0, 0.0, 0.0]),
        // tcpvegas_info with baseRTT in tcpv_minrtt [Linux tcp_illinois.c tcp_illinois_info, tcp_westwood.c
        // tcp_westwood_info].
        ("illinois" | "westwood", 16..) => info(&["base_rtt"], [time(3), 0.0, 0.0, 0.0]),
        // tcpvegas_info with the minimum RTT in tcpv_minrtt [Linux tcp_nv.c tcpnv_get_info].
        ("nv", 16..) => info(&["min_rtt", "rtt"], [time(3), time(2), 0.0, 0.0]),
        // tcp_dctcp_info: dctcp_enabled, dctcp_ce_state, dctcp_alpha (1024ths), dctcp_ab_ecn, dctcp_ab_tot (bytes)
        // [Linux tcp_dctcp.c dctcp_get_info].
        ("dctcp", 16..) => {
            let enabled = u16::from_ne_bytes(head(bytes)) != 0;
            let [alpha, marked, all] = [1, 2, 3].map(|n| f64::from(word(n).unwrap_or(0)));
            let values = if enabled { [alpha / 1024.0, marked / all] } else { [f64::NAN; 2] };
            info(&["alpha", "marked_share"], [values[0], values[1], 0.0, 0.0])
        }
        // tcp_bbr_info: bbr_bw_lo, bbr_bw_hi (bytes/s), bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain (256ths)
        // [Linux tcp_bbr.c bbr_get_info].
        ("bbr", 20..) => {
            let [low, high, _, pacing, cwnd] = [0, 1, 2, 3, 4].map(|n| f64::from(word(n).unwrap_or(0)));
            let bw = high * 2f64.powi(32) + low;
            info(&["bw", "min_rtt", "pacing_gain", "cwnd_gain"], [bw, time(2), pacing / 256.0, cwnd / 256.0])
        }
        _ => CcInfo::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    #[test]
    fn fields_are_read_under_the_simulators_names() {
        let vegas = bytes(&[1, 5, 40_000, 42_500]);
        assert_eq!(read("vegas", &vegas), CcInfo { columns: &["base_rtt", "rtt"], values: [0.04, 0.0425, 0.0, 0.0] });
        assert_eq!(read("westwood", &vegas).values[0], 0.0425);
        // A round without a sample so far.
        assert!(read("vegas", &bytes(&[1, 0, 40_000, UNKNOWN])).values[1].is_nan());
        // 1,250,000 bytes/s; 739/256 and 2.
        let bbr = read("bbr", &bytes(&[1_250_000, 0, 40_000, 739, 512]));
        assert_eq!(bbr.values, [1.25e6, 0.04, 2.88671875, 2.0]);
        assert_eq!(read("bbr", &bytes(&[0, 1, u32::MAX, 256, 512])).values[0], 4_294_967_296.0);
        assert!(read("bbr", &bytes(&[0, 0, u32::MAX, 256, 512])).values[1].is_nan());
        // 256 of 1024ths; 2896 of 14480 bytes.
        assert_eq!(read("dctcp", &bytes(&[1, 256, 2896, 14_480])).values[..2], [0.25, 0.2]);
        // Without ECN it behaves as Reno.
        assert!(read("dctcp", &bytes(&[0, 0, 0, 0])).values[..2].iter().all(|v| v.is_nan()));
        assert_eq!(read("reno", &[]), CcInfo::default());
        assert_eq!(read("vegas", &[]), CcInfo::default()); // in BPF
    }
}
