/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Scalable TCP as Linux has it [Linux tcp_scalable.c]: one segment for every hundred acknowledged, but never less than
 * Reno [tcp_scalable_cong_avoid]; 1/8 less after a loss [tcp_scalable_ssthresh].
 */
#include "congestion.h"

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	u32 acked = ctx[2];

	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return 0;
	}
	tcp_cong_avoid_ai(tp, min(tp->snd_cwnd, 100), acked);
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	u32 cwnd = tp->snd_cwnd;

	return max(cwnd - (cwnd >> 3), 2);
}

#include "operations.h"
