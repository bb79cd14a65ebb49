//! Names of addresses, from the capture itself: answers of DNS [RFC 1035 §4.1] and the server names of TLS and QUIC
//! connections [RFC 6066 §3].

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::quic::server_name;
use crate::table::{Table, column};

/// Most addresses with a name.
const MOST: usize = 100_000;
/// Most labels of a name.
const LABELS: usize = 128;

/// A name and its source.
#[derive(Clone, Debug)]
struct Name {
    name: String,
    source: &'static str,
}

/// The names; the first one of an address counts, and one of TLS or QUIC replaces one of DNS.
#[derive(Clone, Default)]
pub(crate) struct HostNames(BTreeMap<IpAddr, Name>);

impl HostNames {
    pub(super) fn insert(&mut self, address: IpAddr, name: &str, source: &'static str) {
        let full = self.0.len() >= MOST;
        match self.0.get_mut(&address) {
            Some(old) if old.source == "dns" && source != "dns" => *old = Name { name: name.to_owned(), source },
            None if !full && !name.is_empty() => {
                self.0.insert(address, Name { name: name.to_owned(), source });
            }
            _ => {}
        }
    }

    /// The first bytes that a client sends.
    #[cold]
    pub(super) fn tls(&mut self, server: IpAddr, payload: &[u8]) {
        // A handshake record with a ClientHello.
        if let [22, 3, _, _, _, hello @ ..] = payload
            && let Some(name) = server_name(hello)
        {
            self.insert(server, &name, "tls");
        }
    }

    /// A response of DNS: the addresses in it belong to the name in the question.
    #[cold]
    pub(super) fn dns(&mut self, payload: &[u8]) {
        let _ = self.answers(payload);
    }

    fn answers(&mut self, packet: &[u8]) -> Option<()> {
        let u16_at = |at: usize| Some(u16::from_be_bytes(*packet.get(at..)?.first_chunk::<2>()?));
        let (flags, questions, answers) = (u16_at(2)?, u16_at(4)?, u16_at(6)?);
        if flags & 0x8000 == 0 || questions != 1 {
            return None;
        }
        let (name, at) = read_name(packet, 12)?;
        let mut at = at + 4;
        for _ in 0..answers {
            let (_, end) = read_name(packet, at)?;
            let (kind, len) = (u16_at(end)?, usize::from(u16_at(end + 8)?));
            let data = packet.get(end + 10..end + 10 + len)?;
            match (kind, data.len()) {
                (1, 4) => {
                    let address = data.first_chunk::<4>().map(|a| Ipv4Addr::from(*a))?;
                    self.insert(address.into(), &name, "dns");
                }
                (28, 16) => {
                    let address = data.first_chunk::<16>().map(|a| Ipv6Addr::from(*a))?;
                    self.insert(address.into(), &name, "dns");
                }
                _ => {}
            }
            at = end + 10 + len;
        }
        Some(())
    }

    /// `names`: one row for each address.
    pub(super) fn table(&self) -> Table {
        let rows: Vec<(&IpAddr, &Name)> = self.0.iter().collect();
        Table::default()
            .with("address", column(&rows, |r| r.0.to_string()))
            .with("name", column(&rows, |r| r.1.name.clone()))
            .with("source", column(&rows, |r| r.1.source.to_owned()))
    }
}

/// The name at `at`, and the place after it. Compressed names point backwards; a limit of the labels ends loops.
fn read_name(packet: &[u8], at: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    let (mut at, mut end) = (at, None);
    for _ in 0..LABELS {
        let len = *packet.get(at)?;
        match len {
            0 => return Some((name, end.unwrap_or(at + 1))),
            0xc0.. => {
                end = end.or(Some(at + 2));
                at = usize::from(len & 0x3f) << 8 | usize::from(*packet.get(at + 1)?);
            }
            1..=63 => {
                let label = packet.get(at + 1..at + 1 + usize::from(len))?;
                if !name.is_empty() {
                    name.push('.');
                }
                name.extend(label.iter().map(|&b| if (0x21..0x7f).contains(&b) { char::from(b) } else { '?' }));
                at += 1 + usize::from(len);
            }
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_belong_to_the_name_in_the_question() {
        // www.example -> CNAME a.b (compressed) -> 192.0.2.7
        let mut packet = vec![0, 1, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0];
        packet.extend(b"\x03www\x07example\x00\x00\x01\x00\x01");
        packet.extend(b"\xc0\x0c\x00\x05\x00\x01\x00\x00\x00\x3c\x00\x05\x01a\x01b\x00");
        packet.extend(b"\xc0\x29\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xc0\x00\x02\x07");
        let mut names = HostNames::default();
        names.dns(&packet);
        assert_eq!(names.0.len(), 1);
        assert_eq!(names.0[&IpAddr::from([192, 0, 2, 7])].name, "www.example");
        // Cut anywhere, it causes no panic; a pointer to itself ends.
        (0..packet.len()).for_each(|end| HostNames::default().dns(&packet[..end]));
        packet[12] = 0xc0;
        packet[13] = 12;
        HostNames::default().dns(&packet);
    }
}
