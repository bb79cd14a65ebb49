/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * The operations of tcp_congestion_ops that every variant has; a variant includes this file at its end. It defines
 * recalc_ssthresh(tp), the ssthresh after a loss, and may define
 *
 *   SET_STATE(tp, state)       the connection enters a state (enum tcp_ca_state)
 *   PKTS_ACKED(tp, sample)     an ACK has been measured
 *   UNDO_CWND(tp)              a loss was spurious
 *
 * Some kernels run no BPF program while certain tasks are current. A timer that expires in such a task begins a recovery
 * without calling the program, and uses an undefined value as ssthresh. At the next ACK the program detects a state that was
 * not reported to it, and does then what it should have done.
 */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "congestion.h"

#ifndef SET_STATE
#define SET_STATE(tp, state) ((void)0)
#endif
#ifndef PKTS_ACKED
#define PKTS_ACKED(tp, sample) ((void)0)
#endif
#ifndef UNDO_CWND
#define UNDO_CWND(tp) ((void)0)
#endif

/* The last value and state reported, in the last word of the variant's private state. */
struct reported {
	u32 ssthresh;
	u32 ca_state;
};

#define REPORTED(tp) ((struct reported *)&((struct inet_connection_sock *)(tp))->icsk_ca_priv[12])

INLINE u32 report_ssthresh(struct tcp_sock *tp)
{
	u32 cwnd = recalc_ssthresh(tp);

	REPORTED(tp)->ssthresh = cwnd;
	return cwnd;
}

INLINE void report_state(struct tcp_sock *tp, u32 state)
{
	SET_STATE(tp, state);
	REPORTED(tp)->ca_state = state;
}

INLINE void catch_up(struct tcp_sock *tp, u32 in)
{
	struct reported *a = REPORTED(tp);

	if (in >= TCP_CA_CWR && (a->ca_state < TCP_CA_CWR || tp->snd_ssthresh != a->ssthresh)) {
		u32 cwnd = tp->snd_cwnd;

		tp->snd_cwnd = tp->prior_cwnd;
		tp->snd_ssthresh = report_ssthresh(tp);
		tp->snd_cwnd = cwnd;
	}
	report_state(tp, in);
}

OPERATION(ssthresh) u32 ssthresh(u64 *ctx)
{
	return report_ssthresh(TCP_SOCK(ctx));
}

OPERATION(set_state) int set_state(u64 *ctx)
{
	report_state(TCP_SOCK(ctx), (u8)ctx[1]);
	return 0;
}

OPERATION(pkts_acked) int pkts_acked(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	u32 in = ca_state(tp);

	if (in != REPORTED(tp)->ca_state)
		catch_up(tp, in);
	PKTS_ACKED(tp, (const struct ack_sample *)ctx[1]);
	return 0;
}

OPERATION(undo_cwnd) u32 undo_cwnd(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);

	UNDO_CWND(tp);
	return tcp_reno_undo_cwnd(tp);
}

LICENSE;

#endif
