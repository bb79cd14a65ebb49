/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * Types and functions of the kernel that congestion control in BPF uses. Structures hold only the fields that are used:
 * their offsets in the running kernel are found when a program is loaded (CO-RE).
 *
 * A program's section names the operation of tcp_congestion_ops that it implements: struct_ops/NAME. Its arguments are an
 * array of u64; the first is the socket.
 */
#ifndef CONGESTION_H
#define CONGESTION_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;

#define OPERATION(name) __attribute__((section("struct_ops/" #name), used))
#define KFUNC __attribute__((section(".ksyms"))) extern
#define INLINE static inline __attribute__((always_inline))
/* Only programs with a GPL-compatible license may call the kernel's functions. */
#define LICENSE __attribute__((section("license"), used)) static const char gpl[] = "GPL"

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

KFUNC u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
KFUNC void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked);
KFUNC void tcp_reno_cong_avoid(struct tcp_sock *tp, u32 ack, u32 acked);
KFUNC u32 tcp_reno_ssthresh(struct tcp_sock *tp);
KFUNC u32 tcp_reno_undo_cwnd(struct tcp_sock *tp);

enum { TCP_CA_Open = 0, TCP_CA_Disorder = 1, TCP_CA_CWR = 2, TCP_CA_Recovery = 3, TCP_CA_Loss = 4 };
enum { CA_EVENT_TX_START = 0, CA_EVENT_CWND_RESTART = 1, CA_EVENT_COMPLETE_CWR = 2, CA_EVENT_LOSS = 3 };
/* The ACK is a duplicate, or otherwise not the next one in order [Linux tcp.h enum tcp_ca_ack_event_flags]. */
enum { CA_ACK_SLOWPATH = 1 };

#define INFINITY 0x7fffffffu

/* The socket, and the variant's private state in it. */
#define TCP_SOCK(ctx) ((struct tcp_sock *)(ctx)[0])
#define inet_csk_ca(tp) ((void *)((struct inet_connection_sock *)(tp))->icsk_ca_priv)

INLINE u32 min(u32 a, u32 b)
{
	return a < b ? a : b;
}

INLINE u32 max(u32 a, u32 b)
{
	return a > b ? a : b;
}

INLINE int tcp_in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* A bit-field: its offset, size and shifts are those of the running kernel. */
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

INLINE u32 ca_state(const struct tcp_sock *tp)
{
	const struct inet_connection_sock *connection = (const struct inet_connection_sock *)tp;

	return BITS(connection, icsk_ca_state);
}

/* True if the window limits sending; in slow start, if more than half of it was used [Linux tcp.h tcp_is_cwnd_limited]. */
INLINE int tcp_is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BITS(tp, is_cwnd_limited))
		return 1;
	return tcp_in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/* True if sequence number a is after b [Linux tcp.h after]. */
INLINE int after(u32 a, u32 b)
{
	return (s32)(b - a) < 0;
}

/* Keeps the window from 2 to snd_cwnd_clamp segments. */
INLINE void clamp_cwnd(struct tcp_sock *tp)
{
	if (tp->snd_cwnd < 2)
		tp->snd_cwnd = 2;
	else if (tp->snd_cwnd > tp->snd_cwnd_clamp)
		tp->snd_cwnd = tp->snd_cwnd_clamp;
}

#endif
