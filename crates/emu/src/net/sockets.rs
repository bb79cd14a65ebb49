//! The TCP sockets of a namespace and what the kernel says of each: of programs that aren't ours.

use super::message::{Message, Netlink, attributes, head};
use crate::error::EmuError;

const BY_FAMILY: u16 = 20;
const INFO: u16 = 2;
const ESTABLISHED_AND_CLOSING: u32 = 0xffe & !(1 << 10) & !(1 << 6) & !(1 << 7);
const FIXED: usize = 72;
/// Of `tcp_info`: bytes acknowledged.
const ACKED: usize = 120;

/// The `tcp_info` of the connection that has carried most.
pub(crate) fn busiest(net: &Netlink) -> Result<Option<[u8; 256]>, EmuError> {
    // Family, protocol, what is asked for, padding, states; any address.
    let mut fixed = vec![libc::AF_INET as u8, libc::IPPROTO_TCP as u8, 1 << (INFO - 1), 0];
    fixed.extend(ESTABLISHED_AND_CLOSING.to_ne_bytes());
    fixed.extend([0; 48]);
    let message = Message::new(BY_FAMILY, libc::NLM_F_REQUEST | libc::NLM_F_DUMP, &fixed);
    let mut most: Option<(u64, [u8; 256])> = None;
    net.dump(
        message,
        || "sockets".into(),
        |body| {
            for (kind, value) in attributes(body.get(FIXED..).unwrap_or(&[])) {
                let acked = u64::from_ne_bytes(head(value.get(ACKED..).unwrap_or(&[])));
                if kind == INFO && most.as_ref().is_none_or(|(best, _)| acked > *best) {
                    most = Some((acked, head(value)));
                }
            }
        },
    )?;
    Ok(most.map(|(_, info)| info))
}
