"""The JSON Schema of the qlog files that runs write [draft-ietf-quic-qlog-main-schema, -quic-events-14].

Each record is the header or an event. Times are in ms, sizes in bytes, rates in bit/s.
"""

from __future__ import annotations

from typing import Any

__all__ = ["qlog_schema"]

NUMBER = {"type": "number", "minimum": 0}
COUNT = {"type": "integer", "minimum": 0}
TEXT = {"type": "string"}
FLAG = {"type": "boolean"}


def either(*values: str | int) -> dict[str, Any]:
    """Return the schema of a value that is one of these."""
    return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}


def named(name: str) -> dict[str, Any]:
    """Return a reference to a part."""
    return {"$ref": f"#/$defs/{name}"}


def row(**fields: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these fields and no others; a name that ends with ``_`` may be missing."""
    return {
        "type": "object",
        "properties": {name.removesuffix("_"): field for name, field in fields.items()},
        "required": [name for name in fields if not name.endswith("_")],
        "additionalProperties": False,
    }


def rows(field: dict[str, Any], **more: int) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": field, **more}


TRACE = row(
    common_fields=row(
        group_id=TEXT,
        time_format=either("relative_to_epoch"),
        reference_time=row(clock_type=either("monotonic"), epoch=either("unknown")),
    ),
    vantage_point=row(name=TEXT, type=either("client", "server")),
    event_schemas={"const": ["urn:ietf:params:qlog:events:quic-14"]},
)
FRAMES: dict[str, dict[str, Any]] = {
    "ping": {},
    "handshake_done": {},
    "ack": {
        "ack_delay": NUMBER,
        "acked_ranges": rows(rows(COUNT, minItems=1, maxItems=2), minItems=1),
        "ect0_": COUNT,
        "ect1_": COUNT,
        "ce_": COUNT,
    },
    "crypto": {"offset": COUNT, "raw": named("raw")},
    "stream": {"stream_id": COUNT, "offset": COUNT, "fin_": FLAG, "raw": named("raw")},
    "max_data": {"maximum": COUNT},
    "max_stream_data": {"stream_id": COUNT, "maximum": COUNT},
    "connection_close": {"error_space": either("transport"), "error_code": COUNT},
    "unknown": {"frame_type_bytes": either(31, 175)},
}
PARTS = {
    "raw": row(length=COUNT, payload_length_=COUNT),
    "frame": {"oneOf": [row(frame_type=either(name), **fields) for name, fields in FRAMES.items()]},
    "header": row(packet_type=either("initial", "handshake", "0RTT", "1RTT"), packet_number=COUNT, spin_bit_=FLAG),
    "end": row(ip_v4={**TEXT, "format": "ipv4"}, port_v4=COUNT),
    "state": either("handshake_started", "handshake_completed", "handshake_confirmed", "closing", "draining", "closed"),
}
PACKET = row(header=named("header"), raw_=named("raw"), datagram_id=COUNT, frames=rows(named("frame")))
EVENTS: dict[str, dict[str, Any]] = {
    "connection_started": row(local=named("end"), remote=named("end")),
    "connection_closed": row(initiator=either("local", "remote"), trigger=either("clean", "idle_timeout")),
    "connection_state_updated": row(old_=named("state"), new=named("state")),
    "spin_bit_updated": row(state=FLAG),
    "mtu_updated": row(old_=COUNT, new=COUNT),
    "parameters_set": row(
        initiator=either("local"),
        max_idle_timeout=COUNT,
        ack_delay_exponent=COUNT,
        max_ack_delay=COUNT,
        initial_max_data=COUNT,
        initial_max_stream_data_bidi_local=COUNT,
        initial_max_stream_data_bidi_remote=COUNT,
        unknown_parameters={"type": "array", "maxItems": 0},
    ),
    "packet_sent": PACKET,
    "packet_received": PACKET,
    "packet_dropped": row(
        header=named("header"),
        datagram_id=COUNT,
        details=either("keys unavailable", "duplicate"),
        trigger=either("general"),
    ),
    "packets_acked": row(
        packet_number_space=either("initial", "handshake", "application_data"), packet_numbers=rows(COUNT, minItems=1)
    ),
    "packet_lost": row(header=named("header"), trigger=either("reordering_threshold", "time_threshold")),
    "recovery_parameters_set": row(
        reordering_threshold=COUNT,
        time_threshold=NUMBER,
        timer_granularity=COUNT,
        initial_rtt=NUMBER,
        max_datagram_size=COUNT,
        initial_congestion_window=COUNT,
        minimum_congestion_window=COUNT,
        persistent_congestion_threshold=COUNT,
    ),
    "recovery_metrics_updated": {
        **row(
            min_rtt_=NUMBER,
            smoothed_rtt_=NUMBER,
            latest_rtt_=NUMBER,
            rtt_variance_=NUMBER,
            pto_count_=COUNT,
            congestion_window_=COUNT,
            bytes_in_flight_=COUNT,
            ssthresh_=COUNT,
            pacing_rate_=COUNT,
        ),
        "minProperties": 1,
    },
    "congestion_state_updated": row(old_=TEXT, new=TEXT),
    "stream_data_moved": row(
        **{"stream_id": COUNT, "offset": COUNT, "from": either("transport"), "to": either("application")},
        raw=named("raw"),
    ),
}


def qlog_schema() -> dict[str, Any]:
    """Return the JSON Schema of a record: the header, or one of the events, whose names are those of the parts."""
    file = row(
        file_schema=either("urn:ietf:params:qlog:file:sequential"),
        serialization_format=either("application/qlog+json-seq"),
        title=TEXT,
        trace=TRACE,
    )
    events = {name: row(time=NUMBER, name=either(f"quic:{name}"), data=data) for name, data in EVENTS.items()}
    records = {"file": file, **events}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Record of a qlog file",
        "oneOf": [named(name) for name in records],
        "$defs": records | PARTS,
    }
