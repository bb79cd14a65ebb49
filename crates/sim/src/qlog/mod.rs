//! qlog files of QUIC connections, one for each end: the events of [draft-ietf-quic-qlog-quic-events-14], or the same
//! in the form of qlog 0.3, which viewers such as qvis read.
//!
//! ```text
//! connection_started, parameters_set, recovery_parameters_set          at the start
//! packet_sent, packet_received, packet_dropped                         each packet with its frames
//! packets_acked, packet_lost                                           loss detection
//! recovery_metrics_updated, congestion_state_updated, mtu_updated      values that have changed
//! stream_data_moved                                                    data that the application can read
//! spin_bit_updated, connection_state_updated, connection_closed        changes of state
//! ```
//! The file is a JSON text sequence [RFC 7464]: each record begins with 0x1E and ends with a newline. Times are
//! milliseconds of the run's clock, from the start of the run.

mod frames;
mod object;

use crate::capture::FlowAddress;
use dumbbell_plan::QlogVersion;
use dumbbell_quic::{Config, Datagram, Endpoint, Form, Frame, LossTrigger, Note, Refusal, Role, Space, State};
use dumbbell_units::{Dur, Time};
use object::Object;

/// A finished qlog file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qlog {
    /// `FLOW.CONNECTION.client` or `.server`; connections count from 1.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// The log of one end of a connection.
#[derive(Debug)]
pub(crate) struct ConnectionLog {
    version: QlogVersion,
    qlog: Qlog,
    /// Datagrams sent and received, for their numbers.
    sent: u32,
    received: u32,
    /// The values that were written last.
    metrics: Metrics,
    phase: Option<&'static str>,
    datagram: Option<u32>,
    state: Option<&'static str>,
    spin: bool,
    delivered: Vec<u64>,
}

