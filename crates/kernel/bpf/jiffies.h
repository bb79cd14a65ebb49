/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * A clock of 250 ticks per second (HZ = 250), as the kernels of distributions have: variants that measure in jiffies
 * don't depend on the HZ of the running kernel.
 */
#ifndef JIFFIES_H
#define JIFFIES_H

#include "congestion.h"

#define HZ 250u
#define USEC_PER_JIFFY (1000000u / HZ)

/* The helper BPF_FUNC_ktime_get_ns [Linux include/uapi/linux/bpf.h]. */
static u64 (*const clock_ns)(void) = (void *)5;

INLINE u32 jiffies(void)
{
	return clock_ns() / (USEC_PER_JIFFY * 1000ull);
}

/* Rounds up [Linux time.c usecs_to_jiffies]. */
INLINE u32 usecs_to_jiffies(u32 us)
{
	return (us + USEC_PER_JIFFY - 1) / USEC_PER_JIFFY;
}

#endif
