//! IPv4 [RFC 791] and IPv6 [RFC 8200] datagrams: header, then reassembly or the transport header.

use super::fragments::{Fragment, Key};
use super::ip_header::{V4, V6, extension_len, read_v4, read_v6};
use super::slice::Slice;
use super::{Addresses, Dissected, Ip, Path, Unread, transport};

/// IPv4 or IPv6, by the version field.
#[inline]
pub(super) fn any<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    match at.u8(0).map(|b| b >> 4) {
        Some(4) => v4(path, at),
        Some(6) => v6(path, at),
        Some(_) => path.none(Unread::Malformed),
        None => path.none(Unread::Cut),
    }
}

/// An IPv4 datagram.
#[inline]
pub(super) fn v4<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let V4 { ip, protocol, body, fragment, complete } = match read_v4(at) {
        Ok(read) => read,
        Err(why) => return path.none(why),
    };
    let Some((offset, more)) = fragment else { return transport::dissect(path, ip, protocol, body, true) };
    let piece = Fragment { key: path.key(&ip, protocol), offset, more, protocol };
    piece_of(path, ip, piece, body, complete)
}

/// An IPv6 datagram.
pub(super) fn v6<'a>(path: Path<'a>, at: Slice<'a>) -> Dissected<'a> {
    let V6 { ip, protocol, body, fragment, complete } = match read_v6(at) {
        Ok(read) => read,
        Err((ip, why)) => return Dissected { ip: ip.or(path.outer), ..path.none(why) },
    };
    match fragment {
        None => transport::dissect(path, ip, protocol, body, true),
        Some((offset, more)) => {
            let piece = Fragment { key: path.key(&ip, 0), offset, more, protocol };
            piece_of(path, ip, piece, body, complete)
        }
    }
}

/// A fragment. Dissects the datagram if this fragment completes it. A fragment that the snap length cuts cannot be
/// reassembled; the first one then yields a transport header without a length.
#[cold]
fn piece_of<'a>(path: Path<'a>, ip: Ip, piece: Fragment, body: Slice<'a>, complete: bool) -> Dissected<'a> {
    let waiting = Dissected { ip: Some(ip), ..path.none(Unread::Fragment) };
    if !complete {
        return match piece.offset {
            0 => transport::dissect(path, ip, piece.protocol, body, false),
            _ => waiting,
        };
    }
    let Path { fragments, depth, .. } = path;
    let Some(fragments) = fragments else { return waiting };
    let Some((protocol, datagram)) = fragments.add(&piece, body.data) else { return waiting };
    let header = ip.len.saturating_sub(body.len as u32);
    let ip = Ip { reassembled: true, len: header + datagram.len() as u32, ..ip };
    // The datagram borrows the memory of the fragments, so fragments inside it cannot be reassembled.
    let path = Path { fragments: None, depth, ..path };
    let whole = Slice::new(datagram, datagram.len());
    if matches!(ip.addresses, Addresses::V4 { .. }) {
        return transport::dissect(path, ip, protocol, whole, true);
    }
    let (mut protocol, mut whole) = (protocol, whole);
    while let Some(Ok(len)) = extension_len(protocol, whole) {
        protocol = whole.data[0];
        whole = whole.after(len);
    }
    transport::dissect(path, ip, protocol, whole, true)
}

impl Path<'_> {
    /// The key that the fragments of one datagram share.
    fn key(&self, ip: &Ip, protocol: u8) -> Key {
        // The same private addresses may be in use on several VLANs.
        let local = match ip.addresses {
            Addresses::V4 { src, dst } => [src, dst].iter().any(|a| a.is_private() || a.is_link_local()),
            Addresses::V6 { .. } => false,
        };
        let vlan = if local { self.vlan } else { 0 };
        Key { addresses: ip.addresses, id: ip.id.unwrap_or(0), protocol, vlan }
    }
}
