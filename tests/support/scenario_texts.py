"""Scenario files: a small one, two flows with swept variants, and one with every key."""

__all__ = ["BASE", "FULL", "PAIR"]

BASE = """
name = "base"
duration = "2 s"
repetitions = 2
seed = 7
start_jitter = "100 ms"

[network]
topology = "dumbbell"
[network.bottleneck]
rate = "2 Mbit/s"
delay = "10 ms"
queue = { discipline = "droptail", limit = "10 packets" }
[network.access]
rate = "10 Mbit/s"
delay = "5 ms"

[[flows]]
name = "tcp"
variant = "newreno"
stack = "ns2"

[[flows]]
name = "cbr"
transport = "udp"
at = "routers"
application = { kind = "cbr", rate = "1 Mbit/s", packet = "1000 bytes" }
"""

PAIR = """
name = "pair"
description = "what a pair does"
duration = "4 s"
repetitions = 5
start_jitter = "200 ms"
[network]
topology = "dumbbell"
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", queue = { discipline = "droptail", limit = "15 packets" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }
[[flows]]
name = "a"
variant = "newreno"
[[flows]]
name = "b"
variant = "newreno"
start = "1 s"
[trace]
series = ["flows", "queues", "drops"]
[sweep]
"flows.a.variant" = ["newreno", "vegas"]
"flows.b.variant" = ["newreno", "vegas"]
"""

FULL = """
name = "full"
description = "everything at once"
duration = "10 s"
measure_from = "1 s"

[network]
topology = "parking-lot"
access = { rate = "10 Mbit/s", delay = "1 ms", overhead = "14 bytes" }

[[network.bottlenecks]]
rate = "1 Mbit/s"
delay = "10 ms"
queue = { discipline = "red", limit = "20 packets" }

[[network.bottlenecks]]
rate = "2 Mbit/s"
delay = "5 ms"
queue = { discipline = "drr", by = "class" }
loss = "0.1 %"
jitter = "1 ms"
reverse = { loss = "1 %" }

[[network.bottlenecks]]
rate = { steps = [{ at = "0 s", rate = "2 Mbit/s" }, { at = "3 s", rate = "1 Mbit/s", ramp = true }] }
delay = { steps = [{ at = "0 s", delay = "5 ms" }, { at = "1 s", delay = "9 ms" }], period = "2 s", reorders = true }
outages = [{ at = "2 s", for = "100 ms", packets = "drop" }, { at = "5 s", for = "10 ms", every = "1 s" }]
loss = { model = "gilbert", mean = "1 %", burst = "3 packets" }
corruption = { bit_error_rate = 1e-7 }
jitter = { distribution = "normal", mean = "1 ms", sd = "1 ms" }
reordering = { share = "1 %", delay = "5 ms", extent = "3 packets" }
duplication = { share = "1 %", delay = "2 ms" }
policer = { rate = "1 Mbit/s", burst = "30 kB", exceed = "mark" }

[[flows]]
name = "long"
variant = { name = "vegas", alpha = 2, beta = 4 }
stack = { preset = "ns2", window = "1000 packets" }

[[flows]]
name = "short"
variant = "reno"
enter = "r2"
class = 3
access = { delay = "20 ms" }
application = { kind = "transfer", size = "100 kB", repeat = 3, every = "1 s" }

[[flows]]
name = "probe"
application = { kind = "ping", interval = "100 ms" }

[trace]
series = true
interval = "10 ms"

[sweep]
"flows.long.variant.alpha" = [1, 2]
"flows.short.variant" = ["reno", { name = "cubic", beta = 0.8 }]
[[sweep.cases]]
"network.bottlenecks.0.queue" = "droptail"
[[sweep.cases]]
"network.bottlenecks.0.queue" = { discipline = "red", limit = "30 packets" }
"flows.short.access.delay" = "2 ms"
"""
