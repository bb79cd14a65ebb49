//! Writes a synthetic capture of many short connections: for measuring speed and memory of the analysis.
//!
//!     cargo run --release -p dumbbell-capture --example many_connections -- FILE [CONNECTIONS] [OPEN] [close]
//!
//! `OPEN` connections are open at once; their packets alternate. Each has a handshake, a request of 300 bytes, a
//! response of two segments, and, with `close`, a FIN of both sides. Captured at the client, whose round-trip time is
//! 20 ms.

use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use dumbbell_pcap::{IpFields, LinkType, PcapWriter, Segment, ethernet};
use dumbbell_units::Time;
use dumbbell_wire::{Seq, TcpFlags, TcpOptions};

const ACK: TcpFlags = TcpFlags::ACK;
const SYN: TcpFlags = TcpFlags::SYN;
const FIN: TcpFlags = TcpFlags::FIN;

/// The packets of a connection: from the client, flags, payload, sequence and acknowledgment number from the first one.
const SCRIPT: [(bool, TcpFlags, u32, u32, u32); 12] = [
    (true, SYN, 0, 0, 0),
    (false, TcpFlags::SYN, 0, 0, 1),
    (true, ACK, 0, 1, 1),
    (true, ACK, 300, 1, 1),
    (false, ACK, 0, 1, 301),
    (false, ACK, 1448, 1, 301),
    (false, ACK, 700, 1449, 301),
    (true, ACK, 0, 301, 2149),
    (true, FIN, 0, 301, 2149),
    (false, ACK, 0, 2149, 302),
    (false, FIN, 0, 2149, 302),
    (true, ACK, 0, 302, 2150),
];
/// Packets without those that close the connection.
const OPEN: usize = 8;

/// The `step`-th packet of connection `n`.
fn packet(n: u64, step: usize, clock: u32) -> Segment {
    let (client, flags, payload, seq, ack) = SCRIPT[step];
    let host = Ipv4Addr::from(0x0a00_0000 + (n / 50_000) as u32 + 1);
    let near = SocketAddr::new(IpAddr::V4(host), 10_000 + (n % 50_000) as u16);
    let far = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 168, (n % 7) as u8, 1)), 443);
    let mix = (n as u32).wrapping_mul(0x9e37_79b9);
    let isn = [mix, mix.rotate_left(16) ^ 0x5555];
    let own = usize::from(!client);
    let begins = flags == SYN;
    let options = if begins {
        TcpOptions { mss: Some(1460), wscale: Some(7), sack_permitted: true, ..TcpOptions::default() }
    } else {
        TcpOptions::default()
    };
    Segment {
        from: if client { near } else { far },
        to: if client { far } else { near },
        ip: IpFields { id: step as u16 + 1, ..IpFields::default() },
        seq: Seq(isn[own].wrapping_add(seq)),
        ack: if begins && client { Seq(0) } else { Seq(isn[1 - own].wrapping_add(ack)) },
        flags: if begins && client { SYN } else { flags | ACK },
        window: 502,
        options: TcpOptions { timestamps: Some((clock, if begins && client { 0 } else { clock })), ..options },
        aligned: false,
        payload,
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else {
        eprintln!("usage: many_connections FILE [CONNECTIONS] [OPEN] [close]");
        std::process::exit(2);
    };
    let number = |i: usize, default: u64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (connections, open) = (number(1, 200_000), number(2, 200_000).max(1));
    let steps = if arguments.iter().any(|a| a == "close") { SCRIPT.len() } else { OPEN };
    let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut file = PcapWriter::new(file, LinkType::ETHERNET, 262_144)?;
    let (mut time, mut bytes) = (1_700_000_000_000_000_000_u64, Vec::new());
    let mut first = 0;
    while first < connections {
        let end = (first + open).min(connections);
        for step in 0..steps {
            for n in first..end {
                bytes.clear();
                let segment = packet(n, step, (time / 1_000_000) as u32);
                let len = segment.write(&mut bytes, 96) + 14;
                ethernet(&mut bytes, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
                file.frame(Time(time), len, &bytes)?;
                time += 2_000;
            }
            time += 10_000_000;
        }
        first = end;
    }
    file.finish()?;
    Ok(())
}
