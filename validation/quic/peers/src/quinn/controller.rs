//! The hooks as quinn's Controller.
//!
//! quinn calls `on_ack` for each packet, `on_end_acks` after those of an ACK frame and before loss detection, and
//! `on_congestion_event` once for the packets that are declared lost together.

use crate::hooks::Hooks;
use crate::settings::Settings;
use dumbbell_units::Time;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Makes the controller of a connection.
pub struct Factory {
    pub settings: Settings,
    /// The instant of virtual time zero.
    pub start: Instant,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn Controller> {
        let config = self.settings.config().expect("checked by quinn::ends");
        let hooks = Hooks::new(&self.settings.variant, &config).expect("checked by quinn::ends");
        let (factory, window) = (Arc::clone(&self), hooks.window());
        Box::new(Adapter { factory, hooks: Mutex::new(hooks), window, acked: 0, newest: self.start })
    }
}

struct Adapter {
    factory: Arc<Factory>,
    /// quinn wants Sync; there is one thread.
    hooks: Mutex<Hooks>,
    window: f64,
    /// The packets of the ACK frame so far.
    acked: u64,
    newest: Instant,
}

impl Adapter {
    fn time(&self, at: Instant) -> Time {
        Time(at.duration_since(self.factory.start).as_nanos() as u64)
    }

    fn call(&mut self, event: impl FnOnce(&mut Hooks)) {
        if let Ok(hooks) = self.hooks.get_mut() {
            event(hooks);
            self.window = hooks.window();
        }
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        let now = self.time(now);
        self.call(|hooks| hooks.on_sent(bytes, now));
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.acked += bytes;
        self.newest = self.newest.max(sent);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        let (bytes, newest, now) = (std::mem::take(&mut self.acked), self.time(self.newest), self.time(now));
        if bytes > 0 {
            self.call(|hooks| hooks.on_acked(bytes, newest, in_flight, !app_limited, now));
        }
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let (sent, now) = (self.time(sent), self.time(now));
        self.call(|hooks| hooks.on_lost(lost_bytes, sent, persistent, now));
    }

    fn on_mtu_update(&mut self, _: u16) {}

    /// quinn sends while bytes_in_flight plus a datagram is below the window; RFC 9002 §7 allows equality.
    fn window(&self) -> u64 {
        self.window as u64 + 1
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Arc::clone(&self.factory).build(self.factory.start, 0)
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
