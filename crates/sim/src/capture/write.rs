//! Writes a capture as a pcapng file [draft-ietf-opsawg-pcapng], with correct IP, TCP, UDP and ICMP headers and
//! checksums.

use super::part::Begun;
use super::{CapturedPacket, Cause, Run, SentPacket};
use dumbbell_pcap::{About, Datagram, IcmpEcho, InterfaceDescription, IpFields, LinkType, PcapngWriter, Segment};
use dumbbell_plan::{AppPlan, CapturePoint, Plan, TransportPlan};
use dumbbell_quic::UDP_HEADER;
use dumbbell_wire::{IpVersion, TcpFlags, TcpOptions};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// The time to live of a packet that is sent.
const TTL: u8 = 64;
/// Server ports, one per flow.
const FIRST_SERVER_PORT: u32 = 5001;
const SERVER_PORTS: u32 = 20_000;
/// Client ports, one per connection of a flow.
const FIRST_CLIENT_PORT: u32 = 32_768;
const CLIENT_PORTS: u32 = 28_232;

/// The place of an interface of a capture.
#[derive(Clone, Copy, Debug)]
pub(super) enum InterfaceOf {
    Node(usize),
    Link(usize),
}

/// Names and addresses of a plan's nodes and links.
#[derive(Debug)]
pub(super) struct Addressing {
    nodes: Vec<String>,
    links: Vec<(String, u64)>,
    flows: Vec<FlowEnds>,
}

#[derive(Clone, Copy, Debug)]
struct FlowEnds {
    from: usize,
    to: usize,
    ip: IpVersion,
    protocol: Protocol,
    /// True if the data sender is the server.
    sender_serves: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Tcp,
    Udp,
    Echo,
}

impl Addressing {
    pub(super) fn new(plan: &Plan) -> Addressing {
        let flows = plan.flows.iter().map(|flow| FlowEnds {
            from: flow.from,
            to: flow.to,
            ip: flow.ip,
            protocol: match (&flow.application, &flow.transport) {
                (AppPlan::Ping { .. }, _) => Protocol::Echo,
                (_, TransportPlan::Udp {} | TransportPlan::Quic { .. }) => Protocol::Udp,
                (_, TransportPlan::Tcp { .. }) => Protocol::Tcp,
            },
            sender_serves: matches!(flow.application, AppPlan::Page { .. }),
        });
        Addressing {
            nodes: plan.nodes.clone(),
            links: plan.links.iter().map(|link| (link.name.clone(), link.rate_bps)).collect(),
            flows: flows.collect(),
        }
    }

    /// 10.0.0.1 or 2001:db8::1 [RFC 3849] for the first node, and so on.
    fn address(ip: IpVersion, node: usize) -> IpAddr {
        match ip {
            IpVersion::V4 => IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0001 + node as u32)),
            IpVersion::V6 => IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) + 1 + node as u128)),
        }
    }

    /// Source and destination of a packet.
    fn ends(&self, packet: &SentPacket) -> (FlowEnds, SocketAddr, SocketAddr) {
        let flow = self.flows[packet.flow as usize / 2];
        let nodes = [flow.from, flow.to];
        let [sender, receiver] = addresses(flow.ip, packet.flow / 2, nodes, flow.sender_serves, packet.connection)
            .map(|(address, port)| SocketAddr::new(address, port));
        if packet.flow.is_multiple_of(2) { (flow, sender, receiver) } else { (flow, receiver, sender) }
    }
}

/// Address and port of an end of a flow.
pub(crate) type FlowAddress = (IpAddr, u16);

/// Addresses of the data sender and the data receiver of a connection, at these nodes.
pub(crate) fn addresses(
    ip: IpVersion,
    flow: u32,
    nodes: [usize; 2],
    sender_serves: bool,
    connection: u32,
) -> [FlowAddress; 2] {
    let server = FIRST_SERVER_PORT + flow % SERVER_PORTS;
    let client = FIRST_CLIENT_PORT + connection % CLIENT_PORTS;
    let (of_sender, of_receiver) = if sender_serves { (server, client) } else { (client, server) };
    [(nodes[0], of_sender), (nodes[1], of_receiver)].map(|(node, port)| (Addressing::address(ip, node), port as u16))
}

