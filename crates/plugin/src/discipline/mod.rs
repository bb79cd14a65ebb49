//! Queue disciplines in libraries: the interface in C's layout, the library's side, and the loader.
//!
//! A library is called through two exported symbols:
//!
//! | symbol | type | returns |
//! |---|---|---|
//! | `dumbbell_discipline_interface` | `extern "C" fn() -> u32` | the [`INTERFACE`] that the library was built for |
//! | `dumbbell_discipline_table` | `extern "C" fn() -> VTable` | the functions of its discipline |
//!
//! A packet crosses the interface by value. Its `body` is a handle of the simulator's: the simulator keeps the packet,
//! and checks every packet that comes back against it ([`dumbbell_qdisc::external`]). Times are in ns, sizes in wire
//! bytes.

mod exports;
#[cfg(feature = "load")]
mod loader;

pub use exports::{Exported, vtable};
#[cfg(feature = "load")]
pub(crate) use loader::is_exported;
#[cfg(feature = "load")]
pub use loader::{LoadedDiscipline, load_discipline};

use crate::abi::{Maybe, Sink, Text};
use dumbbell_qdisc as qdisc;
use dumbbell_units::Time;
use serde::{Deserialize, Serialize};
use std::ffi::c_void;

/// The number of this interface. A library that was built for another number is refused.
pub const INTERFACE: u32 = 2;

/// [`qdisc::Packet`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the mirrored struct documents its fields")]
pub struct Packet {
    pub bytes: u32,
    pub flow: u32,
    pub body: u32,
    pub class: u16,
    pub ecn: u8,
    pub enqueued: u64,
}

impl From<&qdisc::Packet> for Packet {
    fn from(own: &qdisc::Packet) -> Packet {
        let qdisc::Packet { bytes, flow, body, class, ecn, enqueued } = *own;
        Packet { bytes, flow, body, class, ecn: ecn.bits(), enqueued: enqueued.0 }
    }
}

impl From<Packet> for qdisc::Packet {
    fn from(c: Packet) -> qdisc::Packet {
        let Packet { bytes, flow, body, class, ecn, enqueued } = c;
        qdisc::Packet { bytes, flow, body, class, ecn: qdisc::Ecn::from_bits(ecn), enqueued: Time(enqueued) }
    }
}

/// The fields of [`qdisc::LinkInfo`]; the path is borrowed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the mirrored struct documents its fields")]
pub struct Link {
    pub rate: u64,
    pub base_rtt: u64,
    pub seed: u64,
    pub path: Text,
    pub linux: bool,
}

/// The context of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Now, ns.
    pub now: u64,
    /// True while the link transmits a packet.
    pub link_busy: bool,
    /// The first argument of `dropped`.
    pub buffer: *mut c_void,
    /// Receives each dropped packet, with the index of its reason in [`qdisc::DropReason::ALL`].
    pub dropped: extern "C" fn(*mut c_void, Packet, u8),
    /// Receives the reason of a failure.
    pub error: Sink,
}

/// The state of the discipline after a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply {
    /// The packet that a dequeue returns.
    pub packet: Maybe<Packet>,
    /// Packets marked in this call.
    pub marked: u64,
    /// Packets that wait.
    pub packets: u64,
    /// Their wire bytes.
    pub bytes: u64,
    /// [`qdisc::Qdisc::next_ready`], after a dequeue without a packet.
    pub next_ready: Maybe<u64>,
    /// [`qdisc::Qdisc::classes`], after the creation.
    pub classes: Maybe<u32>,
}

/// The functions of a library. None of them unwinds. One that returns false (or null) has written the reason to the
/// sink.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VTable {
    /// Writes the registry row of the discipline as a JSON object.
    pub describe: extern "C" fn(Sink),
    /// Creates the discipline of a queue from parameters (JSON) and fills the first reply; null if it refuses them.
    pub create: unsafe extern "C" fn(Text, *const Link, *mut Reply, Sink) -> *mut c_void,
    /// A packet arrives.
    pub enqueue: unsafe extern "C" fn(*mut c_void, Packet, *const Call, *mut Reply) -> bool,
    /// The link asks for the next packet.
    pub dequeue: unsafe extern "C" fn(*mut c_void, *const Call, *mut Reply) -> bool,
    /// Fills the values of the private columns, as many as given.
    pub observe: unsafe extern "C" fn(*const c_void, *mut f64, usize, Sink) -> bool,
    /// Frees the discipline.
    pub drop: unsafe extern "C" fn(*mut c_void),
}

/// The registry row of a library's discipline, without its `build`.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    /// The version of dumbbell-plugin that the library was built with.
    built_with: String,
    name: String,
    title: String,
    /// Parameters as [name, kind, default, doc].
    params: Vec<[String; 4]>,
    columns: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    /// If this fails, the interface has changed: it needs a new number in INTERFACE, and the new sizes here.
    #[test]
    fn the_layout_belongs_to_the_interface() {
        let sizes =
            [size_of::<Packet>(), size_of::<Link>(), size_of::<Call>(), size_of::<Reply>(), size_of::<VTable>()];
        assert_eq!((INTERFACE, sizes), (2, [24, 48, 48, 80, 48]));
    }

    #[test]
    fn packets_convert_in_both_directions() {
        let packet = qdisc::Packet { bytes: 1, flow: 2, body: 3, class: 4, ecn: qdisc::Ecn::ECT0, enqueued: Time(5) };
        let back = qdisc::Packet::from(Packet::from(&packet));
        assert_eq!(format!("{back:?}"), format!("{packet:?}"));
    }
}
