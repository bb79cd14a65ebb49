/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * YeAH by Linux's rules: Scalable TCP on a short queue, Reno on a long one, with a decrease before the loss.
 *
 *   once a round, with at least three samples     queue = cwnd * (rtt - base_rtt) / rtt
 *   queue > 80, or rtt - base_rtt > base_rtt / 8  slow: w_reno + 1, at first cwnd / 2; with more than 80 in the queue and
 *                                                 cwnd > w_reno the window gives up what is in the queue, half at most
 *   else                                          fast: after more than 50 such rounds w_reno is forgotten
 *   loss    after less than 16 slow rounds: queue, at least 1/8 and at most 1/2 of the window; else 1/2
 */
#include "rounds.h"

#define QUEUE 80
#define DELAY_PARTS 8
#define ZETA 50
#define RHO 16
#define NO_RENO 2
#define MANY 0xffffffu

struct yeah {
	struct rounds rounds;
	u32 queue;
	u32 slow;
	u32 fast;
	u32 w_reno;
};

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct yeah *y = OWN(tp);

	begin(tp);
	y->queue = 0;
	y->slow = 0;
	y->fast = 0;
	y->w_reno = NO_RENO;
	return 0;
}

INLINE void make_room(struct tcp_sock *tp, struct yeah *y)
{
	u32 cwnd = tp->snd_cwnd;

	cwnd = max_of(cwnd - min_of(y->queue, cwnd >> 1), y->w_reno);
	tp->snd_cwnd = cwnd;
	tp->snd_ssthresh = cwnd;
}

INLINE void end_round(struct tcp_sock *tp, struct yeah *y)
{
	u64 cwnd = tp->snd_cwnd, rtt = y->rounds.least, base = y->rounds.base;

	if (!rtt)
		return;
	y->queue = cwnd * (rtt - base) / rtt;
	if (y->queue <= QUEUE && rtt - base <= base / DELAY_PARTS) {
		y->slow = 0;
		if (++y->fast > ZETA) {
			y->fast = 0;
			y->w_reno = NO_RENO;
		}
		return;
	}
	if (y->queue > QUEUE && cwnd > y->w_reno)
		make_room(tp, y);
	y->w_reno = y->w_reno > NO_RENO ? y->w_reno + 1 : max_of(tp->snd_cwnd >> 1, NO_RENO);
	y->slow = min_of(y->slow + 1, MANY);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct yeah *y = OWN(tp);
	u32 ack = ctx[1], acked = ctx[2];

	if (!cwnd_limited(tp))
		return 0;
	if (in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, y->slow ? tp->snd_cwnd : min_of(tp->snd_cwnd, 100), acked);
	if (after(ack, y->rounds.ends)) {
		if (y->rounds.samples > 2)
			end_round(tp, y);
		next_round(tp, &y->rounds);
	}
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	struct yeah *y = OWN(tp);
	u32 cwnd = tp->snd_cwnd, half = max_of(cwnd >> 1, 2), lost = half;

	if (y->slow < RHO)
		lost = max_of(min_of(y->queue, half), cwnd >> 3);
	y->fast = 0;
	y->w_reno = max_of(y->w_reno >> 1, NO_RENO);
	return max_of(cwnd > lost ? cwnd - lost : 0, 2);
}

#include "asked.h"
