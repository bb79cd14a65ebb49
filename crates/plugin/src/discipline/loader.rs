//! The simulator's side: loads a library, calls the functions of its table, and checks the packets that come back.

use super::{Call, Description, INTERFACE, Link, Packet, Reply, VTable};
use crate::abi::Text;
use crate::json::{RefusedParameter, Value};
use crate::loader::{LoadError, ParameterInfo, with_sink};
use crate::watch;
use dumbbell_qdisc::external::{Code, External, Handle, Held};
use dumbbell_qdisc::{Backlog, DropReason, Ecn, LinkInfo, QdiscContext};
use dumbbell_units::Time;
use dumbbell_units::param::{ParamError, Raw};
use libloading::Library;
use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

/// A queue discipline that was loaded from a library.
#[derive(Debug)]
pub struct LoadedDiscipline {
    name: Arc<str>,
    title: String,
    params: Vec<ParameterInfo>,
    columns: &'static [&'static str],
    vtable: VTable,
    library: watch::Library,
}

type InterfaceFn = extern "C" fn() -> u32;

/// True if a library exports a discipline of any interface.
pub(crate) fn is_exported(library: &Library) -> bool {
    // SAFETY: the symbol is not called.
    unsafe { library.get::<InterfaceFn>(b"dumbbell_discipline_interface\0") }.is_ok()
}

/// Loads the discipline of a library; messages use `name` for it.
///
/// The library's code is trusted, as any code that is linked: it can do everything that this process can.
///
/// # Errors
/// The file is not a library, exports no discipline, or was built for another interface.
pub fn load_discipline(path: &Path, name: &str) -> Result<LoadedDiscipline, LoadError> {
    // SAFETY: the user asks to run this library's code, its initializers included. A library that doesn't export a
    // discipline of this interface is refused below.
    let library = unsafe { Library::new(path) }.map_err(|e| LoadError(format!("not a library: {e}")))?;
    // SAFETY: `export_discipline` defines the symbol with this type, in every interface.
    let interface = unsafe { library.get::<InterfaceFn>(b"dumbbell_discipline_interface\0") };
    let Ok(interface) = interface.map(|f| f()) else {
        // SAFETY: the symbol is not called.
        let variant = unsafe { library.get::<InterfaceFn>(b"dumbbell_plugin_interface\0") }.is_ok();
        return Err(LoadError(match variant {
            true => "it exports a variant, no queue discipline".into(),
            false => "it exports no queue discipline: dumbbell_plugin::export_discipline! is missing".into(),
        }));
    };
    if interface != INTERFACE {
        return Err(LoadError(format!(
            "it was built for discipline interface {interface}, this is interface {INTERFACE}: build it again with \
             dumbbell-plugin {}",
            env!("CARGO_PKG_VERSION")
        )));
    }
    // SAFETY: in this interface `export_discipline` defines the symbol with this type.
    let vtable = unsafe { library.get::<extern "C" fn() -> VTable>(b"dumbbell_discipline_table\0") };
    let vtable = vtable.map(|f| f()).map_err(|_| LoadError("it exports no queue discipline".into()))?;
    let discipline = LoadedDiscipline::new(vtable, name)?;
    // Never unloaded: the table and the queues point to its code.
    std::mem::forget(library);
    Ok(discipline)
}

impl LoadedDiscipline {
    fn new(vtable: VTable, name: &str) -> Result<LoadedDiscipline, LoadError> {
        let ((), text) = with_sink(|sink| (vtable.describe)(sink));
        let description: Description =
            serde_json::from_str(&text).map_err(|e| LoadError(format!("its description is invalid: {e}")))?;
        let info = |[name, kind, default, doc]: [String; 4]| ParameterInfo { name, kind, default, doc };
        // The library stays loaded as long as the process lives, so the columns may leak.
        let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let columns: Vec<&'static str> = description.columns.into_iter().map(leaked).collect();
        Ok(LoadedDiscipline {
            name: name.into(),
            title: description.title,
            params: description.params.into_iter().map(info).collect(),
            columns: columns.leak(),
            vtable,
            library: watch::Library::new(name),
        })
    }

    /// The discipline's parameters.
    #[must_use]
    pub fn params(&self) -> &[ParameterInfo] {
        &self.params
    }

    /// Its description in one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }
}

