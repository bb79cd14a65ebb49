/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * H-TCP as Linux has it [Linux tcp_htcp.c]: the increase grows with the time since the last congestion event, the
 * decrease follows the round-trip times.
 *
 *   growth per round  alpha = 2 (1 - beta) f; t ticks since the last congestion event: f = 1 for a second, then with t beyond
 *                     it, in seconds, 1 + 10 t + (t / 2)^2, scaled by minRTT (100 ms: 1; from 1/10 to 2) [htcp_alpha_update]
 *   loss              cwnd * beta: minRTT / maxRTT, from 1/2 to 0.8; 1/2 if the throughput has changed by more than a fifth
 *                     since the last event, at the first event where it hasn't, and if minRTT is 10 ms or less
 *                     [htcp_beta_update]
 *   throughput Bi     segments delivered during a window of them, per second; maxB is its maximum since three round trips
 *                     after a congestion event [measure_achieved_throughput]
 * Alpha and beta are in 128ths; times are in ticks (jiffies).
 */
#include "jiffies.h"

#define SHIFT 7
#define ONE (1u << SHIFT)
#define BETA_MIN (ONE / 2)
#define BETA_MAX 102u
#define MIN_CCOUNT 3
/* A sample may exceed maxRTT by RTT_STEP to raise it; up to a minRTT of MIN_RTT, the window is halved. */
#define RTT_STEP usecs_to_jiffies(20000)
#define MIN_RTT usecs_to_jiffies(10000)

/* State that a congestion event changes, kept for undo_cwnd. */
struct congestion_epoch {
	u32 last_cong;
	u32 maxRTT;
	u32 old_maxB;
};

struct htcp {
	struct congestion_epoch now;
	struct congestion_epoch undo;
	u32 minRTT;
	u32 alpha;
	u32 beta;
	u32 modeswitch;
	u32 pkts_acked;
	u32 packetcount;
	u32 lasttime;
	u32 Bi;
	u32 maxB;
};

OPERATION(init) int init(u64 *ctx)
{
	struct htcp *h = inet_csk_ca(TCP_SOCK(ctx));

	__builtin_memset(h, 0, sizeof *h);
	h->alpha = ONE;
	h->beta = BETA_MIN;
	h->pkts_acked = 1;
	h->now.last_cong = jiffies();
	return 0;
}

INLINE void on_set_state(struct tcp_sock *tp, u32 state)
{
	struct htcp *h = inet_csk_ca(tp);

	if (state == TCP_CA_Open && h->undo.last_cong) {
		h->now.last_cong = jiffies();
		h->undo.last_cong = 0;
	} else if (state >= TCP_CA_CWR) {
		h->undo = h->now;
		h->now.last_cong = jiffies();
	}
}

INLINE void measure_rtt(struct htcp *h, u32 rtt, u32 open)
{
	if (!h->minRTT || rtt < h->minRTT)
		h->minRTT = rtt;
	if (!open)
		return;
	h->now.maxRTT = max(h->now.maxRTT, h->minRTT);
	if (h->now.maxRTT < rtt && rtt <= h->now.maxRTT + RTT_STEP)
		h->now.maxRTT = rtt;
}

INLINE void measure_achieved_throughput(struct htcp *h, u32 now, u32 passed)
{
	u32 rate = passed ? h->packetcount * HZ / passed : 0;

	if (!h->minRTT || (now - h->now.last_cong) / h->minRTT <= MIN_CCOUNT) {
		h->Bi = rate;
		h->maxB = rate;
	} else {
		h->Bi = (3 * h->Bi + rate) / 4;
		h->maxB = max(h->maxB, h->Bi);
	}
	h->packetcount = 0;
	h->lasttime = now;
}

INLINE void on_pkts_acked(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct htcp *h = inet_csk_ca(tp);
	u32 now = jiffies(), in = ca_state(tp), step, passed;
	s32 rtt = sample->rtt_us;

	if (in == TCP_CA_Open)
		h->pkts_acked = sample->pkts_acked;
	if (rtt > 0)
		measure_rtt(h, usecs_to_jiffies(rtt), in == TCP_CA_Open);
	if (in != TCP_CA_Open && in != TCP_CA_Disorder) {
		h->packetcount = 0;
		h->lasttime = now;
		return;
	}
	h->packetcount += sample->pkts_acked;
	step = max(h->alpha >> SHIFT, 1);
	passed = now - h->lasttime;
	if (h->minRTT && passed >= h->minRTT && h->packetcount + step >= tp->snd_cwnd)
		measure_achieved_throughput(h, now, passed);
}

INLINE void alpha_update(struct htcp *h)
{
	u32 passed = jiffies() - h->now.last_cong, f = 1;

	if (passed > HZ) {
		u32 t = passed - HZ;

		f += (10 * t + (t / 2) * (t / 2) / HZ) / HZ;
	}
	if (h->minRTT) {
		/* 100 ms over minRTT, in eighths. */
		u32 ratio = 8 * HZ / (10 * h->minRTT);

		ratio = min(max(ratio, 4), 80);
		f = max(8 * f / ratio, 1);
	}
	h->alpha = 2 * f * (ONE - h->beta);
}

INLINE void beta_update(struct htcp *h)
{
	u32 now = h->maxB, before = h->now.old_maxB;

	h->now.old_maxB = now;
	h->beta = BETA_MIN;
	if (5 * now < 4 * before || 5 * now > 6 * before) {
		h->modeswitch = 0;
	} else if (h->modeswitch && h->minRTT > MIN_RTT && h->now.maxRTT) {
		h->beta = min(max((h->minRTT << SHIFT) / h->now.maxRTT, BETA_MIN), BETA_MAX);
	} else {
		h->modeswitch = 1;
	}
}

INLINE u32 recalc_ssthresh(struct tcp_sock *tp)
{
	struct htcp *h = inet_csk_ca(tp);

	beta_update(h);
	alpha_update(h);
	/* maxRTT decays by 5 % of the distance per event, so that it follows a shorter path. */
	if (h->minRTT && h->now.maxRTT > h->minRTT)
		h->now.maxRTT = h->minRTT + (h->now.maxRTT - h->minRTT) * 95 / 100;
	return max(tp->snd_cwnd * h->beta >> SHIFT, 2);
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	struct tcp_sock *tp = TCP_SOCK(ctx);
	struct htcp *h = inet_csk_ca(tp);
	u32 acked = ctx[2];

	if (!tcp_is_cwnd_limited(tp))
		return 0;
	if (tcp_in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
		return 0;
	}
	if (tp->snd_cwnd_cnt * h->alpha >> SHIFT >= tp->snd_cwnd) {
		if (tp->snd_cwnd < tp->snd_cwnd_clamp)
			tp->snd_cwnd += 1;
		tp->snd_cwnd_cnt = 0;
		alpha_update(h);
	} else {
		tp->snd_cwnd_cnt += h->pkts_acked;
	}
	h->pkts_acked = 1;
	return 0;
}

INLINE void on_undo_cwnd(struct tcp_sock *tp)
{
	struct htcp *h = inet_csk_ca(tp);

	if (h->undo.last_cong) {
		h->now = h->undo;
		h->undo.last_cong = 0;
	}
}

#define SET_STATE on_set_state
#define PKTS_ACKED on_pkts_acked
#define UNDO_CWND on_undo_cwnd
#include "operations.h"
