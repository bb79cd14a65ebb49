//! The side of the library that holds a law: what [`crate::export_law`] puts behind the table of functions.

use crate::abi::{self, Cx, Event, Reply, Setup, Sink, Table, Text};
use crate::message::{Given, Refusal};
use dumbbell_cc::{CongestionControl, EcnUse, LossRecovery, Phase, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{ParamError, Params};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

/// A law that a library exports.
pub trait Exported {
    /// Its row.
    const ROW: &'static Variant;
}

/// What a library says of its law.
#[derive(Debug, Serialize, Deserialize)]
pub struct Description {
    /// The version of the crate that it was built with.
    pub built_with: String,
    /// See [`Variant`]; so are those that follow.
    pub name: String,
    /// In one line.
    pub title: String,
    /// Year of the source.
    pub year: u16,
    /// The source.
    pub source: String,
    /// The shell that the name stands for, by its number.
    pub shell: Option<u8>,
    /// Vegas' early retransmissions.
    pub fine_timeouts: bool,
    /// The law itself governs recovery.
    pub own_recovery: bool,
    /// The feedback that it needs, by its number.
    pub ecn: u8,
    /// Answer to loss.
    pub on_loss: String,
    /// Answer to delay.
    pub on_delay: String,
    /// Answer to marks.
    pub on_ecn: String,
    /// Parameters: name, what it takes, default, what it does.
    pub params: Vec<[String; 4]>,
    /// Private columns.
    pub columns: Vec<String>,
}

/// The shells, in the order of their numbers.
pub(crate) const SHELLS: [LossRecovery; 4] =
    [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Sack];
/// The uses of ECN, in the order of their numbers.
pub(crate) const ECN_USES: [EcnUse; 3] = [EcnUse::Stack, EcnUse::Dctcp, EcnUse::Scalable];

fn number<T: PartialEq>(all: &[T], value: &T) -> u8 {
    all.iter().position(|v| v == value).unwrap_or_default() as u8
}

impl Description {
    fn of(row: &Variant) -> Description {
        let param = |s: &dumbbell_units::param::Spec| {
            [s.name.to_owned(), s.kind.to_string(), s.default.to_owned(), s.doc.to_owned()]
        };
        Description {
            built_with: env!("CARGO_PKG_VERSION").to_owned(),
            name: row.name.to_owned(),
            title: row.title.to_owned(),
            year: row.year,
            source: row.source.to_owned(),
            shell: row.loss_recovery.map(|s| number(&SHELLS, &s)),
            fine_timeouts: row.fine_timeouts,
            own_recovery: row.own_recovery,
            ecn: number(&ECN_USES, &row.ecn),
            on_loss: row.on_loss.to_owned(),
            on_delay: row.on_delay.to_owned(),
            on_ecn: row.on_ecn.to_owned(),
            params: row.params.iter().map(param).collect(),
            columns: row.columns.iter().map(|c| (*c).to_owned()).collect(),
        }
    }
}

/// The functions of a law.
#[must_use]
pub fn table<E: Exported>() -> Table {
    Table { describe: describe::<E>, make: make::<E>, tell, observe, drop: release }
}

/// A law behind a thin pointer.
type Held = Box<dyn CongestionControl>;

extern "C" fn describe<E: Exported>(sink: Sink) {
    let text = serde_json::to_string(&Description::of(E::ROW)).unwrap_or_default();
    say(sink, &text);
}

/// # Safety
/// `given` is readable text, `start` and its text are readable, `reply` is writable.
unsafe extern "C" fn make<E: Exported>(
    given: Text,
    start: *const Setup,
    reply: *mut Reply,
    error: Sink,
) -> *mut c_void {
    let made = guarded(error, || {
        // SAFETY: as the function demands.
        let (given, start) = unsafe { (read(given), start_of(&*start)) };
        let law = build(E::ROW, given, &start)?;
        // SAFETY: as the function demands.
        unsafe { reply.write(reply_of(law.as_ref())) };
        Ok(law)
    });
    made.map_or(std::ptr::null_mut(), |law| Box::into_raw(Box::new(law)).cast())
}

fn build(row: &Variant, given: &str, start: &dumbbell_cc::Setup) -> Result<Held, String> {
    let refused = |e: ParamError| {
        let refusal = Refusal { name: e.name, message: e.message };
        serde_json::to_string(&refusal).unwrap_or_default()
    };
    let given: Vec<(String, Given)> = serde_json::from_str(given)
        .map_err(|e| refused(ParamError { name: String::new(), message: e.to_string() }))?;
    let given: Vec<_> = given.into_iter().map(|(k, v)| (k, v.into())).collect();
    let params = Params::read(&row.params_on(start.preset), &given).map_err(refused)?;
    (row.build)(&params, start).map_err(refused)
}

/// # Safety
/// `law` comes from `make`; `event` and `cx` are readable, `reply` is writable.
unsafe extern "C" fn tell(
    law: *mut c_void,
    event: *const Event,
    cx: *const Cx,
    reply: *mut Reply,
    error: Sink,
) -> bool {
    guarded(error, || {
        // SAFETY: as the function demands.
        let (law, event, cx) = unsafe { (&mut *law.cast::<Held>(), *event, (*cx).into()) };
        match event {
            Event::Established(rtt) => law.on_established(Option::from(rtt).map(Dur), &cx),
            Event::Sent(ev) => law.on_sent(&ev.into(), &cx),
            Event::Lost(ev) => law.on_lost(&ev.into(), &cx),
            Event::Ack(ev) => law.on_ack(&ev.into(), &cx),
            Event::Congestion(ev) => law.on_congestion(&ev.into(), &cx),
            Event::RecoveryExit(ev) => law.on_recovery_exit(&ev.into(), &cx),
            Event::Undo => law.on_undo(&cx),
            Event::CwndValidation(ev) => law.on_cwnd_validation(&ev.into(), &cx),
            Event::Restart(idle) => law.on_restart(Dur(idle), &cx),
            Event::Began(ev) => law.on_tx_start(&ev.into(), &cx),
        }
        // SAFETY: as the function demands.
        unsafe { reply.write(reply_of(law.as_ref())) };
        Ok(())
    })
    .is_some()
}

/// # Safety
/// `law` comes from `make`; `row` is writable for `len` values.
unsafe extern "C" fn observe(law: *const c_void, row: *mut f64, len: usize, error: Sink) -> bool {
    guarded(error, || {
        // SAFETY: as the function demands.
        let law = unsafe { &*law.cast::<Held>() };
        let mut values = Vec::new();
        law.observe(&mut values);
        if values.len() != len {
            return Err(format!("observe gives {} values, but there are {len} columns", values.len()));
        }
        // SAFETY: as the function demands; the lengths agree.
        unsafe { row.copy_from_nonoverlapping(values.as_ptr(), len) };
        Ok(())
    })
    .is_some()
}

/// # Safety
/// `law` comes from `make` and is not used any more.
unsafe extern "C" fn release(law: *mut c_void) {
    // SAFETY: as the function demands.
    let law = unsafe { Box::from_raw(law.cast::<Held>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(law)));
}

fn reply_of(law: &dyn CongestionControl) -> Reply {
    let phase = law.phase();
    Reply {
        control: law.control().into(),
        phase: Phase::ALL.iter().position(|p| *p == phase).unwrap_or_default() as u8,
        wants_sent: law.wants_sent(),
    }
}

/// # Safety
/// Its text is readable.
unsafe fn start_of(c: &Setup) -> dumbbell_cc::Setup {
    dumbbell_cc::Setup {
        mss: c.mss,
        initial_window: c.initial_window,
        ssthresh: c.ssthresh,
        slow_start: abi::slow_start(c.slow_start),
        slow_start_limit: c.slow_start_limit,
        paced: c.paced,
        selective_acks: c.selective_acks,
        // SAFETY: as the function demands.
        preset: kept(unsafe { read(c.preset) }),
        seed: c.seed,
    }
}

/// The same text for good: there are few different ones.
fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = all.get(text) {
        return found;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    all.insert(new);
    new
}

/// # Safety
/// The text is readable, and UTF-8.
unsafe fn read<'a>(text: Text) -> &'a str {
    // SAFETY: as the function demands.
    unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(text.at, text.len)) }
}

fn say(sink: Sink, text: &str) {
    (sink.take)(sink.to, Text { at: text.as_ptr(), len: text.len() });
}

thread_local! {
    /// Where the last panic of this thread was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does something that may fail or panic; then the sink hears why.
fn guarded<T>(error: Sink, work: impl FnOnce() -> Result<T, String>) -> Option<T> {
    // The hook is this library's own, since it has a standard library of its own: nothing is printed, the place is kept.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            PLACE.with(|p| *p.borrow_mut() = place);
        }));
    });
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Some(value),
        Ok(Err(why)) => {
            say(error, &why);
            None
        }
        Err(payload) => {
            let what = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let what = what.or_else(|| payload.downcast_ref::<String>().cloned());
            let place = PLACE.with(|p| p.borrow().clone());
            say(error, &format!("{place}: panic: {}", what.unwrap_or_else(|| "of an unknown kind".into())));
            None
        }
    }
}
