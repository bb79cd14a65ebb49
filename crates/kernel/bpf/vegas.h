/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Round-trip times as Vegas and YeAH measure them [Linux tcp_vegas.c]: the minimum of a round (minRTT) and of the
 * connection (baseRTT), while the state is TCP_CA_Open. A variant that includes this file has these operations.
 */
#ifndef VEGAS_H
#define VEGAS_H

#include "congestion.h"

/* The first part of the variant's private state. */
struct vegas {
	u32 beg_snd_nxt;
	u32 doing_vegas_now;
	u32 cntRTT;
	u32 minRTT;
	u32 baseRTT;
};

INLINE void next_round(struct tcp_sock *tp, struct vegas *r)
{
	r->beg_snd_nxt = tp->snd_nxt;
	r->cntRTT = 0;
	r->minRTT = INFINITY;
}

INLINE void vegas_init(struct tcp_sock *tp)
{
	struct vegas *r = inet_csk_ca(tp);

	r->baseRTT = INFINITY;
	r->doing_vegas_now = 1;
	next_round(tp, r);
}

INLINE void on_set_state(struct tcp_sock *tp, u32 state)
{
	struct vegas *r = inet_csk_ca(tp);

	r->doing_vegas_now = state == TCP_CA_Open;
	if (r->doing_vegas_now)
		next_round(tp, r);
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	u32 event = ctx[1];

	if (event == CA_EVENT_CWND_RESTART || event == CA_EVENT_TX_START)
		vegas_init(TCP_SOCK(ctx));
	return 0;
}

INLINE void on_pkts_acked(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct vegas *r = inet_csk_ca(tp);
	s32 rtt = sample->rtt_us;

	if (rtt < 0)
		return;
	/* Plus 1, so that it is never zero. */
	r->baseRTT = min(r->baseRTT, rtt + 1);
	r->minRTT = min(r->minRTT, rtt + 1);
	r->cntRTT += 1;
}

#define SET_STATE on_set_state
#define PKTS_ACKED on_pkts_acked

#endif
