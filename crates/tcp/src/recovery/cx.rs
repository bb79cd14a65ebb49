//! The parts of a sender that loss recovery may read and change: SND.UNA, SND.NXT and the scoreboard [RFC 9293 §3.3.1,
//! RFC 6675 §3], timer, RTT, congestion control, ECN.
//!
//! Recovery marks segments as lost, sets the timer and notifies congestion control. It doesn't send: it returns the
//! next segment to send ([`super::NextSegment`]). Send buffer, bursts, pacing and window validation are out of its
//! reach.

use crate::ack::AckSummary;
use crate::cc_driver::CcDriver;
use crate::config::{Config, ReduceFrom};
use crate::delivery_rate::DeliveryRate;
use crate::ecn::EcnSender;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::send_sequence::{Counters, SendSequence};
use crate::send_timer::{SendTimer, TimerKind};
use dumbbell_cc::{Congestion, CongestionEvent, RecoveryExit};
use dumbbell_units::{Dur, Time};

/// The parts of the sender that recovery may use, borrowed for one call.
pub(crate) struct RecoveryCx<'a> {
    pub(crate) now: Time,
    pub(crate) config: &'a Config,
    pub(crate) snd: &'a mut SendSequence,
    pub(crate) scoreboard: &'a mut Scoreboard,
    pub(crate) timer: &'a mut SendTimer,
    pub(crate) rtt: &'a RttEstimator,
    /// Vegas' estimator, with a fine-grained clock, if the stack has fine-grained timeouts.
    pub(crate) fine_rtt: Option<&'a RttEstimator>,
    pub(crate) min_rtt: Option<Dur>,
    pub(crate) cc: &'a mut CcDriver,
    pub(crate) delivery_rate: &'a mut DeliveryRate,
    pub(crate) ecn: &'a mut EcnSender,
    pub(crate) counters: &'a mut Counters,
    /// Without timestamps: the segment that is being timed.
    pub(crate) timed: &'a mut Option<(u64, Time)>,
}

impl RecoveryCx<'_> {
    pub(super) fn mss(&self) -> u64 {
        self.config.mss()
    }

    /// Times no segment until a new one is sent, at a fast retransmit [ns-2 tcp.cc reset_rtx_timer]. Where any
    /// retransmission has this effect, it follows.
    pub(super) fn stop_timing(&mut self) {
        if self.config.rto.timed_past_retransmissions {
            *self.timed = None;
        }
    }

    /// True if no data is outstanding.
    pub(super) fn all_acknowledged(&self) -> bool {
        self.snd.una == self.snd.max
    }

    /// Starts the retransmission timer anew.
    pub(super) fn restart_rto(&mut self) {
        self.timer.start(TimerKind::Rto, self.rtt.rto(), self.now);
    }

    /// Starts the retransmission timer with the part of the RTO that is left since the oldest segment was sent [Linux
    /// tcp_input.c tcp_rearm_rto]. Stops it if nothing is outstanding.
    pub(super) fn rearm_rto(&mut self) {
        match self.scoreboard.head() {
            Some(head) => {
                let left = (head.xmit_ts + self.rtt.rto()).since(self.now);
                self.timer.start(TimerKind::Rto, left, self.now);
            }
            None => (self.timer.kind, self.timer.expires) = (TimerKind::Rto, None),
        }
    }

    /// True if the oldest segment was sent longer ago than the fine-grained timeout [Brakmo & Peterson 1995 §III.A].
    pub(super) fn fine_timeout_passed(&self) -> bool {
        let head = self.scoreboard.head();
        self.fine_rtt.zip(head).is_some_and(|(rtt, s)| self.now.since(s.xmit_ts) > rtt.rto())
    }

    /// True if an ACK reports a mark that no reduction has answered.
    pub(super) fn is_new_mark(&self, ack: &AckSummary) -> bool {
        ack.marks.any && self.snd.una > self.ecn.recover
    }

    /// Bytes sent and not acknowledged cumulatively, as they count in the window.
    fn outstanding(&self) -> u64 {
        self.scoreboard.counted(self.snd.outstanding(), self.scoreboard.segment_count() as u64)
    }

    /// Reports a congestion mark; further marks of the same window of data are ignored [RFC 3168 §6.1.2].
    pub(super) fn notify_mark(&mut self, limited_transmit: u64) {
        self.ecn.recover = self.snd.max;
        self.notify_congestion(Congestion::Ecn, self.timer.backoffs, limited_transmit);
    }

    /// Reports congestion, and before it all transmissions that were newly marked as lost. `limited_transmit` are the
    /// bytes outstanding that were sent by limited transmit.
    pub(super) fn notify_congestion(&mut self, kind: Congestion, backoffs: u32, limited_transmit: u64) {
        let cwnd = self.cc.control.cwnd;
        let window = match self.config.growth.reduce_from {
            ReduceFrom::Cwnd => cwnd,
            ReduceFrom::Offered => cwnd.min((self.snd.wnd_end - self.snd.una) as f64),
            // During recovery duplicate ACKs show that much of the outstanding data has left the network: a timeout
            // must not start from more than the window that recovery has set.
            ReduceFrom::Flight => cwnd.min(self.outstanding().saturating_sub(limited_transmit) as f64),
        };
        let (lost_sent_at, lost_transmissions) =
            self.scoreboard.head().map_or((self.now, 0), |s| (s.xmit_ts, s.transmissions));
        let ev = CongestionEvent { kind, window, lost_sent_at, lost_transmissions, backoffs };
        self.ecn.owes_cwr = self.ecn.uses_cwr(); // for any reduction [RFC 3168 §6.1.2]
        self.notify_losses();
        self.cc.notify(self.now, |cc, cx| cc.on_congestion(&ev, cx));
    }

    /// Reports all transmissions that were newly marked as lost.
    pub(super) fn notify_losses(&mut self) {
        self.cc.notify_losses(self.scoreboard, self.delivery_rate, self.now);
    }

    /// Reports the end of fast recovery; `bound` is the largest window that allows no burst.
    pub(super) fn notify_recovery_exit(&mut self, bound: f64) {
        self.cc.notify(self.now, |cc, cx| cc.on_recovery_exit(&RecoveryExit { bound }, cx));
    }

    /// Reports that the last reductions were unnecessary.
    pub(super) fn notify_undo(&mut self) {
        self.cc.notify(self.now, |cc, cx| cc.on_undo(cx));
    }
}
