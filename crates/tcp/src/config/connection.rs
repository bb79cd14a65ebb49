//! The parameters of both ends at the start of a connection: segment size, options, handshake [RFC 9293 §3.5, §3.7.1;
//! RFC 7323].

use super::facts::HandshakeAck;
use super::{Defaults, Reading, too_small};
use crate::segment::TIMESTAMPS_OPTION;
use dumbbell_units::Dur;
use dumbbell_units::param::{Kind, ParamError, Spec, specs};
use dumbbell_wire::IpVersion;

/// Largest MSS of a preset over IPv6: a packet of 1500 bytes without its headers [RFC 9293 §3.7.1].
const MSS_IPV6: u16 = 1500 - 40 - 20;

pub(super) const PARAMS: &[Spec] = specs! {
    /// largest payload of a segment; timestamps take 12 bytes of it; the default is at most 1440 bytes over IPv6 [RFC
    /// 9293 §3.7.1, RFC 6691]
    mss = "1460 bytes", Kind::Bytes;
    /// whether a connection starts with the three-way handshake [RFC 9293 §3.5] or established
    handshake = "true", Kind::Bool;
    /// tick of the timestamps option [RFC 7323 §5.4]
    timestamp_clock = "1 us", Kind::Duration;
    /// timestamps option: 12 bytes a segment, a round-trip sample with each ACK [RFC 7323]
    timestamps = "true", Kind::Bool;
    /// whether headers count in the size of data packets; ns-2's Vegas sends data packets without them
    data_headers = "true", Kind::Bool;
};

pub(super) const LINUX: Defaults = &[
    // 1000 ticks a second [Linux include/net/tcp.h TCP_TS_HZ].
    ("timestamp_clock", "1 ms"),
];

pub(super) const NS2: Defaults = &[("mss", "1000 bytes"), ("timestamps", "false")];

/// Segment size, options and handshake.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionConfig {
    /// Version of IP.
    pub ip: IpVersion,
    /// Payload bytes of a full segment, without options (SMSS).
    pub mss: u32,
    /// Value of the MSS option.
    pub mss_option: u16,
    /// True if the connection starts with the three-way handshake.
    pub handshake: bool,
    /// True if the last ACK of the handshake is sent before data.
    pub handshake_ack_alone: bool,
    /// Tick of the timestamps option.
    pub timestamp_clock: Dur,
    /// True if segments carry the timestamps option.
    pub timestamps: bool,
    /// True if each option starts at a 32-bit word.
    pub aligned_options: bool,
    /// True if headers count in the size of data packets.
    pub data_headers: bool,
}

impl ConnectionConfig {
    pub(super) fn read(p: &Reading<'_>) -> Result<ConnectionConfig, ParamError> {
        let options = if p.bool("timestamps") { TIMESTAMPS_OPTION } else { 0 };
        let mss_option = u16::try_from(p.params.bytes("mss").0).map_err(|_| ParamError {
            name: "mss".into(),
            message: format!("'{}' is above 65535 bytes, the maximum of the option", p.params.bytes("mss")),
        })?;
        let fits = p.ip == IpVersion::V4 || p.is_given("mss");
        let mss_option = if fits { mss_option } else { mss_option.min(MSS_IPV6) };
        let mss = u32::from(mss_option).checked_sub(options).filter(|m| *m > 0);
        let mss = mss.ok_or_else(|| too_small("mss", &format!("{} bytes", options + 1)))?;
        Ok(ConnectionConfig {
            ip: p.ip,
            mss,
            mss_option,
            handshake: p.bool("handshake"),
            handshake_ack_alone: p.facts.handshake_ack == HandshakeAck::Alone,
            timestamp_clock: p.duration("timestamp_clock").max(Dur(1)),
            timestamps: p.bool("timestamps"),
            aligned_options: p.facts.aligned_options,
            data_headers: p.bool("data_headers"),
        })
    }
}
