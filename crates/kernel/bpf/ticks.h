/* SPDX-License-Identifier: (MIT OR Apache-2.0) OR GPL-2.0-only
 *
 * A clock of 250 ticks a second, as the kernels of distributions have: what a variant measures in ticks doesn't depend on
 * the rate of the kernel that runs.
 */
#ifndef TICKS_H
#define TICKS_H

#include "congestion.h"

#define TICKS_PER_SECOND 250u
#define TICK_US (1000000u / TICKS_PER_SECOND)

static u64 (*const clock_ns)(void) = (void *)5;

INLINE u32 now_ticks(void)
{
	return clock_ns() / (TICK_US * 1000ull);
}

/* So many ticks at least. */
INLINE u32 ticks_of(u32 us)
{
	return (us + TICK_US - 1) / TICK_US;
}

#endif
