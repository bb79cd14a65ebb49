//! The TLS ClientHello [RFC 8446 §4.1.2] in the CRYPTO frames of Initial packets: server name and ALPN.

use super::header::varint;

/// Most bytes of a ClientHello (with post-quantum keys it has 2 KiB); longer ones are not read.
const MOST: usize = 16 * 1024;

/// Collects the client's CRYPTO data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hello {
    data: Vec<u8>,
    /// Start and end of the received parts, sorted.
    have: Vec<(usize, usize)>,
}

/// Fields of a ClientHello.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientHello {
    pub(crate) sni: Option<String>,
    pub(crate) alpn: Vec<String>,
}

impl Hello {
    /// Adds the CRYPTO frames among `frames`. Returns the ClientHello when it is complete.
    pub(crate) fn take(&mut self, frames: &[u8]) -> Option<ClientHello> {
        let mut at = 0;
        while at < frames.len() {
            match frames[at] {
                0 | 1 => at += 1,
                2 | 3 => at = skip_ack(frames, at)?,
                6 => {
                    let (offset, n) = varint(frames, at + 1)?;
                    let (len, m) = varint(frames, at + 1 + n)?;
                    let from = at + 1 + n + m;
                    let len = usize::try_from(len).ok()?;
                    let data = frames.get(from..from.checked_add(len)?)?;
                    self.put(usize::try_from(offset).ok()?, data);
                    at = from + len;
                }
                _ => break,
            }
        }
        let (0, end) = *self.have.first()? else { return None };
        client_hello(&self.data[..end])
    }

    fn put(&mut self, offset: usize, data: &[u8]) {
        let Some(end) = offset.checked_add(data.len()).filter(|&end| end <= MOST) else { return };
        if self.data.len() < end {
            self.data.resize(end, 0);
        }
        self.data[offset..end].copy_from_slice(data);
        self.have.push((offset, end));
        self.have.sort_unstable();
        self.have.dedup_by(|later, before| {
            let joins = later.0 <= before.1;
            if joins {
                before.1 = before.1.max(later.1);
            }
            joins
        });
        self.have.truncate(64);
    }
}

fn skip_ack(frames: &[u8], at: usize) -> Option<usize> {
    let ecn = frames[at] == 3;
    let mut at = at + 1;
    let mut next = || {
        let (value, len) = varint(frames, at)?;
        at += len;
        Some(value)
    };
    next()?;
    next()?;
    let ranges = next()?;
    next()?;
    for _ in 0..ranges {
        next()?;
        next()?;
    }
    for _ in 0..if ecn { 3 } else { 0 } {
        next()?;
    }
    Some(at)
}

/// A cursor over the vectors of TLS.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    fn u8(&mut self) -> Option<usize> {
        Some(usize::from(self.take(1)?[0]))
    }

    fn u16(&mut self) -> Option<usize> {
        let b = self.take(2)?;
        Some(usize::from(u16::from_be_bytes([b[0], b[1]])))
    }
}

/// The server name in a ClientHello, of which the first part may suffice.
pub(crate) fn server_name(data: &[u8]) -> Option<String> {
    let mut c = Cursor(data);
    if c.u8()? != 1 {
        return None;
    }
    c.take(3 + 2 + 32)?;
    let session = c.u8()?;
    c.take(session)?;
    let ciphers = c.u16()?;
    c.take(ciphers)?;
    let compression = c.u8()?;
    c.take(compression + 2)?;
    while let (Some(kind), Some(len)) = (c.u16(), c.u16()) {
        let mut body = Cursor(c.take(len)?);
        if kind == 0 {
            body.u16()?;
            return if body.u8()? == 0 {
                let len = body.u16()?;
                Some(text(body.take(len)?))
            } else {
                None
            };
        }
    }
    None
}

