//! Sockets and their options [socket(2), ip(7), tcp(7), socket(7)].

use super::{check, owned, would_block};
use std::io::{Error, Result};
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::null_mut;

/// Makes a non-blocking socket.
pub(crate) fn socket(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) })
}

/// Makes a blocking socket.
pub(crate) fn blocking_socket(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })
}

/// Returns the address family of an address.
pub(crate) fn family_of(address: IpAddr) -> i32 {
    if address.is_ipv6() { libc::AF_INET6 } else { libc::AF_INET }
}

/// An address as the kernel has it, and its length.
fn address(a: SocketAddr) -> (libc::sockaddr_storage, u32) {
    // SAFETY: all zeros are a valid address; `sockaddr_storage` has the size and the alignment of every kind of
    // address.
    unsafe {
        let mut s: libc::sockaddr_storage = zeroed();
        match a {
            SocketAddr::V4(a) => {
                let place: *mut libc::sockaddr_in = (&raw mut s).cast();
                (*place).sin_family = libc::AF_INET as u16;
                (*place).sin_port = a.port().to_be();
                (*place).sin_addr.s_addr = u32::from(*a.ip()).to_be();
                (s, size_of::<libc::sockaddr_in>() as u32)
            }
            SocketAddr::V6(a) => {
                let place: *mut libc::sockaddr_in6 = (&raw mut s).cast();
                (*place).sin6_family = libc::AF_INET6 as u16;
                (*place).sin6_port = a.port().to_be();
                (*place).sin6_addr.s6_addr = a.ip().octets();
                (s, size_of::<libc::sockaddr_in6>() as u32)
            }
        }
    }
}

/// The address that the kernel has written.
fn written(s: &libc::sockaddr_storage) -> SocketAddr {
    // SAFETY: `sockaddr_storage` has the size and the alignment of every kind of address, and the family says which it
    // is.
    unsafe {
        if i32::from(s.ss_family) == libc::AF_INET6 {
            let from = &*std::ptr::from_ref(s).cast::<libc::sockaddr_in6>();
            SocketAddr::new(Ipv6Addr::from(from.sin6_addr.s6_addr).into(), u16::from_be(from.sin6_port))
        } else {
            let from = &*std::ptr::from_ref(s).cast::<libc::sockaddr_in>();
            let ip = Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr));
            SocketAddr::new(ip.into(), u16::from_be(from.sin_port))
        }
    }
}

const STORAGE: u32 = size_of::<libc::sockaddr_storage>() as u32;

/// Binds the socket to an address.
pub(crate) fn bind(fd: &OwnedFd, at: SocketAddr) -> Result<()> {
    let (a, length) = address(at);
    // SAFETY: `a` is an address of that length.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const a).cast(), length) }).map(drop)
}

/// Binds a packet socket to an interface: from now on it receives the packets of a protocol [packet(7)].
pub(crate) fn bind_to_interface(fd: &OwnedFd, protocol: u16, index: u32) -> Result<()> {
    // SAFETY: all zeros are a valid address, and `a` is one of that length.
    unsafe {
        let mut a: libc::sockaddr_ll = zeroed();
        a.sll_family = libc::AF_PACKET as u16;
        a.sll_protocol = protocol.to_be();
        a.sll_ifindex = index as i32;
        let length = size_of::<libc::sockaddr_ll>() as u32;
        check(libc::bind(fd.as_raw_fd(), (&raw const a).cast(), length)).map(drop)
    }
}

/// Starts to connect.
pub(crate) fn connect(fd: &OwnedFd, to: SocketAddr) -> Result<()> {
    let (a, length) = address(to);
    // SAFETY: `a` is an address of that length.
    match check(unsafe { libc::connect(fd.as_raw_fd(), (&raw const a).cast(), length) }) {
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        other => other.map(drop),
    }
}

/// Listens for connections, of which up to `backlog` may be waiting.
pub(crate) fn listen(fd: &OwnedFd, backlog: i32) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::listen(fd.as_raw_fd(), backlog) }).map(drop)
}

/// Accepts a connection and returns it with the peer's address; None: none is waiting.
pub(crate) fn accept(fd: &OwnedFd) -> Result<Option<(OwnedFd, SocketAddr)>> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: `from` is valid for the length given.
    unsafe {
        let mut from: libc::sockaddr_storage = zeroed();
        let mut length = STORAGE;
        let place = (&raw mut from).cast();
        let accepted = owned(libc::accept4(fd.as_raw_fd(), place, &raw mut length, flags));
        Ok(would_block(accepted)?.map(|fd| (fd, written(&from))))
    }
}

/// Sends; None: the send buffer is full.
pub(crate) fn send(fd: &OwnedFd, data: &[u8]) -> Result<Option<usize>> {
    send_with(fd, data, 0)
}

