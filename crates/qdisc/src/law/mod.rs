//! AQM laws: pure state machines without packets, so that each can be tested against its document.

pub mod red;
