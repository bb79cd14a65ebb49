//! Every parameter of an endpoint.

use dumbbell_units::param::{Kind, Spec};

/// Every parameter, with the default of the preset `rfc`.
pub const PARAMS: &[Spec] = &[
    Spec {
        name: "mss",
        kind: Kind::Bytes,
        default: "1460 bytes",
        doc: "largest payload of a segment; timestamps take 12 bytes of it [RFC 9293 §3.7.1, RFC 6691]",
    },
    Spec {
        name: "window",
        kind: Kind::Size,
        default: "64 MiB",
        doc: "receive buffer, and so the largest window ever offered [RFC 9293 §3.8.6]; the default never limits",
    },
    Spec {
        name: "initial_window",
        kind: Kind::Size,
        default: "10 packets",
        doc: "cwnd at the start [RFC 6928 §2]",
    },
    Spec {
        name: "initial_ssthresh",
        kind: Kind::Size,
        default: "1 GiB",
        doc: "first slow start threshold; never above the window that the receiver offers [RFC 5681 §3.1]",
    },
    Spec {
        name: "slow_start",
        kind: Kind::Choice(&["standard", "hystart", "hystart++"]),
        default: "standard",
        doc: "how slow start may end before a loss: not at all [RFC 5681 §3.1], by HyStart [Ha & Rhee 2011], by HyStart++ \
              [RFC 9406]; for variants that have the common slow start",
    },
    Spec {
        name: "slow_start_limit",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "1",
        doc: "segments that an ACK adds at most in slow start [RFC 5681 §3.1 (2): 1; RFC 3465 §2.2: 2]",
    },
    Spec {
        name: "handshake",
        kind: Kind::Bool,
        default: "true",
        doc: "whether a connection starts with the three-way handshake [RFC 9293 §3.5] or established",
    },
    Spec {
        name: "handshake_ack",
        kind: Kind::Choice(&["with data", "alone"]),
        default: "with data",
        doc: "whether the ACK that completes the handshake waits for the first data, if there is any, or leaves before \
              it, as in Linux, where the application hears of the connection later",
    },
    Spec {
        name: "ack_every",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "2",
        doc: "segments in order for one ACK: 1 acknowledges each, 2 delays [RFC 5681 §4.2]",
    },
    Spec {
        name: "ack_delay",
        kind: Kind::Duration,
        default: "200 ms",
        doc: "longest delay of an ACK; at most 500 ms in RFC 5681 §4.2",
    },
    Spec {
        name: "ack_delay_min",
        kind: Kind::Duration,
        default: "500 ms",
        doc: "where it is below ack_delay, the delay adapts: it starts here, follows the time between segments \
              and doubles when it runs out, as in Linux",
    },
    Spec {
        name: "quick_acks",
        kind: Kind::Int { min: 0, max: 1000 },
        default: "0",
        doc: "ACKs that are sent at once at the start of a connection, after idling and after something out of \
              order, at most half a window of them; 0: none",
    },
    Spec {
        name: "ack_pushed",
        kind: Kind::Bool,
        default: "false",
        doc: "whether a segment that is shorter than the longest so far, or carries PSH, is acknowledged at once, as happens in \
              Linux where the application reads at once",
    },
    Spec {
        name: "push_every",
        kind: Kind::Size,
        default: "0 bytes",
        doc: "bytes that the application writes at a time: the segment that ends them carries PSH; 0: all at once",
    },
    Spec {
        name: "sack_delay",
        kind: Kind::Duration,
        default: "0 ms",
        doc: "longest time for which ACKs that only report something out of order are held back and merged, \
              after the first three; 5 % of the round trip where that is less; 0: not at all",
    },
    Spec {
        name: "sack_kept",
        kind: Kind::Int { min: 0, max: 64 },
        default: "0",
        doc: "ranges that a receiver keeps for SACK blocks: a segment is joined to these only, and older ones are told of no \
              more; 0: all that have arrived out of order [RFC 2018 §4]",
    },
    Spec {
        name: "rto_initial",
        kind: Kind::Duration,
        default: "1 s",
        doc: "retransmission timeout before the first sample [RFC 6298 (2.1)]",
    },
    Spec {
        name: "rto_min",
        kind: Kind::Duration,
        default: "1 s",
        doc: "lower bound of the timeout [RFC 6298 (2.4)]",
    },
    Spec {
        name: "rto_max",
        kind: Kind::Duration,
        default: "60 s",
        doc: "upper bound of the timeout, backoff included [RFC 6298 (2.5)]",
    },
    Spec {
        name: "granularity",
        kind: Kind::Duration,
        default: "1 ms",
        doc: "clock tick: round-trip samples are whole ticks, and G of RFC 6298 (2.3)",
    },
    Spec {
        name: "timer_tick",
        kind: Kind::Duration,
        default: "0 ms",
        doc: "tick of the clock that looks at timers of retransmissions and delayed ACKs: they expire with a tick, never \
              early, and long ones up to an eighth late, as in Linux (4 ms with 250 ticks a second); 0: exactly",
    },
    Spec {
        name: "rto_estimator",
        kind: Kind::Choice(&["rfc6298", "linux"]),
        default: "rfc6298",
        doc: "how the timeout follows from samples: as in RFC 6298, or as Linux does, where it falls slowly, \
              ignores what only falls and is at least srtt + rto_min",
    },
    Spec {
        name: "timestamp_clock",
        kind: Kind::Duration,
        default: "1 us",
        doc: "tick of the timestamps option [RFC 7323 §5.4]",
    },
    Spec {
        name: "rtt_from",
        kind: Kind::Choice(&["echo", "segments"]),
        default: "echo",
        doc: "what a round-trip sample of the timer is taken from where there are timestamps: their echo [RFC \
              7323 §4.1], or the sending of the oldest segment that the ACK is the first to tell of, if it was \
              sent once",
    },
    Spec {
        name: "min_rtt_window",
        kind: Kind::Duration,
        default: "0 s",
        doc: "how long the smallest round trip is remembered [RFC 8985 §6.2]; 0: to the end",
    },
    Spec {
        name: "dupack_threshold",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "3",
        doc: "duplicate ACKs (or SACKed segments) that mean a loss [RFC 5681 §3.2, RFC 6675 §2 DupThresh]",
    },
    Spec {
        name: "limited_transmit",
        kind: Kind::Bool,
        default: "true",
        doc: "the first duplicate ACKs each let one new segment out [RFC 3042]",
    },
    Spec {
        name: "timestamps",
        kind: Kind::Bool,
        default: "true",
        doc: "timestamps option: 12 bytes a segment, a round-trip sample with each ACK [RFC 7323]",
    },
    Spec {
        name: "aligned_options",
        kind: Kind::Bool,
        default: "false",
        doc: "whether timestamps and SACK blocks each begin a word of the header, so that an ACK with both is 4 bytes \
              longer, as those of Linux",
    },
    Spec {
        name: "recovery",
        kind: Kind::Choice(&["tahoe", "reno", "newreno", "sack"]),
        default: "sack",
        doc: "loss recovery of variants whose name doesn't say it (Vegas, CUBIC)",
    },
    Spec {
        name: "rack",
        kind: Kind::Bool,
        default: "false",
        doc: "losses are found by the time at which segments were sent, instead of by counting, and lost \
              retransmissions with them [RFC 8985 §6]; needs recovery = sack",
    },
    Spec {
        name: "tlp",
        kind: Kind::Bool,
        default: "false",
        doc: "tail loss probes: where no ACK comes for two round trips, a segment is sent to fetch one [RFC \
              8985 §7]; needs rack",
    },
    Spec {
        name: "tlp_ack_delay",
        kind: Kind::Duration,
        default: "200 ms",
        doc: "what the probe of a single segment waits longer for a delayed ACK [RFC 8985 §7.2, \
              TLP.max_ack_delay]",
    },
    Spec {
        name: "prr",
        kind: Kind::Bool,
        default: "false",
        doc: "proportional rate reduction: in recovery, and after a congestion mark, the window shrinks by \
              what ACKs report [RFC 9937]; needs rack",
    },
    Spec {
        name: "frto",
        kind: Kind::Bool,
        default: "false",
        doc: "after a timeout the next ACKs tell whether it was spurious, before more is sent again [RFC 5682 \
              §3.1]; needs rack",
    },
    Spec {
        name: "dsack",
        kind: Kind::Bool,
        default: "false",
        doc: "the receiver reports segments that arrive twice [RFC 2883]",
    },
    Spec {
        name: "undo",
        kind: Kind::Choice(&["none", "timestamps", "dsack", "both"]),
        default: "none",
        doc: "what takes a reduction back: an ACK whose timestamp is older than the retransmission [RFC 3522], \
              reports that all retransmissions arrived twice [RFC 3708], either; needs rack",
    },
    Spec {
        name: "newreno_timer",
        kind: Kind::Choice(&["impatient", "slow-but-steady"]),
        default: "impatient",
        doc: "whether only the first partial ACK restarts the timer, or each [RFC 6582 §4]",
    },
    Spec {
        name: "newreno_exit",
        kind: Kind::Choice(&["flight", "ssthresh"]),
        default: "flight",
        doc: "cwnd after NewReno's recovery: bounded by what is outstanding, so that no burst follows, or ssthresh \
              [RFC 6582 §3.2 step 3, (1) or (2)]",
    },
    Spec {
        name: "one_reduction_per_window",
        kind: Kind::Bool,
        default: "false",
        doc: "no second fast retransmit before what was outstanding at the first (or at a timeout) is acknowledged: an \
              option for Reno, on by default for Tahoe; NewReno and SACK always have it [RFC 6582 §3.2]",
    },
    Spec {
        name: "reduce_from",
        kind: Kind::Choice(&["flight", "cwnd"]),
        default: "flight",
        doc: "what a reduction takes its part of: FlightSize [RFC 5681 (4)] or min(cwnd, offered window)",
    },
    Spec {
        name: "increase",
        kind: Kind::Choice(&["ack", "bytes", "window"]),
        default: "bytes",
        doc: "congestion avoidance counts ACKs or bytes acknowledged [RFC 5681 §3.1], or adds a whole segment once a window \
              of bytes is acknowledged",
    },
    Spec {
        name: "grow_by",
        kind: Kind::Choice(&["acknowledged", "delivered"]),
        default: "acknowledged",
        doc: "what an ACK counts for when the window grows: what it acknowledges, or what it is the first to \
              tell of, SACKed or not",
    },
    Spec {
        name: "grow_unused",
        kind: Kind::Bool,
        default: "false",
        doc: "whether cwnd grows while application or receiver hold sending back [against RFC 7661 §4]",
    },
    Spec {
        name: "cwnd_limited",
        kind: Kind::Choice(&["now", "window"]),
        default: "now",
        doc: "when the window counts as used: it holds sending back now, or it has done so since a window of \
              data ago, or in slow start is less than twice what was outstanding, as in Linux",
    },
    Spec {
        name: "window_validation",
        kind: Kind::Choice(&["none", "rfc2861", "rfc7661"]),
        default: "none",
        doc: "what becomes of a window that the application doesn't use: it stays, it shrinks towards what is \
              used once each timeout [RFC 2861], as in Linux, or it stays for five minutes and a loss starts \
              from what was used [RFC 7661]",
    },
    Spec {
        name: "grow_on_exit",
        kind: Kind::Bool,
        default: "false",
        doc: "whether the ACK that ends fast recovery also lets cwnd grow, as in ns-2; RFC 5681 §3.2 step 6 only deflates",
    },
    Spec {
        name: "limited_retransmit",
        kind: Kind::Bool,
        default: "false",
        doc: "whether after a timeout the first duplicate ACKs let out what is to be sent again, as in ns-2; RFC 3042 \
              lets out new segments only",
    },
    Spec {
        name: "whole_numbers",
        kind: Kind::Bool,
        default: "false",
        doc: "ssthresh in whole segments; with rto_estimator = rfc6298 also srtt, rttvar and timeout in integer ticks, as \
              4.3BSD and ns-2 count [Jacobson 1988, appendix A]",
    },
    Spec {
        name: "idle_restart",
        kind: Kind::Bool,
        default: "true",
        doc: "after idling longer than an RTO start from the initial window [RFC 5681 §4.1]",
    },
    Spec {
        name: "nagle",
        kind: Kind::Bool,
        default: "false",
        doc: "a segment that isn't full waits while data is outstanding [RFC 9293 §3.7.4]",
    },
    Spec {
        name: "pacing",
        kind: Kind::Bool,
        default: "false",
        doc: "whether laws that don't give a rate are paced too, at cwnd/srtt times the next two",
    },
    Spec {
        name: "pacing_slow_start",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "200",
        doc: "percent of cwnd/srtt in the first half of slow start",
    },
    Spec {
        name: "pacing_avoidance",
        kind: Kind::Int { min: 1, max: 1000 },
        default: "120",
        doc: "percent of cwnd/srtt afterwards",
    },
    Spec {
        name: "unpaced_segments",
        kind: Kind::Int { min: 0, max: 1000 },
        default: "0",
        doc: "segments at the start of a connection that leave at once although it is paced; a burst that goes beyond \
              them is paced",
    },
    Spec {
        name: "pacing_credit",
        kind: Kind::Int { min: 0, max: 100 },
        default: "0",
        doc: "percent of its own length that a paced burst gets back at most for the time by which it leaves late",
    },
    Spec {
        name: "send_quantum",
        kind: Kind::Choice(&["segment", "tso"]),
        default: "segment",
        doc: "what leaves together: single segments, or as many as a millisecond of the rate holds, two at \
              least and 64 KiB at most, as an offloading interface sends them",
    },
    Spec {
        name: "autotuning",
        kind: Kind::Bool,
        default: "false",
        doc: "the receive window starts at window_start and grows with what the application reads in a round \
              trip, up to window",
    },
    Spec {
        name: "window_start",
        kind: Kind::Size,
        default: "65535 bytes",
        doc: "receive window at the start where it grows",
    },
    Spec {
        name: "data_headers",
        kind: Kind::Bool,
        default: "true",
        doc: "whether headers take room on the wire in data packets; ns-2's Vegas sends them without",
    },
    Spec {
        name: "ecn",
        kind: Kind::Bool,
        default: "false",
        doc: "explicit congestion notification [RFC 3168 §6.1]; on for variants that need it",
    },
    Spec {
        name: "ecn_feedback",
        kind: Kind::Choice(&["classic", "dctcp", "accurate"]),
        default: "classic",
        doc: "how the receiver tells of marks: until the sender has answered [RFC 3168 §6.1.3], segment by \
              segment [RFC 8257 §3.2], by counters [RFC 9768]; variants that need one of the last two have it",
    },
];
