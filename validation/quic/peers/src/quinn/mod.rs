//! quinn-proto. Its clock is virtual: `Instant`s are counted from one base. Its random numbers are seeded; connection
//! IDs are counted.

mod controller;
mod tls;

use crate::hooks::Hooks;
use crate::network::{CLIENT, End, REQUEST, SERVER};
use crate::settings::Settings;
use bytes::{Bytes, BytesMut};
use controller::Factory;
use dumbbell_quic::Config;
use dumbbell_units::Time;
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent,
    Dir, Endpoint, EndpointConfig, Event, MtuDiscoveryConfig, ServerConfig, StreamId, TransportConfig, VarInt,
    WriteError,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::{Nothing, Sizes};

/// A window that never limits, bytes.
const UNLIMITED: u32 = 1 << 30;
/// Bytes that the application writes at once.
const CHUNK: usize = 1 << 16;

/// One end.
pub struct Quinn {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    client: Option<ClientConfig>,
    number: usize,
    start: Instant,
    stream: Option<StreamId>,
    /// Bytes that the application has still to write, and has read.
    to_write: u64,
    bytes: u64,
    delivered: u64,
    chunk: Bytes,
    buffer: Vec<u8>,
}

/// Counted connection IDs: the first byte is the number of the end.
struct Counted(u8, u64);

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        self.1 += 1;
        let mut id = self.1.to_be_bytes();
        id[0] = self.0;
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn address(number: usize) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::new(10, 0, 0, 1 + number as u8).into(), 443)
}

fn endpoint_config(number: usize, seed: u64) -> Arc<EndpointConfig> {
    let mut config = EndpointConfig::new(Arc::new(Nothing));
    let mut random = [number as u8; 32];
    random[..8].copy_from_slice(&seed.to_le_bytes());
    config.rng_seed(Some(random)).cid_generator(move || Box::new(Counted(number as u8, 0)));
    Arc::new(config)
}

fn transport(settings: &Settings, config: &Config, start: Instant) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    let (initial, max) = (config.connection.initial_datagram as u16, config.connection.max_datagram as u16);
    let discovery = (max > initial).then(|| {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(max);
        discovery
    });
    if config.ack.frequency > 0 {
        let mut frequency = AckFrequencyConfig::default();
        // Packets that may arrive without an ACK.
        frequency.ack_eliciting_threshold(VarInt::from(config.ack.frequency as u32 - 1));
        transport.ack_frequency_config(Some(frequency));
    }
    transport
        .receive_window(VarInt::from_u32(UNLIMITED))
        .stream_receive_window(VarInt::from_u32(UNLIMITED))
        .send_window(UNLIMITED.into())
        .enable_segmentation_offload(false)
        .initial_mtu(initial)
        .mtu_discovery_config(discovery)
        .congestion_controller_factory(Arc::new(Factory { settings: settings.clone(), start }));
    Arc::new(transport)
}

/// Returns both ends.
///
/// # Errors
/// Invalid settings, or a variant that quinn can't run.
pub fn ends(settings: &Settings) -> Result<[Quinn; 2], String> {
    let config = settings.config()?;
    Hooks::new(&settings.variant, &config)?;
    let start = Instant::now();
    let transport = transport(settings, &config, start);
    let sizes = Arc::new(Sizes(config.connection));
    let mut server = ServerConfig::new(sizes.clone(), Arc::new(Nothing));
    server.transport_config(transport.clone());
    let mut client = ClientConfig::new(sizes);
    client.transport_config(transport).initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[9; 8])));
    let end = |number: usize, server: Option<Arc<ServerConfig>>, client| Quinn {
        endpoint: Endpoint::new(endpoint_config(number, settings.seed), server, true, None),
        connection: None,
        client,
        number,
        start,
        stream: None,
        to_write: 0,
        bytes: settings.bytes,
        delivered: 0,
        chunk: Bytes::from(vec![0; CHUNK]),
        buffer: Vec::new(),
    };
    Ok([end(CLIENT, None, Some(client)), end(SERVER, Some(Arc::new(server)), None)])
}

impl Quinn {
    fn at(&self, now: Time) -> Instant {
        self.start + Duration::from_nanos(now.0)
    }

    /// Lets the application read and write.
    fn run_application(&mut self) {
        let Some((_, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.number == CLIENT => {
                    self.stream = connection.streams().open(Dir::Bi);
                    self.to_write = REQUEST;
                }
                Event::Stream(_) if self.number == SERVER && self.stream.is_none() => {
                    self.stream = connection.streams().accept(Dir::Bi);
                }
                Event::ConnectionLost { reason } => panic!("connection lost: {reason}"),
                _ => {}
            }
        }
        let Some(stream) = self.stream else { return };
        let before = self.delivered;
        if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.delivered += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize(); // the next poll sends what it asks for
        }
        if self.number == SERVER && before < REQUEST && self.delivered >= REQUEST {
            self.to_write = self.bytes;
        }
        while self.to_write > 0 {
            let piece = self.chunk.slice(..CHUNK.min(self.to_write as usize));
            match connection.send_stream(stream).write_chunks(&mut [piece]) {
                Ok(written) => self.to_write -= written.bytes as u64,
                Err(WriteError::Blocked) => return,
                Err(error) => panic!("write: {error}"),
            }
            if self.to_write == 0 {
                connection.send_stream(stream).finish().expect("the stream is open");
            }
        }
    }
}

impl End for Quinn {
    type Datagram = BytesMut;

    fn open(&mut self, now: Time) {
        let (at, client) = (self.at(now), self.client.take().expect("only the client opens, once"));
        let connection = self.endpoint.connect(at, client, address(SERVER), "server");
        self.connection = Some(connection.expect("a valid configuration"));
    }

    fn next_timer(&mut self) -> Option<Time> {
        let at = self.connection.as_mut()?.1.poll_timeout()?;
        Some(Time(at.saturating_duration_since(self.start).as_nanos() as u64))
    }

    fn on_timer(&mut self, now: Time) {
        let at = self.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(at);
        }
    }

    fn poll(&mut self, now: Time) -> Option<(u32, BytesMut)> {
        self.run_application();
        let at = self.at(now);
        let (handle, connection) = self.connection.as_mut()?;
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        self.buffer.clear();
        let transmit = connection.poll_transmit(at, 1, &mut self.buffer)?;
        Some((transmit.size as u32, BytesMut::from(&self.buffer[..transmit.size])))
    }

    fn receive(&mut self, datagram: BytesMut, now: Time) {
        let (at, from) = (self.at(now), address(1 - self.number));
        self.buffer.clear();
        match self.endpoint.handle(at, from, None, None, datagram, &mut self.buffer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, at, &mut self.buffer, None);
                self.connection = accepted.ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            _ => {}
        }
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn is_established(&self) -> bool {
        self.connection.as_ref().is_some_and(|(_, c)| !c.is_handshaking())
    }

    fn cwnd(&self) -> f64 {
        self.connection.as_ref().map_or(0.0, |(_, c)| c.stats().path.cwnd as f64)
    }

    fn lost(&self) -> u64 {
        self.connection.as_ref().map_or(0, |(_, c)| c.stats().path.lost_packets)
    }
}
