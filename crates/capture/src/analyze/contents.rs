//! Counts each frame under one name, so that the counts of a capture add up to its frames.

use std::collections::BTreeMap;
use std::fmt;

use crate::LinkType;
use crate::dissect::{Dissected, Named, Transport, Tunnel, Unread, ip_protocol};

/// The content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// TCP.
    Tcp,
    /// UDP, except tunnels.
    Udp,
    /// Another protocol over IP, by its number.
    Ip(u8),
    /// A protocol that is not IP.
    NotIp(Named),
    /// A link type that is not dissected.
    Link(u16),
    /// A tunnel that was not decapsulated.
    Tunnel(Tunnel),
    /// An encrypted 802.11 frame.
    Encrypted,
    /// A fragment of a datagram that was not complete at this frame.
    Fragment,
    /// The snap length cuts the headers.
    Cut,
    /// Inconsistent headers.
    Malformed,
    /// Outside the selected time.
    OtherTime,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp => f.write_str("TCP"),
            Self::Udp => f.write_str("UDP"),
            Self::Ip(number) => ip_protocol(*number).fmt(f),
            Self::NotIp(name) => name.fmt(f),
            Self::Link(number) => write!(f, "of link type {number} ({})", LinkType(*number).title()),
            Self::Tunnel(tunnel) => write!(f, "in {} not entered", tunnel.name()),
            Self::Encrypted => f.write_str("encrypted 802.11"),
            Self::Fragment => f.write_str("fragments of incomplete datagrams"),
            Self::Cut => f.write_str("cut before the transport header"),
            Self::Malformed => f.write_str("with inconsistent headers"),
            Self::OtherTime => f.write_str("outside the selected time"),
        }
    }
}

impl Content {
    fn of(link: LinkType, found: &Dissected<'_>) -> Self {
        match (&found.transport, found.tunnel) {
            (Transport::Tcp(_), _) => Self::Tcp,
            (Transport::Udp(_), _) => found.unentered.map_or(Self::Udp, Self::Tunnel),
            (Transport::Icmp { .. }, _) => {
                let v6 = found.ip.is_some_and(|ip| ip.addresses.src().is_ipv6());
                Self::Ip(if v6 { 58 } else { 1 })
            }
            (Transport::Other(number), _) => Self::Ip(*number),
            (Transport::None(why), tunnel) => match why {
                Unread::LinkType => Self::Link(link.0),
                Unread::NotIp(name) => Self::NotIp(*name),
                Unread::Encrypted => Self::Encrypted,
                Unread::Fragment => Self::Fragment,
                Unread::Tunnel => Self::Tunnel(found.unentered.or(tunnel).unwrap_or(Tunnel::Gre)),
                Unread::Cut => Self::Cut,
                Unread::Malformed => Self::Malformed,
            },
        }
    }
}

/// The counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    tcp: u64,
    udp: u64,
    others: BTreeMap<Content, u64>,
    entered: BTreeMap<Tunnel, u64>,
}

impl Contents {
    #[inline]
    pub(super) fn add(&mut self, link: LinkType, found: &Dissected<'_>) {
        match (&found.transport, found.tunnel) {
            (Transport::Tcp(_), None) => self.tcp += 1,
            (Transport::Udp(_), None) => self.udp += 1,
            _ => self.other(Content::of(link, found), found.tunnel),
        }
    }

    #[cold]
    fn other(&mut self, content: Content, tunnel: Option<Tunnel>) {
        *self.others.entry(content).or_default() += 1;
        if let Some(tunnel) = tunnel
            && !matches!(content, Content::Tunnel(_))
        {
            *self.entered.entry(tunnel).or_default() += 1;
        }
    }

    /// Counts a frame that was not dissected.
    pub(super) fn skip(&mut self) {
        *self.others.entry(Content::OtherTime).or_default() += 1;
    }

    /// The contents with their counts: TCP, UDP, then the others, the most frequent ones first.
    pub(super) fn counts(&self) -> Vec<(Content, u64)> {
        let more = |content| self.others.get(&content).copied().unwrap_or(0);
        let mut all: Vec<(Content, u64)> = self
            .others
            .iter()
            .map(|(content, count)| (*content, *count))
            .filter(|(content, _)| !matches!(content, Content::Tcp | Content::Udp))
            .collect();
        all.sort_by_key(|&(content, count)| (std::cmp::Reverse(count), content));
        let first = [(Content::Tcp, self.tcp + more(Content::Tcp)), (Content::Udp, self.udp + more(Content::Udp))];
        first.into_iter().filter(|(_, count)| *count > 0).chain(all).collect()
    }

    /// The tunnels that were entered, with the number of their frames.
    pub(super) fn entered(&self) -> Vec<(Tunnel, u64)> {
        self.entered.iter().map(|(tunnel, count)| (*tunnel, *count)).collect()
    }
}
