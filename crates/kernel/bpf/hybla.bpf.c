/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Hybla by Linux's rules: a flow with a long round trip grows as fast, in time, as one of 25 ms would.
 *
 *   rho           smallest srtt / 25 ms, at least 1, in eighths
 *   slow start    2^rho - 1 segments for each ACK         } in 128ths, rounded down; with no step at all, one segment for a
 *   avoidance     rho^2 / cwnd segments for each ACK      } window of ACKs
 *   first window  rho segments; outside the state "open" it is Reno
 */
#include "congestion.h"

#define RTT0_US 25000u
#define SHIFT 7
#define ONE (1u << SHIFT)
#define MOST 65535u
#define RHO_MOST 16u

struct hybla {
	u32 on;
	u32 rho8;
	u32 least;
	/* 128ths of a segment that the window has gained. */
	u32 part;
};

INLINE void measure(struct hybla *h, u32 srtt8)
{
	/* The kernel keeps srtt in eighths. */
	h->rho8 = max_of(srtt8 / RTT0_US, 8);
	h->least = srtt8;
}

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct hybla *h = OWN(tp);

	h->on = 1;
	h->part = 0;
	measure(h, tp->srtt_us);
	tp->snd_cwnd = h->rho8 >> 3;
	return 0;
}

INLINE void entered(struct tcp_sock *tp, u32 state)
{
	struct hybla *h = OWN(tp);

	h->on = state == STATE_OPEN;
}

/* 2 to the power of so many eighths, in 128ths. */
static const u8 eighth_powers[8] = {128, 139, 152, 165, 181, 197, 215, 234};

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct hybla *h = OWN(tp);
	u32 ack = ctx[1], acked = ctx[2], cwnd = tp->snd_cwnd, starting = in_slow_start(tp), step;

	if (tp->srtt_us < h->least)
		measure(h, tp->srtt_us);
	if (!cwnd_limited(tp))
		return 0;
	if (!h->on) {
		tcp_reno_cong_avoid(tp, ack, acked);
		return 0;
	}
	if (starting)
		step = ((u32)eighth_powers[h->rho8 & 7] << min_of(h->rho8 >> 3, RHO_MOST)) - ONE;
	else
		step = cwnd ? 2 * h->rho8 * h->rho8 / cwnd : 0;
	if (step < ONE)
		tp->snd_cwnd_cnt += 1;
	cwnd += step >> SHIFT;
	h->part += step & (ONE - 1);
	if (h->part >= ONE) {
		h->part -= ONE;
		cwnd += 1;
		tp->snd_cwnd_cnt = 0;
	}
	if (!step && tp->snd_cwnd_cnt >= cwnd) {
		cwnd += 1;
		tp->snd_cwnd_cnt = 0;
	}
	if (starting)
		cwnd = min_of(cwnd, tp->snd_ssthresh);
	tp->snd_cwnd = min_of(cwnd, min_of(tp->snd_cwnd_clamp, MOST));
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	return tcp_reno_ssthresh(tp);
}

#define ENTERED entered
#include "asked.h"
