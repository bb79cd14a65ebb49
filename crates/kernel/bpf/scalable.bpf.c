/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Scalable TCP by Linux's rules: one segment for every hundred acknowledged, but never less than Reno; 1/8 less after a
 * loss.
 */
#include "congestion.h"

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	u32 acked = ctx[2];

	if (!cwnd_limited(tp))
		return 0;
	if (in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return 0;
	}
	tcp_cong_avoid_ai(tp, min_of(tp->snd_cwnd, 100), acked);
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	u32 cwnd = tp->snd_cwnd;

	return max_of(cwnd - (cwnd >> 3), 2);
}

#include "asked.h"
