/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Illinois by Linux's rules: the queueing delay decides how fast the window grows and how much a loss takes.
 *
 *   da = mean round trip of the round - base_rtt,  dm = largest - base_rtt
 *   growth a round   10 segments while da <= dm / 100 (once above, only after five such rounds), falling to 3/10
 *   loss takes       1/8 while da <= dm / 10, 1/2 from da >= 8/10 dm on, linear between
 *   below 15 segments, and after a timeout, it is Reno
 */
#include "congestion.h"

/* Growth in 128ths of a segment, cuts in 64ths of the window. */
#define ALPHA_SHIFT 7
#define ALPHA_MIN 38u
#define ALPHA_MAX (10u << ALPHA_SHIFT)
#define ALPHA_RENO (1u << ALPHA_SHIFT)
#define BETA_SHIFT 6
#define BETA_MIN 8u
#define BETA_MAX 32u
/* So that products fit 32 bits. */
#define LONGEST (0xffffffffu / ALPHA_MAX)
#define SMALL_WINDOW 15
#define PATIENCE 5

struct illinois {
	u64 sum;
	u32 round_ends;
	u32 samples;
	u32 base;
	u32 longest;
	u32 acked;
	u32 alpha;
	u32 beta;
	u32 low_rounds;
	u32 was_above;
};

INLINE void new_round(struct tcp_sock *tp, struct illinois *v)
{
	v->round_ends = tp->snd_nxt;
	v->samples = 0;
	v->sum = 0;
}

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct illinois *v = OWN(tp);

	v->alpha = ALPHA_MAX;
	v->beta = BETA_MAX;
	v->base = INFINITE;
	v->longest = 0;
	v->acked = 0;
	v->low_rounds = 0;
	v->was_above = 0;
	new_round(tp, v);
	return 0;
}

INLINE void entered(struct tcp_sock *tp, u32 state)
{
	struct illinois *v = OWN(tp);

	if (state == STATE_LOSS) {
		v->alpha = ALPHA_RENO;
		v->beta = BETA_MAX;
		v->low_rounds = 0;
		v->was_above = 0;
		new_round(tp, v);
	}
}

INLINE void measured(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct illinois *v = OWN(tp);
	s32 rtt = sample->rtt_us;

	v->acked = sample->pkts_acked;
	if (rtt < 0)
		return;
	rtt = min_of(rtt, LONGEST);
	v->base = min_of(v->base, rtt);
	v->longest = max_of(v->longest, rtt);
	v->samples += 1;
	v->sum += rtt;
}

INLINE u32 growth(struct illinois *v, u32 da, u32 dm)
{
	u32 low = dm / 100;

	if (da <= low) {
		if (v->was_above && ++v->low_rounds < PATIENCE)
			return v->alpha;
		v->low_rounds = 0;
		v->was_above = 0;
		return ALPHA_MAX;
	}
	v->was_above = 1;
	dm -= low;
	da -= low;
	return dm * ALPHA_MAX / (dm + da * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN);
}

INLINE u32 cut(u32 da, u32 dm)
{
	u32 low = dm / 10, high = 8 * dm / 10;

	if (da <= low)
		return BETA_MIN;
	if (da >= high || high <= low)
		return BETA_MAX;
	return (BETA_MIN * high - BETA_MAX * low + (BETA_MAX - BETA_MIN) * da) / (high - low);
}

INLINE void end_round(struct tcp_sock *tp, struct illinois *v)
{
	if (tp->snd_cwnd < SMALL_WINDOW) {
		v->alpha = ALPHA_RENO;
		v->beta = BETA_MAX;
	} else if (v->samples > 0) {
		u32 dm = v->longest - v->base, da = (u32)(v->sum / v->samples) - v->base;

		v->alpha = growth(v, da, dm);
		v->beta = cut(da, dm);
	}
	new_round(tp, v);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct illinois *v = OWN(tp);
	u32 ack = ctx[1], acked = ctx[2], cwnd, delta;

	if (after(ack, v->round_ends))
		end_round(tp, v);
	if (!cwnd_limited(tp))
		return 0;
	if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return 0;
	}
	tp->snd_cwnd_cnt += v->acked;
	v->acked = 1;
	cwnd = tp->snd_cwnd;
	delta = tp->snd_cwnd_cnt * v->alpha >> ALPHA_SHIFT;
	if (delta >= cwnd && cwnd) {
		tp->snd_cwnd = min_of(cwnd + delta / cwnd, tp->snd_cwnd_clamp);
		tp->snd_cwnd_cnt = 0;
	}
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	struct illinois *v = OWN(tp);
	u32 cwnd = tp->snd_cwnd;

	return max_of(cwnd - (cwnd * v->beta >> BETA_SHIFT), 2);
}

#define ENTERED entered
#define MEASURED measured
#include "asked.h"
