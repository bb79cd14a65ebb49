/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Vegas as Linux has it [Linux tcp_vegas.c tcp_vegas_cong_avoid]: alpha 2, beta 4, gamma 1; the minimum RTT of a round
 * instead of the mean.
 *
 *   once per round, with at least three samples   diff = cwnd * (rtt - baseRTT) / baseRTT
 *   slow start    diff > gamma: cwnd = at most cwnd * baseRTT / rtt + 1, and congestion avoidance begins
 *   avoidance     diff > beta: one segment less; diff < alpha: one more
 *   with fewer samples, and outside of TCP_CA_Open, it is Reno
 */
#include "vegas.h"

#define ALPHA 2
#define BETA 4
#define GAMMA 1

OPERATION(init) int init(u64 *ctx)
{
	vegas_init(TCP_SOCK(ctx));
	return 0;
}

/* ssthresh stays below the window; otherwise slow start would begin again. */
INLINE void lower_ssthresh(struct tcp_sock *tp)
{
	tp->snd_ssthresh = min(tp->snd_ssthresh, max(tp->snd_cwnd - 1, 2));
}

INLINE void end_round(struct tcp_sock *tp, struct vegas *r, u32 acked)
{
	u64 cwnd = tp->snd_cwnd, rtt = r->minRTT, base = r->baseRTT;
	u32 diff;

	if (!rtt || !base)
		return;
	diff = cwnd * (rtt - base) / base;
	if (diff > GAMMA && tcp_in_slow_start(tp)) {
		tp->snd_cwnd = min(cwnd, (u32)(cwnd * base / rtt) + 1);
		lower_ssthresh(tp);
	} else if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	} else if (diff > BETA) {
		tp->snd_cwnd = cwnd - 1;
		lower_ssthresh(tp);
	} else if (diff < ALPHA) {
		tp->snd_cwnd = cwnd + 1;
	}
	clamp_cwnd(tp);
	/* At least 3/4 of the window [Linux tcp.h tcp_current_ssthresh], as no recovery is in progress. */
	cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = max(tp->snd_ssthresh, (u32)(cwnd >> 1) + (u32)(cwnd >> 2));
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct vegas *r = inet_csk_ca(tp);
	u32 ack = ctx[1], acked = ctx[2];

	if (!r->doing_vegas_now) {
		tcp_reno_cong_avoid(tp, ack, acked);
	} else if (after(ack, r->beg_snd_nxt)) {
		if (r->cntRTT <= 2)
			tcp_reno_cong_avoid(tp, ack, acked);
		else
			end_round(tp, r, acked);
		next_round(tp, r);
	} else if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	}
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	return tcp_reno_ssthresh(tp);
}

#include "operations.h"
