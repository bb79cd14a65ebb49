//! System calls that the standard library doesn't have, each behind a safe function. All unsafe code of this crate is
//! here.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::io::{Error, Result};
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::{null, null_mut};

fn check(result: libc::c_int) -> Result<libc::c_int> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}

fn owned(result: libc::c_int) -> Result<OwnedFd> {
    // SAFETY: a descriptor that the kernel has just given to us alone.
    check(result).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

fn text(s: &str) -> Result<CString> {
    CString::new(s).map_err(|_| Error::from_raw_os_error(libc::EINVAL))
}

// ---------------------------------------------------------------- the machine

/// Mounts a file system without a device, such as `proc`.
pub(crate) fn mount(kind: &str, place: &str) -> Result<()> {
    let (kind, place) = (text(kind)?, text(place)?);
    // SAFETY: three texts that end in zero, no data.
    check(unsafe { libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, null()) }).map(drop)
}

/// Writes everything out and switches the machine off.
pub(crate) fn power_off() {
    // SAFETY: no arguments in memory.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
}

/// Leaves the network namespace for a new one.
pub(crate) fn new_network() -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Enters the network namespace that `fd` stands for.
pub(crate) fn enter_network(fd: &OwnedFd) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// A clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Time since 1970, which the packet taps use too. It may be set.
    Wall,
    /// Time since the machine was started: it only ever goes on.
    Steady,
}

impl Clock {
    fn id(self) -> libc::clockid_t {
        match self {
            Clock::Wall => libc::CLOCK_REALTIME,
            Clock::Steady => libc::CLOCK_MONOTONIC,
        }
    }
}

/// Nanoseconds of a clock.
pub(crate) fn now(clock: Clock) -> u64 {
    // SAFETY: `t` is valid for writing.
    let t = unsafe {
        let mut t: libc::timespec = zeroed();
        libc::clock_gettime(clock.id(), &raw mut t);
        t
    };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

// ---------------------------------------------------------------- a process on the host

/// Ends this process when the one that started it, `parent`, does. False: that one is gone already.
pub(crate) fn end_with(parent: u32) -> Result<bool> {
    // SAFETY: no arguments in memory.
    unsafe {
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong))?;
        Ok(libc::getppid() == parent as i32)
    }
}

/// Whether we are root.
pub(crate) fn is_root() -> bool {
    // SAFETY: no arguments.
    unsafe { libc::geteuid() == 0 }
}

/// Enters a new user namespace, in which this user is root.
pub(crate) fn become_root_within() -> Result<()> {
    // SAFETY: no arguments in memory.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: no arguments in memory.
    check(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Gives this thread real-time priority (1: lowest).
pub(crate) fn real_time(priority: i32) -> Result<()> {
    // SAFETY: `p` is valid while the call lasts.
    unsafe {
        let mut p: libc::sched_param = zeroed();
        p.sched_priority = priority;
        // What this thread starts has it not.
        check(libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const p))
            .map(drop)
    }
}

/// Makes the process that is started end with the thread that starts it.
pub(crate) fn tie(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only a system call is made, without arguments in memory.
    unsafe {
        command.pre_exec(|| {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong)).map(drop)
        });
    }
}

/// A descriptor that becomes readable when a process ends.
pub(crate) fn watch_process(pid: u32) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory; a descriptor that the kernel has just given to us alone.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0);
        owned(fd as libc::c_int)
    }
}

/// Ends a group of processes.
pub(crate) fn kill_group(leader: u32) {
    // SAFETY: no arguments in memory.
    unsafe { libc::kill(-(leader as libc::pid_t), libc::SIGKILL) };
}

/// CPU time that this thread has used, ns.
pub(crate) fn thread_time() -> u64 {
    // SAFETY: `t` is valid for writing.
    let t = unsafe {
        let mut t: libc::timespec = zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t);
        t
    };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// One call of `bpf`; `arguments` may hold addresses of memory that outlives it.
pub(crate) fn bpf(command: i32, arguments: &[u8]) -> Result<i32> {
    // SAFETY: `arguments` is valid for its length; the kernel checks what it says, and reads or writes only what the
    // addresses in it stand for.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, arguments.as_ptr(), arguments.len()) };
    check(result as libc::c_int)
}

