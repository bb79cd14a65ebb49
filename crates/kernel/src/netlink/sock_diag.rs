//! The state of TCP sockets of other programs in a namespace, by sock_diag [sock_diag(7), Linux inet_diag.h].

use super::message::{Message, Netlink, attributes, head};
use crate::error::KernelError;
use crate::meter::tcp_cc_info;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_VEGASINFO: u16 = 3;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_DCTCPINFO: u16 = 9;
const INET_DIAG_BBRINFO: u16 = 16;
/// All states except TCP_LISTEN (10), TCP_TIME_WAIT (6) and TCP_CLOSE (7) [Linux include/net/tcp_states.h].
const STATES: u32 = 0xffe & !(1 << 10) & !(1 << 6) & !(1 << 7);
/// Size of `inet_diag_msg`, bytes.
const INET_DIAG_MSG: usize = 72;
/// Offset of `tcpi_bytes_acked` in `tcp_info` [Linux include/uapi/linux/tcp.h].
const TCPI_BYTES_ACKED: usize = 120;

/// The state of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    /// Its `tcp_info`.
    pub(crate) info: [u8; 256],
    /// The state of its congestion control.
    pub(crate) cc_info: tcp_cc_info::CcInfo,
    /// The kernel's name of its congestion control.
    pub(crate) variant: String,
    /// Bytes acknowledged.
    pub(crate) acked: u64,
}

/// Returns the connection of an address family with the most acknowledged bytes.
pub(crate) fn busiest_connection(net: &Netlink, family: i32) -> Result<Option<Socket>, KernelError> {
    // inet_diag_req_v2: family, protocol, extensions (VEGASINFO requests the information of every variant), padding,
    // states; any address.
    let extensions = [INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG]
        .iter()
        .fold(0, |bits, kind| bits | 1 << (kind - 1));
    let mut fixed = vec![family as u8, libc::IPPROTO_TCP as u8, extensions, 0];
    fixed.extend(STATES.to_ne_bytes());
    fixed.extend([0; 48]);
    let message = Message::new(SOCK_DIAG_BY_FAMILY, libc::NLM_F_REQUEST | libc::NLM_F_DUMP, &fixed);
    let mut most: Option<Socket> = None;
    net.dump(
        message,
        || "sockets".into(),
        |body| {
            let (mut info, mut name, mut cc_info): (&[u8], String, &[u8]) = (&[], String::new(), &[]);
            for (kind, value) in attributes(body.get(INET_DIAG_MSG..).unwrap_or(&[])) {
                match kind {
                    INET_DIAG_INFO => info = value,
                    INET_DIAG_CONG => name = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
                    INET_DIAG_VEGASINFO | INET_DIAG_DCTCPINFO | INET_DIAG_BBRINFO => cc_info = value,
                    _ => {}
                }
            }
            let acked = u64::from_ne_bytes(head(info.get(TCPI_BYTES_ACKED..).unwrap_or(&[])));
            if !info.is_empty() && most.as_ref().is_none_or(|best| acked > best.acked) {
                let cc_info = tcp_cc_info::read(&name, cc_info);
                most = Some(Socket { info: head(info), cc_info, variant: name, acked });
            }
        },
    )?;
    Ok(most)
}
