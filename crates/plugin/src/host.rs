//! The side that loads laws.

use crate::abi::{self, Cx, Event, INTERFACE, Reply, Setup, Sink, Table, Text};
use crate::guest::{Description, ECN_USES, SHELLS};
use crate::message::{Given, Refusal};
use dumbbell_cc as cc;
use dumbbell_cc::{CongestionControl, Control, External, Failure, Phase, Variant, validate_control};
use dumbbell_units::Dur;
use dumbbell_units::param::{ParamError, Raw};
use libloading::Library;
use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::Path;

/// Why a library holds no law that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// A parameter of a loaded law, as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub kind: String,
    /// Its default.
    pub default: String,
    /// What it does.
    pub doc: String,
}

/// A law in a library.
pub struct Loaded {
    variant: &'static Variant,
    params: Vec<Parameter>,
    table: Table,
    /// Never unloaded: laws and the texts of their rows lie in it.
    _library: ManuallyDrop<Library>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("name", &self.variant.name).finish_non_exhaustive()
    }
}

/// Loads the law of a library. In plans and results it is called `name`.
///
/// The library's code is trusted, as any that is linked: it can do what this process can.
///
/// # Errors
/// If the file is no library, holds no law, or holds one for another interface.
pub fn load(path: &Path, name: &str) -> Result<Loaded, LoadError> {
    // SAFETY: running the library's initialisers is what its user asks for; the file is one that exports a law or is
    // refused.
    let library = unsafe { Library::new(path) }.map_err(|e| LoadError(format!("not a library: {e}")))?;
    // SAFETY: `export_law` gives the symbol this type, in every interface.
    let interface = unsafe { library.get::<extern "C" fn() -> u32>(b"dumbbell_plugin_interface\0") };
    let Ok(interface) = interface.map(|f| f()) else {
        return Err(LoadError("it exports no law: it needs dumbbell_plugin::export_law!".into()));
    };
    if interface != INTERFACE {
        return Err(LoadError(format!(
            "it was built for interface {interface} of window laws, this is interface {INTERFACE}: build it again \
             with dumbbell-plugin {}",
            env!("CARGO_PKG_VERSION")
        )));
    }
    // SAFETY: in this interface `export_law` gives the symbol this type.
    let table = unsafe { library.get::<extern "C" fn() -> Table>(b"dumbbell_plugin_table\0") };
    let table = table.map(|f| f()).map_err(|_| LoadError("it exports no law".into()))?;
    let text = heard(|sink| (table.describe)(sink)).1;
    let description: Description =
        serde_json::from_str(&text).map_err(|e| LoadError(format!("it does not say what it is: {e}")))?;
    let params = description.params.iter().cloned();
    Ok(Loaded {
        params: params.map(|[name, kind, default, doc]| Parameter { name, kind, default, doc }).collect(),
        variant: row(name, description),
        table,
        _library: ManuallyDrop::new(library),
    })
}

impl Loaded {
    /// The law's parameters.
    #[must_use]
    pub fn params(&self) -> &[Parameter] {
        &self.params
    }
}

/// A row for as long as the process lives, as the library is loaded for as long.
fn row(name: &str, d: Description) -> &'static Variant {
    let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let columns: Vec<&'static str> = d.columns.into_iter().map(kept).collect();
    Box::leak(Box::new(Variant {
        name: kept(name.to_owned()),
        title: kept(d.title),
        year: d.year,
        source: kept(d.source),
        loss_recovery: d.shell.and_then(|n| SHELLS.get(usize::from(n)).copied()),
        fine_timeouts: d.fine_timeouts,
        own_recovery: d.own_recovery,
        ecn: ECN_USES.get(usize::from(d.ecn)).copied().unwrap_or(cc::EcnUse::Stack),
        on_loss: kept(d.on_loss),
        on_delay: kept(d.on_delay),
        on_ecn: kept(d.on_ecn),
        columns: columns.leak(),
        ..Variant::EMPTY
    }))
}

impl External for Loaded {
    fn variant(&self) -> &'static Variant {
        self.variant
    }

    fn make(
        &self,
        given: &[(String, Raw)],
        start: &cc::Setup,
        failure: &Failure,
    ) -> Result<Box<dyn CongestionControl>, ParamError> {
        let given: Vec<(&String, Given)> = given.iter().map(|(k, v)| (k, v.into())).collect();
        let given = serde_json::to_string(&given).unwrap_or_default();
        let c = Setup {
            mss: start.mss,
            initial_window: start.initial_window,
            ssthresh: start.ssthresh,
            slow_start: abi::slow_start_code(start.slow_start),
            slow_start_limit: start.slow_start_limit,
            paced: start.paced,
            selective_acks: start.selective_acks,
            preset: borrowed(start.preset),
            seed: start.seed,
        };
        let mut reply = Reply::default();
        // SAFETY: text and structs outlive the call.
        let (law, error) =
            heard(|sink| unsafe { (self.table.make)(borrowed(&given), &raw const c, &raw mut reply, sink) });
        if law.is_null() {
            return Err(match serde_json::from_str::<Refusal>(&error) {
                Ok(Refusal { name, message }) => ParamError { name, message },
                Err(_) => ParamError { name: "name".into(), message: error },
            });
        }
        let mut law = Crossing {
            law,
            table: self.table,
            columns: self.variant.columns.len(),
            mss: start.mss,
            control: Control { cwnd: start.mss, ssthresh: start.ssthresh, pacing: None, quantum: None },
            phase: Phase::SlowStart,
            wants_sent: reply.wants_sent,
            failure: failure.clone(),
        };
        law.take(&reply);
        Ok(Box::new(law))
    }
}

