"""Without series memory does not grow with simulated time."""

from __future__ import annotations

from memory import growth_kib, peak_kib

RUN = """
import dumbbell

scenario = dumbbell.Scenario(
    name="memory",
    duration=sys.argv[1],
    network={
        "bottleneck": {
            "rate": "10 Mbit/s", "delay": "10 ms", "loss": "0.1 %",
            "queue": {"discipline": "red", "limit": "50 packets"},
        },
        "access": {"rate": "100 Mbit/s", "delay": "1 ms"},
    },
    flows=[
        {"name": "sack", "variant": "sack"},
        {"name": "vegas", "variant": "vegas"},
        {"name": "cbr", "transport": "udp",
         "application": {"kind": "cbr", "rate": "2 Mbit/s", "packet": "1000 bytes", "jitter": 0.5}},
    ],
)
results = dumbbell.run(scenario, jobs=1)
assert results.runs[0].flows[0]["delivered_bytes"] > 0
"""


def test_memory_stays_flat_over_simulated_time() -> None:
    # Twenty times as many packets. One number kept for each would show: 380 s are some 500 000 packets, 8 bytes each
    # make 4 MB. Allocators and page sizes account for a few hundred KiB from run to run.
    limit = 3 * 1024
    assert growth_kib(lambda: peak_kib(RUN, "20 s"), lambda: peak_kib(RUN, "400 s"), limit) < limit
