//! The interface between simulator and library: events, replies and the table of functions, in C's layout.
//!
//! A library is called through two exported symbols:
//!
//! | symbol | type | returns |
//! |---|---|---|
//! | `dumbbell_plugin_interface` | `extern "C" fn() -> u32` | the [`INTERFACE`] that the library was built for |
//! | `dumbbell_plugin_table` | `extern "C" fn() -> VTable` | the functions of its variant |
//!
//! Each struct of an event mirrors one of `dumbbell-cc`, field by field: if a field is added there and not here, this
//! file doesn't compile. Times are in ns, windows in bytes. Enumerations are passed as their index, options as a flag
//! and a value. Texts that vary (the description, parameters, error messages) are UTF-8; the first two are JSON. Every
//! change of the layout or of the JSON keys needs a new [`INTERFACE`].

use dumbbell_cc as cc;
use dumbbell_units::{Dur, Rate, Time};
use std::ffi::c_void;

/// The number of this interface. A library that was built for another number is refused.
pub const INTERFACE: u32 = 3;

/// UTF-8 text, borrowed for the duration of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// The first byte.
    pub data: *const u8,
    /// The length in bytes.
    pub len: usize,
}

impl Text {
    pub(crate) fn borrow(text: &str) -> Text {
        Text { data: text.as_ptr(), len: text.len() }
    }

    /// # Safety
    /// The bytes are readable for `'a`, and UTF-8.
    pub(crate) unsafe fn as_str<'a>(self) -> &'a str {
        // SAFETY: the caller guarantees it.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(self.data, self.len)) }
    }
}

/// The destination of a text that the callee returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    /// The first argument of `append`.
    pub buffer: *mut c_void,
    /// Appends a text to the buffer.
    pub append: extern "C" fn(*mut c_void, Text),
}

impl Sink {
    pub(crate) fn write(self, text: &str) {
        (self.append)(self.buffer, Text::borrow(text));
    }
}

/// An optional value.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Maybe<T> {
    /// True if `value` is valid.
    pub is_some: bool,
    /// The value.
    pub value: T,
}

impl<T: Default> From<Option<T>> for Maybe<T> {
    fn from(option: Option<T>) -> Maybe<T> {
        Maybe { is_some: option.is_some(), value: option.unwrap_or_default() }
    }
}

impl<T> From<Maybe<T>> for Option<T> {
    fn from(maybe: Maybe<T>) -> Option<T> {
        maybe.is_some.then_some(maybe.value)
    }
}

/// Defines the mirror of a struct of `dumbbell-cc`: each field with its C type and the conversions in both directions.
macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident of $own:path { $($field:ident: $ty:ty = $to:expr, $back:expr;)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        #[expect(missing_docs, reason = "the mirrored struct documents its fields")]
        pub struct $name { $(pub $field: $ty,)* }

        impl From<$own> for $name {
            #[allow(clippy::redundant_closure_call, reason = "only some of the conversions are closures")]
            fn from(own: $own) -> $name {
                let $own { $($field,)* } = own;
                $name { $($field: ($to)($field),)* }
            }
        }

        impl From<$name> for $own {
            #[allow(clippy::redundant_closure_call, reason = "only some of the conversions are closures")]
            fn from(c: $name) -> $own {
                let $name { $($field,)* } = c;
                $own { $($field: ($back)($field),)* }
            }
        }
    };
}

/// The conversion of a type that C has too.
fn same<T>(value: T) -> T {
    value
}

fn ns(d: Dur) -> u64 {
    d.0
}

fn some_ns(d: Option<Dur>) -> Maybe<u64> {
    d.map(|d| d.0).into()
}

fn some_dur(ns: Maybe<u64>) -> Option<Dur> {
    Option::from(ns).map(Dur)
}

mirror! {
    /// [`cc::Cx`]; times in ns.
    Cx of cc::Cx {
        now: u64 = |t: Time| t.0, Time;
        mss: f64 = same, same;
        initial_window: f64 = same, same;
        increase: u8 = increase_code, increase_of;
        whole_segments: bool = same, same;
    }
}

mirror! {
    /// [`cc::SentEvent`].
    Sent of cc::SentEvent {
        bytes: u64 = same, same;
        flight: u64 = same, same;
        snd_nxt: u64 = same, same;
        retransmission: bool = same, same;
        app_limited: bool = same, same;
    }
}

