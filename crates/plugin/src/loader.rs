//! The simulator's side of the interface: loads a library and calls the functions of its table.

use crate::abi::{self, Cx, Event, INTERFACE, Reply, Setup, Sink, Text, VTable};
use crate::json::{Description, RefusedParameter, Value};
use crate::watch;
use dumbbell_cc as cc;
use dumbbell_cc::{CongestionControl, Control, External, Failure, Phase, Variant, validate_control};
use dumbbell_units::Dur;
use dumbbell_units::param::{ParamError, Raw};
use libloading::Library;
use std::ffi::c_void;
use std::fmt;
use std::path::Path;

/// The reason why a library has no usable variant or discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError(pub(crate) String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LoadError {}

/// The description of a parameter of a loaded variant or discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its name.
    pub name: String,
    /// The values that it takes.
    pub kind: String,
    /// Its default value.
    pub default: String,
    /// Its effect.
    pub doc: String,
}

/// A variant that was loaded from a library.
#[derive(Debug)]
pub struct LoadedVariant {
    variant: &'static Variant,
    params: Vec<ParameterInfo>,
    vtable: VTable,
    library: watch::Library,
}

/// Loads the variant of a library; plans and results use `name` for it.
///
/// The library's code is trusted, as any code that is linked: it can do everything that this process can.
///
/// # Errors
/// The file is not a library, exports no variant, or was built for another interface.
pub fn load(path: &Path, name: &str) -> Result<LoadedVariant, LoadError> {
    // SAFETY: the user asks to run this library's code, its initializers included. A library that doesn't export a
    // variant of this interface is refused below.
    let library = unsafe { Library::new(path) }.map_err(|e| LoadError(format!("not a library: {e}")))?;
    // SAFETY: `export_variant` defines the symbol with this type, in every interface.
    let interface = unsafe { library.get::<extern "C" fn() -> u32>(b"dumbbell_plugin_interface\0") };
    let Ok(interface) = interface.map(|f| f()) else {
        return Err(LoadError(match crate::discipline::is_exported(&library) {
            true => "it exports a queue discipline, no variant".into(),
            false => "it exports no variant: dumbbell_plugin::export_variant! is missing".into(),
        }));
    };
    if interface != INTERFACE {
        return Err(LoadError(format!(
            "it was built for plugin interface {interface}, this is interface {INTERFACE}: build it again with \
             dumbbell-plugin {}",
            env!("CARGO_PKG_VERSION")
        )));
    }
    // SAFETY: in this interface `export_variant` defines the symbol with this type.
    let vtable = unsafe { library.get::<extern "C" fn() -> VTable>(b"dumbbell_plugin_table\0") };
    let vtable = vtable.map(|f| f()).map_err(|_| LoadError("it exports no variant".into()))?;
    let variant = LoadedVariant::new(vtable, name)?;
    // Never unloaded: the table and the algorithms point to its code.
    std::mem::forget(library);
    Ok(variant)
}

impl LoadedVariant {
    fn new(vtable: VTable, name: &str) -> Result<LoadedVariant, LoadError> {
        let ((), text) = with_sink(|sink| (vtable.describe)(sink));
        let description: Description =
            serde_json::from_str(&text).map_err(|e| LoadError(format!("its description is invalid: {e}")))?;
        let params = description.params.iter().cloned();
        Ok(LoadedVariant {
            params: params.map(|[name, kind, default, doc]| ParameterInfo { name, kind, default, doc }).collect(),
            variant: static_row(name, description),
            vtable,
            library: watch::Library::new(name),
        })
    }

    /// The variant's parameters.
    #[must_use]
    pub fn params(&self) -> &[ParameterInfo] {
        &self.params
    }
}

