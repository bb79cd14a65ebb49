//! The UDP header.

use super::slice::Slice;

/// A UDP datagram.
#[derive(Clone, Copy, Debug)]
pub struct UdpView<'a> {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Payload bytes by the headers. `None` in an IP fragment that wasn't reassembled.
    pub len: Option<u32>,
    /// The captured part of the payload.
    pub payload: &'a [u8],
}

/// Bytes of the header.
pub(super) const HEADER: usize = 8;

/// Reads the header at the begin of an IP payload; `None` if the capture ends inside of it. `whole`: the payload isn't
/// a lone fragment.
pub(super) fn parse(at: Slice<'_>, whole: bool) -> Option<UdpView<'_>> {
    let header = at.data.first_chunk::<HEADER>()?;
    let said = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let body = at.after(HEADER);
    let body = if said >= HEADER { body.cut(said - HEADER) } else { body };
    Some(UdpView {
        src_port: u16::from_be_bytes([header[0], header[1]]),
        dst_port: u16::from_be_bytes([header[2], header[3]]),
        len: whole.then_some(body.len as u32),
        payload: body.data,
    })
}