/// Sends a part of a message: its last segment waits for the rest [tcp(7), send(2) MSG_MORE].
pub(crate) fn send_part(fd: &OwnedFd, data: &[u8]) -> Result<Option<usize>> {
    send_with(fd, data, libc::MSG_MORE)
}

fn send_with(fd: &OwnedFd, data: &[u8], flags: i32) -> Result<Option<usize>> {
    let flags = flags | libc::MSG_NOSIGNAL;
    // SAFETY: `data` is valid for its length.
    let n = unsafe { libc::send(fd.as_raw_fd(), data.as_ptr().cast(), data.len(), flags) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Receives; None: nothing is available.
pub(crate) fn receive(fd: &OwnedFd, into: &mut [u8]) -> Result<Option<usize>> {
    // SAFETY: `into` is valid for its length.
    let n = unsafe { libc::recv(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Receives a datagram: its length and sender; None: nothing is available.
pub(crate) fn receive_from(fd: &OwnedFd, into: &mut [u8]) -> Result<Option<(usize, SocketAddr)>> {
    // SAFETY: `into` and `from` are valid for the lengths given.
    unsafe {
        let mut from: libc::sockaddr_storage = zeroed();
        let mut length = STORAGE;
        let place = (&raw mut from).cast();
        let n = libc::recvfrom(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0, place, &raw mut length);
        would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok((n as usize, written(&from))) })
    }
}

/// Sends a datagram to an address.
pub(crate) fn send_to(fd: &OwnedFd, data: &[u8], to: SocketAddr) -> Result<()> {
    let (a, length) = address(to);
    // SAFETY: `data` and `a` are valid for their lengths.
    let n = unsafe { libc::sendto(fd.as_raw_fd(), data.as_ptr().cast(), data.len(), 0, (&raw const a).cast(), length) };
    if n < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Discards received data, up to `most` bytes, without copying it [tcp(7), Linux tcp.c tcp_recvmsg_locked MSG_TRUNC];
/// None: nothing is available; 0: the peer has closed.
pub(crate) fn discard(fd: &OwnedFd, most: usize) -> Result<Option<usize>> {
    // SAFETY: with MSG_TRUNC TCP writes nothing.
    let n = unsafe { libc::recv(fd.as_raw_fd(), null_mut(), most, libc::MSG_TRUNC) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Closes the sending direction.
pub(crate) fn shutdown(fd: &OwnedFd) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Sets an option to a whole number.
pub(crate) fn set_option(fd: &OwnedFd, level: i32, option: i32, value: i32) -> Result<()> {
    set_option_bytes(fd, level, option, &value.to_ne_bytes())
}

/// Sets an option to a structure or string.
pub(crate) fn set_option_bytes(fd: &OwnedFd, level: i32, option: i32, value: &[u8]) -> Result<()> {
    // SAFETY: `value` is valid for its length.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, value.as_ptr().cast(), value.len() as u32) })
        .map(drop)
}

/// Reads an option; returns its length in bytes.
pub(crate) fn option(fd: &OwnedFd, level: i32, option: i32, into: &mut [u8]) -> Result<usize> {
    let mut length = into.len() as u32;
    // SAFETY: `into` is valid for `length`.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, option, into.as_mut_ptr().cast(), &raw mut length) })?;
    Ok(length as usize)
}

/// Enables receive timestamps of datagrams (`SO_TIMESTAMPNS`).
pub(crate) fn enable_timestamps(fd: &OwnedFd) -> Result<()> {
    set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Receives a datagram: its length, sender and receive time (ns of the wall clock); None: nothing is available.
pub(crate) fn receive_with_timestamp(
    fd: &OwnedFd,
    into: &mut [u8],
) -> Result<Option<(usize, SocketAddr, Option<u64>)>> {
    // SAFETY: all structures are valid for the lengths given, and aligned; the kernel's answer is read by its own
    // macros.
    unsafe {
        let mut from: libc::sockaddr_storage = zeroed();
        let mut control = [0u64; 16];
        let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let mut message: libc::msghdr = zeroed();
        message.msg_name = (&raw mut from).cast();
        message.msg_namelen = STORAGE;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<[u64; 16]>() as _;
        let n = libc::recvmsg(fd.as_raw_fd(), &raw mut message, 0);
        if n < 0 {
            return would_block(Err(Error::last_os_error()));
        }
        let mut received_at = None;
        let mut next = libc::CMSG_FIRSTHDR(&raw const message);
        while !next.is_null() {
            if (*next).cmsg_level == libc::SOL_SOCKET && (*next).cmsg_type == libc::SCM_TIMESTAMPNS {
                let t: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(next).cast());
                received_at = Some(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64);
            }
            next = libc::CMSG_NXTHDR(&raw const message, next);
        }
        Ok(Some((n as usize, written(&from), received_at)))
    }
}
