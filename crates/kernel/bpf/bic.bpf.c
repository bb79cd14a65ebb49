/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * BIC as Linux has it [Linux tcp_bic.c]: a binary search for last_max_cwnd, the window of the last loss.
 *
 *   growth per round   up to 14 segments as Reno; below last_max_cwnd a quarter of the distance, 16 at most (1/5 where the
 *                      quarter is one segment or less); up to 4 segments above last_max_cwnd 1/5, then a third of the
 *                      distance, 16 at most; before the first loss at least 1/20 of the window. These are for ACKs of two
 *                      segments and are corrected by the measured number of segments per ACK [bictcp_update]
 *   loss               cwnd * 819/1024 (up to 14 segments: 1/2); last_max_cwnd = cwnd, or 9/10 of it if cwnd is below the
 *                      last last_max_cwnd (fast convergence) [bictcp_recalc_ssthresh]
 *   timeout            resets last_max_cwnd [bictcp_state]
 */
#include "jiffies.h"

#define LOW_WINDOW 14
#define MAX_INCREMENT 16
#define BICTCP_B 4
#define SMOOTH_PART 20
/* Window after a loss, in 1024ths. */
#define BETA 819
#define BETA_SHIFT 10
/* Segments per ACK, in 16ths. */
#define ACK_RATIO_SHIFT 4
/* Lifetime of cnt, in ticks, unless the window changes. */
#define CNT_LIFETIME (HZ / 32)

struct bic {
	u32 cnt;
	u32 last_max_cwnd;
	u32 last_cwnd;
	u32 last_time;
	u32 delayed_ack;
};

INLINE void reset(struct bic *b)
{
	b->cnt = 0;
	b->last_max_cwnd = 0;
	b->last_cwnd = 0;
	b->last_time = 0;
	b->delayed_ack = 2 << ACK_RATIO_SHIFT;
}

OPERATION(init) int init(u64 *ctx)
{
	reset(inet_csk_ca(TCP_SOCK(ctx)));
	return 0;
}

INLINE void on_set_state(struct tcp_sock *tp, u32 state)
{
	if (state == TCP_CA_Loss)
		reset(inet_csk_ca(tp));
}

INLINE void on_pkts_acked(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct bic *b = inet_csk_ca(tp);

	if (ca_state(tp) == TCP_CA_Open)
		b->delayed_ack += sample->pkts_acked - (b->delayed_ack >> ACK_RATIO_SHIFT);
}

/* Number of segments that must be acknowledged for one more in the window. */
INLINE u32 update(u32 cwnd, u32 last_max_cwnd, u32 delayed_ack)
{
	u32 cnt;

	if (cwnd <= LOW_WINDOW)
		return cwnd;
	if (cwnd < last_max_cwnd) {
		u32 step = (last_max_cwnd - cwnd) / BICTCP_B;

		cnt = step > 1 ? cwnd / min(step, MAX_INCREMENT) : cwnd * SMOOTH_PART / BICTCP_B;
	} else if (cwnd < last_max_cwnd + BICTCP_B) {
		cnt = cwnd * SMOOTH_PART / BICTCP_B;
	} else if (cwnd < last_max_cwnd + MAX_INCREMENT * (BICTCP_B - 1)) {
		cnt = cwnd * (BICTCP_B - 1) / (cwnd - last_max_cwnd);
	} else {
		cnt = cwnd / MAX_INCREMENT;
	}
	if (!last_max_cwnd)
		cnt = min(cnt, SMOOTH_PART);
	return max(delayed_ack ? (cnt << ACK_RATIO_SHIFT) / delayed_ack : cnt, 1);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct bic *b = inet_csk_ca(tp);
	u32 acked = ctx[2], now, cwnd;

	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (tcp_in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return 0;
	}
	now = jiffies();
	cwnd = tp->snd_cwnd;
	if (b->last_cwnd != cwnd || now - b->last_time > CNT_LIFETIME) {
		b->last_cwnd = cwnd;
		b->last_time = now;
		b->cnt = update(cwnd, b->last_max_cwnd, b->delayed_ack);
	}
	tcp_cong_avoid_ai(tp, b->cnt, acked);
	return 0;
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	struct bic *b = inet_csk_ca(tp);
	u32 cwnd = tp->snd_cwnd;

	b->last_max_cwnd = cwnd < b->last_max_cwnd ? cwnd * ((1 << BETA_SHIFT) + BETA) >> (BETA_SHIFT + 1) : cwnd;
	return max(cwnd <= LOW_WINDOW ? cwnd >> 1 : cwnd * BETA >> BETA_SHIFT, 2);
}

#define SET_STATE on_set_state
#define PKTS_ACKED on_pkts_acked
#include "operations.h"
