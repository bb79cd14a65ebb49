//! A tap: a packet socket on all interfaces of a namespace. The kernel writes the headers of all packets, with
//! timestamps, to a ring [packet(7), Linux Documentation/networking/packet_mmap.rst].

use crate::error::{KernelError, Step};
use crate::meter::packet::{Packet, fill_checksum};
use crate::netlink::head;
use crate::plan::memory::FRAME;
use crate::sys::{self, Ring};
use std::os::fd::OwnedFd;

const BLOCK_BYTES: usize = 1 << 16;

// [Linux if_packet.h].
const PACKET_RX_RING: i32 = 5;
const PACKET_STATISTICS: i32 = 6;
const PACKET_VERSION: i32 = 10;
const TPACKET_V2: i32 = 1;
const TP_STATUS_USER: u32 = 1;
/// The checksum isn't computed yet: the interface would do it.
const TP_STATUS_CSUMNOTREADY: u32 = 1 << 3;
/// Offsets of the fields of `tpacket2_hdr`, and of the `sockaddr_ll` after it.
const TP_SNAPLEN: usize = 8;
const TP_NET: usize = 14;
const TP_SEC: usize = 16;
const SLL_IFINDEX: usize = 36;
const SLL_PKTTYPE: usize = 42;
const PACKET_OUTGOING: u8 = 4;

/// A packet that passed an interface.
#[derive(Clone, Debug)]
pub(crate) struct TappedPacket {
    /// Wall clock, ns.
    pub(crate) time: u64,
    /// The interface.
    pub(crate) index: u32,
    /// True for an outgoing packet.
    pub(crate) out: bool,
    pub(crate) packet: Packet,
    /// Its first bytes, if it arrived at an interface of [`Tap::keep_heads`].
    pub(crate) head: Option<Box<[u8]>>,
}

/// Returns the headers of a packet, with the checksum filled in if `fill`; the packet's other bytes are zeros.
fn whole(bytes: &[u8], fill: bool) -> Box<[u8]> {
    let mut head: Box<[u8]> = bytes.into();
    if fill {
        fill_checksum(&mut head);
    }
    head
}

/// See the top of this file.
pub(crate) struct Tap {
    fd: OwnedFd,
    ring: Ring,
    frames: usize,
    next: usize,
    heads_of: Vec<u32>,
}

impl Tap {
    /// Makes a tap of the current namespace, with a ring of at least `frames` packets.
    pub(crate) fn new(frames: usize) -> Result<Tap, KernelError> {
        let all = i32::from((libc::ETH_P_ALL as u16).to_be());
        let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, all).step(|| "packet socket".into())?;
        let blocks = frames.div_ceil(BLOCK_BYTES / FRAME).max(1);
        let frames = blocks * (BLOCK_BYTES / FRAME);
        let size: Vec<u8> =
            [BLOCK_BYTES, blocks, FRAME, frames].iter().flat_map(|n| (*n as u32).to_ne_bytes()).collect();
        let ring = sys::set_option(&fd, libc::SOL_PACKET, PACKET_VERSION, TPACKET_V2)
            .and_then(|()| sys::set_option_bytes(&fd, libc::SOL_PACKET, PACKET_RX_RING, &size))
            .and_then(|()| Ring::map(&fd, blocks * BLOCK_BYTES))
            .step(|| "packet ring".into())?;
        Ok(Tap { fd, ring, frames, next: 0, heads_of: Vec::new() })
    }

    /// Keeps the headers of packets that arrive at this interface.
    pub(crate) fn keep_heads(&mut self, index: u32) {
        self.heads_of.push(index);
    }

    /// Appends all packets since the last call.
    pub(crate) fn drain(&mut self, into: &mut Vec<TappedPacket>) {
        loop {
            let at = self.next * FRAME;
            if self.ring.status(at) & TP_STATUS_USER == 0 {
                return;
            }
            let frame = self.ring.bytes(at, FRAME);
            let network = usize::from(u16::from_ne_bytes(head(&frame[TP_NET..])));
            let captured = u32::from_ne_bytes(head(&frame[TP_SNAPLEN..])) as usize;
            let end = (network + captured).min(FRAME);
            let bytes = frame.get(network..end).unwrap_or(&[]);
            if let Some(packet) = Packet::read(bytes) {
                let seconds = u32::from_ne_bytes(head(&frame[TP_SEC..]));
                let rest = u32::from_ne_bytes(head(&frame[TP_SEC + 4..]));
                let index = u32::from_ne_bytes(head(&frame[SLL_IFINDEX..]));
                let out = frame[SLL_PKTTYPE] == PACKET_OUTGOING;
                let kept = !out && self.heads_of.contains(&index);
                into.push(TappedPacket {
                    time: u64::from(seconds) * 1_000_000_000 + u64::from(rest),
                    index,
                    out,
                    packet,
                    head: kept.then(|| {
                        // Bytes of the frame beyond the packet are those of earlier packets.
                        let bytes = &bytes[..bytes.len().min(packet.bytes as usize)];
                        whole(bytes, self.ring.status(at) & TP_STATUS_CSUMNOTREADY != 0)
                    }),
                });
            }
            self.ring.release(at);
            self.next = (self.next + 1) % self.frames;
        }
    }

    /// Returns the packets lost since the last call because the ring was full (`tp_drops`).
    pub(crate) fn missed(&self) -> Result<u32, KernelError> {
        let mut counts = [0; 8];
        sys::option(&self.fd, libc::SOL_PACKET, PACKET_STATISTICS, &mut counts).step(|| "packet statistics".into())?;
        Ok(u32::from_ne_bytes(head(&counts[4..])))
    }
}
