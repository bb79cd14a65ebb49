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

INLINE void entered(struct tcp_sock *tp, u32 state)
{
	struct rounds *r = OWN(tp);

	r->on = state == STATE_OPEN;
	if (r->on)
		next_round(tp, r);
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	u32 event = ctx[1];

	if (event == EVENT_CWND_RESTART || event == EVENT_TX_START)
		begin(CONNECTION(ctx));
	return 0;
}

INLINE void measured(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct rounds *r = OWN(tp);
	s32 rtt = sample->rtt_us;

	if (rtt < 0)
		return;
	/* One more, so that it is never zero. */
	r->base = min_of(r->base, rtt + 1);
	r->least = min_of(r->least, rtt + 1);
	r->samples += 1;
}

#define ENTERED entered
#define MEASURED measured

#endif