/// A call of `bpf` that gives a descriptor.
pub(crate) fn bpf_fd(command: i32, arguments: &[u8]) -> Result<OwnedFd> {
    // SAFETY: a descriptor that the kernel has just given to us alone.
    bpf(command, arguments).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

// ---------------------------------------------------------------- packets of an interface that is a program

fn request(interface: &str) -> libc::ifreq {
    // SAFETY: all zeros are a valid request.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes().take(libc::IFNAMSIZ - 1)) {
        *to = from as libc::c_char;
    }
    request
}

/// Makes an interface of IP packets in the namespace that we are in: what is sent over it is read here, what is written
/// here has come over it. Gone when the descriptor is closed.
pub(crate) fn tunnel(interface: &str) -> Result<OwnedFd> {
    const TUNSETIFF: libc::Ioctl = 0x4004_54ca;
    let device = text("/dev/net/tun")?;
    // SAFETY: a text that ends in zero; the request outlives the call.
    unsafe {
        let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let fd = owned(libc::open(device.as_ptr(), flags))?;
        let mut request = request(interface);
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        check(libc::ioctl(fd.as_raw_fd(), TUNSETIFF, &raw mut request))?;
        Ok(fd)
    }
}

/// The number of an interface of the namespace that we are in.
pub(crate) fn interface_number(interface: &str) -> Result<u32> {
    let name = text(interface)?;
    // SAFETY: a text that ends in zero.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Error::last_os_error()),
        number => Ok(number),
    }
}

/// Reads a packet; None: none is there.
pub(crate) fn read(fd: &OwnedFd, into: &mut [u8]) -> Result<Option<usize>> {
    // SAFETY: `into` is valid for its length.
    let n = unsafe { libc::read(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len()) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Writes a packet.
pub(crate) fn write(fd: &OwnedFd, packet: &[u8]) -> Result<()> {
    // SAFETY: `packet` is valid for its length.
    let n = unsafe { libc::write(fd.as_raw_fd(), packet.as_ptr().cast(), packet.len()) };
    if n < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

// ---------------------------------------------------------------- waiting

/// An epoll instance.
pub(crate) fn epoll() -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
}

/// Reports `events` of `fd`, edge-triggered, as `token`.
pub(crate) fn epoll_add(epoll: &OwnedFd, fd: RawFd, events: i32, token: u64) -> Result<()> {
    let mut event = libc::epoll_event { events: (events | libc::EPOLLET) as u32, u64: token };
    // SAFETY: `event` is valid while the call lasts.
    check(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, fd, &raw mut event) }).map(drop)
}

/// Waits without a time limit; gives (token, events) of what has happened.
pub(crate) fn epoll_wait(epoll: &OwnedFd, into: &mut Vec<(u64, u32)>) -> Result<()> {
    wait(epoll, into, -1)
}

/// Gives (token, events) of what has happened, without waiting.
pub(crate) fn epoll_look(epoll: &OwnedFd, into: &mut Vec<(u64, u32)>) -> Result<()> {
    wait(epoll, into, 0)
}

fn wait(epoll: &OwnedFd, into: &mut Vec<(u64, u32)>, limit_ms: i32) -> Result<()> {
    const AT_ONCE: usize = 64;
    // SAFETY: room for AT_ONCE events; as many as the kernel has filled are read.
    unsafe {
        let mut events: [libc::epoll_event; AT_ONCE] = zeroed();
        into.clear();
        let n =
            match check(libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), AT_ONCE as i32, limit_ms)) {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
                other => other?,
            };
        into.extend(events[..n as usize].iter().map(|e| (e.u64, e.events)));
    }
    Ok(())
}

/// A timer on a clock.
pub(crate) fn timer(clock: Clock) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::timerfd_create(clock.id(), libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) })
}

/// Sets the timer to a time of its clock, ns. What it told before counts no more, so it need not be read.
pub(crate) fn set_timer(timer: &OwnedFd, at: u64) -> Result<()> {
    let at = at.max(1); // 0 would stop it
    // SAFETY: `spec` is valid while the call lasts.
    unsafe {
        let mut spec: libc::itimerspec = zeroed();
        spec.it_value.tv_sec = (at / 1_000_000_000) as i64;
        spec.it_value.tv_nsec = (at % 1_000_000_000) as i64;
        let flags = libc::TFD_TIMER_ABSTIME;
        check(libc::timerfd_settime(timer.as_raw_fd(), flags, &raw const spec, null_mut())).map(drop)
    }
}

// ---------------------------------------------------------------- sockets

/// A socket that never blocks.
pub(crate) fn socket(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) })
}

/// A socket that blocks.
pub(crate) fn blocking_socket(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    // SAFETY: no arguments in memory.
    owned(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })
}

