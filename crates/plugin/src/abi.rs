//! Events and answers in C's layout.
//!
//! Each type here mirrors one of `dumbbell-cc`, field by field: a field that is added there and not here does not
//! compile. Any change here needs another [`INTERFACE`].

use dumbbell_cc as cc;
use dumbbell_units::{Dur, Rate, Time};
use std::ffi::c_void;

/// The number of this interface.
pub const INTERFACE: u32 = 2;

/// A piece of UTF-8 text, borrowed for the time of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Its first byte.
    pub at: *const u8,
    /// Its length in bytes.
    pub len: usize,
}

/// Where text goes that the callee gives back.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    /// Handed to `take`.
    pub to: *mut c_void,
    /// Takes the text.
    pub take: extern "C" fn(*mut c_void, Text),
}

/// A value or none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Maybe<T> {
    /// Whether there is one.
    pub is: bool,
    /// The value, or anything.
    pub value: T,
}

impl<T: Default> From<Option<T>> for Maybe<T> {
    fn from(option: Option<T>) -> Maybe<T> {
        Maybe { is: option.is_some(), value: option.unwrap_or_default() }
    }
}

impl<T> From<Maybe<T>> for Option<T> {
    fn from(maybe: Maybe<T>) -> Option<T> {
        maybe.is.then_some(maybe.value)
    }
}

/// Mirrors a struct of `dumbbell-cc`: the fields as they are there, with the way there and back for each.
macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident of $own:path { $($field:ident: $ty:ty = $to:expr, $back:expr;)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default)]
        #[allow(missing_docs)] // documented where they come from
        pub struct $name { $(pub $field: $ty,)* }

        impl From<$own> for $name {
            #[allow(clippy::redundant_closure_call)]
            fn from(own: $own) -> $name {
                let $own { $($field,)* } = own;
                $name { $($field: ($to)($field),)* }
            }
        }

        impl From<$name> for $own {
            #[allow(clippy::redundant_closure_call)]
            fn from(c: $name) -> $own {
                let $name { $($field,)* } = c;
                $own { $($field: ($back)($field),)* }
            }
        }
    };
}

/// A value that has the same form on both sides.
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
    Began of cc::TxStart {
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
    Sample of cc::RateSample {
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
        rate: Maybe<Sample> = |r: Option<cc::RateSample>| r.map(Sample::from).into(),
            |r: Maybe<Sample>| r.is.then(|| r.value.into());
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
#[allow(missing_docs)] // documented there
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

/// What a law is told.
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
    /// [`cc::CongestionControl::on_restart`], idle time in ns.
    Restart(u64),
    /// [`cc::CongestionControl::on_tx_start`].
    Began(Began),
}

/// What it answers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Reply {
    /// [`cc::CongestionControl::control`].
    pub control: Control,
    /// [`cc::CongestionControl::phase`], by its number.
    pub phase: u8,
    /// [`cc::CongestionControl::wants_sent`].
    pub wants_sent: bool,
}

/// The functions of a library. None of them unwinds: where one answers false (or null), the sink has heard why.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// What the law is: a JSON object (see [`crate::guest::Description`]).
    pub describe: extern "C" fn(Sink),
    /// Makes a law from its parameters (JSON) and says its first answer; null if it refuses.
    pub make: unsafe extern "C" fn(Text, *const Setup, *mut Reply, Sink) -> *mut c_void,
    /// Tells a law of an event at a moment.
    pub tell: unsafe extern "C" fn(*mut c_void, *const Event, *const Cx, *mut Reply, Sink) -> bool,
    /// Fills so many values of its private columns.
    pub observe: unsafe extern "C" fn(*const c_void, *mut f64, usize, Sink) -> bool,
    /// The law is no longer needed.
    pub drop: unsafe extern "C" fn(*mut c_void),
}

const INCREASES: [cc::Increase; 3] = [cc::Increase::PerAck, cc::Increase::PerByte, cc::Increase::PerWindow];
const KINDS: [cc::Congestion; 4] =
    [cc::Congestion::Loss, cc::Congestion::Collapse, cc::Congestion::Timeout, cc::Congestion::Ecn];
const SLOW_STARTS: [cc::SlowStart; 3] =
    [cc::SlowStart::Standard, cc::SlowStart::HyStart, cc::SlowStart::HyStartPlusPlus];

fn code<T: PartialEq>(all: &[T], value: &T) -> u8 {
    all.iter().position(|v| v == value).unwrap_or_else(|| unreachable!("every value is in its list")) as u8
}

fn increase_code(value: cc::Increase) -> u8 {
    code(&INCREASES, &value)
}

fn increase_of(code: u8) -> cc::Increase {
    INCREASES[usize::from(code) % INCREASES.len()]
}

fn kind_code(value: cc::Congestion) -> u8 {
    code(&KINDS, &value)
}

fn kind_of(code: u8) -> cc::Congestion {
    KINDS[usize::from(code) % KINDS.len()]
}

/// The number of a way of slow start.
#[must_use]
pub fn slow_start_code(value: cc::SlowStart) -> u8 {
    code(&SLOW_STARTS, &value)
}

/// The way of slow start of that number.
#[must_use]
pub fn slow_start(code: u8) -> cc::SlowStart {
    SLOW_STARTS[usize::from(code) % SLOW_STARTS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    /// If this fails, the interface has changed: another number for INTERFACE, and these sizes.
    #[test]
    fn an_interface_has_one_layout() {
        let sizes = [
            size_of::<Setup>(),
            size_of::<Cx>(),
            size_of::<Ack>(),
            size_of::<Sample>(),
            size_of::<Congestion>(),
            size_of::<Sent>(),
            size_of::<Lost>(),
            size_of::<Began>(),
            size_of::<CwndValidation>(),
            size_of::<Control>(),
            size_of::<Reply>(),
            size_of::<Event>(),
            size_of::<Table>(),
        ];
        assert_eq!((INTERFACE, sizes), (2, [72, 32, 176, 56, 32, 32, 48, 16, 16, 48, 56, 184, 40]));
    }

    #[test]
    fn every_enumeration_survives_the_border() {
        assert!(INCREASES.iter().all(|v| increase_of(increase_code(*v)) == *v));
        assert!(KINDS.iter().all(|v| kind_of(kind_code(*v)) == *v));
        assert!(SLOW_STARTS.iter().all(|v| slow_start(slow_start_code(*v)) == *v));
    }

    #[test]
    fn events_survive_the_border() {
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
        let control =
            cc::Control { cwnd: 1.5, ssthresh: f64::INFINITY, pacing: Some(Rate(7)), quantum: None };
        assert_eq!(cc::Control::from(Control::from(control)), control);
    }
}
