/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * HighSpeed TCP by Linux's rules: the steps of RFC 3649's table, in whole segments.
 *
 *   growth      a row for each window: the first that isn't below it; an ACK counts for as many segments as the row's number
 *   loss takes  what the row of the last growth says
 */
#include "congestion.h"

/* So that a share of the window in 256ths fits 32 bits. */
#define MOST (0xffffffffu / 128)
#define ROWS (sizeof table / sizeof *table)
#define CUT_SHIFT 8

/* Row n (from 0) holds up to the window at which the response function of RFC 3649 gives an increase of n + 1 segments
 * a round; `cut` is its decrease there, in 256ths, rounded down.
 */
static const struct {
	u32 window;
	u32 cut;
} table[] = {
	{38, 128}, {118, 112}, {221, 104}, {347, 98}, {495, 93}, {663, 89}, {851, 86}, {1058, 83},
	{1284, 81}, {1529, 78}, {1793, 76}, {2076, 74}, {2378, 72}, {2699, 71}, {3039, 69}, {3399, 68},
	{3778, 66}, {4177, 65}, {4596, 64}, {5036, 62}, {5497, 61}, {5979, 60}, {6483, 59}, {7009, 58},
	{7558, 57}, {8130, 56}, {8726, 55}, {9346, 54}, {9991, 53}, {10661, 52}, {11358, 52}, {12082, 51},
	{12834, 50}, {13614, 49}, {14424, 48}, {15265, 48}, {16137, 47}, {17042, 46}, {17981, 45},
	{18955, 45}, {19965, 44}, {21013, 43}, {22101, 43}, {23230, 42}, {24402, 41}, {25618, 41},
	{26881, 40}, {28193, 39}, {29557, 39}, {30975, 38}, {32450, 38}, {33986, 37}, {35586, 36},
	{37253, 36}, {38992, 35}, {40808, 35}, {42707, 34}, {44694, 33}, {46776, 33}, {48961, 32},
	{51258, 32}, {53677, 31}, {56230, 30}, {58932, 30}, {61799, 29}, {64851, 28}, {68113, 28},
	{71617, 27}, {75401, 26}, {79517, 26}, {84035, 25}, {89053, 24},
};

struct highspeed {
	u32 row;
};

OPERATION(init) int init(u64 *ctx)
{
	struct highspeed *h = OWN(CONNECTION(ctx));

	h->row = 0;
	return 0;
}

/* How many rows, but the last, are below the window: by halves. */
INLINE u32 row_of(u32 cwnd)
{
	u32 row = 0;

	for (u32 step = 64; step; step >>= 1) {
		u32 next = row + step;

		if (next < ROWS && table[next - 1].window < cwnd)
			row = next;
	}
	return row;
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct highspeed *h = OWN(tp);
	u32 acked = ctx[2], cwnd = tp->snd_cwnd;

	if (!cwnd_limited(tp))
		return 0;
	if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return 0;
	}
	h->row = row_of(cwnd);
	if (cwnd >= min_of(tp->snd_cwnd_clamp, MOST))
		return 0;
	tp->snd_cwnd_cnt += h->row + 1;
	if (tp->snd_cwnd_cnt >= cwnd) {
		tp->snd_cwnd_cnt -= cwnd;
		tp->snd_cwnd = cwnd + 1;
	}
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	struct highspeed *h = OWN(tp);
	u32 cwnd = tp->snd_cwnd, row = h->row;

	if (row >= ROWS)
		row = ROWS - 1;
	return max_of(cwnd - (cwnd * table[row].cut >> CUT_SHIFT), 2);
}

#include "asked.h"
