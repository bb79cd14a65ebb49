/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * What congestion control in BPF needs of the kernel. Structures hold only the fields that are used: where these lie in
 * the kernel that runs is found when a program is loaded.
 *
 * A program's section says which operation of the kernel's tcp_congestion_ops it is: struct_ops/NAME. Its arguments
 * come as an array of words; the first is the connection.
 */
#ifndef CONGESTION_H
#define CONGESTION_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;

#define OPERATION(name) __attribute__((section("struct_ops/" #name), used))
#define KERNEL __attribute__((section(".ksyms"))) extern
#define INLINE static inline __attribute__((always_inline))
/* The kernel lets programs without this licence call none of its functions. */
#define LICENCE __attribute__((section("license"), used)) static const char licence[] = "GPL"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct inet_connection_sock {
	u64 icsk_ca_priv[13];
	u8 icsk_ca_state : 5;
};

struct tcp_sock {
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 snd_cwnd_clamp;
	u32 snd_cwnd_cnt;
	u32 prior_cwnd;
	u32 snd_nxt;
	u32 snd_una;
	u32 max_packets_out;
	u32 srtt_us;
	u32 mss_cache;
	u32 is_cwnd_limited : 1;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};

#pragma clang attribute pop

KERNEL u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
KERNEL void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked);
KERNEL void tcp_reno_cong_avoid(struct tcp_sock *tp, u32 ack, u32 acked);
KERNEL u32 tcp_reno_ssthresh(struct tcp_sock *tp);
KERNEL u32 tcp_reno_undo_cwnd(struct tcp_sock *tp);

enum { STATE_OPEN = 0, STATE_DISORDER = 1, STATE_CWR = 2, STATE_RECOVERY = 3, STATE_LOSS = 4 };
enum { EVENT_TX_START = 0, EVENT_CWND_RESTART = 1, EVENT_COMPLETE_CWR = 2, EVENT_LOSS = 3 };
/* An ACK that isn't merely the next one in order. */
enum { ACK_SLOW = 1 };

#define INFINITE 0x7fffffffu

/* The connection, and what a variant keeps of it. */
#define CONNECTION(ctx) ((struct tcp_sock *)(ctx)[0])
#define OWN(tp) ((void *)((struct inet_connection_sock *)(tp))->icsk_ca_priv)

INLINE u32 min_of(u32 a, u32 b)
{
	return a < b ? a : b;
}

INLINE u32 max_of(u32 a, u32 b)
{
	return a > b ? a : b;
}

INLINE int in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* The bits of a field that doesn't fill its byte: byte, width and shifts are the running kernel's. */
#define BITS(tp, field)                                                                         \
	({                                                                                      \
		const u8 *p = (const u8 *)(tp) + __builtin_preserve_field_info((tp)->field, 0); \
		u64 value = 0;                                                                  \
		switch (__builtin_preserve_field_info((tp)->field, 1)) {                        \
		case 1: value = *p; break;                                                      \
		case 2: value = *(const u16 *)p; break;                                         \
		case 4: value = *(const u32 *)p; break;                                         \
		case 8: value = *(const u64 *)p; break;                                         \
		}                                                                               \
		value <<= __builtin_preserve_field_info((tp)->field, 4);                        \
		value >> __builtin_preserve_field_info((tp)->field, 5);                         \
	})

INLINE u32 state(const struct tcp_sock *tp)
{
	const struct inet_connection_sock *connection = (const struct inet_connection_sock *)tp;

	return BITS(connection, icsk_ca_state);
}

/* Whether the window held sending back: in slow start, whether more than half of it was used. */
INLINE int cwnd_limited(const struct tcp_sock *tp)
{
	if (BITS(tp, is_cwnd_limited))
		return 1;
	return in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* Whether sequence number a comes after b. */
INLINE int after(u32 a, u32 b)
{
	return (s32)(b - a) < 0;
}

/* The window's limits. */
INLINE void keep_within(struct tcp_sock *tp)
{
	if (tp->snd_cwnd < 2)
		tp->snd_cwnd = 2;
	else if (tp->snd_cwnd > tp->snd_cwnd_clamp)
		tp->snd_cwnd = tp->snd_cwnd_clamp;
}

#endif
