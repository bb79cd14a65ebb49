/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Veno by Linux's rules: beta 3; base_rtt is kept over losses.
 *
 *   each ACK      diff = cwnd - cwnd * base_rtt / rtt          segments in the queue, in halves
 *   avoidance     diff < beta: as Reno; else one segment every other round trip
 *   loss          diff < beta: 4/5 of the window; else 1/2
 */
#include "congestion.h"

/* In half segments. */
#define BETA (3 << 1)

struct veno {
	u32 on;
	u32 samples;
	u32 least;
	u32 base;
	u32 grows;
	u32 diff;
};

INLINE void switch_on(struct veno *v)
{
	v->on = 1;
	v->least = INFINITE;
}

INLINE void begin(struct veno *v)
{
	v->base = INFINITE;
	v->grows = 1;
	switch_on(v);
}

OPERATION(init) int init(u64 *ctx)
{
	begin(OWN(CONNECTION(ctx)));
	return 0;
}

INLINE void entered(struct tcp_sock *tp, u32 state)
{
	struct veno *v = OWN(tp);

	if (state == STATE_OPEN)
		switch_on(v);
	else
		v->on = 0;
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	u32 event = ctx[1];

	if (event == EVENT_CWND_RESTART || event == EVENT_TX_START)
		begin(OWN(CONNECTION(ctx)));
	return 0;
}

INLINE void measured(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct veno *v = OWN(tp);
	s32 rtt = sample->rtt_us;

	if (rtt < 0)
		return;
	v->base = min_of(v->base, rtt + 1);
	v->least = min_of(v->least, rtt + 1);
	v->samples += 1;
}

INLINE void grow(struct tcp_sock *tp, struct veno *v, u32 acked)
{
	u64 cwnd = tp->snd_cwnd, rtt = v->least;

	if (!rtt)
		return;
	v->diff = (cwnd << 1) - (cwnd * v->base << 1) / rtt;
	if (in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	cwnd = tp->snd_cwnd;
	if (v->diff < BETA) {
		tcp_cong_avoid_ai(tp, cwnd, acked);
	} else if (tp->snd_cwnd_cnt >= cwnd) {
		if (v->grows && cwnd < tp->snd_cwnd_clamp) {
			tp->snd_cwnd = cwnd + 1;
			v->grows = 0;
		} else {
			v->grows = 1;
		}
		tp->snd_cwnd_cnt = 0;
	} else {
		tp->snd_cwnd_cnt += acked;
	}
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct veno *v = OWN(tp);
	u32 ack = ctx[1], acked = ctx[2];

	if (!v->on) {
		tcp_reno_cong_avoid(tp, ack, acked);
		return 0;
	}
	if (!cwnd_limited(tp))
		return 0;
	if (v->samples <= 2) {
		tcp_reno_cong_avoid(tp, ack, acked);
	} else {
		grow(tp, v, acked);
		keep_within(tp);
	}
	v->least = INFINITE;
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	struct veno *v = OWN(tp);
	u32 cwnd = tp->snd_cwnd;

	return max_of(v->diff < BETA ? cwnd * 4 / 5 : cwnd >> 1, 2);
}

#define ENTERED entered
#define MEASURED measured
#include "asked.h"
