//! Dumbbell's endpoint.

use crate::network::{CLIENT, End, REQUEST};
use crate::settings::Settings;
use dumbbell_quic::{Config, Datagram, Endpoint, Role};
use dumbbell_units::Time;
use dumbbell_wire::Ecn;

/// See the top of this file.
#[derive(Debug)]
pub struct Own {
    endpoint: Endpoint,
    role: Role,
    /// Bytes of the response.
    bytes: u64,
    answered: bool,
}

/// Returns both ends.
///
/// # Errors
/// Invalid settings.
pub fn ends(settings: &Settings) -> Result<[Own; 2], String> {
    let config: Config = settings.config()?;
    let end = |role, number: usize| -> Result<Own, String> {
        let algorithm = dumbbell_cc::build(&settings.variant, &[], &config.cc_setup());
        let algorithm = algorithm.map_err(|e| e.to_string())?;
        let seed = 2 * settings.seed + number as u64;
        let endpoint = Endpoint::new(config, algorithm, role, seed);
        Ok(Own { endpoint, role, bytes: settings.bytes, answered: false })
    };
    let mut server = end(Role::Server, 1)?;
    server.endpoint.open(Time::ZERO);
    Ok([end(Role::Client, CLIENT)?, server])
}

impl End for Own {
    type Datagram = Datagram;

    fn open(&mut self, now: Time) {
        self.endpoint.open(now);
        self.endpoint.write(0, REQUEST);
        self.endpoint.finish(0);
    }

    fn next_timer(&mut self) -> Option<Time> {
        self.endpoint.next_timer()
    }

    fn on_timer(&mut self, now: Time) {
        self.endpoint.on_timer(now);
    }

    fn poll(&mut self, now: Time) -> Option<(u32, Datagram)> {
        if self.role == Role::Server && !self.answered && self.endpoint.delivered() >= REQUEST {
            self.answered = true;
            self.endpoint.write(0, self.bytes);
            self.endpoint.finish(0);
        }
        let mut datagram = Datagram::default();
        self.endpoint.poll(now, &mut datagram)?;
        Some((datagram.bytes, datagram))
    }

    fn receive(&mut self, datagram: Datagram, now: Time) {
        self.endpoint.on_datagram(&datagram, Ecn::default(), now);
    }

    fn delivered(&self) -> u64 {
        self.endpoint.delivered()
    }

    fn is_established(&self) -> bool {
        self.endpoint.is_established()
    }

    fn cwnd(&self) -> f64 {
        self.endpoint.cwnd()
    }

    fn lost(&self) -> u64 {
        self.endpoint.lost_packets()
    }
}
