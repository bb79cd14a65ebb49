//! The first stage of the analysis: finds the stream of each dissected frame, as Wireshark numbers streams.
//!
//! TCP segments, also those quoted by ICMP errors, become events for [`connections`](super::connections); UDP datagrams
//! are counted here. The result depends on the order of the file, so one thread does this.

use super::connections::Event;
use super::contents::Contents;
use super::host_names::HostNames;
use super::hosts::Hosts;
use crate::Frame;
use crate::dissect::{Dissected, Ip, QuotedTransport, TcpView, Transport};
use crate::tcp::segment::Segment;
use crate::tcp::track::{Header, Key, Placed, Tracker};
use crate::udp::Conversations;

/// Finds the stream of each frame.
pub(crate) struct Dispatcher {
    pub(crate) tcp: Tracker,
    pub(crate) udp: Conversations,
    pub(crate) contents: Contents,
    /// IP conversations and names, if they are wanted.
    pub(crate) hosts: Option<Box<(Hosts, HostNames)>>,
}

impl Dispatcher {
    pub(crate) fn new(tcp: Tracker, udp: Conversations) -> Self {
        Self { tcp, udp, contents: Contents::default(), hosts: None }
    }

    /// Also collects IP conversations, up to a limit, and names of hosts.
    pub(crate) fn with_hosts(self, limit: usize) -> Self {
        Self { hosts: Some(Box::new((Hosts::new(limit), HostNames::default()))), ..self }
    }

    /// Finds the stream of a frame.
    #[inline]
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, found: &Dissected<'_>) -> Event {
        self.contents.add(frame.link, found);
        if let Some(outer) = &found.outer {
            self.udp.carrier(frame, outer);
        }
        if let Some(ip) = found.ip.as_ref() {
            if let Some(hosts) = &mut self.hosts {
                hosts.0.add(frame, ip);
                names(&mut hosts.1, ip, &found.transport);
            }
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

/// DNS and multicast DNS.
const DNS: [u16; 2] = [53, 5353];

/// Collects names from answers of DNS and from the first bytes of TLS clients.
#[inline]
fn names(names: &mut HostNames, ip: &Ip, transport: &Transport<'_>) {
    match transport {
        // A handshake record; a ClientHello is in the first segment with data.
        Transport::Tcp(tcp) if tcp.payload.first() == Some(&22) && tcp.payload.get(5) == Some(&1) => {
            names.tls(ip.addresses.dst(), tcp.payload);
        }
        Transport::Udp(udp) if DNS.contains(&udp.src_port) => names.dns(udp.payload),
        _ => {}
    }
}
