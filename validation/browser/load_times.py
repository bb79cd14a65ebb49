#!/usr/bin/env python3
"""Load a video by Chromium on this host's kernel, and by the simulator's player, over h2 and h3 at three rates.

python validation/browser/load_times.py                 # the table on the terminal; needs chromium and the extra web
python validation/browser/load_times.py --write-docs    # and renew docs/data/browser
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import dumbbell
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.report.tables import Table, write_tables
from dumbbell.results import Results
from dumbbell.scenario.flow.browser import SEGMENT_S, bitrate

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data" / "browser"
PAGE = ROOT / "python" / "dumbbell" / "kernel" / "programs" / "player" / "player.html"
RATES = ("512 kbit/s", "3 Mbit/s", "10 Mbit/s")
LENGTH_S = 20
"""Five segments: 1,702,695 bytes."""
LONGEST_S = 90
"""27 s at 512 kbit/s, and the start of the browser on a busy host."""


def scenario(http: str, rate: str, player: dict[str, Any], repetitions: int, **flow: str) -> dumbbell.Scenario:
    """Return the path with one video. All of it may be buffered, so that the network alone decides."""
    application = {"kind": "video", "http": http, "length": f"{LENGTH_S} s", "buffer": "30 s", **player}
    transport = "quic" if http == "h3" else "tcp"
    return dumbbell.Scenario.from_dict(
        {
            "name": f"{http} at {rate}",
            "duration": f"{LONGEST_S} s",
            "repetitions": repetitions,
            "network": {
                "bottleneck": {"rate": rate, "delay": "10 ms", "queue": {"limit": "25 packets"}},
                "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
            },
            "flows": [{"name": "v", "transport": transport, "variant": "cubic", "application": application, **flow}],
        }
    )


def simulated(http: str, rate: str) -> float:
    """Return the load time of the simulator's player, s."""
    player = {
        "ladder": [str(bitrate())],
        "segment": f"{SEGMENT_S} s",
        "abr": "fixed",
        "page": f"{PAGE.stat().st_size} bytes",
    }
    flow = {"stack": "aioquic"} if http == "h3" else {"stack": "linux-tuned", "tls": "1.3"}
    return float(dumbbell.run(scenario(http, rate, player, 1, **flow)).flows["load_time_s"][0])


def browser_s(results: Results, number: int) -> float:
    """Return the time of a run in which the browser has no request open, from the page's arrival to the last byte, s.

    The browser parses the page, makes the player, and asks for a segment when it has processed the one before.
    """
    record = json.loads(results.runs[number].facts["programs"]["v"]["client"]["stdout"])
    at, idle = record["navigation"]["end"], 0.0
    for segment, entry in zip(record["segments"], _requests(record), strict=True):
        idle += max(0.0, segment["start"] - at)
        at = entry["end"]
    return idle * 1e-3


def _requests(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in record["resources"] if "segment.webm" in entry["name"]]


def measure(repetitions: int) -> Table:
    """Make every run."""
    rows = []
    for http in ("h2", "h3"):
        for rate in RATES:
            given = scenario(http, rate, {"client": "browser"}, repetitions)
            results = dumbbell.run(given, backend=LinkEmulation(calibration="off"))
            took = results.flows["load_time_s"].to_numpy()
            own = np.array([browser_s(results, n) for n in range(repetitions)])
            model = simulated(http, rate)
            stalls = results.flows["stalls"].to_list()
            values = [
                http,
                rate,
                f"{np.median(took):.2f}",
                f"{took.min():.2f} to {took.max():.2f}",
                f"{np.median(own):.2f}",
                f"{model:.2f}",
                f"{100 * (model / np.median(took) - 1):+.1f}",
                f"{100 * (model / np.median(took - own) - 1):+.1f}",
                ", ".join(str(n) for n in stalls),
            ]
            print(*values, sep="  ", flush=True)
            rows.append(values)
    columns = ["HTTP", "rate", "browser (s)", "runs (s)", "without request (s)", "simulator (s)"]
    return Table([*columns, "difference (%)", "difference of the network's part (%)", "stalls of the runs"], rows)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=3, help="runs of the browser for each rate; default: 3")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/browser")
    options = parser.parse_args()
    table = measure(options.repetitions)
    if options.write_docs:
        write_tables(DATA, {"load-times": table})


if __name__ == "__main__":
    main()
