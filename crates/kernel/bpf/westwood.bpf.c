/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Westwood+ by Linux's rules: Reno, but the window after a recovery is what the measured bandwidth fills without a queue.
 *
 *   each round trip, at least 12 ticks     sample = bytes acknowledged / ticks, filtered twice (7/8, 1/8)
 *   end of a recovery                      cwnd = ssthresh = bandwidth * base_rtt
 *   timeout                                ssthresh likewise; base_rtt is looked for anew
 *   during a recovery                      half the window, as Reno
 */
#include "ticks.h"

#define LEAST_TICKS (TICKS_PER_SECOND / 20)
/* A round trip as long as nothing is measured. */
#define UNKNOWN (20 * TICKS_PER_SECOND)

struct westwood {
	u32 once;
	u32 twice;
	u32 since;
	u32 bytes;
	u32 seen;
	/* What duplicate ACKs have been counted for. */
	u32 ahead;
	u32 rtt;
	u32 base;
	u32 renew_base;
	u32 begun;
};

OPERATION(init) int init(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct westwood *w = OWN(tp);

	w->once = 0;
	w->twice = 0;
	w->since = now_ticks();
	w->bytes = 0;
	w->seen = tp->snd_una;
	w->ahead = 0;
	w->rtt = UNKNOWN;
	w->base = UNKNOWN;
	w->renew_base = 1;
	w->begun = 0;
	return 0;
}

INLINE void measured(struct tcp_sock *tp, const struct ack_sample *sample)
{
	struct westwood *w = OWN(tp);
	s32 rtt = sample->rtt_us;

	if (rtt > 0)
		w->rtt = ticks_of(rtt);
}

INLINE void filter(struct westwood *w, u32 sample)
{
	if (!w->once && !w->twice) {
		w->once = sample;
		w->twice = sample;
		return;
	}
	w->once = (7 * w->once + sample) >> 3;
	w->twice = (7 * w->twice + w->once) >> 3;
}

/* Bytes that an ACK out of the ordinary says have arrived: a duplicate counts as a segment, on account of the ACK to come. */
INLINE u32 arrived(struct tcp_sock *tp, struct westwood *w)
{
	u32 mss = tp->mss_cache, bytes = tp->snd_una - w->seen;

	w->seen = tp->snd_una;
	if (!bytes) {
		w->ahead += mss;
		return mss;
	}
	if (bytes <= mss)
		return bytes;
	if (w->ahead >= bytes) {
		w->ahead -= bytes;
		return mss;
	}
	bytes -= w->ahead;
	w->ahead = 0;
	return bytes;
}

OPERATION(in_ack_event) int in_ack_event(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct westwood *w = OWN(tp);
	u32 flags = ctx[1], now = now_ticks(), passed = now - w->since;

	if (!w->begun) {
		w->begun = 1;
		w->seen = tp->snd_una;
	}
	if (w->rtt && passed > max_of(w->rtt, LEAST_TICKS)) {
		filter(w, w->bytes / passed);
		w->bytes = 0;
		w->since = now;
	}
	if (flags & ACK_SLOW) {
		w->bytes += arrived(tp, w);
	} else {
		w->bytes += tp->snd_una - w->seen;
		w->seen = tp->snd_una;
	}
	w->base = w->renew_base ? w->rtt : min_of(w->base, w->rtt);
	w->renew_base = 0;
	return 0;
}

OPERATION(cwnd_event) int cwnd_event(u64 *ctx)
{
	struct tcp_sock *tp = CONNECTION(ctx);
	struct westwood *w = OWN(tp);
	u32 event = ctx[1], mss = tp->mss_cache, fills;

	if (event != EVENT_COMPLETE_CWR && event != EVENT_LOSS)
		return 0;
	fills = mss ? max_of((u64)w->twice * w->base / mss, 2) : 2;
	tp->snd_ssthresh = fills;
	if (event == EVENT_COMPLETE_CWR)
		tp->snd_cwnd = fills;
	else
		w->renew_base = 1;
	return 0;
}

OPERATION(cong_avoid) int cong_avoid(u64 *ctx)
{
	tcp_reno_cong_avoid(CONNECTION(ctx), ctx[1], ctx[2]);
	return 0;
}

INLINE u32 reduced(struct tcp_sock *tp)
{
	return tcp_reno_ssthresh(tp);
}

#define MEASURED measured
#include "asked.h"
