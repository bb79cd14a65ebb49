//! Netlink messages, and the socket that carries them [netlink(7); Linux netlink.h nlmsghdr nlattr].

use crate::error::{KernelError, Step};
use crate::sys;
use std::io::Error;
use std::os::fd::OwnedFd;

/// Size of `nlmsghdr`, bytes.
const NLMSG_HDRLEN: usize = 16;
/// Flag of attributes that contain attributes.
const NLA_F_NESTED: u16 = 0x8000;
/// The type of an attribute without its flags.
const NLA_TYPE_MASK: u16 = 0x3fff;

/// A message: `nlmsghdr`, a structure of its type, attributes.
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Begins a message; `fixed` is the structure that follows the header.
    pub(super) fn new(kind: u16, flags: i32, fixed: &[u8]) -> Message {
        let mut bytes = vec![0; 4]; // the length, set when it is sent
        bytes.extend(kind.to_ne_bytes());
        bytes.extend((flags as u16).to_ne_bytes());
        bytes.extend([0; 8]);
        bytes.extend(fixed);
        Message(bytes)
    }

    /// Adds an attribute.
    pub(super) fn attribute(mut self, kind: u16, value: &[u8]) -> Message {
        self.0.extend((4 + value.len() as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.pad();
        self
    }

    /// Adds an attribute with a 32-bit number.
    pub(super) fn number(self, kind: u16, value: u32) -> Message {
        self.attribute(kind, &value.to_ne_bytes())
    }

    /// Adds an attribute with a zero-terminated string.
    pub(super) fn text(self, kind: u16, value: &str) -> Message {
        self.attribute(kind, &[value.as_bytes(), &[0]].concat())
    }

    /// Adds an attribute that contains attributes.
    pub(super) fn nested(mut self, kind: u16, fill: impl FnOnce(Message) -> Message) -> Message {
        let start = self.0.len();
        self.0.extend([0; 4]);
        let mut filled = fill(self);
        let length = (filled.0.len() - start) as u16;
        filled.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        filled.0[start + 2..start + 4].copy_from_slice(&(kind | NLA_F_NESTED).to_ne_bytes());
        filled
    }

    /// Adds a structure before nested attributes.
    pub(super) fn raw(mut self, bytes: &[u8]) -> Message {
        self.0.extend(bytes);
        self.pad();
        self
    }

    fn pad(&mut self) {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }
}

/// A netlink socket of one namespace.
pub(crate) struct Netlink {
    fd: OwnedFd,
}

impl Netlink {
    /// Opens an rtnetlink socket of the current namespace.
    pub(crate) fn new() -> Result<Netlink, KernelError> {
        Netlink::open(libc::NETLINK_ROUTE)
    }

    /// Opens a sock_diag socket of the current namespace.
    pub(crate) fn sock_diag() -> Result<Netlink, KernelError> {
        Netlink::open(libc::NETLINK_SOCK_DIAG)
    }

    fn open(protocol: i32) -> Result<Netlink, KernelError> {
        let fd = sys::blocking_socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol).step(|| "netlink socket".into())?;
        Ok(Netlink { fd })
    }

    /// Sends a request and waits for its acknowledgment.
    pub(super) fn request(&self, message: Message, what: impl Fn() -> String) -> Result<(), KernelError> {
        self.attempt(message).step(what)
    }

    /// Sends a request and waits for its acknowledgment; the error is the kernel's, without a step.
    pub(super) fn attempt(&self, message: Message) -> std::io::Result<()> {
        self.send(message)?;
        let mut failed = Ok(());
        self.replies(|kind, body| {
            if kind == libc::NLMSG_ERROR as u16 {
                let code = i32::from_ne_bytes(head(body));
                if code != 0 {
                    failed = Err(Error::from_raw_os_error(-code));
                }
                return false;
            }
            true
        })
        .and(failed)
    }

    /// Sends a request for one thing, and returns the body of the reply.
    pub(super) fn get(&self, message: Message) -> std::io::Result<Vec<u8>> {
        self.send(message)?;
        let mut found = Ok(Vec::new());
        self.replies(|kind, body| {
            found = if kind == libc::NLMSG_ERROR as u16 {
                Err(Error::from_raw_os_error(-i32::from_ne_bytes(head(body))))
            } else {
                Ok(body.to_vec())
            };
            false
        })
        .and(found)
    }

    /// Sends a dump request; `each` is called with the body of every reply.
    pub(super) fn dump(
        &self,
        message: Message,
        what: impl Fn() -> String,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), KernelError> {
        self.send(message).step(&what)?;
        let mut failed = Ok(());
        self.replies(|kind, body| match i32::from(kind) {
            libc::NLMSG_DONE => false,
            libc::NLMSG_ERROR => {
                failed = Err(Error::from_raw_os_error(-i32::from_ne_bytes(head(body))));
                false
            }
            _ => {
                each(body);
                true
            }
        })
        .and(failed)
        .step(what)
    }

    fn send(&self, mut message: Message) -> std::io::Result<()> {
        let length = message.0.len() as u32;
        message.0[..4].copy_from_slice(&length.to_ne_bytes());
        sys::send(&self.fd, &message.0).map(drop)
    }

    /// Passes replies to `more` until it returns false.
    fn replies(&self, mut more: impl FnMut(u16, &[u8]) -> bool) -> std::io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let n = sys::receive(&self.fd, &mut buffer)?.unwrap_or(0);
            let mut rest = &buffer[..n];
            while rest.len() >= NLMSG_HDRLEN {
                let length = (u32::from_ne_bytes(head(rest)) as usize).clamp(NLMSG_HDRLEN, rest.len());
                let kind = u16::from_ne_bytes(head(&rest[4..]));
                if !more(kind, &rest[NLMSG_HDRLEN..length]) {
                    return Ok(());
                }
                rest = &rest[length.next_multiple_of(4).min(rest.len())..];
            }
        }
    }
}

/// Returns the first bytes of a slice, padded with zeros.
pub(crate) fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let n = N.min(bytes.len());
    out[..n].copy_from_slice(&bytes[..n]);
    out
}

/// Iterates over the attributes in `bytes`: type and value.
pub(super) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        if bytes.len() < 4 {
            return None;
        }
        let length = (u16::from_ne_bytes(head(bytes)) as usize).clamp(4, bytes.len());
        let kind = u16::from_ne_bytes(head(&bytes[2..])) & NLA_TYPE_MASK;
        let value = &bytes[4..length];
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
        Some((kind, value))
    })
}
