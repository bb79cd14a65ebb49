/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Vegas by Linux's rules: alpha 2, beta 4, gamma 1; the smallest round trip of a round, not the mean.
 *
 *   once a round, with at least three samples     diff = cwnd * (rtt - base_rtt) / base_rtt
 *   slow start    diff > gamma: cwnd = at most cwnd * base_rtt / rtt + 1, and avoidance
 *   avoidance     diff > beta: one segment less; diff < alpha: one more
 *   with fewer samples, and outside the state "open", it is Reno
 */
#include "rounds.h"

#define ALPHA 2
#define BETA 4
#define GAMMA 1

OPERATION(init) int init(u64 *ctx)
{
	begin(CONNECTION(ctx));
	return 0;
}

/* Below the window, or slow start would come back. */
INLINE void lower_ssthresh(struct tcp_sock *tp)
{
	tp->snd_ssthresh = min_of(tp->snd_ssthresh, max_of(tp->snd_cwnd - 1, 2));
}

INLINE void end_round(struct tcp_sock *tp, struct rounds *r, u32 acked)
{
	u64 cwnd = tp->snd_cwnd, rtt = r->least, base = r->base;
	u32 diff;

	if (!rtt || !base)
		return;
	diff = cwnd * (rtt - base) / base;
	if (diff > GAMMA && in_slow_start(tp)) {
		tp->snd_cwnd = min_of(cwnd, (u32)(cwnd * base / rtt) + 1);
		lower_ssthresh(tp);
	} else if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	} else if (diff > BETA) {
		tp->snd_cwnd = cwnd - 1;
		lower_ssthresh(tp);
	} else if (diff < ALPHA) {
		tp->snd_cwnd = cwnd + 1;
	}
	keep_within(tp);
	/* Of three quarters of the window: what the kernel takes where no recovery is under way. */
	cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = max_of(tp->snd_ssthresh, (u32)(cwnd >> 1) + (u32)(cwnd >> 2));
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct rounds *r = OWN(tp);
	u32 ack = ctx[1], acked = ctx[2];

	if (!r->on) {
		tcp_reno_cong_avoid(tp, ack, acked);
	} else if (after(ack, r->ends)) {
		if (r->samples <= 2)
			tcp_reno_cong_avoid(tp, ack, acked);
		else
			end_round(tp, r, acked);
		next_round(tp, r);
	} else if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	}
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	return tcp_reno_ssthresh(tp);
}

#include "asked.h"
