//! Writes a synthetic capture of bulk transfers: for measuring the speed of the analysis.
//!
//!     cargo run --release -p dumbbell-capture --example bulk_capture -- FILE [PACKETS] [FLOWS]
//!
//! Captured at the sender. Each ACK releases two segments; one segment in a thousand is lost and recovered by SACK.

use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use dumbbell_pcap::{IpFields, LinkType, PcapWriter, Segment, ethernet};
use dumbbell_units::Time;
use dumbbell_wire::{Seq, TcpFlags, TcpOptions};

const MSS: u32 = 1448;
/// Segments in flight.
const WINDOW: u64 = 400;
/// Between two events of the same flow, ns.
const STEP: u64 = 20_000;

/// A transfer; segments are numbered from 0.
struct Flow {
    ends: [SocketAddr; 2],
    isn: [u32; 2],
    sent: u64,
    /// All segments before it have arrived.
    arrived: u64,
    /// Number of the lost segment, until it is recovered.
    lost: Option<u64>,
    /// Segments that arrived after the lost one.
    beyond: u64,
    id: u16,
    clock: u32,
}

struct Out {
    file: PcapWriter<BufWriter<File>>,
    packet: Vec<u8>,
    time: u64,
    packets: u64,
}

impl Out {
    fn put(&mut self, s: &Segment, from_client: bool) -> io::Result<()> {
        self.packet.clear();
        let len = s.write(&mut self.packet, 65_535) + 14;
        let macs = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
        let (from, to) = if from_client { (macs[0], macs[1]) } else { (macs[1], macs[0]) };
        ethernet(&mut self.packet, from, to);
        self.file.frame(Time(self.time), len, &self.packet)?;
        self.packets += 1;
        Ok(())
    }
}

impl Flow {
    fn new(n: u16) -> Self {
        let end = |host, port| SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), port);
        Self {
            ends: [end(1, 40_000 + n), end(2, 5201)],
            isn: [1_000_000 * u32::from(n) + 7, 77_777],
            sent: 0,
            arrived: 0,
            lost: None,
            beyond: 0,
            id: 0,
            clock: 1000,
        }
    }

    fn segment(&mut self, from_client: bool, seq: u32, flags: TcpFlags, payload: u32, options: TcpOptions) -> Segment {
        let d = usize::from(!from_client);
        self.id = self.id.wrapping_add(1);
        let ack = if from_client { self.isn[1].wrapping_add(1) } else { self.number(self.arrived) };
        Segment {
            from: self.ends[d],
            to: self.ends[1 - d],
            ip: IpFields { id: if from_client { self.id } else { 0 }, ..IpFields::default() },
            seq: Seq(seq),
            ack: Seq(ack),
            flags,
            window: 32_000,
            options: TcpOptions { timestamps: Some((self.clock, self.clock)), ..options },
            aligned: false,
            payload,
        }
    }

    fn number(&self, segment: u64) -> u32 {
        self.isn[0].wrapping_add(1).wrapping_add((segment * u64::from(MSS)) as u32)
    }

    fn open(&mut self, out: &mut Out) -> io::Result<()> {
        let options = TcpOptions { mss: Some(1460), wscale: Some(7), sack_permitted: true, ..TcpOptions::default() };
        let syn = self.segment(true, self.isn[0], TcpFlags::SYN, 0, options);
        out.put(&Segment { ack: Seq(0), ..syn }, true)?;
        out.time += 20_000_000;
        let answer = self.segment(false, self.isn[1], TcpFlags::SYN | TcpFlags::ACK, 0, options);
        out.put(&answer, false)?;
        let ack = self.segment(true, self.number(0), TcpFlags::ACK, 0, TcpOptions::default());
        out.put(&ack, true)
    }

    fn data(&mut self, segment: u64, out: &mut Out) -> io::Result<()> {
        let flags = if segment % 40 == 39 { TcpFlags::ACK | TcpFlags::PSH } else { TcpFlags::ACK };
        let s = self.segment(true, self.number(segment), flags, MSS, TcpOptions::default());
        out.put(&s, true)
    }

    /// Sends one ACK and the segments that it releases.
    fn step(&mut self, out: &mut Out) -> io::Result<()> {
        self.clock = (out.time / 1_000_000) as u32;
        out.time += STEP;
        if self.sent < WINDOW {
            self.sent += 1;
            return self.data(self.sent - 1, out);
        }
        if self.lost.is_none() && self.arrived % 1000 < 2 && self.arrived > WINDOW {
            self.lost = Some(self.arrived);
            self.beyond = 0;
            self.arrived += 0;
        }
        let mut options = TcpOptions::default();
        match self.lost {
            Some(lost) if self.beyond < WINDOW - 1 => {
                self.beyond += 2;
                let (left, right) = (self.number(lost + 1), self.number(lost + 1 + self.beyond));
                options.sack.push(Seq(left), Seq(right));
            }
            Some(_) => {
                self.arrived += self.beyond + 1;
                self.lost = None;
            }
            None => self.arrived += 2,
        }
        let ack = self.segment(false, self.isn[1].wrapping_add(1), TcpFlags::ACK, 0, options);
        out.put(&ack, false)?;
        if self.lost.is_some() && self.beyond == 6 {
            return self.data(self.arrived, out);
        }
        while self.sent < self.arrived + self.beyond.min(WINDOW / 2) + WINDOW {
            self.data(self.sent, out)?;
            self.sent += 1;
            out.time += 1_000;
        }
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(path) = arguments.first() else {
        eprintln!("usage: bulk_capture FILE [PACKETS] [FLOWS]");
        std::process::exit(2);
    };
    let number = |i: usize, default: u64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (packets, flows) = (number(1, 1_730_000), number(2, 4));
    let file = PcapWriter::new(BufWriter::with_capacity(1 << 20, File::create(path)?), LinkType::ETHERNET, 262_144)?;
    let mut out = Out { file, packet: Vec::new(), time: 1_700_000_000_000_000_000, packets: 0 };
    let mut flows: Vec<Flow> = (0..flows as u16).map(Flow::new).collect();
    for flow in &mut flows {
        flow.open(&mut out)?;
    }
    while out.packets < packets {
        for flow in &mut flows {
            flow.step(&mut out)?;
        }
    }
    out.file.finish()?;
    Ok(())
}
