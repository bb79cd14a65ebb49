//! A QUIC endpoint without I/O: datagrams, times and writes are its input; datagrams, timers and deliveries its output
//! [RFC 9000, 9001, 9002]. The caller has the clock, the network and the payload (the endpoint knows its length only).
//!
//! ```text
//! on_datagram(now, ..)  on_timer(now)  write(stream, n)  finish(stream)  close()      events
//! poll(now) -> Some(datagram)                                                         datagrams to send now; call
//!                                                                                     until None
//! next_timer()                                                                        when to call on_timer
//! ```
//! Congestion control is in `dumbbell-cc`; [`Config`] has all parameters, with named presets. Sizes are those of the
//! wire: headers, variable-length integers, ACK ranges, tags. Windows, rates and bytes in flight count the UDP payload
//! of ack-eliciting packets [RFC 9002 §2].
//!
//! Congestion control sees the bytes sent on the connection as one sequence: each packet takes the next bytes, a
//! retransmission too. snd_una is then the first byte of the oldest packet that is neither acknowledged nor lost.
//!
//! Left out: version negotiation, Retry, migration and connection ID changes, key updates, session tickets, limits on
//! the number of streams (MAX_STREAMS), blocked frames, stream resets, undo of a spurious loss, black holes of the path
//! MTU (no link here has a limit). Packets that arrive before their keys are discarded [RFC 9001 §5.7].

mod cc_driver;
mod config;
mod ecn;
mod endpoint;
mod frame;
mod mtu;
mod notes;
mod pacer;
mod packet;
mod ranges;
mod received;
mod rtt;
mod sent;
mod streams;

pub use config::{
    AckConfig, Config, ConnectionConfig, GrowthConfig, PRESETS, Preset, RecoveryConfig, Start, StreamsConfig,
    find_preset, implies_recovery,
};
pub use endpoint::{Endpoint, Role, State, Transmit};
pub use frame::{Chunk, EcnCounts, Frame};
pub use notes::{LossTrigger, Note, Refusal};
pub use packet::{Datagram, Form, Packet, Space, UDP_HEADER};