impl External for LoadedDiscipline {
    fn columns(&self) -> &'static [&'static str] {
        self.columns
    }

    fn make(&self, given: &[(String, Raw)], link: &LinkInfo) -> Result<Box<dyn Code>, ParamError> {
        let params: Vec<(&String, Value)> = given.iter().map(|(k, v)| (k, v.into())).collect();
        let params = serde_json::to_string(&params).unwrap_or_default();
        let c_link = Link {
            rate: link.rate.0,
            base_rtt: link.base_rtt.0,
            seed: link.seed,
            path: Text::borrow(&link.path),
            linux: link.linux,
        };
        let mut reply = Reply::default();
        let (queue, error) = with_sink(|sink| {
            // SAFETY: the texts and structs outlive the call.
            self.library.call(|| unsafe {
                (self.vtable.create)(Text::borrow(&params), &raw const c_link, &raw mut reply, sink)
            })
        });
        if queue.is_null() {
            return Err(match serde_json::from_str::<RefusedParameter>(&error) {
                Ok(RefusedParameter { name, message }) => ParamError { name, message },
                Err(_) => ParamError { name: "name".into(), message: error },
            });
        }
        Ok(Box::new(LoadedQueue {
            queue,
            vtable: self.vtable,
            library: self.library,
            name: Arc::clone(&self.name),
            columns: self.columns.len(),
            classes: reply.classes.into(),
            next_ready: None,
            marks_due: 0,
        }))
    }
}

/// The discipline of one queue, behind a pointer into the library.
#[derive(Debug)]
struct LoadedQueue {
    queue: *mut c_void,
    vtable: VTable,
    library: watch::Library,
    name: Arc<str>,
    columns: usize,
    classes: Option<u32>,
    next_ready: Option<Time>,
    /// Marks that the library has reported, of packets that still wait.
    marks_due: u64,
}

// SAFETY: the pointer refers to a box of a `Qdisc`, which is `Send`, and its context, and is used through this owner
// only.
unsafe impl Send for LoadedQueue {}

impl Drop for LoadedQueue {
    fn drop(&mut self) {
        // SAFETY: the pointer is a result of `create` and is not used afterwards.
        unsafe { (self.vtable.drop)(self.queue) }
    }
}

/// The packets that a call drops.
#[derive(Default)]
struct Dropped(Vec<(Packet, u8)>);

extern "C" fn dropped(buffer: *mut c_void, packet: Packet, reason: u8) {
    // SAFETY: `buffer` is the list of the call, which outlives it.
    let list = unsafe { &mut *buffer.cast::<Dropped>() };
    list.0.push((packet, reason));
}

impl LoadedQueue {
    /// Calls the library and takes over what it has dropped and marked. Returns its reply.
    fn call(
        &mut self,
        held: &mut Held,
        cx: &mut QdiscContext,
        function: impl FnOnce(&VTable, *mut c_void, &Call, &mut Reply) -> bool,
    ) -> Result<Reply, String> {
        let (mut list, mut reply) = (Dropped::default(), Reply::default());
        let (ok, error) = with_sink(|error| {
            let call = Call { now: cx.now.0, link_busy: cx.link_busy, buffer: (&raw mut list).cast(), dropped, error };
            self.library.call(|| function(&self.vtable, self.queue, &call, &mut reply))
        });
        if !ok {
            return Err(error);
        }
        cx.count_marks(reply.marked);
        self.marks_due += reply.marked;
        for (packet, reason) in list.0 {
            let reason = DropReason::ALL.get(usize::from(reason)).copied().unwrap_or(DropReason::Early);
            let reason = match reason {
                DropReason::Full | DropReason::Early | DropReason::Forced => reason,
                other => {
                    return Err(format!(
                        "{}: reason '{}' given for a drop: a queue drops with full, early or forced",
                        self.name,
                        other.name()
                    ));
                }
            };
            self.leaves(packet, held)?;
            if !held.drop_packet(Handle(packet.body), reason, cx) {
                return Err(format!("{}: a packet was dropped that isn't in the queue", self.name));
            }
        }
        Ok(reply)
    }

    /// Checks the fields of a packet that leaves, and takes its mark over.
    fn leaves(&mut self, packet: Packet, held: &mut Held) -> Result<(), String> {
        let handle = Handle(packet.body);
        let Some(own) = held.get(handle) else { return Ok(()) }; // the caller reports it
        let expected = Packet { body: packet.body, ..Packet::from(own) };
        if packet == expected {
            return Ok(());
        }
        let marked = Packet { ecn: Ecn::CE.bits(), ..expected };
        if packet != marked || !own.ecn.is_capable() || self.marks_due == 0 {
            return Err(format!(
                "{}: a packet leaves with other fields than it arrived with: QdiscContext::mark alone changes one",
                self.name
            ));
        }
        self.marks_due -= 1;
        let _ = held.mark(handle, &mut QdiscContext::default()); // counted when the library reported it
        Ok(())
    }

