//! Builders of plans for the tests, and readers of their results.

use dumbbell_plan::Plan;
use dumbbell_sim::{Output, run};
use dumbbell_trace::ColumnData;
use serde_json::{Value, json};

/// A plan under construction: nodes in a row, joined by duplex links.
#[derive(Clone, Debug)]
pub struct Row {
    plan: Value,
}

fn link(from: usize, to: usize, rate_bps: u64, delay_ns: u64) -> Value {
    json!({
        "name": format!("n{from}->n{to}"), "from": from, "to": to, "rate_bps": rate_bps, "delay_ns": delay_ns,
        "overhead_bytes": 0, "base_rtt_ns": 0, "queue": {"name": "droptail"}, "loss": 0.0, "drops": [],
    })
}

impl Row {
    /// Nodes 0, 1, .., joined by one link for each (bit/s, one-way ns); queues of 1000 packets.
    pub fn new(links: &[(u64, u64)]) -> Row {
        let names: Vec<String> = (0..=links.len()).map(|i| format!("n{i}")).collect();
        let mut all = Vec::new();
        for (i, (rate, delay)) in links.iter().enumerate() {
            for (from, to) in [(i, i + 1), (i + 1, i)] {
                all.push(link(from, to, *rate, *delay));
            }
        }
        Row {
            plan: json!({
                "seed": 1, "duration_ns": 10_000_000_000u64, "measure_from_ns": 0, "start_jitter_ns": 0,
                "nodes": names, "links": all, "flows": [],
                "trace": {"series": false, "interval_ns": 0, "packets": false},
            }),
        }
    }

    /// Adds a node that a link of `bit/s` and one-way ns joins with `node`; its number.
    pub fn branch(&mut self, node: usize, (rate, delay): (u64, u64)) -> usize {
        let nodes = self.plan["nodes"].as_array_mut().unwrap();
        let new = nodes.len();
        nodes.push(json!(format!("n{new}")));
        let links = self.plan["links"].as_array_mut().unwrap();
        for (from, to) in [(node, new), (new, node)] {
            links.push(link(from, to, rate, delay));
        }
        new
    }

    /// Sets a value anywhere, by JSON pointer.
    pub fn set(mut self, pointer: &str, value: Value) -> Row {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match self.plan.pointer_mut(parent).unwrap() {
            Value::Array(a) => a[key.parse::<usize>().unwrap()] = value,
            object => object[key] = value,
        }
        self
    }

    /// Sets a value of the link between two neighbors, in that direction.
    pub fn link(self, from: usize, to: usize, key: &str, value: Value) -> Row {
        let index = 2 * from.min(to) + usize::from(from > to);
        self.set(&format!("/links/{index}/{key}"), value)
    }

    fn flow(mut self, from: usize, to: usize, transport: Value, application: Value) -> Row {
        let flows = self.plan["flows"].as_array_mut().unwrap();
        let name = format!("f{}", flows.len());
        flows.push(json!({
            "name": name, "from": from, "to": to, "start_ns": 0, "stop_ns": null, "class": 0,
            "application": application, "transport": transport,
        }));
        self
    }

    /// Adds a datagram flow.
    pub fn udp(self, from: usize, to: usize, application: Value) -> Row {
        self.flow(from, to, json!({"kind": "udp"}), application)
    }

    /// Adds a TCP flow.
    pub fn tcp(self, from: usize, to: usize, variant: &str, stack: Value, application: Value) -> Row {
        self.flow(from, to, transport("tcp", "rfc", variant, stack), application)
    }

    /// Adds a QUIC flow.
    pub fn quic(self, from: usize, to: usize, variant: &str, stack: Value, application: Value) -> Row {
        self.flow(from, to, transport("quic", "rfc9002", variant, stack), application)
    }

    /// Returns the plan.
    pub fn plan(&self) -> Plan {
        Plan::from_value(self.plan.clone()).unwrap()
    }

    /// Runs the plan.
    pub fn run(&self) -> Output {
        run(&self.plan()).unwrap()
    }
}

fn transport(kind: &str, preset: &str, variant: &str, stack: Value) -> Value {
    let preset = stack["preset"].as_str().unwrap_or(preset).to_owned();
    let mut params = stack;
    params.as_object_mut().unwrap().remove("preset");
    json!({"kind": kind, "variant": {"name": variant}, "stack": {"name": preset, "params": params}})
}

/// Returns a CBR application from the start, with constant intervals.
pub fn cbr(rate_bps: u64, packet_bytes: u32) -> Value {
    json!({"kind": "cbr", "rate_bps": rate_bps, "packet_bytes": packet_bytes, "jitter": 0.0, "phase_ns": 0})
}

/// Returns the results without the trace as text, for comparisons.
pub fn text(output: &Output) -> String {
    serde_json::to_string(&json!([output.flows, output.queues, output.transfers])).unwrap()
}

/// Returns time and number of the packets of one direction of a flow with this event (0 sent, 1 received, 2 dropped).
pub fn packets(output: &Output, event: u8, direction: u32) -> Vec<(u64, u64)> {
    let table = output.trace.table("packets").unwrap();
    let (
        Some(ColumnData::U64(t)),
        Some(ColumnData::U8(events)),
        Some(ColumnData::U32(flows)),
        Some(ColumnData::U64(n)),
    ) = (table.column("t_ns"), table.column("event"), table.column("flow"), table.column("number"))
    else {
        unreachable!()
    };
    let rows = (0..t.len()).filter(|&i| events[i] == event && flows[i] == direction);
    rows.map(|i| (t[i], n[i])).collect()
}

/// Returns time (ns), offset and bytes of the payload of the packets of one direction of a flow with this event.
pub fn payloads(output: &Output, event: u8, direction: u32) -> Vec<(f64, u64, u64)> {
    let table = output.trace.table("packets").unwrap();
    let Some(ColumnData::U32(bytes)) = table.column("payload") else { unreachable!() };
    let (Some(ColumnData::U8(events)), Some(ColumnData::U32(flows))) = (table.column("event"), table.column("flow"))
    else {
        unreachable!()
    };
    let all = (0..bytes.len()).filter(|&i| events[i] == event && flows[i] == direction);
    let rows = all.zip(packets(output, event, direction)).filter(|(i, _)| bytes[*i] > 0);
    rows.map(|(i, (at, offset))| (at as f64, offset, bytes[i].into())).collect()
}

/// Returns the number of packets with this event, of all flows.
pub fn count(output: &Output, event: u8) -> u64 {
    let Some(ColumnData::U8(events)) = output.trace.table("packets").unwrap().column("event") else { unreachable!() };
    events.iter().filter(|e| **e == event).count() as u64
}