fn client_hello(data: &[u8]) -> Option<ClientHello> {
    let mut c = Cursor(data);
    if c.u8()? != 1 {
        return None;
    }
    let high = c.u8()?;
    let len = high << 16 | c.u16()?;
    let mut c = Cursor(c.take(len)?);
    c.take(2 + 32)?;
    let session = c.u8()?;
    c.take(session)?;
    let ciphers = c.u16()?;
    c.take(ciphers)?;
    let compression = c.u8()?;
    c.take(compression)?;
    let extensions = c.u16()?;
    let mut c = Cursor(c.take(extensions)?);
    let mut hello_fields = ClientHello::default();
    while let (Some(kind), Some(len)) = (c.u16(), c.u16()) {
        let mut body = Cursor(c.take(len)?);
        match kind {
            0 => {
                body.u16()?;
                if body.u8()? == 0 {
                    let len = body.u16()?;
                    hello_fields.sni = Some(text(body.take(len)?));
                }
            }
            16 => {
                body.u16()?;
                while let Some(len) = body.u8() {
                    hello_fields.alpn.push(text(body.take(len)?));
                }
            }
            _ => {}
        }
    }
    Some(hello_fields)
}

/// Printable characters; anything else becomes a question mark.
fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| if (0x20..0x7f).contains(&b) { char::from(b) } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ClientHello: SNI "a.example", ALPN "h3".
    fn example() -> Vec<u8> {
        let sni = [&[0, 0, 0, 14, 0, 12, 0, 0, 9][..], b"a.example"].concat();
        let alpn = [&[0, 16, 0, 5, 0, 3, 2][..], b"h3"].concat();
        let extensions = [sni, alpn].concat();
        let mut body = vec![3, 3];
        body.extend([0; 32]);
        body.extend([0, 0, 2, 0x13, 1, 1, 0]);
        body.extend((extensions.len() as u16).to_be_bytes());
        body.extend(&extensions);
        let mut hello = vec![1, 0, 0, body.len() as u8];
        hello.extend(&body);
        hello
    }

    /// CRYPTO frames are encrypted, so mutants of packets never reach this code.
    /// `FUZZ_MUTANTS=1000000000 cargo test --release -p dumbbell-capture mutants_of_frames` tries more.
    #[test]
    fn mutants_of_frames_are_read_or_refused() {
        let crypto = |offset: u8, data: &[u8]| [&[6, offset, data.len() as u8][..], data].concat();
        let (example, ack) = (example(), [3, 9, 0, 1, 0, 0, 1, 1, 1, 1]);
        let (a, b) = example.split_at(40);
        let whole = [&ack[..], &[0, 1], &crypto(40, b), &crypto(0, a)].concat();
        let wanted = std::env::var("FUZZ_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(30_000u64);
        let mut state = 1u64; // Knuth's MMIX generator
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let (mut kept, mut read) = (Hello::default(), 0);
        for _ in 0..wanted {
            let mut frames = whole.clone();
            for _ in 0..=draw(3) {
                let at = draw(frames.len());
                match draw(5) {
                    0 => frames[at] = draw(256) as u8,
                    1 => frames[at] ^= 1 << draw(8),
                    2 => frames.truncate(at + 1),
                    3 => frames.insert(at, [0, 6, 0xff, 0x40, 0x80][draw(5)]),
                    _ => {
                        frames.remove(at);
                    }
                }
                if frames.is_empty() {
                    frames.push(6);
                }
            }
            if draw(8) == 0 {
                kept = Hello::default();
            }
            if let Some(hello) = kept.take(&frames) {
                assert!(hello.sni.iter().chain(&hello.alpn).all(|name| name.len() <= MOST && name.is_ascii()));
                read += 1;
            }
            assert!(kept.data.len() <= MOST && kept.have.len() <= 64 && kept.have.is_sorted());
            let _ = server_name(&frames[draw(frames.len())..]);
        }
        assert!(read > wanted / 30, "{read} of {wanted} mutants were read");
    }

    #[test]
    fn a_client_hello_in_frames_out_of_order_is_reassembled() {
        let hello = example();
        let (a, b) = hello.split_at(40);
        assert_eq!(server_name(&hello[..70]), Some("a.example".into()));
        assert_eq!(server_name(&hello[..60]), None);
        let frame = |offset: u8, data: &[u8]| [&[6, offset, data.len() as u8][..], data].concat();
        let mut h = Hello::default();
        assert_eq!(h.take(&frame(40, b)), None);
        // PADDING, PING, then the remaining bytes.
        let hello_fields = h.take(&[&[0, 0, 1][..], &frame(0, a)].concat()).unwrap();
        assert_eq!(hello_fields, ClientHello { sni: Some("a.example".into()), alpn: vec!["h3".into()] });
    }
}
