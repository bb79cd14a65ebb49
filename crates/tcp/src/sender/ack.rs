//! An acknowledgment arrives: what it tells of, what recovery makes of it, what the law hears.

use super::Sender;
use crate::ecn;
use crate::endpoint::timestamp;
use crate::rate::Sampler;
use crate::recovery::{Mode, Rack};
use crate::sent::{DeliveredSegment, SegmentFate, Sent};
use dumbbell_cc::{AckArrival, AckEvent, CaState, Congestion, LossRecovery};
use dumbbell_units::{Dur, Time};
use dumbbell_wire::{AccEcn, TcpFlags};

/// An acknowledgment as the sending half needs it.
pub(crate) struct Ack<'a> {
    pub(crate) ack: u64,
    /// Offset up to which the receiver allows sending.
    pub(crate) edge: u64,
    /// Whether it can be a duplicate ACK: no payload, no SYN or FIN [RFC 5681 §2 (b), (c)].
    pub(crate) pure: bool,
    pub(crate) sack: &'a [(u64, u64)],
    /// A segment that arrived twice [RFC 2883].
    pub(crate) dsack: Option<(u64, u64)>,
    /// When the segment that its timestamp echoes was sent.
    pub(crate) echo: Option<Time>,
    /// When it left, by the receiver's clock: its timestamp.
    pub(crate) left: Option<u32>,
    pub(crate) flags: TcpFlags,
    pub(crate) accecn: Option<&'a AccEcn>,
}

/// What an ACK is the first to tell of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// Bytes acknowledged cumulatively.
    pub(crate) acked: u64,
    /// Whether a SACK block told something.
    pub(crate) sacked: bool,
    /// Payload bytes delivered.
    pub(crate) delivered: u64,
    /// When the newest segment among them was sent that was sent once.
    pub(crate) newest: Option<Time>,
    /// Of those sent once: when the first and the last in order were sent, acknowledged and SACKed ones apart.
    acknowledged: Option<(Time, Time)>,
    selectively: Option<(Time, Time)>,
    /// A segment that had been sent again was acknowledged.
    ambiguous: bool,
    /// What the timestamp that it echoes is older than now, a tick at least; only of an ACK that moves snd_una.
    age: Option<Dur>,
    /// A segment that was sent once, and before the last recovery or timeout began, arrived.
    pub(crate) original: bool,
    /// It can be a duplicate ACK and told nothing.
    pub(crate) duplicate: bool,
    /// Congestion marks.
    pub(crate) marks: ecn::Told,
}

/// Takes in the segments that an ACK tells of, one by one.
struct Intake<'a> {
    delivered: &'a mut Vec<DeliveredSegment>,
    sampler: &'a mut Sampler,
    /// Whether more is asked for than when the newest segment was sent.
    detailed: bool,
    /// Where losses are found by time.
    rack: Option<&'a mut Rack>,
    /// snd_max when the last recovery or timeout began.
    recover: u64,
    echo_too_old: &'a dyn Fn(Time) -> bool,
    min_rtt: Option<Dur>,
    now: Time,
    news: &'a mut News,
}

impl Intake<'_> {
    #[inline]
    fn take(&mut self, s: &Sent, told: SegmentFate) {
        self.delivered.push(s.delivered(told));
        if told == SegmentFate::AcknowledgedAfterSack {
            self.news.ambiguous |= s.transmissions > 1;
            return;
        }
        self.sampler.on_delivered(s.stamp, s.last_at, s.end, s.payload(), self.now);
        let once = s.transmissions == 1;
        if once {
            self.news.newest = self.news.newest.max(Some(s.last_at));
        }
        if self.detailed {
            self.take_details(s, told, once);
        }
    }

    fn take_details(&mut self, s: &Sent, told: SegmentFate, once: bool) {
        if once {
            self.news.original |= s.end <= self.recover;
            let span = match told {
                SegmentFate::Sacked => &mut self.news.selectively,
                _ => &mut self.news.acknowledged,
            };
            *span = Some((span.map_or(s.last_at, |(first, _)| first), s.last_at));
        } else {
            self.news.ambiguous |= told == SegmentFate::Acknowledged;
        }
        let Some(rack) = &mut self.rack else { return };
        // What comes too soon after a retransmission was sent before it [RFC 8985 §6.2 step 2].
        // DIVERGES [RFC 8985 §6.2 step 2]: with a SACK the echo is that of an earlier segment [RFC 7323 §4.3] and says
        // nothing of this one.
        let rtt = self.now.since(s.last_at);
        let earlier = told == SegmentFate::Acknowledged && (self.echo_too_old)(s.last_at);
        let doubtful = !once && (earlier || self.min_rtt.is_some_and(|m| rtt < m));
        if !doubtful {
            rack.on_delivered(s, rtt);
        }
        rack.note_order(s, once);
    }
}

