//! The TCP sockets of a namespace and what the kernel says of each: of programs that aren't ours.

use super::message::{Message, Netlink, attributes, head};
use crate::error::KernelError;
use crate::meter::tcp_cc_info;

const BY_FAMILY: u16 = 20;
const INFO: u16 = 2;
const VEGAS: u16 = 3;
const CONGESTION: u16 = 4;
const DCTCP: u16 = 9;
const BBR: u16 = 16;
const ESTABLISHED_AND_CLOSING: u32 = 0xffe & !(1 << 10) & !(1 << 6) & !(1 << 7);
const FIXED: usize = 72;
/// Of `tcp_info`: bytes acknowledged.
const ACKED: usize = 120;

/// What the kernel says of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    /// Its `tcp_info`.
    pub(crate) info: [u8; 256],
    /// What its congestion control says of itself.
    pub(crate) law: tcp_cc_info::CcInfo,
}

/// The connection that has carried most.
pub(crate) fn busiest(net: &Netlink) -> Result<Option<Socket>, KernelError> {
    // Family, protocol, what is asked for (that of Vegas stands for all variants'), padding, states; any address.
    let asked = [INFO, VEGAS, CONGESTION].iter().fold(0, |bits, kind| bits | 1 << (kind - 1));
    let mut fixed = vec![libc::AF_INET as u8, libc::IPPROTO_TCP as u8, asked, 0];
    fixed.extend(ESTABLISHED_AND_CLOSING.to_ne_bytes());
    fixed.extend([0; 48]);
    let message = Message::new(BY_FAMILY, libc::NLM_F_REQUEST | libc::NLM_F_DUMP, &fixed);
    let mut most: Option<(u64, Socket)> = None;
    net.dump(
        message,
        || "sockets".into(),
        |body| {
            let (mut info, mut name, mut said): (&[u8], String, &[u8]) = (&[], String::new(), &[]);
            for (kind, value) in attributes(body.get(FIXED..).unwrap_or(&[])) {
                match kind {
                    INFO => info = value,
                    CONGESTION => name = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
                    VEGAS | DCTCP | BBR => said = value,
                    _ => {}
                }
            }
            let acked = u64::from_ne_bytes(head(info.get(ACKED..).unwrap_or(&[])));
            if !info.is_empty() && most.as_ref().is_none_or(|(best, _)| acked > *best) {
                most = Some((acked, Socket { info: head(info), law: tcp_cc_info::read(&name, said) }));
            }
        },
    )?;
    Ok(most.map(|(_, socket)| socket))
}