    /// Compares the backlog that the library reports with the packets that wait.
    fn compare(&self, method: &str, reply: &Reply, waiting: Backlog) -> Result<(), String> {
        let reported = Backlog { packets: reply.packets, bytes: reply.bytes };
        if reported == waiting {
            return Ok(());
        }
        Err(format!(
            "{}: after {method}, backlog() returns {} packets of {} bytes, but {} packets of {} bytes wait: arrived = \
             departed + dropped + waiting must hold",
            self.name, reported.packets, reported.bytes, waiting.packets, waiting.bytes
        ))
    }
}

impl Code for LoadedQueue {
    fn name(&self) -> &str {
        &self.name
    }

    fn enqueue(&mut self, handle: Handle, held: &mut Held, cx: &mut QdiscContext) -> Result<(), String> {
        let Some(own) = held.get(handle) else { unreachable!("a packet that arrives is held") };
        let packet = Packet { body: handle.0, ..Packet::from(own) };
        let reply = self.call(held, cx, |vtable, queue, call, reply| {
            // SAFETY: the pointer is a result of `create`, the structs outlive the call.
            unsafe { (vtable.enqueue)(queue, packet, call, reply) }
        })?;
        self.compare("enqueue", &reply, held.backlog())
    }

    fn dequeue(&mut self, held: &mut Held, cx: &mut QdiscContext) -> Result<Option<Handle>, String> {
        let reply = self.call(held, cx, |vtable, queue, call, reply| {
            // SAFETY: the pointer is a result of `create`, the structs outlive the call.
            unsafe { (vtable.dequeue)(queue, call, reply) }
        })?;
        let mut waiting = held.backlog();
        let packet: Option<Packet> = reply.packet.into();
        if let Some(packet) = packet {
            self.leaves(packet, held)?;
            if let Some(own) = held.get(Handle(packet.body)) {
                waiting.packets -= 1;
                waiting.bytes -= u64::from(own.bytes);
                self.compare("dequeue", &reply, waiting)?;
            }
        } else {
            self.compare("dequeue", &reply, waiting)?;
        }
        self.next_ready = Option::from(reply.next_ready).map(Time);
        Ok(packet.map(|p| Handle(p.body)))
    }

    fn next_ready(&mut self, _now: Time) -> Result<Option<Time>, String> {
        Ok(self.next_ready)
    }

    fn observe(&self, row: &mut Vec<f64>) -> Result<(), String> {
        let begin = row.len();
        row.resize(begin + self.columns, f64::NAN);
        let (ok, error) = with_sink(|sink| {
            // SAFETY: the pointer is a result of `create`; `row` has as many values from `begin` on as there are
            // columns.
            self.library
                .call(|| unsafe { (self.vtable.observe)(self.queue, row[begin..].as_mut_ptr(), self.columns, sink) })
        });
        if ok { Ok(()) } else { Err(error) }
    }

    fn classes(&self) -> Option<u32> {
        self.classes
    }
}

