/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * HighSpeed TCP as Linux has it [Linux tcp_highspeed.c]: the table of RFC 3649, in whole segments.
 *
 *   growth   the first row whose window isn't below cwnd has index ai; each ACK counts as ai + 1 segments
 *            [hstcp_cong_avoid]
 *   loss     the window shrinks by md/256 of the row of the last growth [hstcp_ssthresh]
 */
#include "congestion.h"

/* The window times 128, the largest md, fits 32 bits. */
#define CWND_CLAMP (0xffffffffu / 128)
#define ROWS (sizeof hstcp_aimd_vals / sizeof *hstcp_aimd_vals)
#define HSTCP_MD_SHIFT 8

/* Row n (from 0) holds up to the window at which the response function of RFC 3649 gives an increase of n + 1 segments
 * a round; `md` is its decrease there, in 256ths, rounded down.
 */
static const struct {
	u32 window;
	u32 md;
} hstcp_aimd_vals[] = {
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

struct hstcp {
	u32 ai;
};

OPERATION(init) int init(u64 *ctx)
{
	struct hstcp *h = inet_csk_ca(TCP_SOCK(ctx));

	h->ai = 0;
	return 0;
}

/* Number of rows, except the last, that are below the window: a binary search. */
INLINE u32 find_ai(u32 cwnd)
{
	u32 row = 0;

	for (u32 step = 64; step; step >>= 1) {
		u32 next = row + step;

		if (next < ROWS && hstcp_aimd_vals[next - 1].window < cwnd)
			row = next;
	}
	return row;
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct hstcp *h = inet_csk_ca(tp);
	u32 acked = ctx[2], cwnd = tp->snd_cwnd;

	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return 0;
	}
	h->ai = find_ai(cwnd);
	if (cwnd >= min(tp->snd_cwnd_clamp, CWND_CLAMP))
		return 0;
	tp->snd_cwnd_cnt += h->ai + 1;
	if (tp->snd_cwnd_cnt >= cwnd) {
		tp->snd_cwnd_cnt -= cwnd;
		tp->snd_cwnd = cwnd + 1;
	}
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	struct hstcp *h = inet_csk_ca(tp);
	u32 cwnd = tp->snd_cwnd, row = h->ai;

	if (row >= ROWS)
		row = ROWS - 1;
	return max(cwnd - (cwnd * hstcp_aimd_vals[row].md >> HSTCP_MD_SHIFT), 2);
}

#include "operations.h"
