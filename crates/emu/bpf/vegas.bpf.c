/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Vegas by Linux's rules: alpha 2, beta 4, gamma 1; the smallest round trip of a round, not the mean.
 *
 *   once a round, with at least three samples     diff = cwnd * (rtt - base_rtt) / base_rtt
 *   slow start    diff > gamma: cwnd = at most cwnd * base_rtt / rtt + 1, and avoidance
 *   avoidance     diff > beta: one segment less; diff < alpha: one more
 *   with fewer samples, and outside the state "open", it is Reno
 */
#include "congestion.h"

#define ALPHA 2
#define BETA 4
#define GAMMA 1

struct vegas {
	u32 round_ends;
	u32 on;
	u32 samples;
	u32 least;
	u32 base;
};

INLINE void switch_on(struct tcp_sock *tp, struct vegas *v)
{
	v->on = 1;
	v->round_ends = tp->snd_nxt;
	v->samples = 0;
	v->least = INFINITE;
}

INLINE void begin(struct tcp_sock *tp)
{
	struct vegas *v = OWN(tp);

	v->base = INFINITE;
	switch_on(tp, v);
}

OPERATION(init) int init(u64 *ctx)
{
	begin(CONNECTION(ctx));
	return 0;
}

OPERATION(set_state) int set_state(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct vegas *v = OWN(tp);

	if ((u8)ctx[1] == STATE_OPEN)
		switch_on(tp, v);
	else
		v->on = 0;
	return 0;
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	u32 event = ctx[1];

	if (event == EVENT_CWND_RESTART || event == EVENT_TX_START)
		begin(CONNECTION(ctx));
	return 0;
}

OPERATION(pkts_acked) int pkts_acked(u64 *ctx)
{
	struct vegas *v = OWN(CONNECTION(ctx));
	const struct ack_sample *sample = (const struct ack_sample *)ctx[1];
	s32 rtt = sample->rtt_us;

	if (rtt < 0)
		return 0;
	/* One more, so that it is never zero. */
	v->base = min_of(v->base, rtt + 1);
	v->least = min_of(v->least, rtt + 1);
	v->samples += 1;
	return 0;
}

/* Below the window, or slow start would come back. */
INLINE void lower_ssthresh(struct tcp_sock *tp)
{
	tp->snd_ssthresh = min_of(tp->snd_ssthresh, max_of(tp->snd_cwnd - 1, 2));
}

INLINE void end_round(struct tcp_sock *tp, struct vegas *v, u32 acked)
{
	u64 cwnd = tp->snd_cwnd, rtt = v->least, base = v->base;
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
	struct vegas *v = OWN(tp);
	u32 ack = ctx[1], acked = ctx[2];

	if (!v->on) {
		tcp_reno_cong_avoid(tp, ack, acked);
	} else if (after(ack, v->round_ends)) {
		v->round_ends = tp->snd_nxt;
		if (v->samples <= 2)
			tcp_reno_cong_avoid(tp, ack, acked);
		else
			end_round(tp, v, acked);
		v->samples = 0;
		v->least = INFINITE;
	} else if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	}
	return 0;
}

OPERATION(ssthresh) u32 ssthresh(u64 *ctx)
{
	return tcp_reno_ssthresh(CONNECTION(ctx));
}

OPERATION(undo_cwnd) u32 undo_cwnd(u64 *ctx)
{
	return tcp_reno_undo_cwnd(CONNECTION(ctx));
}

LICENCE;