/// Both sides of the interface in one process, without a library: these tests also run under miri.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::discipline::{Exported, vtable};
    use dumbbell_qdisc::external::ExternalQdisc;
    use dumbbell_qdisc::{Discipline, Fifo, Packet as Own, Qdisc};
    use dumbbell_units::param::{Kind, Spec};
    use dumbbell_units::{Dur, Rate};
    use std::sync::Mutex;

    /// A queue of two packets that marks packets behind another one; `mistake` names a broken rule.
    #[derive(Debug)]
    struct Two {
        queue: Fifo,
        mistake: &'static str,
    }

    impl Qdisc for Two {
        fn enqueue(&mut self, mut packet: Own, cx: &mut QdiscContext) {
            match self.mistake {
                "loses" => return,
                "wrong reason" => return cx.drop_packet(packet, DropReason::Outage),
                "changes" => packet.flow += 1,
                "panics" => panic!("not today"),
                _ => {}
            }
            if self.queue.packets() == 2 {
                return cx.drop_packet(packet, DropReason::Full);
            }
            if self.mistake == "marks itself" {
                packet.ecn = Ecn::CE;
            } else if !self.queue.is_empty() {
                let _ = cx.mark(&mut packet);
            }
            self.queue.push(packet);
        }

        fn dequeue(&mut self, cx: &mut QdiscContext) -> Option<Own> {
            let packet = self.queue.pop()?;
            if self.mistake == "twice" {
                let Own { bytes, flow, body, class, ecn, enqueued } = packet;
                cx.drop_packet(Own { bytes, flow, body, class, ecn, enqueued }, DropReason::Early);
            }
            Some(packet)
        }

        fn backlog(&self) -> Backlog {
            self.queue.backlog()
        }

        fn observe(&self, row: &mut Vec<f64>) {
            let values = if self.mistake == "columns" { 2 } else { 1 };
            row.resize(row.len() + values, self.queue.packets() as f64);
        }

        fn classes(&self) -> Option<u32> {
            Some(3)
        }
    }

    const MISTAKES: &[&str] =
        &["none", "loses", "wrong reason", "changes", "panics", "marks itself", "twice", "columns"];

    struct Export;

    impl Exported for Export {
        const ROW: &'static Discipline = &Discipline {
            name: "two",
            title: "an example",
            params: &[Spec { name: "mistake", kind: Kind::Choice(MISTAKES), default: "none", doc: "broken rule" }],
            columns: &["packets"],
            build: |params, _| Ok(Box::new(Two { queue: Fifo::default(), mistake: params.choice("mistake") })),
            ..Discipline::EMPTY
        };
    }

    fn link() -> LinkInfo {
        LinkInfo { seed: 1, path: "link/a/queue".into(), ..LinkInfo::new(Rate(1_000_000), Dur::millis(10)) }
    }

    fn packet(body: u32) -> Own {
        Own { bytes: 100, flow: 2, body, class: 1, ecn: Ecn::ECT0, enqueued: Time(5) }
    }

    /// Sends three packets through the queue. Returns the numbers of those that leave, of those that are dropped, the
    /// number of marks and the failure.
    fn through(mistake: &str) -> (Vec<u32>, Vec<u32>, u64, Option<String>) {
        let loaded = LoadedDiscipline::new(vtable::<Export>(), "mine").unwrap();
        let failure = Arc::new(Mutex::new(None));
        let place = Arc::clone(&failure);
        let fail = Arc::new(move |_, message| *place.lock().unwrap() = Some(message));
        let given = [("mistake".to_owned(), Raw::Text(mistake.to_owned()))];
        let mut queue = ExternalQdisc::new(&loaded, &given, &link(), fail).unwrap();
        assert_eq!(queue.classes(), Some(3));
        let mut cx = QdiscContext::default();
        (cx.link_busy, cx.now) = (true, Time(7));
        for body in 0..3 {
            queue.enqueue(packet(body), &mut cx);
        }
        let mut row = Vec::new();
        queue.observe(&mut row);
        assert_eq!(row.len(), 1);
        let sent: Vec<u32> = std::iter::from_fn(|| queue.dequeue(&mut cx)).map(|p| p.body).collect();
        let dropped = std::iter::from_fn(|| cx.take_dropped()).map(|(p, _)| p.body).collect();
        let message = failure.lock().unwrap().take();
        (sent, dropped, cx.take_marked(), message)
    }

    #[test]
    fn packets_cross_the_interface_and_keep_their_identity() {
        assert_eq!(through("none"), (vec![0, 1], vec![2], 1, None));
        let loaded = LoadedDiscipline::new(vtable::<Export>(), "mine").unwrap();
        assert_eq!(
            (loaded.title(), loaded.columns(), loaded.params()[0].name.as_str()),
            ("an example", &["packets"][..], "mistake")
        );
    }

    #[test]
    fn broken_rules_are_found() {
        for (mistake, words) in [
            ("loses", "after enqueue, backlog() returns 0 packets of 0 bytes, but 1 packets of 100 bytes wait"),
            ("wrong reason", "reason 'outage' given for a drop"),
            ("changes", "mine: a packet leaves with other fields than it arrived with"),
            ("marks itself", "QdiscContext::mark alone changes one"),
            ("twice", "mine: dequeue returned a packet that isn't in the queue"),
            ("columns", "observe returns 2 values, but the discipline has 1 columns"),
        ] {
            let message = through(mistake).3.unwrap_or_default();
            assert!(message.contains(words), "{mistake}: {message}");
        }
        let message = through("panics").3.unwrap_or_default();
        assert!(message.contains("loader.rs:") && message.ends_with("panic: not today"), "{message}");
    }

    #[test]
    fn a_refused_parameter_keeps_its_name() {
        let loaded = LoadedDiscipline::new(vtable::<Export>(), "mine").unwrap();
        for name in ["mistake", "mstake"] {
            let given = [(name.to_owned(), Raw::Text("what".to_owned()))];
            assert_eq!(loaded.make(&given, &link()).unwrap_err().name, name);
        }
    }
}
