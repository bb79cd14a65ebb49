/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Illinois as Linux has it [Linux tcp_illinois.c]: the queueing delay decides the growth of the window and its decrease.
 *
 *   da = mean RTT of the round - base_rtt,  dm = max_rtt - base_rtt
 *   alpha (growth per round)  10 segments while da <= dm / 100 (once above, only after five such rounds), falling to 3/10
 *   beta (loss)               1/8 while da <= dm / 10, 1/2 from da >= 8/10 dm on, linear between
 *   below 15 segments, and after a timeout, it is Reno [update_params, tcp_illinois_state]
 */
#include "congestion.h"

/* alpha is in 128ths of a segment, beta in 64ths of the window. */
#define ALPHA_SHIFT 7
#define ALPHA_MIN 38u
#define ALPHA_MAX (10u << ALPHA_SHIFT)
#define ALPHA_BASE (1u << ALPHA_SHIFT)
#define BETA_SHIFT 6
#define BETA_MIN 8u
#define BETA_MAX 32u
/* A larger RTT times ALPHA_MAX would not fit 32 bits. */
#define RTT_MAX (0xffffffffu / ALPHA_MAX)
#define WIN_THRESH 15
#define THETA 5

struct illinois {
	u64 sum_rtt;
	u32 end_seq;
	u32 cnt_rtt;
	u32 base_rtt;
	u32 max_rtt;
	u32 acked;
	u32 alpha;
	u32 beta;
	u32 rtt_low;
	u32 rtt_above;
};

INLINE void rtt_reset(struct tcp_sock *tp, struct illinois *v)
{
	v->end_seq = tp->snd_nxt;
	v->cnt_rtt = 0;
	v->sum_rtt = 0;
}

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct illinois *v = inet_csk_ca(tp);

	v->alpha = ALPHA_MAX;
	v->beta = BETA_MAX;
	v->base_rtt = INFINITY;
	v->max_rtt = 0;
	v->acked = 0;
	v->rtt_low = 0;
	v->rtt_above = 0;
	rtt_reset(tp, v);
	return 0;
}

INLINE void on_set_state(struct tcp_sock *tp, u32 state)
{
	struct illinois *v = inet_csk_ca(tp);

	if (state == TCP_CA_Loss) {
		v->alpha = ALPHA_BASE;
		v->beta = BETA_MAX;
		v->rtt_low = 0;
		v->rtt_above = 0;
		rtt_reset(tp, v);
	}
}

INLINE void on_pkts_acked(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct illinois *v = inet_csk_ca(tp);
	s32 rtt = sample->rtt_us;

	v->acked = sample->pkts_acked;
	if (rtt < 0)
		return;
	rtt = min(rtt, RTT_MAX);
	v->base_rtt = min(v->base_rtt, rtt);
	v->max_rtt = max(v->max_rtt, rtt);
	v->cnt_rtt += 1;
	v->sum_rtt += rtt;
}

INLINE u32 alpha(struct illinois *v, u32 da, u32 dm)
{
	u32 low = dm / 100;

	if (da <= low) {
		if (v->rtt_above && ++v->rtt_low < THETA)
			return v->alpha;
		v->rtt_low = 0;
		v->rtt_above = 0;
		return ALPHA_MAX;
	}
	v->rtt_above = 1;
	dm -= low;
	da -= low;
	return dm * ALPHA_MAX / (dm + da * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN);
}

INLINE u32 beta(u32 da, u32 dm)
{
	u32 low = dm / 10, high = 8 * dm / 10;

	if (da <= low)
		return BETA_MIN;
	if (da >= high || high <= low)
		return BETA_MAX;
	return (BETA_MIN * high - BETA_MAX * low + (BETA_MAX - BETA_MIN) * da) / (high - low);
}

INLINE void update_params(struct tcp_sock *tp, struct illinois *v)
{
	if (tp->snd_cwnd < WIN_THRESH) {
		v->alpha = ALPHA_BASE;
		v->beta = BETA_MAX;
	} else if (v->cnt_rtt > 0) {
		u32 dm = v->max_rtt - v->base_rtt, da = (u32)(v->sum_rtt / v->cnt_rtt) - v->base_rtt;

		v->alpha = alpha(v, da, dm);
		v->beta = beta(da, dm);
	}
	rtt_reset(tp, v);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct illinois *v = inet_csk_ca(tp);
	u32 ack = ctx[1], acked = ctx[2], cwnd, delta;

	if (after(ack, v->end_seq))
		update_params(tp, v);
	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return 0;
	}
	tp->snd_cwnd_cnt += v->acked;
	v->acked = 1;
	cwnd = tp->snd_cwnd;
	delta = tp->snd_cwnd_cnt * v->alpha >> ALPHA_SHIFT;
	if (delta >= cwnd && cwnd) {
		tp->snd_cwnd = min(cwnd + delta / cwnd, tp->snd_cwnd_clamp);
		tp->snd_cwnd_cnt = 0;
	}
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	struct illinois *v = inet_csk_ca(tp);
	u32 cwnd = tp->snd_cwnd;

	return max(cwnd - (cwnd * v->beta >> BETA_SHIFT), 2);
}

#define SET_STATE on_set_state
#define PKTS_ACKED on_pkts_acked
#include "operations.h"