fn address(a: SocketAddrV4) -> libc::sockaddr_in {
    // SAFETY: all zeros are a valid address.
    let mut s: libc::sockaddr_in = unsafe { zeroed() };
    s.sin_family = libc::AF_INET as u16;
    s.sin_port = a.port().to_be();
    s.sin_addr.s_addr = u32::from(*a.ip()).to_be();
    s
}

const ADDRESS: u32 = size_of::<libc::sockaddr_in>() as u32;

/// Gives the socket its own address.
pub(crate) fn bind(fd: &OwnedFd, at: SocketAddrV4) -> Result<()> {
    let a = address(at);
    // SAFETY: `a` is an address of that length.
    check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const a).cast(), ADDRESS) }).map(drop)
}

/// Begins to connect.
pub(crate) fn connect(fd: &OwnedFd, to: SocketAddrV4) -> Result<()> {
    let a = address(to);
    // SAFETY: `a` is an address of that length.
    match check(unsafe { libc::connect(fd.as_raw_fd(), (&raw const a).cast(), ADDRESS) }) {
        Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        other => other.map(drop),
    }
}

/// Lets others connect.
pub(crate) fn listen(fd: &OwnedFd) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::listen(fd.as_raw_fd(), 64) }).map(drop)
}

/// Takes a connection, if one has come.
pub(crate) fn accept(fd: &OwnedFd) -> Result<Option<OwnedFd>> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: the peer's address isn't asked for.
    would_block(owned(unsafe { libc::accept4(fd.as_raw_fd(), null_mut(), null_mut(), flags) }))
}

fn would_block<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(e) => Err(e),
    }
}

/// Sends; None: no room now.
pub(crate) fn send(fd: &OwnedFd, data: &[u8]) -> Result<Option<usize>> {
    let flags = libc::MSG_NOSIGNAL;
    // SAFETY: `data` is valid for its length.
    let n = unsafe { libc::send(fd.as_raw_fd(), data.as_ptr().cast(), data.len(), flags) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Receives; None: nothing there now.
pub(crate) fn receive(fd: &OwnedFd, into: &mut [u8]) -> Result<Option<usize>> {
    // SAFETY: `into` is valid for its length.
    let n = unsafe { libc::recv(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Receives a datagram, with its sender.
pub(crate) fn receive_from(fd: &OwnedFd, into: &mut [u8]) -> Result<Option<(usize, SocketAddrV4)>> {
    // SAFETY: `into` and `from` are valid for the lengths given.
    unsafe {
        let mut from: libc::sockaddr_in = zeroed();
        let mut length = ADDRESS;
        let place = (&raw mut from).cast();
        let n =
            libc::recvfrom(fd.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), 0, place, &raw mut length);
        let sender = || {
            SocketAddrV4::new(Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr)), u16::from_be(from.sin_port))
        };
        would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok((n as usize, sender())) })
    }
}

/// Sends a datagram to an address.
pub(crate) fn send_to(fd: &OwnedFd, data: &[u8], to: SocketAddrV4) -> Result<()> {
    let a = address(to);
    // SAFETY: `data` and `a` are valid for their lengths.
    let n = unsafe {
        libc::sendto(fd.as_raw_fd(), data.as_ptr().cast(), data.len(), 0, (&raw const a).cast(), ADDRESS)
    };
    if n < 0 { Err(Error::last_os_error()) } else { Ok(()) }
}

/// Discards what has come in over TCP, up to `most` bytes, without copying it; None: nothing there now; 0: the peer
/// has closed.
pub(crate) fn discard(fd: &OwnedFd, most: usize) -> Result<Option<usize>> {
    // SAFETY: with MSG_TRUNC TCP writes nothing.
    let n = unsafe { libc::recv(fd.as_raw_fd(), null_mut(), most, libc::MSG_TRUNC) };
    would_block(if n < 0 { Err(Error::last_os_error()) } else { Ok(n as usize) })
}

