//! Two endpoints, and a path that delays, drops, duplicates and marks their datagrams.

use dumbbell_quic::{Config, Datagram, Endpoint, Frame, Role, Transmit};
use dumbbell_units::param::Raw;
use dumbbell_units::{Dur, Time};
use dumbbell_wire::Ecn;
use std::collections::BTreeMap;

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

/// The fate of a datagram on the path.
#[derive(Clone, Copy, Debug)]
pub enum Fate {
    Arrives,
    Dropped,
    /// It arrives later than others.
    Late(Dur),
    Twice(Dur),
    Marked,
}

/// A datagram that an end sent.
#[derive(Clone, Debug)]
pub struct SentDatagram {
    pub at: Time,
    pub from: usize,
    pub datagram: Datagram,
    pub how: Transmit,
}

impl SentDatagram {
    pub fn frames(&self) -> Vec<Frame> {
        self.datagram.packets().flat_map(|(_, frames)| frames.to_vec()).collect()
    }

    pub fn ms(&self) -> f64 {
        ms(self.at)
    }
}

pub fn ms(at: Time) -> f64 {
    at.0 as f64 / 1e6
}

pub struct Wire {
    pub now: Time,
    pub ends: [Endpoint; 2],
    pub delay: Dur,
    pub sent: Vec<SentDatagram>,
    pub fate: Box<dyn FnMut(&SentDatagram) -> Fate>,
    arriving: BTreeMap<(Time, u64), (usize, Datagram, Ecn)>,
    order: u64,
}

pub fn given(params: &[(&str, &str)]) -> Vec<(String, Raw)> {
    let raw = |text: &str| match text {
        "true" | "false" => Raw::Bool(text == "true"),
        _ => text.parse().map_or_else(|_| Raw::Text(text.into()), Raw::Number),
    };
    params.iter().map(|(name, value)| ((*name).to_owned(), raw(value))).collect()
}

pub fn config(variant: &str, params: &[(&str, &str)]) -> Config {
    let row = dumbbell_cc::find(variant).unwrap_or_else(|e| panic!("{e}"));
    Config::read("rfc9002", &given(params), row).unwrap_or_else(|e| panic!("{e}"))
}

impl Wire {
    /// A path with a one-way delay between a client and a server whose windows are those of a variant.
    pub fn new(variant: &str, delay_ms: u64, params: &[(&str, &str)]) -> Wire {
        let config = config(variant, params);
        let end = |role, seed| {
            let algorithm = dumbbell_cc::build(variant, &[], &config.cc_setup());
            let algorithm = algorithm.unwrap_or_else(|e| panic!("{e}"));
            Endpoint::new(config, algorithm, role, seed)
        };
        let mut ends = [end(Role::Client, 1), end(Role::Server, 2)];
        ends.iter_mut().for_each(|e| e.open(Time::ZERO));
        Wire {
            now: Time::ZERO,
            ends,
            delay: Dur::millis(delay_ms),
            sent: Vec::new(),
            fate: Box::new(|_| Fate::Arrives),
            arriving: BTreeMap::new(),
            order: 0,
        }
    }

    pub fn fates(mut self, fate: impl FnMut(&SentDatagram) -> Fate + 'static) -> Wire {
        self.fate = Box::new(fate);
        self
    }

    /// Sends everything that both ends have ready now.
    pub fn pump(&mut self) {
        for from in [CLIENT, SERVER] {
            let mut datagram = Datagram::default();
            while let Some(how) = self.ends[from].poll(self.now, &mut datagram) {
                let sent = SentDatagram { at: self.now, from, datagram: datagram.clone(), how };
                let fate = (self.fate)(&sent);
                let mut arrive = |after: Dur, ecn: Ecn| {
                    self.order += 1;
                    let key = (self.now + self.delay + after, self.order);
                    self.arriving.insert(key, (1 - from, datagram.clone(), ecn));
                };
                match fate {
                    Fate::Arrives => arrive(Dur::ZERO, how.ecn),
                    Fate::Dropped => {}
                    Fate::Late(after) => arrive(after, how.ecn),
                    Fate::Twice(after) => {
                        arrive(Dur::ZERO, how.ecn);
                        arrive(after, how.ecn);
                    }
                    Fate::Marked => arrive(Dur::ZERO, Ecn::CE),
                }
                self.sent.push(sent);
            }
        }
    }

    /// Processes the next event; returns false without one.
    pub fn step(&mut self, until: Time) -> bool {
        self.pump();
        let timers = self.ends.iter().filter_map(Endpoint::next_timer).min();
        let arrival = self.arriving.keys().next().map(|(at, _)| *at);
        let Some(at) = [timers, arrival].into_iter().flatten().min().filter(|at| *at <= until) else {
            self.now = self.now.max(until);
            return false;
        };
        self.now = self.now.max(at);
        if arrival == Some(at) {
            if let Some((_, (to, datagram, ecn))) = self.arriving.pop_first() {
                self.ends[to].on_datagram(&datagram, ecn, self.now);
            }
        } else {
            for end in &mut self.ends {
                if end.next_timer().is_some_and(|t| t <= self.now) {
                    end.on_timer(self.now);
                }
            }
        }
        true
    }

    pub fn run_until(&mut self, until_ms: u64) {
        while self.step(Time(until_ms * 1_000_000)) {}
    }

    /// Runs until a condition holds; panics if it does not within a minute of virtual time.
    pub fn run_while(&mut self, what: &str, condition: impl Fn(&Wire) -> bool) {
        let limit = self.now + Dur::secs(600);
        while condition(self) {
            assert!(self.step(limit), "{what}: nothing happens any more at {:?}", self.now);
        }
    }

    pub fn client(&mut self) -> &mut Endpoint {
        &mut self.ends[CLIENT]
    }

    pub fn server(&mut self) -> &mut Endpoint {
        &mut self.ends[SERVER]
    }

    /// Times (ms) and packet numbers of the data datagrams of an end.
    pub fn data_of(&self, from: usize) -> Vec<(f64, u64)> {
        let own = self.sent.iter().filter(|s| s.from == from && s.how.payload > 0);
        own.map(|s| (s.ms(), s.how.number)).collect()
    }
}
