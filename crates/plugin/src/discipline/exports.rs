//! The library's side: the functions that [`crate::export_discipline`] puts into the table.

use super::{Call, Description, Link, Packet, Reply, VTable};
use crate::abi::{Sink, Text};
use crate::exports::catch;
use crate::json::{RefusedParameter, Value};
use dumbbell_qdisc::{Discipline, DropReason, LinkInfo, Qdisc, QdiscContext};
use dumbbell_units::param::{ParamError, Params};
use dumbbell_units::{Dur, Rate, Time};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A discipline that a library exports; implemented by [`crate::export_discipline`].
pub trait Exported {
    /// Its registry row.
    const ROW: &'static Discipline;
}

/// Returns the functions of a discipline.
#[must_use]
pub fn vtable<E: Exported>() -> VTable {
    VTable { describe: describe::<E>, create: create::<E>, enqueue, dequeue, observe, drop: release }
}

/// The discipline of one queue with its context. C has no pointers to traits: this struct has a thin one.
struct Queue {
    qdisc: Box<dyn Qdisc>,
    cx: QdiscContext,
}

extern "C" fn describe<E: Exported>(sink: Sink) {
    let row = E::ROW;
    let params = row.params.iter();
    let description = Description {
        built_with: env!("CARGO_PKG_VERSION").to_owned(),
        name: row.name.to_owned(),
        title: row.title.to_owned(),
        params: params
            .map(|s| [s.name.to_owned(), s.kind.to_string(), s.default.to_owned(), s.doc.to_owned()])
            .collect(),
        columns: row.columns.iter().map(|c| (*c).to_owned()).collect(),
    };
    sink.write(&serde_json::to_string(&description).unwrap_or_default());
}

/// # Safety
/// `params` and the text in `link` are readable UTF-8, `link` is readable, `reply` is writable.
unsafe extern "C" fn create<E: Exported>(
    params: Text,
    link: *const Link,
    reply: *mut Reply,
    error: Sink,
) -> *mut c_void {
    let created = catch(error, || {
        // SAFETY: the caller guarantees it.
        let (params, link) = unsafe { (params.as_str(), &*link) };
        let link = LinkInfo {
            rate: Rate(link.rate),
            base_rtt: Dur(link.base_rtt),
            seed: link.seed,
            // SAFETY: the caller guarantees it.
            path: unsafe { link.path.as_str() }.to_owned(),
            linux: link.linux,
            overhead: 0, // no part of the interface; only PIE reads it
        };
        let qdisc = build(E::ROW, params, &link)?;
        // SAFETY: the caller guarantees it.
        unsafe { reply.write(Reply { classes: qdisc.classes().into(), ..Reply::default() }) };
        Ok(Queue { qdisc, cx: QdiscContext::default() })
    });
    created.map_or(std::ptr::null_mut(), |queue| Box::into_raw(Box::new(queue)).cast())
}

/// Builds a discipline from parameters in JSON. The error is a [`RefusedParameter`] in JSON.
fn build(row: &Discipline, params: &str, link: &LinkInfo) -> Result<Box<dyn Qdisc>, String> {
    let refused = |e: ParamError| {
        let refused = RefusedParameter { name: e.name, message: e.message };
        serde_json::to_string(&refused).unwrap_or_default()
    };
    let params: Vec<(String, Value)> = serde_json::from_str(params)
        .map_err(|e| refused(ParamError { name: String::new(), message: e.to_string() }))?;
    let params: Vec<_> = params.into_iter().map(|(k, v)| (k, v.into())).collect();
    let params = Params::read(row.params, &params).map_err(refused)?;
    (row.build)(&params, link).map_err(refused)
}

impl Queue {
    fn begin(&mut self, call: &Call) {
        self.cx.now = Time(call.now);
        self.cx.link_busy = call.link_busy;
    }

    /// Passes on the dropped packets and fills the reply.
    fn end(&mut self, call: &Call, packet: Option<dumbbell_qdisc::Packet>) -> Reply {
        while let Some((packet, reason)) = self.cx.take_dropped() {
            let reason = DropReason::ALL.iter().position(|r| *r == reason).unwrap_or_default();
            (call.dropped)(call.buffer, Packet::from(&packet), reason as u8);
        }
        let backlog = self.qdisc.backlog();
        let next_ready = if packet.is_none() { self.qdisc.next_ready() } else { None };
        Reply {
            packet: packet.as_ref().map(Packet::from).into(),
            marked: self.cx.take_marked(),
            packets: backlog.packets,
            bytes: backlog.bytes,
            next_ready: next_ready.map(|t| t.0).into(),
            ..Reply::default()
        }
    }
}

/// # Safety
/// `queue` is a result of `create`; `call` is readable, `reply` is writable.
unsafe extern "C" fn enqueue(queue: *mut c_void, packet: Packet, call: *const Call, reply: *mut Reply) -> bool {
    // SAFETY: the caller guarantees it.
    let (queue, call) = unsafe { (&mut *queue.cast::<Queue>(), &*call) };
    catch(call.error, || {
        queue.begin(call);
        queue.qdisc.enqueue(packet.into(), &mut queue.cx);
        // SAFETY: the caller guarantees it.
        unsafe { reply.write(queue.end(call, None)) };
        Ok(())
    })
    .is_some()
}

/// # Safety
/// `queue` is a result of `create`; `call` is readable, `reply` is writable.
unsafe extern "C" fn dequeue(queue: *mut c_void, call: *const Call, reply: *mut Reply) -> bool {
    // SAFETY: the caller guarantees it.
    let (queue, call) = unsafe { (&mut *queue.cast::<Queue>(), &*call) };
    catch(call.error, || {
        queue.begin(call);
        let packet = queue.qdisc.dequeue(&mut queue.cx);
        // SAFETY: the caller guarantees it.
        unsafe { reply.write(queue.end(call, packet)) };
        Ok(())
    })
    .is_some()
}

/// # Safety
/// `queue` is a result of `create`; `row` is writable for `len` values.
unsafe extern "C" fn observe(queue: *const c_void, row: *mut f64, len: usize, error: Sink) -> bool {
    catch(error, || {
        // SAFETY: the caller guarantees it.
        let queue = unsafe { &*queue.cast::<Queue>() };
        let mut values = Vec::new();
        queue.qdisc.observe(&mut values);
        if values.len() != len {
            let message = format!("observe returns {} values, but the discipline has {len} columns", values.len());
            return Err(message);
        }
        // SAFETY: the caller guarantees it, and the lengths are equal.
        unsafe { row.copy_from_nonoverlapping(values.as_ptr(), len) };
        Ok(())
    })
    .is_some()
}

/// # Safety
/// `queue` is a result of `create` and is not used afterwards.
unsafe extern "C" fn release(queue: *mut c_void) {
    // SAFETY: the caller guarantees it.
    let queue = unsafe { Box::from_raw(queue.cast::<Queue>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(queue)));
}