/// A capture: the packets recorded at one capture point.
#[derive(Clone, Debug)]
pub struct Capture {
    begun: Begun,
    seen: Vec<CapturedPacket>,
    run: Arc<Run>,
}

impl Capture {
    pub(super) fn new(begun: Begun, seen: Vec<CapturedPacket>, run: Arc<Run>) -> Capture {
        Capture { begun, seen, run }
    }

    /// Name of the capture point.
    #[must_use]
    pub fn name(&self) -> &str {
        self.begun.name()
    }

    /// Number of packets, with those that were passed on while the run was in progress.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.begun.packets() + self.seen.len() as u64
    }

    /// Writes it as pcapng: raw IP packets with correct checksums, time stamps of the run's clock in nanoseconds, one
    /// interface per node or direction of a link. Packet comments have the ground truth: the reason of a
    /// retransmission, the place of a drop. If parts were passed on while the run was in progress, writes the rest.
    ///
    /// # Errors
    ///
    /// The stream fails.
    pub fn write<W: Write>(&self, out: W) -> io::Result<W> {
        self.begun.clone().finish(&self.run, self.seen.iter().copied(), out)
    }
}

/// A capture point: the form of its file.
#[derive(Clone, Debug)]
pub(super) struct Point {
    name: String,
    interfaces: Vec<InterfaceOf>,
    snaplen: u32,
}

