/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * What the kernel asks a variant and tells it; included at the end of each. The variant has reduced(tp), the window that a
 * loss leaves, and may have
 *
 *   ENTERED(tp, state)     the connection enters a state
 *   MEASURED(tp, sample)   an ACK has been measured
 *   UNDONE(tp)             what was taken for a loss wasn't one
 *
 * There are kernels that run no BPF program while certain tasks are current. A timer that expires in one of these begins a
 * recovery, and takes what lies on the stack for the answer. The next ACK finds a state that nobody told of, and makes up
 * for it.
 */
#ifndef ASKED_H
#define ASKED_H

#include "congestion.h"

#ifndef ENTERED
#define ENTERED(tp, state) ((void)0)
#endif
#ifndef MEASURED
#define MEASURED(tp, sample) ((void)0)
#endif
#ifndef UNDONE
#define UNDONE(tp) ((void)0)
#endif

/* In the last word of what a variant may keep. */
struct asked {
	u32 answer;
	u32 state;
};

#define ASKED(tp) ((struct asked *)&((struct inet_connection_sock *)(tp))->icsk_ca_priv[12])

INLINE u32 answer(struct tcp_sock *tp)
{
	u32 cwnd = reduced(tp);

	ASKED(tp)->answer = cwnd;
	return cwnd;
}

INLINE void enter(struct tcp_sock *tp, u32 state)
{
	ENTERED(tp, state);
	ASKED(tp)->state = state;
}

INLINE void make_up(struct tcp_sock *tp, u32 in)
{
	struct asked *a = ASKED(tp);

	if (in >= STATE_CWR && (a->state < STATE_CWR || tp->snd_ssthresh != a->answer)) {
		u32 cwnd = tp->snd_cwnd;

		tp->snd_cwnd = tp->prior_cwnd;
		tp->snd_ssthresh = answer(tp);
		tp->snd_cwnd = cwnd;
	}
	enter(tp, in);
}

OPERATION(ssthresh) u32 ssthresh(u64 *ctx)
{
	return answer(CONNECTION(ctx));
}

OPERATION(set_state) int set_state(u64 *ctx)
{
	enter(CONNECTION(ctx), (u8)ctx[1]);
	return 0;
}

OPERATION(pkts_acked) int pkts_acked(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	u32 in = state(tp);

	if (in != ASKED(tp)->state)
		make_up(tp, in);
	MEASURED(tp, (const struct ack_sample *)ctx[1]);
	return 0;
}

OPERATION(undo_cwnd) u32 undo_cwnd(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);

	UNDONE(tp);
	return tcp_reno_undo_cwnd(tp);
}

LICENCE;

#endif