/// Makes a row with a static lifetime. The library stays loaded as long as the process lives, so the row may leak.
fn static_row(name: &str, d: Description) -> &'static Variant {
    let leaked = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let columns: Vec<&'static str> = d.columns.into_iter().map(leaked).collect();
    Box::leak(Box::new(Variant {
        name: leaked(name.to_owned()),
        title: leaked(d.title),
        year: d.year,
        source: leaked(d.source),
        loss_recovery: d.loss_recovery.and_then(|n| cc::LossRecovery::ALL.get(usize::from(n)).copied()),
        fine_timeouts: d.fine_timeouts,
        own_recovery: d.own_recovery,
        ecn: cc::EcnUse::ALL.get(usize::from(d.ecn)).copied().unwrap_or(cc::EcnUse::Stack),
        on_loss: leaked(d.on_loss),
        on_delay: leaked(d.on_delay),
        on_ecn: leaked(d.on_ecn),
        columns: columns.leak(),
        ..Variant::EMPTY
    }))
}

impl External for LoadedVariant {
    fn variant(&self) -> &'static Variant {
        self.variant
    }

    fn make(
        &self,
        given: &[(String, Raw)],
        setup: &cc::Setup,
        failure: &Failure,
    ) -> Result<Box<dyn CongestionControl>, ParamError> {
        let params: Vec<(&String, Value)> = given.iter().map(|(k, v)| (k, v.into())).collect();
        let params = serde_json::to_string(&params).unwrap_or_default();
        let c_setup = Setup {
            mss: setup.mss,
            initial_window: setup.initial_window,
            ssthresh: setup.ssthresh,
            slow_start: abi::slow_start_code(setup.slow_start),
            slow_start_limit: setup.slow_start_limit,
            paced: setup.paced,
            selective_acks: setup.selective_acks,
            preset: Text::borrow(setup.preset),
            seed: setup.seed,
        };
        let mut reply = Reply::default();
        let (algorithm, error) = with_sink(|sink| {
            // SAFETY: the texts and structs outlive the call.
            self.library.call(|| unsafe {
                (self.vtable.create)(Text::borrow(&params), &raw const c_setup, &raw mut reply, sink)
            })
        });
        if algorithm.is_null() {
            return Err(match serde_json::from_str::<RefusedParameter>(&error) {
                Ok(RefusedParameter { name, message }) => ParamError { name, message },
                Err(_) => ParamError { name: "name".into(), message: error },
            });
        }
        let mut algorithm = LoadedAlgorithm {
            algorithm,
            vtable: self.vtable,
            library: self.library,
            columns: self.variant.columns.len(),
            mss: setup.mss,
            control: Control { cwnd: setup.mss, ssthresh: setup.ssthresh, pacing: None, quantum: None },
            phase: Phase::SlowStart,
            wants_sent: reply.wants_sent,
            failure: failure.clone(),
        };
        algorithm.apply(&reply);
        Ok(Box::new(algorithm))
    }
}

/// An algorithm of one connection, behind a pointer into the library. After each event it keeps the library's reply.
#[derive(Debug)]
struct LoadedAlgorithm {
    algorithm: *mut c_void,
    vtable: VTable,
    library: watch::Library,
    columns: usize,
    mss: f64,
    control: Control,
    phase: Phase,
    wants_sent: bool,
    failure: Failure,
}

// SAFETY: the pointer refers to a `Box<dyn CongestionControl>`, which is `Send`, and is used through this owner only.
unsafe impl Send for LoadedAlgorithm {}

impl Drop for LoadedAlgorithm {
    fn drop(&mut self) {
        // SAFETY: the pointer is a result of `create` and is not used afterwards.
        unsafe { (self.vtable.drop)(self.algorithm) }
    }
}

impl LoadedAlgorithm {
    /// Passes an event to the library. After a failure the algorithm receives no more events; the run ends.
    fn send(&mut self, event: Event, cx: &cc::Cx) {
        if self.failure.is_set() {
            return;
        }
        let cx = Cx::from(*cx);
        let mut reply = Reply::default();
        let (ok, error) = with_sink(|sink| {
            // SAFETY: the pointer is a result of `create`, the structs outlive the call.
            self.library.call(|| unsafe {
                (self.vtable.on_event)(self.algorithm, &raw const event, &raw const cx, &raw mut reply, sink)
            })
        });
        if ok {
            self.apply(&reply);
        } else {
            self.failure.fail(error);
        }
    }

