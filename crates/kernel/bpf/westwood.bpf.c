/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Westwood+ as Linux has it [Linux tcp_westwood.c]: Reno, but the window after a recovery is what the measured bandwidth
 * fills without a queue.
 *
 *   each round trip, at least 12 ticks     sample = bytes acknowledged / ticks, filtered twice (7/8, 1/8) [westwood_filter]
 *   end of a recovery                      cwnd = ssthresh = bw_est * rtt_min
 *   timeout                                ssthresh likewise; rtt_min is measured again
 *   during a recovery                      half the window, as Reno
 */
#include "jiffies.h"

#define TCP_WESTWOOD_RTT_MIN (HZ / 20)
/* RTT before the first sample. */
#define TCP_WESTWOOD_INIT_RTT (20 * HZ)

struct westwood {
	u32 bw_ns_est;
	u32 bw_est;
	u32 rtt_win_sx;
	u32 bk;
	u32 snd_una;
	/* Bytes already counted for duplicate ACKs. */
	u32 accounted;
	u32 rtt;
	u32 rtt_min;
	u32 reset_rtt_min;
	u32 first_ack_seen;
};

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct westwood *w = inet_csk_ca(tp);

	w->bw_ns_est = 0;
	w->bw_est = 0;
	w->rtt_win_sx = jiffies();
	w->bk = 0;
	w->snd_una = tp->snd_una;
	w->accounted = 0;
	w->rtt = TCP_WESTWOOD_INIT_RTT;
	w->rtt_min = TCP_WESTWOOD_INIT_RTT;
	w->reset_rtt_min = 1;
	w->first_ack_seen = 0;
	return 0;
}

INLINE void on_pkts_acked(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct westwood *w = inet_csk_ca(tp);
	s32 rtt = sample->rtt_us;

	if (rtt > 0)
		w->rtt = usecs_to_jiffies(rtt);
}

INLINE void filter(struct westwood *w, u32 sample)
{
	if (!w->bw_ns_est && !w->bw_est) {
		w->bw_ns_est = sample;
		w->bw_est = sample;
		return;
	}
	w->bw_ns_est = (7 * w->bw_ns_est + sample) >> 3;
	w->bw_est = (7 * w->bw_est + w->bw_ns_est) >> 3;
}

/* Bytes acknowledged by an ACK of the slow path: a duplicate ACK counts as one segment, which is subtracted from the next
 * cumulative ACK [Linux tcp_westwood.c westwood_acked_count].
 */
INLINE u32 acked_count(struct tcp_sock *tp, struct westwood *w)
{
	u32 mss = tp->mss_cache, bytes = tp->snd_una - w->snd_una;

	w->snd_una = tp->snd_una;
	if (!bytes) {
		w->accounted += mss;
		return mss;
	}
	if (bytes <= mss)
		return bytes;
	if (w->accounted >= bytes) {
		w->accounted -= bytes;
		return mss;
	}
	bytes -= w->accounted;
	w->accounted = 0;
	return bytes;
}

OPERATION(in_ack_event) int in_ack_event(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct westwood *w = inet_csk_ca(tp);
	u32 flags = ctx[1], now = jiffies(), passed = now - w->rtt_win_sx;

	if (!w->first_ack_seen) {
		w->first_ack_seen = 1;
		w->snd_una = tp->snd_una;
	}
	if (w->rtt && passed > max(w->rtt, TCP_WESTWOOD_RTT_MIN)) {
		filter(w, w->bk / passed);
		w->bk = 0;
		w->rtt_win_sx = now;
	}
	if (flags & CA_ACK_SLOWPATH) {
		w->bk += acked_count(tp, w);
	} else {
		w->bk += tp->snd_una - w->snd_una;
		w->snd_una = tp->snd_una;
	}
	w->rtt_min = w->reset_rtt_min ? w->rtt : min(w->rtt_min, w->rtt);
	w->reset_rtt_min = 0;
	return 0;
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct westwood *w = inet_csk_ca(tp);
	u32 event = ctx[1], mss = tp->mss_cache, fills;

	if (event != CA_EVENT_COMPLETE_CWR && event != CA_EVENT_LOSS)
		return 0;
	fills = mss ? max((u64)w->bw_est * w->rtt_min / mss, 2) : 2;
	tp->snd_ssthresh = fills;
	if (event == CA_EVENT_COMPLETE_CWR)
		tp->snd_cwnd = fills;
	else
		w->reset_rtt_min = 1;
	return 0;
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	tcp_reno_cong_avoid(TCP_SOCK(ctx), ctx[1], ctx[2]);
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	return tcp_reno_ssthresh(tp);
}

#define PKTS_ACKED on_pkts_acked
#include "operations.h"
