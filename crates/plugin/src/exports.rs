//! The library's side of the interface: the functions that [`crate::export_variant`] puts into the table.
//!
//! Each function catches panics: unwinding into code of another compiler is undefined behavior.

use crate::abi::{self, Cx, Event, Reply, Setup, Sink, Text, VTable};
use crate::json::{Description, RefusedParameter, Value};
use dumbbell_cc::{CongestionControl, Phase, Variant};
use dumbbell_units::Dur;
use dumbbell_units::param::{ParamError, Params};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};

/// A variant that a library exports; implemented by [`crate::export_variant`].
pub trait Exported {
    /// Its registry row.
    const ROW: &'static Variant;
}

/// Returns the functions of a variant.
#[must_use]
pub fn vtable<E: Exported>() -> VTable {
    VTable { describe: describe::<E>, create: create::<E>, on_event, observe, drop: release }
}

/// An algorithm of one connection. The box in a box makes the pointer thin: C has no pointers to traits.
type Algorithm = Box<dyn CongestionControl>;

extern "C" fn describe<E: Exported>(sink: Sink) {
    let text = serde_json::to_string(&Description::of(E::ROW)).unwrap_or_default();
    sink.write(&text);
}

/// # Safety
/// `params` and the text in `setup` are readable UTF-8, `setup` is readable, `reply` is writable.
unsafe extern "C" fn create<E: Exported>(
    params: Text,
    setup: *const Setup,
    reply: *mut Reply,
    error: Sink,
) -> *mut c_void {
    let created = catch(error, || {
        // SAFETY: the caller guarantees it.
        let (params, setup) = unsafe { (params.as_str(), read_setup(&*setup)) };
        let algorithm = build(E::ROW, params, &setup)?;
        // SAFETY: the caller guarantees it.
        unsafe { reply.write(reply_of(algorithm.as_ref())) };
        Ok(algorithm)
    });
    created.map_or(std::ptr::null_mut(), |algorithm| Box::into_raw(Box::new(algorithm)).cast())
}

/// Builds an algorithm from parameters in JSON. The error is a [`RefusedParameter`] in JSON.
fn build(row: &Variant, params: &str, setup: &dumbbell_cc::Setup) -> Result<Algorithm, String> {
    let refused = |e: ParamError| {
        let refused = RefusedParameter { name: e.name, message: e.message };
        serde_json::to_string(&refused).unwrap_or_default()
    };
    let params: Vec<(String, Value)> = serde_json::from_str(params)
        .map_err(|e| refused(ParamError { name: String::new(), message: e.to_string() }))?;
    let params: Vec<_> = params.into_iter().map(|(k, v)| (k, v.into())).collect();
    let params = Params::read(&row.params_on(setup.preset), &params).map_err(refused)?;
    (row.build)(&params, setup).map_err(refused)
}

/// # Safety
/// `algorithm` is a result of `create`; `event` and `cx` are readable, `reply` is writable.
unsafe extern "C" fn on_event(
    algorithm: *mut c_void,
    event: *const Event,
    cx: *const Cx,
    reply: *mut Reply,
    error: Sink,
) -> bool {
    catch(error, || {
        // SAFETY: the caller guarantees it.
        let (algorithm, event, cx) = unsafe { (&mut *algorithm.cast::<Algorithm>(), *event, (*cx).into()) };
        match event {
            Event::Established(rtt) => algorithm.on_established(Option::from(rtt).map(Dur), &cx),
            Event::Sent(ev) => algorithm.on_sent(&ev.into(), &cx),
            Event::Lost(ev) => algorithm.on_lost(&ev.into(), &cx),
            Event::Ack(ev) => algorithm.on_ack(&ev.into(), &cx),
            Event::Congestion(ev) => algorithm.on_congestion(&ev.into(), &cx),
            Event::RecoveryExit(ev) => algorithm.on_recovery_exit(&ev.into(), &cx),
            Event::Undo => algorithm.on_undo(&cx),
            Event::CwndValidation(ev) => algorithm.on_cwnd_validation(&ev.into(), &cx),
            Event::Restart(idle) => algorithm.on_restart(Dur(idle), &cx),
            Event::TxStart(ev) => algorithm.on_tx_start(&ev.into(), &cx),
        }
        // SAFETY: the caller guarantees it.
        unsafe { reply.write(reply_of(algorithm.as_ref())) };
        Ok(())
    })
    .is_some()
}

/// # Safety
/// `algorithm` is a result of `create`; `row` is writable for `len` values.
unsafe extern "C" fn observe(algorithm: *const c_void, row: *mut f64, len: usize, error: Sink) -> bool {
    catch(error, || {
        // SAFETY: the caller guarantees it.
        let algorithm = unsafe { &*algorithm.cast::<Algorithm>() };
        let mut values = Vec::new();
        algorithm.observe(&mut values);
        if values.len() != len {
            return Err(format!("observe returns {} values, but the variant has {len} columns", values.len()));
        }
        // SAFETY: the caller guarantees it, and the lengths are equal.
        unsafe { row.copy_from_nonoverlapping(values.as_ptr(), len) };
        Ok(())
    })
    .is_some()
}

/// # Safety
/// `algorithm` is a result of `create` and is not used afterwards.
unsafe extern "C" fn release(algorithm: *mut c_void) {
    // SAFETY: the caller guarantees it.
    let algorithm = unsafe { Box::from_raw(algorithm.cast::<Algorithm>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(algorithm)));
}

fn reply_of(algorithm: &dyn CongestionControl) -> Reply {
    let phase = algorithm.phase();
    Reply {
        control: algorithm.control().into(),
        phase: Phase::ALL.iter().position(|p| *p == phase).unwrap_or_default() as u8,
        wants_sent: algorithm.wants_sent(),
    }
}

/// # Safety
/// The text in `setup` is readable UTF-8.
unsafe fn read_setup(setup: &Setup) -> dumbbell_cc::Setup {
    dumbbell_cc::Setup {
        mss: setup.mss,
        initial_window: setup.initial_window,
        ssthresh: setup.ssthresh,
        slow_start: abi::slow_start(setup.slow_start),
        slow_start_limit: setup.slow_start_limit,
        paced: setup.paced,
        selective_acks: setup.selective_acks,
        // SAFETY: the caller guarantees it.
        preset: interned(unsafe { setup.preset.as_str() }),
        seed: setup.seed,
    }
}

/// Returns the text with a static lifetime. Presets are few, so little memory is leaked.
fn interned(text: &str) -> &'static str {
    static INTERNED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut interned = INTERNED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = interned.get(text) {
        return found;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    interned.insert(new);
    new
}

thread_local! {
    /// The source location of the last panic of this thread.
    static PANIC_LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Calls `work`; writes the message of an error or panic to `error` and returns None then.
pub(crate) fn catch<T>(error: Sink, work: impl FnOnce() -> Result<T, String>) -> Option<T> {
    // The library has its own copy of the standard library, so the hook is its own: it records the location instead of
    // printing it.
    static PANIC_HOOK: Once = Once::new();
    PANIC_HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let location = info.location().map(ToString::to_string).unwrap_or_default();
            PANIC_LOCATION.with(|l| *l.borrow_mut() = location);
        }));
    });
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Some(value),
        Ok(Err(message)) => {
            error.write(&message);
            None
        }
        Err(payload) => {
            let message = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
            let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
            let location = PANIC_LOCATION.with(|l| l.borrow().clone());
            error.write(&format!("{location}: panic: {}", message.unwrap_or_else(|| "of an unknown kind".into())));
            None
        }
    }
}
