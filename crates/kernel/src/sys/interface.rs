//! Interfaces: TUN devices, offloads, state [netdevice(7); Linux ethtool.h, if_tun.h].

use super::{check, owned, text, would_block};
use std::io::{Error, IoSlice, IoSliceMut, Result};
use std::mem::zeroed;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};

fn request(interface: &str) -> libc::ifreq {
    // SAFETY: all zeros are a valid request.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request
}

/// Makes a TUN device in the current namespace [Linux Documentation/networking/tuntap.rst]. Reads return the packets
/// that the kernel sends over it, writes make packets arrive; a `virtio_net_hdr` precedes each. With `offloads` the
/// kernel leaves segmentation of TCP and checksums to the reader [Linux drivers/net/tun.c set_offload]. The device is
/// removed when the descriptor is closed.
pub(crate) fn tunnel(interface: &str, offloads: bool) -> Result<OwnedFd> {
    const TUNSETIFF: libc::Ioctl = 0x4004_54ca;
    const TUNSETOFFLOAD: libc::Ioctl = 0x4004_54d0;
    /// `TUN_F_CSUM`, `TUN_F_TSO4`, `TUN_F_TSO6`, `TUN_F_TSO_ECN` [Linux include/uapi/linux/if_tun.h].
    const ALL: libc::c_ulong = 0x01 | 0x02 | 0x04 | 0x08;
    let device = text("/dev/net/tun")?;
    // SAFETY: a text that ends in zero; the request outlives the call; TUNSETOFFLOAD takes a number.
    unsafe {
        let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let fd = owned(libc::open(device.as_ptr(), flags))?;
        let mut request = request(interface);
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        check(libc::ioctl(fd.as_raw_fd(), TUNSETIFF, &raw mut request))?;
        let offloaded = if offloads { ALL } else { 0 };
        check(libc::ioctl(fd.as_raw_fd(), TUNSETOFFLOAD, offloaded))?;
        Ok(fd)
    }
}

/// Returns the index of an interface of the current namespace.
pub(crate) fn interface_number(interface: &str) -> Result<u32> {
    let name = text(interface)?;
    // SAFETY: a text that ends in zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        number => Ok(number),
    }
}

/// Returns the IPv4 addresses of the interfaces that are up, with the interfaces' names [getifaddrs(3)].
pub(crate) fn interface_addresses() -> Result<Vec<(String, Ipv4Addr)>> {
    let mut found = Vec::new();
    // SAFETY: the list is valid until it is freed; addresses of AF_INET are `sockaddr_in`, names end in zero.
    unsafe {
        let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
        check(libc::getifaddrs(&raw mut first))?;
        let mut next = first;
        while !next.is_null() {
            let entry = &*next;
            let up = entry.ifa_flags & libc::IFF_UP as libc::c_uint != 0;
            if up && !entry.ifa_addr.is_null() && i32::from((*entry.ifa_addr).sa_family) == libc::AF_INET {
                let address: libc::sockaddr_in = std::ptr::read_unaligned(entry.ifa_addr.cast());
                let name = std::ffi::CStr::from_ptr(entry.ifa_name).to_string_lossy().into_owned();
                found.push((name, Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr))));
            }
            next = entry.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    Ok(found)
}

/// Reads a packet with the `virtio_net_hdr` before it; None: none is available.
pub(crate) fn read(fd: &OwnedFd, into: &mut [u8]) -> Result<Option<usize>> {
    // SAFETY: `into` is valid for its length.
    let n = unsafe { libc::read(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Reads a packet into two parts, one after the other [readv(2)]; returns the length of both. None: none is available.
pub(crate) fn read_parts(fd: &OwnedFd, first: &mut [u8], rest: &mut [u8]) -> Result<Option<usize>> {
    let mut parts = [IoSliceMut::new(first), IoSliceMut::new(rest)];
    // SAFETY: an IoSliceMut has the layout of an iovec; each is valid for its length.
    let n = unsafe { libc::readv(fd.as_raw_fd(), parts.as_mut_ptr().cast(), parts.len() as libc::c_int) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Writes a packet with the `virtio_net_hdr` before it, given in parts, at most 1024 [writev(2)].
pub(crate) fn write(fd: &OwnedFd, parts: &[IoSlice<'_>]) -> Result<()> {
    // SAFETY: an IoSlice has the layout of an iovec; each is valid for its length.
    let n = unsafe { libc::writev(fd.as_raw_fd(), parts.as_ptr().cast(), parts.len() as libc::c_int) };
    if n < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Switches an offload of an interface on or off; `command` is `ETHTOOL_STSO`, `ETHTOOL_SGSO` or `ETHTOOL_SGRO`.
pub(crate) fn set_offload(fd: &OwnedFd, interface: &str, command: u32, on: bool) -> Result<()> {
    ethtool(fd, interface, command, on).map(drop)
}

/// Returns true if an offload of an interface is on; `command` is `ETHTOOL_GTSO`, `ETHTOOL_GGSO` or `ETHTOOL_GGRO`.
pub(crate) fn offload(fd: &OwnedFd, interface: &str, command: u32) -> Result<bool> {
    ethtool(fd, interface, command, false)
}

/// Returns true if an interface has `IFF_RUNNING`. An interface that was just set up drops packets until the kernel has
/// handled its carrier event, which it does for a hundred a second
/// [Linux net/core/link_watch.c MAX_DO_DEV_PER_LOOP]; `ETHTOOL_GLINK` handles it at
/// once on recent kernels.
pub(crate) fn is_running(fd: &OwnedFd, interface: &str) -> Result<bool> {
    const ETHTOOL_GLINK: u32 = 0x0a;
    let _ = ethtool(fd, interface, ETHTOOL_GLINK, false);
    // SAFETY: the request holds a name that ends in zero and outlives the call, which fills in the flags.
    unsafe {
        let mut request = request(interface);
        check(libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request))?;
        Ok(libc::c_int::from(request.ifr_ifru.ifru_flags) & libc::IFF_RUNNING != 0)
    }
}

fn ethtool(fd: &OwnedFd, interface: &str, command: u32, on: bool) -> Result<bool> {
    const SIOCETHTOOL: libc::Ioctl = 0x8946;
    // SAFETY: the request holds a name that ends in zero and a pointer to a value that outlives the call.
    unsafe {
        let mut value: [u32; 2] = [command, u32::from(on)];
        let mut request = request(interface);
        request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        check(libc::ioctl(fd.as_raw_fd(), SIOCETHTOOL, &raw mut request))?;
        Ok(value[1] != 0)
    }
}