    fn apply(&mut self, reply: &Reply) {
        match validate_control(reply.control.into(), self.mss) {
            Ok(control) => self.control = control,
            Err(message) => self.failure.fail(message),
        }
        self.phase = Phase::ALL.get(usize::from(reply.phase)).copied().unwrap_or(Phase::Avoidance);
    }
}

impl CongestionControl for LoadedAlgorithm {
    fn on_established(&mut self, rtt: Option<Dur>, cx: &cc::Cx) {
        self.send(Event::Established(rtt.map(|d| d.0).into()), cx);
    }

    fn on_sent(&mut self, ev: &cc::SentEvent, cx: &cc::Cx) {
        self.send(Event::Sent((*ev).into()), cx);
    }

    fn on_lost(&mut self, ev: &cc::LostEvent, cx: &cc::Cx) {
        self.send(Event::Lost((*ev).into()), cx);
    }

    fn on_ack(&mut self, ev: &cc::AckEvent, cx: &cc::Cx) {
        self.send(Event::Ack((*ev).into()), cx);
    }

    fn on_congestion(&mut self, ev: &cc::CongestionEvent, cx: &cc::Cx) {
        self.send(Event::Congestion((*ev).into()), cx);
    }

    fn on_recovery_exit(&mut self, ev: &cc::RecoveryExit, cx: &cc::Cx) {
        self.send(Event::RecoveryExit((*ev).into()), cx);
    }

    fn on_undo(&mut self, cx: &cc::Cx) {
        self.send(Event::Undo, cx);
    }

    fn on_tx_start(&mut self, ev: &cc::TxStart, cx: &cc::Cx) {
        self.send(Event::TxStart((*ev).into()), cx);
    }

    fn on_cwnd_validation(&mut self, ev: &cc::CwndValidation, cx: &cc::Cx) {
        self.send(Event::CwndValidation((*ev).into()), cx);
    }

    fn on_restart(&mut self, idle: Dur, cx: &cc::Cx) {
        self.send(Event::Restart(idle.0), cx);
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
        let (ok, error) = with_sink(|sink| {
            // SAFETY: the pointer is a result of `create`; `row` has as many values from `begin` on as the variant
            // has columns.
            self.library.call(|| unsafe {
                (self.vtable.observe)(self.algorithm, row[begin..].as_mut_ptr(), self.columns, sink)
            })
        });
        if !ok {
            self.failure.fail(error);
        }
    }
}

/// Calls a function with a sink. Returns its result and the text that it wrote.
pub(crate) fn with_sink<T>(call: impl FnOnce(Sink) -> T) -> (T, String) {
    extern "C" fn append(buffer: *mut c_void, text: Text) {
        // SAFETY: `buffer` is the string below, which outlives the call; the text is readable during the call.
        let (buffer, bytes) =
            unsafe { (&mut *buffer.cast::<String>(), std::slice::from_raw_parts(text.data, text.len)) };
        buffer.push_str(&String::from_utf8_lossy(bytes));
    }
    let mut text = String::new();
    let result = call(Sink { buffer: (&raw mut text).cast(), append });
    (result, text)
}