impl Point {
    pub(super) fn new(point: &CapturePoint, snaplen: u32) -> Point {
        let nodes = point.nodes.iter().map(|&n| InterfaceOf::Node(n));
        let interfaces = nodes.chain(point.links.iter().map(|&l| InterfaceOf::Link(l))).collect();
        Point { name: point.name.clone(), interfaces, snaplen }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Number of interfaces.
    pub(super) fn interfaces(&self) -> usize {
        self.interfaces.len()
    }

    /// Writes the head of a file.
    pub(super) fn begin<W: Write>(&self, run: &Run, out: W) -> io::Result<PcapngWriter<W>> {
        let application = concat!("Dumbbell ", env!("CARGO_PKG_VERSION"));
        let os = if run.frames.of.is_empty() { "simulator" } else { "Linux" };
        let about = About { application: Some(application), os: Some(os), ..About::default() };
        let mut writer = PcapngWriter::new(out, &about)?;
        for interface in &self.interfaces {
            self.describe(*interface, &run.addressing, &mut writer)?;
        }
        Ok(writer)
    }

    /// Writes a packet. `packet` and `comments` are used again for each packet.
    pub(super) fn frame<W: Write>(
        &self,
        run: &Run,
        seen: &CapturedPacket,
        writer: &mut PcapngWriter<W>,
        packet: &mut Vec<u8>,
        comments: &mut Vec<String>,
    ) -> io::Result<()> {
        let about = run.packet(seen.packet);
        let len = self.build(run, about, seen, packet);
        comments.clear();
        annotate(about, self.interfaces[usize::from(seen.interface)], &run.addressing, comments);
        let texts: Vec<&str> = comments.iter().map(String::as_str).collect();
        writer.frame(seen.interface.into(), seen.at, len, packet, &texts)
    }

    fn describe<W: Write>(
        &self,
        interface: InterfaceOf,
        addressing: &Addressing,
        writer: &mut PcapngWriter<W>,
    ) -> io::Result<u32> {
        let (name, description, speed) = match interface {
            InterfaceOf::Node(node) => (&addressing.nodes[node], "node: packets sent and received", None),
            InterfaceOf::Link(link) => {
                let (name, rate) = &addressing.links[link];
                (name, "link: packets that come to its queue", Some(*rate))
            }
        };
        writer.interface(&InterfaceDescription {
            name,
            description: Some(description),
            link: LinkType::RAW,
            snaplen: self.snaplen,
            speed,
        })
    }

    fn build(&self, run: &Run, about: &SentPacket, seen: &CapturedPacket, packet: &mut Vec<u8>) -> u32 {
        let snaplen = if self.snaplen == 0 { usize::MAX } else { self.snaplen as usize };
        if let Some(frame) = run.frames.get(seen.packet) {
            packet.clear();
            packet.extend(frame);
            packet.resize(about.bytes as usize, 0);
            crate::live::set_ecn(packet, seen.ecn);
            packet.truncate(snaplen);
            return about.bytes;
        }
        let (flow, from, to) = run.addressing.ends(about);
        // Each router decrements the TTL. A packet captured at a link's queue has not crossed that link; a packet
        // captured at a node has crossed the link to it.
        let at_link = matches!(self.interfaces[usize::from(seen.interface)], InterfaceOf::Link(_));
        let routers = if at_link { seen.hops } else { seen.hops.saturating_sub(1) };
        // Unique per packet, within 16 bits: it identifies the same packet in two captures.
        let ip =
            IpFields { ecn: seen.ecn, ttl: TTL.saturating_sub(routers), id: seen.packet as u16, ..IpFields::default() };
        match flow.protocol {
            Protocol::Tcp => segment(about, from, to, ip).write(packet, snaplen),
            Protocol::Udp => {
                let payload = about.bytes.saturating_sub(flow.ip.header_bytes() + UDP_HEADER);
                let head = run.head(about.head);
                Datagram { from, to, ip, head, payload }.write(packet, snaplen)
            }
            Protocol::Echo => {
                // The header of an echo is as long as UDP's [RFC 792, RFC 4443 §4.1].
                let payload = about.bytes.saturating_sub(flow.ip.header_bytes() + UDP_HEADER);
                let (from, to, id) = (from.ip(), to.ip(), (about.flow / 2) as u16);
                let reply = about.flow % 2 == 1;
                IcmpEcho { from, to, ip, reply, id, seq: about.number as u16, payload }.write(packet, snaplen)
            }
        }
    }
}

/// Adds the ground truth about a packet as comments.
fn annotate(about: &SentPacket, here: InterfaceOf, addressing: &Addressing, comments: &mut Vec<String>) {
    if let Some(cause) = about.cause {
        let cause = match cause {
            Cause::Fast => "fast",
            Cause::Timeout => "timeout",
            Cause::Other => "other",
        };
        let spurious = if about.spurious { ", spurious" } else { "" };
        comments.push(format!("retransmission: {cause}{spurious}"));
    }
    if let Some(link) = about.copied_by {
        comments.push(format!("copy made by {}", addressing.links[link as usize].0));
    }
    if let Some((link, reason)) = about.lost {
        let place = match here {
            InterfaceOf::Link(at) if at == link as usize => "here".to_owned(),
            _ => format!("at {}", addressing.links[link as usize].0),
        };
        let why = reason.map_or(String::new(), |reason| format!(": {}", reason.name()));
        comments.push(format!("dropped {place}{why}"));
    }
}

fn segment(about: &SentPacket, from: SocketAddr, to: SocketAddr, ip: IpFields) -> Segment {
    let s = &about.segment;
    let options = TcpOptions {
        mss: s.mss,
        wscale: s.window_scale,
        sack_permitted: s.sack_permitted,
        sack: s.sack,
        timestamps: s.timestamps,
        ..TcpOptions::default()
    };
    Segment {
        from,
        to,
        ip,
        seq: s.seq,
        ack: s.ack,
        // The AccECN option is not written, so neither is its flag.
        flags: s.flags.without(TcpFlags::AE),
        window: s.window,
        options,
        aligned: s.aligned,
        payload: s.payload,
    }
}
