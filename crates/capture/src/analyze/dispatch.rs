//! The first stage of the analysis: finds the stream of each dissected frame, as Wireshark numbers streams.
//!
//! TCP segments, also those quoted by ICMP errors, become events for [`connections`](super::connections); UDP datagrams
//! are counted here. The result depends on the order of the file, so one thread does this.

use super::connections::Event;
use crate::Frame;
use crate::dissect::{Dissected, Ip, QuotedTransport, TcpView, Transport, Unread};
use crate::tcp::segment::Segment;
use crate::tcp::track::{Header, Key, Placed, Tracker};
use crate::udp::Conversations;

/// Finds the stream of each frame.
pub(crate) struct Dispatcher {
    pub(crate) tcp: Tracker,
    pub(crate) udp: Conversations,
    /// Frames without a readable transport header, by reason.
    unread: [u64; 8],
}

impl Dispatcher {
    pub(crate) fn new(tcp: Tracker, udp: Conversations) -> Self {
        Self { tcp, udp, unread: [0; 8] }
    }

    /// Number of frames that were not read for this reason.
    pub(crate) fn unread(&self, why: Unread) -> u64 {
        self.unread[why as usize]
    }

    /// Finds the stream of a frame.
    #[inline]
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>) -> Event {
        if let Transport::None(why) = found.transport {
            self.unread[why as usize] += 1;
        } else if let Some(ip) = found.ip.as_ref() {
            match &found.transport {
                Transport::Tcp(tcp) => {
                    let placed = self.place(ip, tcp);
                    return self.event(placed, Segment::new(frame, ip, tcp));
                }
                Transport::Icmp { quoted: Some(quoted), .. } => {
                    if let QuotedTransport::Tcp(tcp) = &quoted.transport {
                        let mut segment = Segment::new(frame, &quoted.ip, tcp);
                        segment.quoted = true;
                        let placed = self.place(&quoted.ip, tcp);
                        return self.event(placed, segment);
                    }
                }
                Transport::Udp(udp) => {
                    self.udp.datagram(frame, ip, udp);
                }
                _ => {}
            }
        }
        Event::Other { time: frame.time.unwrap_or(0), len: frame.len }
    }

    /// Finds the stream of a segment.
    #[inline]
    pub(crate) fn place(&mut self, ip: &Ip, tcp: &TcpView<'_>) -> Placed {
        let (key, from_low) = Key::new(&ip.addresses, tcp.src_port, tcp.dst_port);
        let header = Header { seq: tcp.seq, ack: tcp.ack, flags: tcp.flags, analyzed: tcp.len.is_some() };
        self.tcp.place(key, from_low, header)
    }

    #[inline]
    fn event(&self, placed: Placed, segment: Segment) -> Event {
        let ends = placed.fresh.then(|| self.tcp.endpoints(placed.slot));
        Event::Tcp { placed, segment, ends }
    }
}
