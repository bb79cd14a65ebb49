/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Veno as Linux has it [Linux tcp_veno.c]: beta 3; basertt persists over losses.
 *
 *   each ACK      diff = cwnd - cwnd * basertt / rtt           segments in the queue, in halves
 *   avoidance     diff < beta: as Reno; else one segment every second round trip [tcp_veno_cong_avoid]
 *   loss          diff < beta: 4/5 of the window; else 1/2 [tcp_veno_ssthresh]
 */
#include "congestion.h"

/* In half segments. */
#define BETA (3 << 1)

struct veno {
	u32 doing_veno_now;
	u32 cntrtt;
	u32 minrtt;
	u32 basertt;
	u32 inc;
	u32 diff;
};

INLINE void veno_enable(struct veno *v)
{
	v->doing_veno_now = 1;
	v->minrtt = INFINITY;
}

INLINE void veno_init(struct veno *v)
{
	v->basertt = INFINITY;
	v->inc = 1;
	veno_enable(v);
}

OPERATION(init) int init(u64 *ctx)
{
	veno_init(inet_csk_ca(TCP_SOCK(ctx)));
	return 0;
}

INLINE void on_set_state(struct tcp_sock *tp, u32 state)
{
	struct veno *v = inet_csk_ca(tp);

	if (state == TCP_CA_Open)
		veno_enable(v);
	else
		v->doing_veno_now = 0;
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	u32 event = ctx[1];

	if (event == CA_EVENT_CWND_RESTART || event == CA_EVENT_TX_START)
		veno_init(inet_csk_ca(TCP_SOCK(ctx)));
	return 0;
}

INLINE void on_pkts_acked(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct veno *v = inet_csk_ca(tp);
	s32 rtt = sample->rtt_us;

	if (rtt < 0)
		return;
	v->basertt = min(v->basertt, rtt + 1);
	v->minrtt = min(v->minrtt, rtt + 1);
	v->cntrtt += 1;
}

INLINE void grow(struct tcp_sock *tp, struct veno *v, u32 acked)
{
	u64 cwnd = tp->snd_cwnd, rtt = v->minrtt;

	if (!rtt)
		return;
	v->diff = (cwnd << 1) - (cwnd * v->basertt << 1) / rtt;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	cwnd = tp->snd_cwnd;
	if (v->diff < BETA) {
		tcp_cong_avoid_ai(tp, cwnd, acked);
	} else if (tp->snd_cwnd_cnt >= cwnd) {
		if (v->inc && cwnd < tp->snd_cwnd_clamp) {
			tp->snd_cwnd = cwnd + 1;
			v->inc = 0;
		} else {
			v->inc = 1;
		}
		tp->snd_cwnd_cnt = 0;
	} else {
		tp->snd_cwnd_cnt += acked;
	}
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct veno *v = inet_csk_ca(tp);
	u32 ack = ctx[1], acked = ctx[2];

	if (!v->doing_veno_now) {
		tcp_reno_cong_avoid(tp, ack, acked);
		return 0;
	}
	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (v->cntrtt <= 2) {
		tcp_reno_cong_avoid(tp, ack, acked);
	} else {
		grow(tp, v, acked);
		clamp_cwnd(tp);
	}
	v->minrtt = INFINITY;
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	struct veno *v = inet_csk_ca(tp);
	u32 cwnd = tp->snd_cwnd;

	return max(v->diff < BETA ? cwnd * 4 / 5 : cwnd >> 1, 2);
}

#define SET_STATE on_set_state
#define PKTS_ACKED on_pkts_acked
#include "operations.h"
