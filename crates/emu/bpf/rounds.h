/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Round trips as Vegas measures them: the smallest of a round and of the connection, while the state is "open". A variant
 * that includes this has these operations by it.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "congestion.h"

/* The first part of what a variant keeps. */
struct rounds {
	u32 ends;
	u32 on;
	u32 samples;
	u32 least;
	u32 base;
};

INLINE void next_round(struct tcp_sock *tp, struct rounds *r)
{
	r->ends = tp->snd_nxt;
	r->samples = 0;
	r->least = INFINITE;
}

INLINE void begin(struct tcp_sock *tp)
{
	struct rounds *r = OWN(tp);

	r->base = INFINITE;
	r->on = 1;
	next_round(tp, r);
}

OPERATION(set_state) int set_state(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct rounds *r = OWN(tp);

	r->on = (u8)ctx[1] == STATE_OPEN;
	if (r->on)
		next_round(tp, r);
	return 0;
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	u32 event = ctx[1];

	if (event == EVENT_CWND_RESTART || event == EVENT_TX_START)
		begin(CONNECTION(ctx));
	return 0;
}

OPERATION(pkts_acked) int pkts_acked(u64 *ctx)
{
	struct rounds *r = OWN(CONNECTION(ctx));
	const struct ack_sample *sample = (const struct ack_sample *)ctx[1];
	s32 rtt = sample->rtt_us;

	if (rtt < 0)
		return 0;
	/* One more, so that it is never zero. */
	r->base = min_of(r->base, rtt + 1);
	r->least = min_of(r->least, rtt + 1);
	r->samples += 1;
	return 0;
}

#endif