impl Sender {
    /// Takes in an acknowledgment.
    pub(crate) fn on_ack(&mut self, a: &Ack, now: Time) {
        self.delivered.clear();
        self.reconsider_burst();
        if a.ack > self.max || a.ack < self.una {
            return;
        }
        let same_window = a.edge == self.edge;
        self.edge = self.edge.max(a.edge);
        let telling = a.dsack.is_some() || self.ecn != ecn::Mode::Off;
        if a.ack == self.max && self.una == self.max && !telling {
            return; // nothing outstanding: the ACKs that come with data in the other direction
        }
        self.check_app_limited();
        let flight = self.flight();
        let lost_before = self.sampler.lost();
        let was_in_recovery = self.recovery.mode == Mode::Recovery;
        let state = match self.recovery.mode {
            Mode::Open if self.is_disordered() => CaState::Disorder,
            Mode::Open => CaState::Open,
            Mode::Reducing => CaState::Cwr,
            Mode::Recovery => CaState::Recovery,
            Mode::Loss => CaState::Loss,
        };
        let news = self.take_in(a, same_window, now);
        if self.wants_arrivals {
            let offer = a.edge - a.ack;
            let alone = a.sack.is_empty() && a.dsack.is_none() && offer == self.offer;
            self.offer = offer;
            let rtt = self.law_rtt(&news, now);
            let ev = AckArrival { acked: news.acked, fast_path: alone && news.acked > 0, rtt, state };
            let cx = self.cx(now);
            self.tell_law(|law| law.on_arrival(&ev, &cx));
        }
        if self.config.rack.is_some() {
            self.by_time_ack(&news, a, now);
        } else {
            self.counting_ack(&news, was_in_recovery, now);
        }
        if news.acked == 0 && !news.sacked {
            return;
        }
        self.tell_losses(now);
        let lost = self.sampler.lost() - lost_before;
        let rate = self.sampler.sample(self.min_rtt.get(), now);
        if let Some(prr) = &mut self.recovery.prr
            && news.delivered > 0
        {
            prr.on_ack(news.delivered, news.acked > 0 && lost == 0, self.sent.pipe());
        }
        let in_recovery = matches!(self.recovery.mode, Mode::Recovery | Mode::Reducing)
            || (was_in_recovery && !self.config.grow_on_exit);
        let ev = AckEvent {
            acked: if self.config.grow_by_delivered { self.counts_for_growth(&news) } else { news.acked },
            delivered: news.delivered,
            rtt: self.law_rtt(&news, now),
            one_way: news.newest.zip(a.left).map(|(sent, left)| {
                let ticks = left.wrapping_sub(timestamp(sent, self.config.timestamp_clock)).cast_signed();
                f64::from(ticks) * self.config.timestamp_clock.as_secs() // half of what the field can tell, either way
            }),
            flight,
            snd_una: self.una,
            snd_nxt: self.nxt,
            cwnd_limited: self.is_cwnd_limited() || self.config.grow_unused,
            in_recovery,
            in_loss: self.recovery.mode == Mode::Loss,
            disordered: self.is_disordered(),
            inflight: self.flight(),
            departs: self.pacer.next().max(now),
            lost,
            marked: news.marks.bytes,
            rate,
        };
        let cx = self.cx(now);
        self.tell_law(|law| law.on_ack(&ev, &cx));
    }

    /// Whether something has arrived out of order, or a probe is outstanding, and no loss is known.
    fn is_disordered(&self) -> bool {
        let probed = || self.sent.front().is_some_and(|s| s.transmissions > 1);
        self.recovery.mode == Mode::Open && (self.sent.sacked_bytes() > 0 || probed())
    }

    /// The scoreboard, the samplers and snd_una learn of what is acknowledged.
    fn take_in(&mut self, a: &Ack, same_window: bool, now: Time) -> News {
        let mut news = News::default();
        let delivered_before = self.sampler.delivered();
        self.sampler.begin();
        self.rack.begin();
        let tick = self.config.timestamp_clock.0;
        let too_old = |sent: Time| a.echo.is_some_and(|echo| echo.0 / tick < sent.0 / tick);
        let mut intake = Intake {
            delivered: &mut self.delivered,
            sampler: &mut self.sampler,
            detailed: self.config.rack.is_some() || self.config.rtt_from_segments,
            rack: self.config.rack.is_some().then_some(&mut self.rack),
            recover: self.recovery.recover.unwrap_or(0),
            echo_too_old: &too_old,
            min_rtt: self.min_rtt.get(),
            now,
            news: &mut news,
        };
        let mut sacked = false;
        for &(start, end) in a.sack {
            sacked |=
                start >= self.una && end <= self.max && self.sent.sack(start, end, |s, t| intake.take(s, t));
        }
        let acked = a.ack - self.una;
        if acked > 0 {
            self.sent.acknowledge(a.ack, |s, t| intake.take(s, t));
            self.una = a.ack;
            self.nxt = self.nxt.max(self.una);
            self.expiries = 0;
            self.buffer.note_freed();
        }
        news.acked = acked;
        news.sacked = sacked;
        news.delivered = self.sampler.delivered() - delivered_before;
        news.duplicate = acked == 0 && !sacked && a.pure && same_window && a.dsack.is_none();
        if self.ecn != ecn::Mode::Off {
            let (delivered, mss) = (news.delivered, self.mss());
            news.marks = self.marks.read(self.ecn, a.flags, a.accecn, delivered, mss);
        }
        news.age = a.echo.filter(|_| acked > 0).map(|at| now.since(at).max(self.config.timestamp_clock));
        self.take_samples(&news, a.echo, now);
        news
    }

