/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * H-TCP by Linux's rules: the increase grows with the time since the last loss, the decrease follows the round trips.
 *
 *   growth a round    2 (1 - beta) f;  t ticks since the last loss: f = 1 for a second, then with t beyond it, in seconds,
 *                     1 + 10 t + (t / 2)^2, in proportion to base_rtt (100 ms: 1; 1/10 to 2)
 *   loss leaves       beta = base_rtt / longest rtt, 1/2 to 0.8; 1/2 when the rate has changed by more than a fifth since the
 *                     loss before, at the first loss where it hasn't, and where base_rtt is 10 ms or less
 *   rate              segments delivered in a window of them, per second; the highest since three round trips after a loss
 * Alpha and beta are in 128ths; times are in ticks.
 */
#include "ticks.h"

#define SHIFT 7
#define ONE (1u << SHIFT)
#define BETA_LEAST (ONE / 2)
#define BETA_MOST 102u
#define FRESH_ROUNDS 3
/* A round trip may exceed the longest by so much and still count; up to SHORT, the window is halved. */
#define JUMP ticks_of(20000)
#define SHORT ticks_of(10000)

/* What a loss changes, for when it wasn't one. */
struct changed {
	u32 since;
	u32 longest;
	u32 rate_before;
};

struct htcp {
	struct changed is;
	struct changed was;
	u32 base;
	u32 alpha;
	u32 beta;
	u32 steady;
	u32 acked;
	u32 delivered;
	u32 counted_since;
	u32 rate;
	u32 fastest;
};

OPERATION(init) int init(u64 *ctx)
{
	struct htcp *h = OWN(CONNECTION(ctx));

	__builtin_memset(h, 0, sizeof *h);
	h->alpha = ONE;
	h->beta = BETA_LEAST;
	h->acked = 1;
	h->is.since = now_ticks();
	return 0;
}

INLINE void entered(struct tcp_sock *tp, u32 state)
{
	struct htcp *h = OWN(tp);

	if (state == STATE_OPEN && h->was.since) {
		h->is.since = now_ticks();
		h->was.since = 0;
	} else if (state >= STATE_CWR) {
		h->was = h->is;
		h->is.since = now_ticks();
	}
}

INLINE void measure_rtt(struct htcp *h, u32 rtt, u32 open)
{
	if (!h->base || rtt < h->base)
		h->base = rtt;
	if (!open)
		return;
	h->is.longest = max_of(h->is.longest, h->base);
	if (h->is.longest < rtt && rtt <= h->is.longest + JUMP)
		h->is.longest = rtt;
}

INLINE void measure_rate(struct htcp *h, u32 now, u32 passed)
{
	u32 rate = passed ? h->delivered * TICKS_PER_SECOND / passed : 0;

	if (!h->base || (now - h->is.since) / h->base <= FRESH_ROUNDS) {
		h->rate = rate;
		h->fastest = rate;
	} else {
		h->rate = (3 * h->rate + rate) / 4;
		h->fastest = max_of(h->fastest, h->rate);
	}
	h->delivered = 0;
	h->counted_since = now;
}

INLINE void measured(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct htcp *h = OWN(tp);
	u32 now = now_ticks(), in = state(tp), step, passed;
	s32 rtt = sample->rtt_us;

	if (in == STATE_OPEN)
		h->acked = sample->pkts_acked;
	if (rtt > 0)
		measure_rtt(h, ticks_of(rtt), in == STATE_OPEN);
	if (in != STATE_OPEN && in != STATE_DISORDER) {
		h->delivered = 0;
		h->counted_since = now;
		return;
	}
	h->delivered += sample->pkts_acked;
	step = max_of(h->alpha >> SHIFT, 1);
	passed = now - h->counted_since;
	if (h->base && passed >= h->base && h->delivered + step >= tp->snd_cwnd)
		measure_rate(h, now, passed);
}

INLINE void set_alpha(struct htcp *h)
{
	u32 passed = now_ticks() - h->is.since, f = 1;

	if (passed > TICKS_PER_SECOND) {
		u32 t = passed - TICKS_PER_SECOND;

		f += (10 * t + (t / 2) * (t / 2) / TICKS_PER_SECOND) / TICKS_PER_SECOND;
	}
	if (h->base) {
		/* 100 ms over base_rtt, in eighths. */
		u32 ratio = 8 * TICKS_PER_SECOND / (10 * h->base);

		ratio = min_of(max_of(ratio, 4), 80);
		f = max_of(8 * f / ratio, 1);
	}
	h->alpha = 2 * f * (ONE - h->beta);
}

INLINE void set_beta(struct htcp *h)
{
	u32 now = h->fastest, before = h->is.rate_before;

	h->is.rate_before = now;
	h->beta = BETA_LEAST;
	if (5 * now < 4 * before || 5 * now > 6 * before) {
		h->steady = 0;
	} else if (h->steady && h->base > SHORT && h->is.longest) {
		h->beta = min_of(max_of((h->base << SHIFT) / h->is.longest, BETA_LEAST), BETA_MOST);
	} else {
		h->steady = 1;
	}
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	struct htcp *h = OWN(tp);

	set_beta(h);
	set_alpha(h);
	/* So that a path that got shorter is noticed. */
	if (h->base && h->is.longest > h->base)
		h->is.longest = h->base + (h->is.longest - h->base) * 95 / 100;
	return max_of(tp->snd_cwnd * h->beta >> SHIFT, 2);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct htcp *h = OWN(tp);
	u32 acked = ctx[2];

	if (!cwnd_limited(tp))
		return 0;
	if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return 0;
	}
	if (tp->snd_cwnd_cnt * h->alpha >> SHIFT >= tp->snd_cwnd) {
		if (tp->snd_cwnd < tp->snd_cwnd_clamp)
			tp->snd_cwnd += 1;
		tp->snd_cwnd_cnt = 0;
		set_alpha(h);
	} else {
		tp->snd_cwnd_cnt += h->acked;
	}
	h->acked = 1;
	return 0;
}

INLINE void undone(struct tcp_sock *tp)
{
	struct htcp *h = OWN(tp);

	if (h->was.since) {
		h->is = h->was;
		h->was.since = 0;
	}
}

#define ENTERED entered
#define MEASURED measured
#define UNDONE undone
#include "asked.h"