mirror! {
    /// [`cc::TxStart`]; times in ns.
    TxStart of cc::TxStart {
        last_sent_at: u64 = |t: Time| t.0, Time;
        snd_nxt: u64 = same, same;
    }
}

mirror! {
    /// [`cc::LostEvent`].
    Lost of cc::LostEvent {
        start: u64 = same, same;
        bytes: u64 = same, same;
        sent_in_flight: u64 = same, same;
        lost_since: u64 = same, same;
        prior_delivered: u64 = same, same;
        app_limited: bool = same, same;
    }
}

mirror! {
    /// [`cc::RateSample`]; times in ns.
    RateSample of cc::RateSample {
        delivered: u64 = same, same;
        interval: u64 = ns, Dur;
        prior_delivered: u64 = same, same;
        total_delivered: u64 = same, same;
        sent_in_flight: u64 = same, same;
        lost: u64 = same, same;
        app_limited: bool = same, same;
    }
}

mirror! {
    /// [`cc::AckEvent`]; times in ns.
    Ack of cc::AckEvent {
        acked: u64 = same, same;
        delivered: u64 = same, same;
        rtt: Maybe<u64> = some_ns, some_dur;
        one_way: Maybe<f64> = Maybe::from, Option::from;
        flight: u64 = same, same;
        snd_una: u64 = same, same;
        snd_nxt: u64 = same, same;
        cwnd_limited: bool = same, same;
        in_recovery: bool = same, same;
        in_loss: bool = same, same;
        disordered: bool = same, same;
        inflight: u64 = same, same;
        departs: u64 = |t: Time| t.0, Time;
        lost: u64 = same, same;
        marked: u64 = same, same;
        rate: Maybe<RateSample> = |r: Option<cc::RateSample>| r.map(RateSample::from).into(),
            |r: Maybe<RateSample>| r.is_some.then(|| r.value.into());
    }
}

mirror! {
    /// [`cc::CongestionEvent`]; times in ns.
    Congestion of cc::CongestionEvent {
        kind: u8 = kind_code, kind_of;
        window: f64 = same, same;
        lost_sent_at: u64 = |t: Time| t.0, Time;
        lost_transmissions: u32 = same, same;
        backoffs: u32 = same, same;
    }
}

mirror! {
    /// [`cc::RecoveryExit`].
    RecoveryExit of cc::RecoveryExit {
        bound: f64 = same, same;
    }
}

mirror! {
    /// [`cc::CwndValidation`].
    CwndValidation of cc::CwndValidation {
        cwnd: f64 = same, same;
        ssthresh: f64 = same, same;
    }
}

mirror! {
    /// [`cc::Control`].
    Control of cc::Control {
        cwnd: f64 = same, same;
        ssthresh: f64 = same, same;
        pacing: Maybe<u64> = |r: Option<Rate>| r.map(|r| r.0).into(), |r: Maybe<u64>| Option::from(r).map(Rate);
        quantum: Maybe<u64> = Maybe::from, Option::from;
    }
}

/// [`cc::Setup`]; the preset's name is borrowed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the mirrored struct documents its fields")]
pub struct Setup {
    pub mss: f64,
    pub initial_window: f64,
    pub ssthresh: f64,
    pub slow_start: u8,
    pub slow_start_limit: f64,
    pub paced: bool,
    pub selective_acks: bool,
    pub preset: Text,
    pub seed: u64,
}

/// An event of the connection.
#[repr(C, u32)]
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// [`cc::CongestionControl::on_established`].
    Established(Maybe<u64>),
    /// [`cc::CongestionControl::on_sent`].
    Sent(Sent),
    /// [`cc::CongestionControl::on_lost`].
    Lost(Lost),
    /// [`cc::CongestionControl::on_ack`].
    Ack(Ack),
    /// [`cc::CongestionControl::on_congestion`].
    Congestion(Congestion),
    /// [`cc::CongestionControl::on_recovery_exit`].
    RecoveryExit(RecoveryExit),
    /// [`cc::CongestionControl::on_undo`].
    Undo,
    /// [`cc::CongestionControl::on_cwnd_validation`].
    CwndValidation(CwndValidation),
    /// [`cc::CongestionControl::on_restart`], with the idle time in ns.
    Restart(u64),
    /// [`cc::CongestionControl::on_tx_start`].
    TxStart(TxStart),
}

/// The state of the algorithm after an event.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply {
    /// [`cc::CongestionControl::control`].
    pub control: Control,
    /// Index of [`cc::CongestionControl::phase`] in [`cc::Phase::ALL`].
    pub phase: u8,
    /// [`cc::CongestionControl::wants_sent`].
    pub wants_sent: bool,
}

