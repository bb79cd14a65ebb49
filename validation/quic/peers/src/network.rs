//! Two ends on two links: the client sends a request of 300 bytes, the server answers.

use crate::link::Link;
use crate::settings::Settings;
use dumbbell_units::{Dur, Time};
use std::collections::BTreeMap;

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;
/// Bytes of the request.
pub const REQUEST: u64 = 300;
/// Interval of the samples of cwnd.
const SAMPLE: Dur = Dur::millis(20);
/// Datagrams that an outcome lists.
const LISTED: usize = 400;

/// One end of a connection with its application.
pub trait End {
    /// A datagram.
    type Datagram;
    /// The client begins.
    fn open(&mut self, now: Time);
    /// Returns when [`End::on_timer`] is due.
    fn next_timer(&mut self) -> Option<Time>;
    /// Handles expired timers.
    fn on_timer(&mut self, now: Time);
    /// Lets the application read and write, then returns the next datagram with the bytes of its UDP payload.
    fn poll(&mut self, now: Time) -> Option<(u32, Self::Datagram)>;
    /// Handles a datagram.
    fn receive(&mut self, datagram: Self::Datagram, now: Time);
    /// Bytes that the application has read.
    fn delivered(&self) -> u64;
    /// True once the handshake is complete.
    fn is_established(&self) -> bool;
    /// cwnd, bytes.
    fn cwnd(&self) -> f64;
    /// Packets declared lost.
    fn lost(&self) -> u64;
}

/// A datagram in the list of an outcome: time, from the client or server, bytes.
pub type Listed = (Time, usize, u32);

/// The outcome of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Bytes of the response that the application has read.
    pub delivered: u64,
    /// The time at which the run ended.
    pub end: Time,
    /// Datagrams that the server sent, that the queue dropped, that were lost at random; that the client sent.
    pub sent: u64,
    pub drops: u64,
    pub losses: u64,
    pub acks: u64,
    /// Packets that the server declared lost.
    pub lost: u64,
    /// Mean queueing delay of the datagrams that the bottleneck accepted, ms.
    pub queueing_ms: f64,
    /// Largest datagram of the server, bytes.
    pub largest: u32,
    /// When the handshake was complete at both ends; when the server had read the request and the client the first
    /// byte.
    pub established: [Option<Time>; 2],
    pub request: Option<Time>,
    pub response: Option<Time>,
    /// The first datagrams.
    pub first: Vec<Listed>,
    /// cwnd of the server, bytes, every 20 ms.
    pub cwnd: Vec<f64>,
}

/// Runs until the end of the settings, or until the response is complete.
pub fn run<E: End>(mut ends: [E; 2], settings: &Settings) -> Outcome {
    let mut links: [Link; 2] = settings.links();
    let mut arriving: BTreeMap<(Time, u64), (usize, E::Datagram)> = BTreeMap::new();
    let (mut now, mut order, mut largest) = (Time::ZERO, 0, 0);
    let (mut established, mut request, mut response) = ([None; 2], None, None);
    let (mut first, mut cwnd) = (Vec::new(), Vec::new());
    ends[CLIENT].open(now);
    loop {
        for from in [CLIENT, SERVER] {
            while let Some((bytes, datagram)) = ends[from].poll(now) {
                order += 1;
                if first.len() < LISTED {
                    first.push((now, from, bytes));
                }
                largest = largest.max(if from == SERVER { bytes } else { 0 });
                if let Some(at) = links[from].send(bytes, now) {
                    arriving.insert((at, order), (1 - from, datagram));
                }
            }
        }
        for end in [CLIENT, SERVER] {
            if ends[end].is_established() {
                established[end].get_or_insert(now);
            }
        }
        if ends[SERVER].delivered() >= REQUEST {
            request.get_or_insert(now);
        }
        if ends[CLIENT].delivered() > 0 {
            response.get_or_insert(now);
        }
        let arrival = arriving.keys().next().map(|(at, _)| *at);
        let timer = ends.iter_mut().filter_map(End::next_timer).min();
        let next = [arrival, timer].into_iter().flatten().min();
        let complete = ends[CLIENT].delivered() >= settings.bytes;
        let Some(at) = next.filter(|at| *at <= settings.end() && !complete) else { break };
        while Time::ZERO + Dur(SAMPLE.0 * cwnd.len() as u64) < at {
            cwnd.push(ends[SERVER].cwnd());
        }
        now = now.max(at);
        if arrival == Some(at) {
            if let Some((_, (to, datagram))) = arriving.pop_first() {
                ends[to].receive(datagram, now);
            }
        } else {
            for end in &mut ends {
                if end.next_timer().is_some_and(|due| due <= now) {
                    end.on_timer(now);
                }
            }
        }
    }
    let complete = ends[CLIENT].delivered() >= settings.bytes;
    let accepted = links[SERVER].offered - links[SERVER].drops - links[SERVER].losses;
    Outcome {
        delivered: ends[CLIENT].delivered(),
        end: if complete { now } else { settings.end() },
        sent: links[SERVER].offered,
        drops: links[SERVER].drops,
        losses: links[SERVER].losses,
        acks: links[CLIENT].offered,
        lost: ends[SERVER].lost(),
        queueing_ms: links[SERVER].queueing.as_millis() / accepted.max(1) as f64,
        largest,
        established,
        request,
        response,
        first,
        cwnd,
    }
}