    /// Round-trip samples of this ACK for the timer and for the smallest.
    fn take_samples(&mut self, news: &News, echo: Option<Time>, now: Time) {
        if self.config.rtt_from_segments {
            self.sample_from_segments(news, now);
            return;
        }
        if let Some(sent) = news.newest {
            self.note_rtt(now.since(sent), now);
            if self.config.fine_timeouts {
                self.fine.sample(sent, now, self.una, self.nxt);
            }
        }
        if news.acked > 0 {
            if let Some(sent) = echo {
                self.sample_rtt(sent, now); // [RFC 7323 §4.1]
            } else if let Some((end, sent)) = self.timed.filter(|(end, _)| self.una >= *end) {
                debug_assert!(end <= self.una);
                self.timed = None;
                self.sample_rtt(sent, now);
            }
        }
    }

    /// Linux's way: the timer's sample is the oldest segment's, the law's the newest one's; what is acknowledged comes
    /// before what is SACKed, the echo counts where neither is certain.
    fn sample_from_segments(&mut self, news: &News, now: Time) {
        let acknowledged = news.acknowledged.filter(|_| !news.ambiguous);
        let sent = acknowledged.or(news.selectively).map(|(first, _)| first);
        if let Some(sent) = sent.or(news.age.map(|age| Time(now.0.saturating_sub(age.0)))) {
            self.sample_rtt(sent, now);
        }
        if let Some(rtt) = self.law_rtt(news, now) {
            self.note_rtt(rtt, now);
        }
    }

    /// The round-trip time that the law hears of.
    fn law_rtt(&self, news: &News, now: Time) -> Option<Dur> {
        if !self.config.rtt_from_segments {
            return news.newest.map(|sent| now.since(sent));
        }
        let acknowledged = news.acknowledged.filter(|_| !news.ambiguous);
        let micros = |t: Time| t.0 / 1000;
        let span = |(_, last): (Time, Time)| Dur::micros(micros(now).saturating_sub(micros(last)));
        news.selectively.or(acknowledged).map(span).or(news.age)
    }

    /// What an ACK counts for where growth goes by what is delivered: nothing if snd_una stays, unless segments are known
    /// to come out of order.
    fn counts_for_growth(&self, news: &News) -> u64 {
        let counts = news.acked > 0 || self.rack.reordering() > self.config.dupack_threshold.into();
        if counts { news.delivered } else { 0 }
    }

    /// The shells that count duplicate ACKs or SACKed segments.
    fn counting_ack(&mut self, news: &News, was_in_recovery: bool, now: Time) {
        if news.sacked {
            self.sent.find_lost(self.config.dupack_threshold, self.mss());
        }
        if self.is_marked(news) && !was_in_recovery {
            self.answer_mark(now);
        }
        if news.acked > 0 {
            self.timer_at = (self.una < self.max).then(|| self.timer_after_ack(now));
            self.on_new_ack(news.acked, now);
        } else if self.una < self.max
            && (news.sacked || (news.duplicate && self.config.shell != LossRecovery::Sack))
        {
            self.on_duplicate_ack(now);
        }
    }

    /// Whether an ACK tells of a mark that no reduction has answered.
    pub(crate) fn is_marked(&self, news: &News) -> bool {
        news.marks.any && self.una > self.ecn_recover
    }

    /// A congestion mark that no reduction has answered yet.
    pub(crate) fn answer_mark(&mut self, now: Time) {
        self.ecn_recover = self.max;
        self.tell_congestion(Congestion::Ecn, now);
    }

    /// Restarted by each ACK of new data [RFC 6298 (5.3)], except that an impatient NewReno lets it run on after
    /// the first partial ACK [RFC 6582 §4].
    fn timer_after_ack(&self, now: Time) -> Time {
        let partial = self.config.shell == LossRecovery::NewReno
            && self.recovery.mode == Mode::Recovery
            && self.recovery.recover.is_some_and(|r| self.una < r);
        match self.timer_at {
            Some(at) if partial && self.config.impatient && self.recovery.partial_seen => at,
            _ => self.expiry(self.rtt.rto(), now),
        }
    }

    /// Whether the oldest segment has been out for longer than the fine-grained timeout [Brakmo & Peterson 1995 §III.A].
    pub(crate) fn fine_timeout_passed(&self, now: Time) -> bool {
        self.config.fine_timeouts && self.sent.front().is_some_and(|s| now.since(s.last_at) > self.fine.rto())
    }

    /// Whether a sample of this ACK is of a segment that left before the oldest one outstanding was last sent. With what was
    /// sent after it the timer isn't set anew: else it might be put off throughout a recovery.
    pub(crate) fn sampled_before_front(&self, news: &News) -> bool {
        let front = self.sent.front().map(|s| s.last_at);
        news.selectively.zip(front).is_some_and(|((first, _), front)| first < front)
    }
}
