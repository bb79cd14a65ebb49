//! From a dissected frame to the place of its connection.

use crate::dissect::{Dissected, Flags, QuotedTransport, Transport};
use crate::tcp::segment::Segment;
use crate::tcp::track::{Header, Key, Placed, Tracker};
use crate::Frame;

/// What the back of the analysis is given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A segment, or one quoted by ICMP.
    Tcp(Placed, Segment),
}

/// Finds connections; file order matters here, so this part is one thread's.
pub(crate) struct Front {
    pub(crate) tcp: Tracker,
}

impl Front {
    #[inline]
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>) -> Option<Event> {
        let ip = found.ip.as_ref()?;
        match &found.transport {
            Transport::Tcp(tcp) => {
                let (key, from_low) = Key::new(&ip.addresses, tcp.src_port, tcp.dst_port);
                let placed = self.tcp.place(key, from_low, header(tcp.seq, tcp.ack, tcp.flags));
                Some(Event::Tcp(placed, Segment::new(frame, ip, tcp)))
            }
            Transport::Icmp { quoted: Some(quoted), .. } => match &quoted.transport {
                QuotedTransport::Tcp(tcp) => {
                    let (key, from_low) = Key::new(&quoted.ip.addresses, tcp.src_port, tcp.dst_port);
                    let placed = self.tcp.place(key, from_low, header(tcp.seq, tcp.ack, tcp.flags));
                    let mut segment = Segment::new(frame, &quoted.ip, tcp);
                    segment.quoted = true;
                    Some(Event::Tcp(placed, segment))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

#[inline]
fn header(seq: u32, ack: u32, flags: Flags) -> Header {
    Header { seq, ack, flags }
}
