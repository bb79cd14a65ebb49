//! CDG's delay gradients: their mean, the state of the queue that they show, and the decision to back off [Hayes and
//! Armitage 2011, "HA"].

use super::MinMax;
use crate::Setup;
use dumbbell_units::param::{ParamError, Params};
use dumbbell_units::random::Stream;
use std::collections::VecDeque;

/// The state of the queue; the number is the one in the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Queue {
    Unknown = 0,
    Empty = 1,
    Rising = 2,
    Falling = 3,
    Full = 4,
}

/// The gradients of the last `window` round trips.
#[derive(Clone, Debug)]
pub(super) struct Gradients {
    window: usize,
    /// The parameter G, s.
    scale: f64,
    ineffectual: u64,
    hold: u64,
    extrapolate: bool,
    random: Stream,
    gradients: VecDeque<MinMax>,
    /// For the trace.
    mean: MinMax,
    queue: Queue,
    /// Consecutive backoffs without a fall of the RTT.
    backoff_cnt: u64,
}

impl Gradients {
    pub(super) fn new(params: &Params, setup: &Setup) -> Result<Gradients, ParamError> {
        let scale = params.duration("scale").as_secs();
        if scale == 0.0 {
            return Err(ParamError { name: "scale".into(), message: "0 given, more is needed".into() });
        }
        Ok(Gradients {
            window: usize::try_from(params.int("window")).unwrap_or(1),
            scale,
            ineffectual: params.int("ineffectual"),
            hold: params.int("hold"),
            extrapolate: params.bool("extrapolate"),
            random: Stream::new(setup.seed, "cdg"),
            gradients: VecDeque::new(),
            mean: (f64::NAN, f64::NAN),
            queue: Queue::Unknown,
            backoff_cnt: 0,
        })
    }

    /// Adds the gradients of a round trip. Returns the gradient that decides: the mean, or in slow start the latest one
    /// unless `extrapolate`; 0 if none is positive. A mean of -`fall(n)` or less, over n round trips, shows that the
    /// last backoff was effectual.
    pub(super) fn add(&mut self, latest: MinMax, in_slow_start: bool, fall: impl Fn(f64) -> f64) -> f64 {
        if self.gradients.len() == self.window {
            self.gradients.pop_front();
        }
        self.gradients.push_back(latest);
        let (gmin, gmax) = self.gradients.iter().fold((0.0, 0.0), |sum, g| (sum.0 + g.0, sum.1 + g.1));
        let n = if self.extrapolate { self.gradients.len() } else { self.window } as f64;
        self.mean = (gmin / n, gmax / n);
        let (gmin, gmax) = self.mean;
        self.queue = match () {
            () if gmin > 0.0 && gmax <= 0.0 => Queue::Full,
            () if gmin >= 0.0 && gmax < 0.0 => Queue::Empty,
            () if gmin > 0.0 && gmax > 0.0 => Queue::Rising,
            () if gmin < 0.0 && gmax < 0.0 => Queue::Falling,
            () => self.queue,
        };
        let fall = fall(n);
        if gmin <= -fall || gmax <= -fall {
            self.backoff_cnt = 0;
        }
        let use_latest = in_slow_start && !self.extrapolate;
        let candidates = [(latest.0, use_latest), (gmin, true), (latest.1, use_latest), (gmax, true)];
        candidates.into_iter().find(|(g, used)| *used && *g > 0.0).map_or(0.0, |(g, _)| g)
    }

    /// Decides at random whether to back off after a round trip with this gradient.
    pub(super) fn backs_off(&mut self, gradient: f64) -> bool {
        if gradient <= 0.0 || self.random.uniform() >= 1.0 - libm::exp(-gradient / self.scale) {
            return false;
        }
        self.backoff_cnt += 1;
        let effectual = self.ineffectual == 0 || self.backoff_cnt <= self.ineffectual;
        if !effectual && self.hold > 0 && self.backoff_cnt >= self.ineffectual + self.hold {
            self.backoff_cnt = 0;
        }
        effectual
    }

    pub(super) fn queue_is_empty(&self) -> bool {
        self.queue == Queue::Empty
    }

    /// True if the queue is full or its state unknown: a loss then counts as congestion.
    pub(super) fn queue_may_be_full(&self) -> bool {
        matches!(self.queue, Queue::Full | Queue::Unknown)
    }

    /// The state of the queue for the trace.
    pub(super) fn queue_code(&self) -> f64 {
        f64::from(self.queue as u8)
    }

    pub(super) fn mean(&self) -> MinMax {
        self.mean
    }

    /// Forgets the gradients, after a restart from idle.
    pub(super) fn reset(&mut self) {
        self.gradients.clear();
        self.queue = Queue::Unknown;
        self.backoff_cnt = 0;
    }
}
