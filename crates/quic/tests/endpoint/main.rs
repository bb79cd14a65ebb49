//! Timelines and properties of two endpoints on a wire with a constant delay.

mod acks;
mod handshake;
mod properties;
mod recovery;
mod streams;
mod wire;