/// Both sides of the interface in one process, without a library: these tests also run under miri.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports::{Exported, vtable};
    use dumbbell_cc::common::{LossDriven, Window};
    use dumbbell_units::Time;
    use dumbbell_units::param::{Kind, specs};

    #[derive(Debug)]
    struct Aimd {
        window: Window,
        decrease: f64,
    }

    impl LossDriven for Aimd {
        fn window(&self) -> &Window {
            &self.window
        }

        fn window_mut(&mut self) -> &mut Window {
            &mut self.window
        }

        fn on_ack_avoidance(&mut self, ev: &cc::AckEvent, cx: &cc::Cx) {
            self.window.additive_increase(1.0, ev.acked, cx);
        }

        fn on_congestion_ssthresh(&mut self, ev: &cc::CongestionEvent, _cx: &cc::Cx) -> f64 {
            assert!(ev.kind != cc::Congestion::Ecn, "no marks, please");
            self.decrease * ev.window
        }

        fn observe(&self, row: &mut Vec<f64>) {
            row.push(self.decrease);
        }
    }

    struct Export;

    impl Exported for Export {
        const ROW: &'static Variant = &Variant {
            name: "aimd",
            title: "an example",
            loss_recovery: Some(cc::LossRecovery::NewReno),
            ecn: cc::EcnUse::Dctcp,
            params: specs! {
                /// factor of the window after a loss
                decrease = "0.5", Kind::Float { min: 0.1, max: 0.9 };
            },
            columns: &["decrease"],
            build: |params, setup| {
                Ok(Box::new(Aimd { window: Window::new(setup), decrease: params.float("decrease") }))
            },
            ..Variant::EMPTY
        };
    }

    const CX: cc::Cx = cc::Cx {
        now: Time(1),
        mss: 1000.0,
        initial_window: 10_000.0,
        increase: cc::Increase::PerByte,
        whole_segments: false,
    };

    fn loss(kind: cc::Congestion) -> cc::CongestionEvent {
        cc::CongestionEvent { kind, window: 10_000.0, lost_sent_at: Time(0), lost_transmissions: 1, backoffs: 0 }
    }

    fn setup() -> cc::Setup {
        cc::Setup::new(1000.0, 10_000.0, 50_000.0)
    }

    #[test]
    fn the_row_is_the_exported_one_with_the_name_of_the_plan() {
        let loaded = LoadedVariant::new(vtable::<Export>(), "mine").unwrap();
        let row = loaded.variant();
        assert_eq!((row.name, row.title, row.columns), ("mine", "an example", &["decrease"][..]));
        assert_eq!((row.loss_recovery, row.ecn), (Some(cc::LossRecovery::NewReno), cc::EcnUse::Dctcp));
        assert_eq!(loaded.params()[0].default, "0.5");
    }

    #[test]
    fn events_reach_the_algorithm_and_its_reply_returns() {
        let loaded = LoadedVariant::new(vtable::<Export>(), "mine").unwrap();
        let given = [("decrease".to_owned(), Raw::Number(0.8))];
        let mut algorithm = loaded.make(&given, &setup(), &Failure::default()).unwrap();
        assert_eq!((algorithm.control().cwnd, algorithm.phase()), (10_000.0, Phase::SlowStart));
        algorithm.on_congestion(&loss(cc::Congestion::Loss), &CX);
        // 0.8 * 10 segments.
        assert_eq!((algorithm.control().cwnd, algorithm.phase()), (8000.0, Phase::Avoidance));
        let mut row = vec![1.0];
        algorithm.observe(&mut row);
        assert_eq!(row, [1.0, 0.8]);
    }

    #[test]
    fn a_refused_parameter_keeps_its_name() {
        let loaded = LoadedVariant::new(vtable::<Export>(), "mine").unwrap();
        for (name, value) in [("decrease", 2.0), ("increase", 1.0)] {
            let given = [(name.to_owned(), Raw::Number(value))];
            let error = loaded.make(&given, &setup(), &Failure::default()).unwrap_err();
            assert_eq!(error.name, name);
        }
    }

    #[test]
    fn a_panic_ends_the_algorithm_with_its_location() {
        let loaded = LoadedVariant::new(vtable::<Export>(), "mine").unwrap();
        let failure = Failure::default();
        let mut algorithm = loaded.make(&[], &setup(), &failure).unwrap();
        algorithm.on_congestion(&loss(cc::Congestion::Ecn), &CX);
        let (_, message) = failure.get().unwrap();
        assert!(message.contains("loader.rs:") && message.ends_with("panic: no marks, please"), "{message}");
        // Afterwards it receives nothing.
        algorithm.on_congestion(&loss(cc::Congestion::Loss), &CX);
        assert_eq!(algorithm.control().cwnd, 10_000.0);
    }
}