/// A law on the other side.
struct Crossing {
    law: *mut c_void,
    table: Table,
    columns: usize,
    mss: f64,
    control: Control,
    phase: Phase,
    wants_sent: bool,
    failure: Failure,
}

// SAFETY: what is behind the pointer is a `Box<dyn CongestionControl>`, which is `Send`.
unsafe impl Send for Crossing {}

impl fmt::Debug for Crossing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crossing").field("control", &self.control).finish_non_exhaustive()
    }
}

impl Drop for Crossing {
    fn drop(&mut self) {
        // SAFETY: the law comes from `make` and is used no more.
        unsafe { (self.table.drop)(self.law) }
    }
}

impl Crossing {
    fn tell(&mut self, event: Event, cx: &cc::Cx) {
        if self.failure.is_set() {
            return;
        }
        let cx = Cx::from(*cx);
        let mut reply = Reply::default();
        // SAFETY: the law comes from `make`, the structs outlive the call.
        let (well, error) = heard(|sink| unsafe {
            (self.table.tell)(self.law, &raw const event, &raw const cx, &raw mut reply, sink)
        });
        if well {
            self.take(&reply);
        } else {
            self.failure.fail(error);
        }
    }

    fn take(&mut self, reply: &Reply) {
        match validate_control(reply.control.into(), self.mss) {
            Ok(control) => self.control = control,
            Err(why) => self.failure.fail(why),
        }
        self.phase = Phase::ALL.get(usize::from(reply.phase)).copied().unwrap_or(Phase::Avoidance);
    }
}

impl CongestionControl for Crossing {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &cc::Cx) {
        self.tell(Event::Established(rtt.map(|d| d.0).into()), cx);
    }

    fn on_sent(&mut self, ev: &cc::SentEvent, cx: &cc::Cx) {
        self.tell(Event::Sent((*ev).into()), cx);
    }

    fn on_lost(&mut self, ev: &cc::LostEvent, cx: &cc::Cx) {
        self.tell(Event::Lost((*ev).into()), cx);
    }

    fn on_ack(&mut self, ev: &cc::AckEvent, cx: &cc::Cx) {
        self.tell(Event::Ack((*ev).into()), cx);
    }

    fn on_congestion(&mut self, ev: &cc::CongestionEvent, cx: &cc::Cx) {
        self.tell(Event::Congestion((*ev).into()), cx);
    }

    fn on_recovery_exit(&mut self, ev: &cc::RecoveryExit, cx: &cc::Cx) {
        self.tell(Event::RecoveryExit((*ev).into()), cx);
    }

    fn on_undo(&mut self, cx: &cc::Cx) {
        self.tell(Event::Undo, cx);
    }

    fn on_tx_start(&mut self, ev: &cc::TxStart, cx: &cc::Cx) {
        self.tell(Event::Began((*ev).into()), cx);
    }

    fn on_cwnd_validation(&mut self, ev: &cc::CwndValidation, cx: &cc::Cx) {
        self.tell(Event::CwndValidation((*ev).into()), cx);
    }

    fn on_restart(&mut self, idle: Dur, cx: &cc::Cx) {
        self.tell(Event::Restart(idle.0), cx);
    }

    fn wants_sent(&self) -> bool {
        self.wants_sent
    }

    fn control(&self) -> Control {
        self.control
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn observe(&self, row: &mut Vec<f64>) {
        let begin = row.len();
        row.resize(begin + self.columns, f64::NAN);
        if self.failure.is_set() {
            return;
        }
        // SAFETY: the law comes from `make`; the row has room for its columns.
        let (well, error) = heard(|sink| unsafe {
            (self.table.observe)(self.law, row[begin..].as_mut_ptr(), self.columns, sink)
        });
        if !well {
            self.failure.fail(error);
        }
    }
}

fn borrowed(text: &str) -> Text {
    Text { at: text.as_ptr(), len: text.len() }
}

/// Calls something with a sink; gives what it gives, and the text.
fn heard<T>(call: impl FnOnce(Sink) -> T) -> (T, String) {
    extern "C" fn take(to: *mut c_void, text: Text) {
        // SAFETY: `to` is the string below, which outlives the call; the text is readable for its time.
        let (to, bytes) =
            unsafe { (&mut *to.cast::<String>(), std::slice::from_raw_parts(text.at, text.len)) };
        to.push_str(&String::from_utf8_lossy(bytes));
    }
    let mut text = String::new();
    let given = call(Sink { to: (&raw mut text).cast(), take });
    (given, text)
}
