//! The state of TCP sockets of other programs in a namespace, by sock_diag [sock_diag(7), Linux inet_diag.h].

use super::message::{Message, Netlink, attributes, head};
use crate::error::KernelError;
use crate::meter::tcp_cc_info;
use std::time::{Duration, Instant};

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

/// Size of `inet_diag_sockid`, bytes, and its offset in `inet_diag_msg`.
const SOCKID: usize = 48;
const SOCKID_AT: usize = 4;
/// After a list of all connections at least so many times its duration passes until the next one, see [`Connections`].
const PAUSE: u32 = 10;

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
    /// The `inet_diag_sockid`, by which the kernel finds it again.
    id: [u8; SOCKID],
}

/// The connections of a flow's two hosts.
///
/// To list the connections of a namespace, the kernel reads the hash table of all namespaces [Linux
/// net/ipv4/inet_diag.c, inet_diag_dump_icsk]. With 262,144 entries, as on a machine with much memory, both hosts take
/// 2 ms. The state of one connection takes some microseconds. So between two lists only the busiest connection of the
/// last one is read.
pub(crate) struct Connections {
    hosts: [Netlink; 2],
    family: i32,
    /// The busiest connection's host and identity.
    busiest: Option<(usize, [u8; SOCKID])>,
    listed: Instant,
    cost: Duration,
}

impl Connections {
    pub(crate) fn new(hosts: [Netlink; 2], family: i32) -> Connections {
        Connections { hosts, family, busiest: None, listed: Instant::now(), cost: Duration::ZERO }
    }

    /// Returns the state of the connection with the most acknowledged bytes.
    pub(crate) fn busiest(&mut self) -> Result<Option<Socket>, KernelError> {
        if self.listed.elapsed() < PAUSE * self.cost
            && let Some((host, id)) = &self.busiest
            && let Some(socket) = connection(&self.hosts[*host], self.family, id)
        {
            return Ok(Some(socket));
        }
        let start = Instant::now();
        let [here, there] = [busiest_of(&self.hosts[0], self.family)?, busiest_of(&self.hosts[1], self.family)?];
        self.listed = Instant::now();
        self.cost = self.listed - start;
        let found = [(0, here), (1, there)].into_iter().filter_map(|(host, socket)| Some((host, socket?)));
        let most = found.max_by_key(|(_, socket)| socket.acked);
        self.busiest = most.as_ref().map(|(host, socket)| (*host, socket.id));
        Ok(most.map(|(_, socket)| socket))
    }
}

/// Returns the connection of a namespace with the most acknowledged bytes.
fn busiest_of(net: &Netlink, family: i32) -> Result<Option<Socket>, KernelError> {
    let mut most: Option<Socket> = None;
    net.dump(
        request(libc::NLM_F_DUMP, family, &[0; SOCKID]), // any address
        || "sockets".into(),
        |body| {
            if let Some(socket) = read(body)
                && most.as_ref().is_none_or(|best| socket.acked > best.acked)
            {
                most = Some(socket);
            }
        },
    )?;
    Ok(most)
}

/// Returns the connection with an identity; none if it is over.
fn connection(net: &Netlink, family: i32, id: &[u8; SOCKID]) -> Option<Socket> {
    net.get(request(0, family, id)).ok().as_deref().and_then(read)
}

/// Returns a request with an `inet_diag_req_v2`: family, protocol, extensions (VEGASINFO requests the information of
/// every variant), padding, states, identity.
fn request(flags: i32, family: i32, id: &[u8; SOCKID]) -> Message {
    let extensions =
        [INET_DIAG_INFO, INET_DIAG_VEGASINFO, INET_DIAG_CONG].iter().fold(0, |bits, kind| bits | 1 << (kind - 1));
    let mut fixed = vec![family as u8, libc::IPPROTO_TCP as u8, extensions, 0];
    fixed.extend(STATES.to_ne_bytes());
    fixed.extend(id);
    Message::new(SOCK_DIAG_BY_FAMILY, libc::NLM_F_REQUEST | flags, &fixed)
}

/// Reads an `inet_diag_msg` with its attributes.
fn read(body: &[u8]) -> Option<Socket> {
    let (mut info, mut variant, mut cc_info): (&[u8], String, &[u8]) = (&[], String::new(), &[]);
    for (kind, value) in attributes(body.get(INET_DIAG_MSG..)?) {
        match kind {
            INET_DIAG_INFO => info = value,
            INET_DIAG_CONG => variant = String::from_utf8_lossy(value).trim_end_matches('\0').to_owned(),
            INET_DIAG_VEGASINFO | INET_DIAG_DCTCPINFO | INET_DIAG_BBRINFO => cc_info = value,
            _ => {}
        }
    }
    let acked = u64::from_ne_bytes(head(info.get(TCPI_BYTES_ACKED..).unwrap_or(&[])));
    let cc_info = tcp_cc_info::read(&variant, cc_info);
    (!info.is_empty()).then(|| Socket { info: head(info), cc_info, variant, acked, id: head(&body[SOCKID_AT..]) })
}