/// Ends the sending direction.
pub(crate) fn shutdown(fd: &OwnedFd) -> Result<()> {
    // SAFETY: no arguments in memory.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Sets an option to a whole number.
pub(crate) fn set_option(fd: &OwnedFd, level: i32, option: i32, value: i32) -> Result<()> {
    set_option_bytes(fd, level, option, &value.to_ne_bytes())
}

/// Sets an option to the bytes of a structure or text.
pub(crate) fn set_option_bytes(fd: &OwnedFd, level: i32, option: i32, value: &[u8]) -> Result<()> {
    // SAFETY: `value` is valid for its length.
    check(unsafe {
        libc::setsockopt(fd.as_raw_fd(), level, option, value.as_ptr().cast(), value.len() as u32)
    })
    .map(drop)
}

/// Reads an option; gives how many bytes it has.
pub(crate) fn option(fd: &OwnedFd, level: i32, option: i32, into: &mut [u8]) -> Result<usize> {
    let mut length = into.len() as u32;
    // SAFETY: `into` is valid for `length`.
    check(unsafe {
        libc::getsockopt(fd.as_raw_fd(), level, option, into.as_mut_ptr().cast(), &raw mut length)
    })?;
    Ok(length as usize)
}

/// Switches one offload of an interface on or off; `command` is an `ETHTOOL_S...` number.
pub(crate) fn set_offload(fd: &OwnedFd, interface: &str, command: u32, on: bool) -> Result<()> {
    ethtool(fd, interface, command, on).map(drop)
}

/// Whether an offload of an interface is on; `command` is an `ETHTOOL_G...` number.
pub(crate) fn offload(fd: &OwnedFd, interface: &str, command: u32) -> Result<bool> {
    ethtool(fd, interface, command, false)
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

/// Asks the kernel to note when each datagram comes.
pub(crate) fn stamp(fd: &OwnedFd) -> Result<()> {
    set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)
}

/// Receives a datagram: its length, its sender and when it came, ns of the wall clock; None: nothing there now.
pub(crate) fn receive_stamped(
    fd: &OwnedFd,
    into: &mut [u8],
) -> Result<Option<(usize, SocketAddrV4, Option<u64>)>> {
    // SAFETY: all structures are valid for the lengths given, and aligned; the kernel's answer is read by its own macros.
    unsafe {
        let mut from: libc::sockaddr_in = zeroed();
        let mut control = [0u64; 16];
        let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        let mut message: libc::msghdr = zeroed();
        message.msg_name = (&raw mut from).cast();
        message.msg_namelen = ADDRESS;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of::<[u64; 16]>() as _;
        let n = libc::recvmsg(fd.as_raw_fd(), &raw mut message, 0);
        if n < 0 {
            return would_block(Err(Error::last_os_error()));
        }
        let mut came = None;
        let mut next = libc::CMSG_FIRSTHDR(&raw const message);
        while !next.is_null() {
            if (*next).cmsg_level == libc::SOL_SOCKET && (*next).cmsg_type == libc::SCM_TIMESTAMPNS {
                let t: libc::timespec = std::ptr::read_unaligned(libc::CMSG_DATA(next).cast());
                came = Some(t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64);
            }
            next = libc::CMSG_NXTHDR(&raw const message, next);
        }
        let sender = SocketAddrV4::new(
            Ipv4Addr::from(u32::from_be(from.sin_addr.s_addr)),
            u16::from_be(from.sin_port),
        );
        Ok(Some((n as usize, sender, came)))
    }
}

// ---------------------------------------------------------------- memory shared with the kernel

/// The ring of a packet socket.
pub(crate) struct Ring {
    base: *mut u8,
    length: usize,
}

impl Ring {
    /// Maps `length` bytes of `fd`'s ring.
    pub(crate) fn map(fd: &OwnedFd, length: usize) -> Result<Ring> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a fresh mapping, at an address that the kernel chooses.
        let base = unsafe { libc::mmap(null_mut(), length, protection, flags, fd.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        Ok(Ring { base: base.cast(), length })
    }

    /// The word at `at` that the kernel and we hand frames over by.
    pub(crate) fn status(&self, at: usize) -> u32 {
        assert!(at + 4 <= self.length && at.is_multiple_of(4));
        // SAFETY: inside the mapping and aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.base.add(at).cast()) }
            .load(std::sync::atomic::Ordering::Acquire)
    }

    /// Gives the frame at `at` back to the kernel.
    pub(crate) fn release(&self, at: usize) {
        assert!(at + 4 <= self.length && at.is_multiple_of(4));
        // SAFETY: inside the mapping and aligned.
        unsafe { std::sync::atomic::AtomicU32::from_ptr(self.base.add(at).cast()) }
            .store(0, std::sync::atomic::Ordering::Release);
    }

    /// The bytes of a frame that the kernel has handed over; it doesn't touch them until they are released.
    pub(crate) fn bytes(&self, at: usize, length: usize) -> &[u8] {
        assert!(at + length <= self.length);
        // SAFETY: inside the mapping, and ours while the status says so.
        unsafe { std::slice::from_raw_parts(self.base.add(at), length) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `map`.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}
