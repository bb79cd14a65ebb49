/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * BIC by Linux's rules: a search for the window of the last loss, w_max, of which a step takes a quarter of the way.
 *
 *   growth a round     up to 14 segments as Reno; below w_max the quarter, 1/5 where that is one segment or none, 16 at most;
 *                      up to 4 segments above w_max 1/5, then a third of the distance, 16 at most;
 *                      before the first loss 1/20 of the window at least
 *                      all as of ACKs that cover two segments, corrected by how many they do cover
 *   loss takes         1/5 (of 14 segments or less 1/2); w_max = window, or 9/10 of it if it is below the last w_max
 *   timeout            forgets w_max
 */
#include "ticks.h"

#define SMALL_WINDOW 14
#define STEP_MOST 16
#define PART 4
#define SLOWEST 20
/* What a loss leaves, in 1024ths. */
#define BETA 819
#define BETA_SHIFT 10
/* Segments per ACK, in 16ths. */
#define RATIO_SHIFT 4
/* A count holds for so long, unless the window changes. */
#define HOLDS (TICKS_PER_SECOND / 32)

struct bic {
	u32 each;
	u32 w_max;
	u32 looked_at;
	u32 looked;
	u32 ratio;
};

INLINE void forget(struct bic *b)
{
	b->each = 0;
	b->w_max = 0;
	b->looked_at = 0;
	b->looked = 0;
	b->ratio = 2 << RATIO_SHIFT;
}

OPERATION(init) int init(u64 *ctx)
{
	forget(OWN(CONNECTION(ctx)));
	return 0;
}

INLINE void entered(struct tcp_sock *tp, u32 state)
{
	if (state == STATE_LOSS)
		forget(OWN(tp));
}

INLINE void measured(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct bic *b = OWN(tp);

	if (state(tp) == STATE_OPEN)
		b->ratio += sample->pkts_acked - (b->ratio >> RATIO_SHIFT);
}

/* Segments acknowledged for one more. */
INLINE u32 count(u32 cwnd, u32 w_max, u32 ratio)
{
	u32 each;

	if (cwnd <= SMALL_WINDOW)
		return cwnd;
	if (cwnd < w_max) {
		u32 step = (w_max - cwnd) / PART;

		each = step > 1 ? cwnd / min_of(step, STEP_MOST) : cwnd * SLOWEST / PART;
	} else if (cwnd < w_max + PART) {
		each = cwnd * SLOWEST / PART;
	} else if (cwnd < w_max + STEP_MOST * (PART - 1)) {
		each = cwnd * (PART - 1) / (cwnd - w_max);
	} else {
		each = cwnd / STEP_MOST;
	}
	if (!w_max)
		each = min_of(each, SLOWEST);
	return max_of(ratio ? (each << RATIO_SHIFT) / ratio : each, 1);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct bic *b = OWN(tp);
	u32 acked = ctx[2], now, cwnd;

	if (!cwnd_limited(tp))
		return 0;
	if (in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return 0;
	}
	now = now_ticks();
	cwnd = tp->snd_cwnd;
	if (b->looked_at != cwnd || now - b->looked > HOLDS) {
		b->looked_at = cwnd;
		b->looked = now;
		b->each = count(cwnd, b->w_max, b->ratio);
	}
	tcp_cong_avoid_ai(tp, b->each, acked);
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	struct bic *b = OWN(tp);
	u32 cwnd = tp->snd_cwnd;

	b->w_max = cwnd < b->w_max ? cwnd * ((1 << BETA_SHIFT) + BETA) >> (BETA_SHIFT + 1) : cwnd;
	return max_of(cwnd <= SMALL_WINDOW ? cwnd >> 1 : cwnd * BETA >> BETA_SHIFT, 2);
}

#define ENTERED entered
#define MEASURED measured
#include "asked.h"
