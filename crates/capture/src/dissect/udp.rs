//! The UDP header in a frame [RFC 768].

use dumbbell_wire::UdpHeader;

use super::slice::Slice;

/// A UDP datagram.
#[derive(Clone, Copy, Debug)]
pub struct UdpView<'a> {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Payload bytes according to the headers. `None` in an IP fragment that wasn't reassembled.
    pub len: Option<u32>,
    /// The captured part of the payload.
    pub payload: &'a [u8],
}

/// Reads the header at the start of an IP payload; `None` if the capture ends inside of it. `whole`: the payload isn't
/// a lone fragment.
pub(super) fn parse(at: Slice<'_>, whole: bool) -> Option<UdpView<'_>> {
    let header = UdpHeader::new(at.data)?;
    let len = usize::from(header.len_field());
    let body = at.after(UdpHeader::LEN);
    let body = if len >= UdpHeader::LEN { body.cut(len - UdpHeader::LEN) } else { body };
    Some(UdpView {
        src_port: header.src_port(),
        dst_port: header.dst_port(),
        len: whole.then_some(body.len as u32),
        payload: body.data,
    })
}
