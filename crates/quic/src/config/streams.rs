//! Streams and flow control [RFC 9000 §2, §4].

use super::{Defaults, Reading, invalid};
use dumbbell_units::param::{Kind, ParamError, Spec, settings, specs};

pub(super) const PARAMS: &[Spec] = specs! {
    /// streams over which the application divides its data evenly; a loss on one does not delay the others [RFC 9000
    /// §2.2]
    streams = "1", Kind::Int { min: 1, max: 100 };
    /// bytes of all streams that may be sent beyond those that the application has read [RFC 9000 §4.1]; the default
    /// never limits
    window = "64 MiB", Kind::Size;
    /// the same for each stream
    stream_window = "64 MiB", Kind::Size;
};

// [quinn-proto 0.11.19 config/transport.rs TransportConfig::default STREAM_RWND]
pub(super) const QUINN: Defaults = &[("stream_window", "1250000 bytes")];

pub(super) const AIOQUIC: Defaults = &[];

// [QUICHE quic_constants.h kSessionReceiveWindowLimit, kStreamReceiveWindowLimit]
pub(super) const CHROMIUM: Defaults = &[("window", "24 MiB"), ("stream_window", "16 MiB")];

settings! {
    /// Streams and flow control.
    #[derive(Clone, Copy, Debug)]
    pub struct StreamsConfig;
    fn unchecked(p: &Reading<'_>);
    /// Streams over which an application divides its data.
    pub streams: u32 = p.int("streams");
    /// Flow control window of the connection, bytes.
    pub window: u64 = p.bytes("window");
    /// Flow control window of a stream, bytes.
    pub stream_window: u64 = p.bytes("stream_window");
}

impl StreamsConfig {
    pub(super) fn read(p: &Reading<'_>) -> Result<StreamsConfig, ParamError> {
        for name in ["window", "stream_window"] {
            if p.bytes(name) == 0 {
                return Err(invalid(name, "at least 1 byte is needed"));
            }
        }
        Ok(StreamsConfig::unchecked(p))
    }
}