/// The fields of recovery_metrics_updated, as texts.
type Metrics = [(&'static str, String); 9];

/// The names of an event in both versions.
struct Name(&'static str, &'static str);

const STARTED: Name = Name("quic:connection_started", "connectivity:connection_started");
const CLOSED: Name = Name("quic:connection_closed", "connectivity:connection_closed");
const STATE: Name = Name("quic:connection_state_updated", "connectivity:connection_state_updated");
const SPIN: Name = Name("quic:spin_bit_updated", "connectivity:spin_bit_updated");
const MTU: Name = Name("quic:mtu_updated", "connectivity:mtu_updated");
const PARAMETERS: Name = Name("quic:parameters_set", "transport:parameters_set");
const SENT: Name = Name("quic:packet_sent", "transport:packet_sent");
const RECEIVED: Name = Name("quic:packet_received", "transport:packet_received");
const DROPPED: Name = Name("quic:packet_dropped", "transport:packet_dropped");
const ACKED: Name = Name("quic:packets_acked", "transport:packets_acked");
const MOVED: Name = Name("quic:stream_data_moved", "transport:data_moved");
const LOST: Name = Name("quic:packet_lost", "recovery:packet_lost");
const RECOVERY: Name = Name("quic:recovery_parameters_set", "recovery:parameters_set");
const METRICS: Name = Name("quic:recovery_metrics_updated", "recovery:metrics_updated");
const CONGESTION: Name = Name("quic:congestion_state_updated", "recovery:congestion_state_updated");

impl ConnectionLog {
    /// Begins the log of an end that opens now; `addresses`: its own and the peer's.
    pub(crate) fn new(
        version: QlogVersion,
        flow: &str,
        connection: u32,
        endpoint: &mut Endpoint,
        addresses: [FlowAddress; 2],
        now: Time,
    ) -> ConnectionLog {
        endpoint.keep_notes();
        let role = if endpoint.role() == Role::Client { "client" } else { "server" };
        let group = format!("{flow}.{connection}");
        let streams = endpoint.config().streams.streams as usize;
        let mut log = ConnectionLog {
            version,
            qlog: Qlog { name: format!("{group}.{role}"), text: header(version, &group, role) },
            sent: 0,
            received: 0,
            metrics: Metrics::default(),
            phase: None,
            datagram: None,
            state: None,
            spin: false,
            delivered: vec![0; streams],
        };
        log.record(now, &STARTED, &started(version, addresses));
        log.record(now, &PARAMETERS, &parameters(version, endpoint.config()));
        log.record(now, &RECOVERY, &recovery_parameters(endpoint.config()));
        log.after_event(endpoint, now);
        log
    }

    /// Ends the log.
    pub(crate) fn finish(self) -> Qlog {
        self.qlog
    }

    fn record(&mut self, now: Time, name: &Name, data: &Object) {
        let name = if self.version == QlogVersion::Draft { name.0 } else { name.1 };
        let mut event = Object::default();
        event.raw("time", &millis(Dur(now.0))).text("name", name).object("data", data);
        self.qlog.text.push('\u{1e}');
        self.qlog.text.push_str(&event.finish());
        self.qlog.text.push('\n');
    }

    /// A datagram was sent.
    pub(crate) fn sent(&mut self, datagram: &Datagram, now: Time) {
        let id = self.sent;
        self.sent += 1;
        let length = whole_length(datagram);
        for (packet, frames) in datagram.packets() {
            let mut data = Object::default();
            data.object("header", &self.packet_header(packet.form, packet.number, Some(packet.spin)));
            self.contents(&mut data, datagram, frames, length, id);
            self.record(now, &SENT, &data);
        }
    }

    /// A datagram has arrived at `endpoint`, which has processed it.
    pub(crate) fn received(&mut self, datagram: &Datagram, endpoint: &mut Endpoint, now: Time) {
        let id = self.received;
        self.received += 1;
        let length = whole_length(datagram);
        let notes = endpoint.take_notes();
        for (packet, frames) in datagram.packets() {
            let refusal = notes.iter().find_map(|note| match note {
                Note::Refused(form, number, why) if (*form, *number) == (packet.form, packet.number) => Some(why),
                _ => None,
            });
            let mut data = Object::default();
            data.object("header", &self.packet_header(packet.form, packet.number, Some(packet.spin)));
            if let Some(why) = refusal {
                let details = match why {
                    Refusal::KeysUnavailable => "keys unavailable",
                    Refusal::Duplicate => "duplicate",
                };
                data.raw("datagram_id", &id).text("details", details).text("trigger", "general");
                self.record(now, &DROPPED, &data);
            } else {
                self.contents(&mut data, datagram, frames, length, id);
                self.record(now, &RECEIVED, &data);
            }
        }
        self.notes(&notes, now);
        self.after_event(endpoint, now);
    }

    /// Something has happened to `endpoint`: writes the values that have changed.
    pub(crate) fn after_event(&mut self, endpoint: &mut Endpoint, now: Time) {
        let notes = endpoint.take_notes();
        self.notes(&notes, now);
        self.connection_state(endpoint, now);
        let phase = endpoint.snapshot().phase.name();
        if self.phase != Some(phase) {
            let mut data = Object::default();
            if let Some(old) = self.phase.replace(phase) {
                data.text("old", old);
            }
            self.record(now, &CONGESTION, data.text("new", phase));
        }
        let datagram = endpoint.datagram_bytes();
        if self.datagram != Some(datagram) {
            let mut data = Object::default();
            if let Some(old) = self.datagram.replace(datagram) {
                data.raw("old", &old);
            }
            self.record(now, &MTU, data.raw("new", &datagram));
        }
        if self.spin != endpoint.spin() {
            self.spin = endpoint.spin();
            let spin = self.spin;
            self.record(now, &SPIN, Object::default().raw("state", &spin));
        }
        self.metrics(endpoint, now);
        for stream in 0..self.delivered.len() {
            let (before, delivered) = (self.delivered[stream], endpoint.delivered_of(stream as u32));
            if delivered > before {
                self.delivered[stream] = delivered;
                let length = delivered - before;
                let mut data = Object::default();
                data.raw("stream_id", &(4 * stream)).raw("offset", &before);
                if self.version == QlogVersion::V03 {
                    data.raw("length", &length);
                }
                data.text("from", "transport").text("to", "application");
                if self.version == QlogVersion::Draft {
                    data.object("raw", Object::default().raw("length", &length));
                }
                self.record(now, &MOVED, &data);
            }
        }
    }

    fn metrics(&mut self, endpoint: &Endpoint, now: Time) {
        let rtt = endpoint.rtt();
        let time = |i: usize| rtt.map_or(String::new(), |all: [Dur; 4]| millis(all[i]));
        let ssthresh = endpoint.snapshot().ssthresh;
        // An infinite threshold has no value yet.
        let ssthresh = if ssthresh < 1e15 { format!("{}", ssthresh as u64) } else { String::new() };
        let metrics: Metrics = [
            ("min_rtt", time(1)),
            ("smoothed_rtt", time(2)),
            ("latest_rtt", time(0)),
            ("rtt_variance", time(3)),
            ("pto_count", endpoint.pto_count().to_string()),
            ("congestion_window", (endpoint.cwnd() as u64).to_string()),
            ("bytes_in_flight", endpoint.inflight().to_string()),
            ("ssthresh", ssthresh),
            ("pacing_rate", endpoint.pacing_rate().map_or(String::new(), |rate| rate.to_string())),
        ];
        let mut data = Object::default();
        for ((name, new), (_, old)) in metrics.iter().zip(&self.metrics) {
            if new != old && !new.is_empty() {
                data.raw(name, new);
            }
        }
        if !data.is_empty() {
            self.record(now, &METRICS, &data);
        }
        self.metrics = metrics;
    }

    fn connection_state(&mut self, endpoint: &Endpoint, now: Time) {
        let state = match endpoint.state() {
            State::Idle => return,
            State::Handshaking => "handshake_started",
            State::Established if endpoint.is_confirmed() => "handshake_confirmed",
            State::Established => "handshake_completed",
            State::Closing => "closing",
            State::Draining => "draining",
            State::Closed => "closed",
        };
        if self.state == Some(state) {
            return;
        }
        let before = self.state.replace(state);
        let mut data = Object::default();
        if let Some(old) = before {
            data.text("old", old);
        }
        self.record(now, &STATE, data.text("new", state));
        let (initiator, trigger) = match (before, state) {
            (_, "closing") => ("local", "clean"),
            (_, "draining") => ("remote", "clean"),
            (Some("closing" | "draining"), _) => return,
            (_, "closed") => ("local", "idle_timeout"),
            _ => return,
        };
        let mut data = Object::default();
        self.record(now, &CLOSED, data.text(self.initiator(), initiator).text("trigger", trigger));
    }

    /// The name of the field for the end that acts.
    fn initiator(&self) -> &'static str {
        if self.version == QlogVersion::Draft { "initiator" } else { "owner" }
    }

    fn notes(&mut self, notes: &[Note], now: Time) {
        for space in [Space::Initial, Space::Handshake, Space::Application] {
            let acked = notes.iter().filter_map(|note| match note {
                Note::Acknowledged(of, number) if *of == space => Some(number.to_string()),
                _ => None,
            });
            let mut acked: Vec<String> = acked.collect();
            if acked.is_empty() {
                continue;
            }
            acked.reverse(); // ACK ranges are descending
            let mut data = Object::default();
            data.text("packet_number_space", space_name(space));
            data.raw("packet_numbers", &format!("[{}]", acked.join(",")));
            self.record(now, &ACKED, &data);
        }
        for note in notes {
            if let Note::Lost(space, number, why) = *note {
                let trigger = match why {
                    LossTrigger::ReorderingThreshold => "reordering_threshold",
                    LossTrigger::TimeThreshold => "time_threshold",
                };
                let form = match space {
                    Space::Initial => Form::Initial,
                    Space::Handshake => Form::Handshake,
                    Space::Application => Form::OneRtt,
                };
                let mut data = Object::default();
                data.object("header", &self.packet_header(form, number, None)).text("trigger", trigger);
                self.record(now, &LOST, &data);
            }
        }
    }

    fn packet_header(&self, form: Form, number: u64, spin: Option<bool>) -> Object {
        let mut header = Object::default();
        let kind = match form {
            Form::Initial => "initial",
            Form::ZeroRtt => "0RTT",
            Form::Handshake => "handshake",
            Form::OneRtt => "1RTT",
        };
        header.text("packet_type", kind).raw("packet_number", &number);
        if let (Form::OneRtt, Some(spin), QlogVersion::Draft) = (form, spin, self.version) {
            header.raw("spin_bit", &spin);
        }
        header
    }

    fn contents(&self, data: &mut Object, of: &Datagram, frames: &[Frame], length: Option<u32>, id: u32) {
        if let Some(length) = length {
            data.object("raw", Object::default().raw("length", &length));
        }
        data.raw("datagram_id", &id);
        let frames: Vec<String> = frames.iter().map(|f| frames::frame(f, of, self.version).finish()).collect();
        data.raw("frames", &format!("[{}]", frames.join(",")));
    }
}

/// The length of the only packet of a datagram; None if it has several.
fn whole_length(datagram: &Datagram) -> Option<u32> {
    (datagram.packets().count() == 1).then_some(datagram.bytes)
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Initial => "initial",
        Space::Handshake => "handshake",
        Space::Application => "application_data",
    }
}