/// The functions of a library. None of them unwinds. One that returns false (or null) has written the reason to the
/// sink.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VTable {
    /// Writes the registry row of the variant as a JSON object.
    pub describe: extern "C" fn(Sink),
    /// Creates the algorithm of a connection from parameters (JSON) and fills the first reply; null if it refuses them.
    pub create: unsafe extern "C" fn(Text, *const Setup, *mut Reply, Sink) -> *mut c_void,
    /// Handles an event and fills the reply.
    pub on_event: unsafe extern "C" fn(*mut c_void, *const Event, *const Cx, *mut Reply, Sink) -> bool,
    /// Fills the values of the private columns, as many as given.
    pub observe: unsafe extern "C" fn(*const c_void, *mut f64, usize, Sink) -> bool,
    /// Frees the algorithm.
    pub drop: unsafe extern "C" fn(*mut c_void),
}

/// The code of a value: its place in the list of all, which is a part of the interface.
pub(crate) fn code<T: PartialEq>(all: &[T], value: &T) -> u8 {
    all.iter().position(|v| v == value).unwrap_or_else(|| unreachable!("the list has every value")) as u8
}

fn increase_code(value: cc::Increase) -> u8 {
    code(&cc::Increase::ALL, &value)
}

fn increase_of(code: u8) -> cc::Increase {
    cc::Increase::ALL[usize::from(code) % cc::Increase::ALL.len()]
}

fn kind_code(value: cc::Congestion) -> u8 {
    code(&cc::Congestion::ALL, &value)
}

fn kind_of(code: u8) -> cc::Congestion {
    cc::Congestion::ALL[usize::from(code) % cc::Congestion::ALL.len()]
}

/// The code of a kind of slow start.
#[must_use]
pub fn slow_start_code(value: cc::SlowStart) -> u8 {
    code(&cc::SlowStart::ALL, &value)
}

/// The kind of slow start with that code.
#[must_use]
pub fn slow_start(code: u8) -> cc::SlowStart {
    cc::SlowStart::ALL[usize::from(code) % cc::SlowStart::ALL.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    /// If this fails, the interface has changed: it needs a new number in INTERFACE, and the new sizes here.
    #[test]
    fn the_layout_belongs_to_the_interface() {
        let sizes = [
            size_of::<Setup>(),
            size_of::<Cx>(),
            size_of::<Ack>(),
            size_of::<RateSample>(),
            size_of::<Congestion>(),
            size_of::<Sent>(),
            size_of::<Lost>(),
            size_of::<TxStart>(),
            size_of::<CwndValidation>(),
            size_of::<Control>(),
            size_of::<Reply>(),
            size_of::<Event>(),
            size_of::<VTable>(),
        ];
        assert_eq!((INTERFACE, sizes), (3, [72, 32, 176, 56, 32, 32, 48, 16, 16, 48, 56, 184, 40]));
    }

    #[test]
    fn enumerations_convert_in_both_directions() {
        assert!(cc::Increase::ALL.iter().all(|v| increase_of(increase_code(*v)) == *v));
        assert!(cc::Congestion::ALL.iter().all(|v| kind_of(kind_code(*v)) == *v));
        assert!(cc::SlowStart::ALL.iter().all(|v| slow_start(slow_start_code(*v)) == *v));
    }

    #[test]
    fn structs_convert_in_both_directions() {
        let sample = cc::RateSample {
            delivered: 1,
            interval: Dur(2),
            prior_delivered: 3,
            total_delivered: 4,
            sent_in_flight: 5,
            lost: 6,
            app_limited: true,
        };
        let ack = cc::AckEvent {
            acked: 1,
            delivered: 2,
            rtt: Some(Dur(3)),
            one_way: None,
            flight: 4,
            snd_una: 5,
            snd_nxt: 6,
            cwnd_limited: true,
            in_recovery: false,
            in_loss: true,
            disordered: true,
            inflight: 7,
            departs: Time(10),
            lost: 8,
            marked: 9,
            rate: Some(sample),
        };
        assert_eq!(format!("{:?}", cc::AckEvent::from(Ack::from(ack))), format!("{ack:?}"));
        let control = cc::Control { cwnd: 1.5, ssthresh: f64::INFINITY, pacing: Some(Rate(7)), quantum: None };
        assert_eq!(cc::Control::from(Control::from(control)), control);
    }
}
