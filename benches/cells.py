"""Many short runs through Python: 10,000 of 10 ms with two flows each; prints CPU time and memory as JSON.

    python benches/cells.py repetitions    # of one cell
    python benches/cells.py sweep          # 10,000 cells with one repetition

CPU time is that of the runs, and with the frame of all flows. benches/speed.py starts it, so that a process of its
own is measured, its start included.
"""

from __future__ import annotations

import argparse
import json
import resource

import dumbbell
from dumbbell import Scenario
from measuring import peak_kib
from workloads import TWO_NEWRENO

SIDE = 100
"""Values of each of two swept settings."""


def main() -> None:
    """Run; print the costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("over", choices=["repetitions", "sweep"])
    document = Scenario.load(TWO_NEWRENO, {"duration": "10 ms", "flows.b.start": "5 ms"}).to_dict()
    if parser.parse_args().over == "sweep":
        document["sweep"] = {
            "network.bottleneck.rate": [f"{10 + k} Mbit/s" for k in range(SIDE)],
            "network.bottleneck.delay": [f"{1 + k / 10:g} ms" for k in range(SIDE)],
        }
    else:
        document["repetitions"] = SIDE**2
        document["start_jitter"] = "1 ms"
    results = dumbbell.run(Scenario.from_dict(document), jobs=1)
    made, peak = cpu_s(), peak_kib("self")
    rows = results.flows.height
    print(json.dumps({"runs": len(results), "rows": rows, "cpu_s": made, "cpu_read_s": cpu_s(), "peak_kib": peak}))


def cpu_s() -> float:
    """Return the CPU time so far, s."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
