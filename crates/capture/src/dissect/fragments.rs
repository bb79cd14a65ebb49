//! Fragments of IP datagrams, put together.

/// The fragments that wait for the rest of their datagram.
#[derive(Debug, Default)]
pub struct Fragments {}