/// A time in milliseconds, exact to the nanosecond.
fn millis(time: Dur) -> String {
    format!("{}.{:06}", time.0 / 1_000_000, time.0 % 1_000_000)
}

fn header(version: QlogVersion, group: &str, role: &str) -> String {
    let (mut file, mut trace, mut common) = (Object::default(), Object::default(), Object::default());
    let mut point = Object::default();
    point.text("name", "dumbbell").text("type", role);
    match version {
        QlogVersion::Draft => {
            let mut reference = Object::default();
            reference.text("clock_type", "monotonic").text("epoch", "unknown");
            common.text("group_id", group).text("time_format", "relative_to_epoch");
            common.object("reference_time", &reference);
            trace.object("common_fields", &common).object("vantage_point", &point);
            trace.raw("event_schemas", &r#"["urn:ietf:params:qlog:events:quic-14"]"#);
            file.text("file_schema", "urn:ietf:params:qlog:file:sequential");
            file.text("serialization_format", "application/qlog+json-seq");
        }
        QlogVersion::V03 => {
            common.text("ODCID", &hex(group)).text("time_format", "relative").raw("reference_time", &0);
            trace.object("vantage_point", &point).object("common_fields", &common);
            file.text("qlog_version", "0.3").text("qlog_format", "JSON-SEQ");
        }
    }
    file.text("title", group).object("trace", &trace);
    format!("\u{1e}{}\n", file.finish())
}

/// Bytes of a name in hexadecimal, in place of a connection ID.
fn hex(name: &str) -> String {
    name.bytes().map(|b| format!("{b:02x}")).collect()
}

fn started(version: QlogVersion, [own, peer]: [FlowAddress; 2]) -> Object {
    let mut data = Object::default();
    match version {
        QlogVersion::Draft => {
            let end = |(ip, port): &FlowAddress| {
                let mut end = Object::default();
                end.text("ip_v4", &ip.to_string()).raw("port_v4", port);
                end
            };
            data.object("local", &end(&own)).object("remote", &end(&peer));
        }
        QlogVersion::V03 => {
            data.text("ip_version", "v4").text("src_ip", &own.0.to_string()).text("dst_ip", &peer.0.to_string());
            data.raw("src_port", &own.1).raw("dst_port", &peer.1);
        }
    }
    data
}

fn parameters(version: QlogVersion, config: &Config) -> Object {
    let mut data = Object::default();
    data.text(if version == QlogVersion::Draft { "initiator" } else { "owner" }, "local");
    data.raw("max_idle_timeout", &(config.connection.idle_timeout.0 / 1_000_000));
    data.raw("ack_delay_exponent", &3).raw("max_ack_delay", &(config.ack.max_delay.0 / 1_000_000));
    data.raw("initial_max_data", &config.streams.window);
    for name in ["initial_max_stream_data_bidi_local", "initial_max_stream_data_bidi_remote"] {
        data.raw(name, &config.streams.stream_window);
    }
    data.raw("unknown_parameters", &"[]");
    data
}

fn recovery_parameters(config: &Config) -> Object {
    let mut data = Object::default();
    data.raw("reordering_threshold", &config.recovery.packet_threshold);
    data.raw("time_threshold", &config.recovery.time_threshold);
    data.raw("timer_granularity", &(config.recovery.granularity.0 / 1_000_000));
    data.raw("initial_rtt", &millis(config.recovery.initial_rtt));
    data.raw("max_datagram_size", &config.connection.max_datagram);
    data.raw("initial_congestion_window", &config.growth.initial_window);
    data.raw("minimum_congestion_window", &config.growth.minimum_window);
    data.raw("persistent_congestion_threshold", &config.recovery.persistent_congestion);
    data
}
