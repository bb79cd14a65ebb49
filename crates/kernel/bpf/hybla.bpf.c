/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Hybla as Linux has it [Linux tcp_hybla.c]: a flow with a long round-trip time grows as fast, in time, as one of 25 ms.
 *
 *   rho           smallest srtt / 25 ms, at least 1, in eighths (rho_3ls) [hybla_recalc_param]
 *   slow start    2^rho - 1 segments per ACK    } in 128ths, rounded down; if that is 0, one segment per window of ACKs
 *   avoidance     rho^2 / cwnd segments per ACK } [hybla_cong_avoid]
 *   first window  rho segments [hybla_init]; outside of TCP_CA_Open it is Reno
 */
#include "congestion.h"

#define RTT0_US 25000u
#define SHIFT 7
#define ONE (1u << SHIFT)
#define CWND_MAX 65535u
#define RHO_MOST 16u

struct hybla {
	u32 hybla_en;
	u32 rho_3ls;
	u32 minrtt_us;
	/* Fraction of a segment that the window has gained, in 128ths. */
	u32 snd_cwnd_cents;
};

INLINE void recalc_param(struct hybla *h, u32 srtt8)
{
	/* srtt_us is in eighths of a microsecond. */
	h->rho_3ls = max(srtt8 / RTT0_US, 8);
	h->minrtt_us = srtt8;
}

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct hybla *h = inet_csk_ca(tp);

	h->hybla_en = 1;
	h->snd_cwnd_cents = 0;
	recalc_param(h, tp->srtt_us);
	tp->snd_cwnd = h->rho_3ls >> 3;
	return 0;
}

INLINE void on_set_state(struct tcp_sock *tp, u32 state)
{
	struct hybla *h = inet_csk_ca(tp);

	h->hybla_en = state == TCP_CA_Open;
}

/* 2^(n/8), in 128ths. */
static const u8 pow2_eighths[8] = {128, 139, 152, 165, 181, 197, 215, 234};

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct hybla *h = inet_csk_ca(tp);
	u32 ack = ctx[1], acked = ctx[2], cwnd = tp->snd_cwnd, starting = tcp_in_slow_start(tp), step;

	if (tp->srtt_us < h->minrtt_us)
		recalc_param(h, tp->srtt_us);
	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (!h->hybla_en) {
		tcp_reno_cong_avoid(tp, ack, acked);
		return 0;
	}
	if (starting)
		step = ((u32)pow2_eighths[h->rho_3ls & 7] << min(h->rho_3ls >> 3, RHO_MOST)) - ONE;
	else
		step = cwnd ? 2 * h->rho_3ls * h->rho_3ls / cwnd : 0;
	if (step < ONE)
		tp->snd_cwnd_cnt += 1;
	cwnd += step >> SHIFT;
	h->snd_cwnd_cents += step & (ONE - 1);
	if (h->snd_cwnd_cents >= ONE) {
		h->snd_cwnd_cents -= ONE;
		cwnd += 1;
		tp->snd_cwnd_cnt = 0;
	}
	if (!step && tp->snd_cwnd_cnt >= cwnd) {
		cwnd += 1;
		tp->snd_cwnd_cnt = 0;
	}
	if (starting)
		cwnd = min(cwnd, tp->snd_ssthresh);
	tp->snd_cwnd = min(cwnd, min(tp->snd_cwnd_clamp, CWND_MAX));
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	return tcp_reno_ssthresh(tp);
}

#define SET_STATE on_set_state
#include "operations.h"
