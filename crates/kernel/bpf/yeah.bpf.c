/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * YeAH as Linux has it [Linux tcp_yeah.c]: Scalable TCP while the queue is short, Reno while it is long, with a decrease
 * before the loss (precautionary decongestion).
 *
 *   once per round, with at least three samples   queue = cwnd * (rtt - baseRTT) / rtt
 *   queue > 80, or rtt - baseRTT > baseRTT / 8    slow mode: reno_count + 1, at first cwnd / 2; if the queue is above 80 and
 *                                                 cwnd > reno_count, the window shrinks by the queue, by half at most
 *   else                                          fast mode: after more than 50 such rounds reno_count is reset
 *   loss    after less than 16 slow rounds: minus the queue, from 1/8 to 1/2 of the window; else 1/2 [tcp_yeah_ssthresh]
 */
#include "vegas.h"

#define TCP_YEAH_ALPHA 80
#define TCP_YEAH_PHY 8
#define TCP_YEAH_ZETA 50
#define TCP_YEAH_RHO 16
#define MIN_RENO_COUNT 2
#define DOING_RENO_MAX 0xffffffu

struct yeah {
	struct vegas vegas;
	u32 lastQ;
	u32 doing_reno_now;
	u32 fast_count;
	u32 reno_count;
};

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct yeah *y = inet_csk_ca(tp);

	vegas_init(tp);
	y->lastQ = 0;
	y->doing_reno_now = 0;
	y->fast_count = 0;
	y->reno_count = MIN_RENO_COUNT;
	return 0;
}

INLINE void precautionary_decongestion(struct tcp_sock *tp, struct yeah *y)
{
	u32 cwnd = tp->snd_cwnd;

	cwnd = max(cwnd - min(y->lastQ, cwnd >> 1), y->reno_count);
	tp->snd_cwnd = cwnd;
	tp->snd_ssthresh = cwnd;
}

INLINE void end_round(struct tcp_sock *tp, struct yeah *y)
{
	u64 cwnd = tp->snd_cwnd, rtt = y->vegas.minRTT, base = y->vegas.baseRTT;

	if (!rtt)
		return;
	y->lastQ = cwnd * (rtt - base) / rtt;
	if (y->lastQ <= TCP_YEAH_ALPHA && rtt - base <= base / TCP_YEAH_PHY) {
		y->doing_reno_now = 0;
		if (++y->fast_count > TCP_YEAH_ZETA) {
			y->fast_count = 0;
			y->reno_count = MIN_RENO_COUNT;
		}
		return;
	}
	if (y->lastQ > TCP_YEAH_ALPHA && cwnd > y->reno_count)
		precautionary_decongestion(tp, y);
	y->reno_count = y->reno_count > MIN_RENO_COUNT ? y->reno_count + 1 : max(tp->snd_cwnd >> 1, MIN_RENO_COUNT);
	y->doing_reno_now = min(y->doing_reno_now + 1, DOING_RENO_MAX);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct yeah *y = inet_csk_ca(tp);
	u32 ack = ctx[1], acked = ctx[2];

	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (tcp_in_slow_start(tp))
		acked = tcp_slow_start(tp, acked);
	if (acked)
		tcp_cong_avoid_ai(tp, y->doing_reno_now ? tp->snd_cwnd : min(tp->snd_cwnd, 100), acked);
	if (after(ack, y->vegas.beg_snd_nxt)) {
		if (y->vegas.cntRTT > 2)
			end_round(tp, y);
		next_round(tp, &y->vegas);
	}
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	struct yeah *y = inet_csk_ca(tp);
	u32 cwnd = tp->snd_cwnd, half = max(cwnd >> 1, 2), lost = half;

	if (y->doing_reno_now < TCP_YEAH_RHO)
		lost = max(min(y->lastQ, half), cwnd >> 3);
	y->fast_count = 0;
	y->reno_count = max(y->reno_count >> 1, MIN_RENO_COUNT);
	return max(cwnd > lost ? cwnd - lost : 0, 2);
}

#include "operations.h"
