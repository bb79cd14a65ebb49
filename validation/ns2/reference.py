#!/usr/bin/env python3
"""Run ns-2 for the whole comparison set and write validation/ns2/data/.

exp1   one TCP flow against a CBR stream: 5 variants, 1..10 Mbit/s, jittered and
       constant CBR intervals with window 20, jittered with window 1000; 10 seeds
drops  scripted drops: the Fall & Floyd patterns (bugFix_ on and off) and 40
       random patterns, 5 variants; complete timelines
exp2   two TCP flows against a CBR stream: 4 pairs, 1..10 Mbit/s; 10 seeds
exp3   Reno and SACK, DropTail and RED, CBR of 6 Mbit/s from 5 s; 10 seeds; series

Needs ns-2 2.35 (Debian: apt-get install ns2). The results depend on nothing
but the seeds; a second run writes the same files. Definitions: data/README.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VARIANTS = ("tahoe", "reno", "newreno", "sack", "vegas")
RATES = range(1, 11)
SEEDS = range(1, 11)
PAIRS = (("reno", "reno"), ("newreno", "reno"), ("vegas", "vegas"), ("newreno", "vegas"))
JITTER = 0.1

FLOW_FIELDS = (
    "start",
    "delivered_bytes",
    "goodput_bps",
    "sent",
    "dropped",
    "drop_rate",
    "retransmitted",
    "timeouts",
    "rtt_single_ms",
    "rtt_first_ms",
)

FALL_FLOYD = ((14,), (14, 28), (14, 26, 28), (14, 24, 26, 28))
RANDOM_PATTERNS = 40
RANDOM_SEED = 1996
DROPS_WINDOW = 100
DROPS_DURATION = 30
# The timelines end when this many packets have been delivered.
DROPS_UNTIL = 150
DROPS_REACHED = (50, 100, 150)

Args = dict[str, Any]
Run = dict[str, Any]


class Runner:
    """Runs scripts of this folder and returns the JSON that they print."""

    def __init__(self, ns: str, jobs: int) -> None:
        self.ns = ns
        self.jobs = jobs

    def one(self, script: str, args: Args) -> Run:
        """Run a script once."""
        words = [f"{key}={value}" for key, value in args.items()]
        done = subprocess.run([self.ns, str(HERE / script), *words], capture_output=True, text=True, check=False)
        lines = done.stdout.strip().splitlines()
        if done.returncode != 0 or not lines:
            raise RuntimeError(f"{script} {' '.join(words)} failed: {done.stdout}{done.stderr}")
        result: Run = json.loads(lines[-1])
        return result

    def many(self, script: str, cases: Sequence[Args]) -> list[Run]:
        """Run all cases, in their order in the result."""
        results: list[Run] = []
        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            for result in pool.map(lambda args: self.one(script, args), cases):
                results.append(result)
                if len(results) % 100 == 0 or len(results) == len(cases):
                    print(f"{script}: {len(results)}/{len(cases)}", file=sys.stderr)
        return results


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a header line and rows."""
    with path.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_cases(path: Path, about: dict[str, Any], cases: Iterable[Any]) -> None:
    """Write one JSON object, with one case per line."""
    compact = (",", ":")
    lines = ",\n".join(json.dumps(case, separators=compact) for case in cases)
    head = json.dumps(about, separators=compact)
    path.write_text(f'{{"about":{head},\n"cases":[\n{lines}\n]}}\n')


def exp1(runner: Runner, data: Path) -> None:
    """Write exp1.csv."""
    settings = ((20, 1), (20, 0), (1000, 1))
    cases: list[Args] = [
        {
            "flow1": variant,
            "window": window,
            "cbr": rate,
            "random": jittered,
            "seed": seed,
            "jitter": JITTER,
            "duration": 10,
        }
        for window, jittered in settings
        for variant in VARIANTS
        for rate in RATES
        for seed in SEEDS
    ]
    rows = []
    for run in runner.many("cbr.tcl", cases):
        args, flow, cbr = run["args"], run["flows"][0], run["cbr"]
        rows.append(
            [args[key] for key in ("flow1", "window", "cbr", "random", "seed", "cbrstart")]
            + [flow[key] for key in FLOW_FIELDS]
            + [cbr["sent"], cbr["received"], cbr["dropped"]]
        )
    header = ["variant", "window", "cbr_mbps", "random", "seed", "cbr_start", *FLOW_FIELDS]
    header += ["cbr_sent", "cbr_received", "cbr_dropped"]
    write_csv(data / "exp1.csv", header, rows)


def exp2(runner: Runner, data: Path) -> None:
    """Write exp2.csv."""
    cases: list[Args] = [
        {
            "flow1": first,
            "flow2": second,
            "window": 20,
            "cbr": rate,
            "random": 1,
            "seed": seed,
            "jitter": JITTER,
            "duration": 10,
        }
        for first, second in PAIRS
        for rate in RATES
        for seed in SEEDS
    ]
    rows = []
    for run in runner.many("cbr.tcl", cases):
        args, cbr = run["args"], run["cbr"]
        row = [args[key] for key in ("flow1", "flow2", "cbr", "seed", "cbrstart")]
        for flow in run["flows"]:
            row += [flow[key] for key in FLOW_FIELDS]
        rows.append([*row, cbr["sent"], cbr["received"], cbr["dropped"]])
    header = ["variant_1", "variant_2", "cbr_mbps", "seed", "cbr_start"]
    header += [f"{key}_{k}" for k in (1, 2) for key in FLOW_FIELDS]
    header += ["cbr_sent", "cbr_received", "cbr_dropped"]
    write_csv(data / "exp2.csv", header, rows)


def exp3(runner: Runner, data: Path) -> None:
    """Write exp3.json."""
    cases: list[Args] = [
        {
            "flow1": variant,
            "queue": queue,
            "window": 150,
            "maxcwnd": 200,
            "cbr": 6,
            "cbrstart": 5,
            "random": 1,
            "seed": seed,
            "jitter": JITTER,
            "duration": 25,
            "series": 0.5,
        }
        for variant in ("reno", "sack")
        for queue in ("DropTail", "RED")
        for seed in SEEDS
    ]
    out = []
    for run in runner.many("cbr.tcl", cases):
        args = run["args"]
        case = {key: args[key] for key in ("queue", "seed", "cbrstart")}
        case |= run["flows"][0]
        case["cbr"] = run["cbr"]
        if "red" in run:
            case["red"] = run["red"]
        out.append(case)
    about = {
        "what": "ns-2 2.35, cbr.tcl; definitions in README.md",
        "common": {key: value for key, value in cases[0].items() if key not in ("flow1", "queue", "seed")},
    }
    write_cases(data / "exp3.json", about, out)


def random_patterns() -> list[list[int]]:
    """Return the random drop lists: 1..6 of the packets 0..80 each."""
    rng = random.Random(RANDOM_SEED)
    return [sorted(rng.sample(range(81), rng.randint(1, 6))) for _ in range(RANDOM_PATTERNS)]


def cut(run: Run) -> Run:
    """Keep the timeline until DROPS_UNTIL packets had been delivered."""
    end = run["reached"][str(DROPS_UNTIL)]
    run["end"] = end if end is not None else run["duration"]
    for key in ("dropped", "ssthresh", "cwnd", "sends"):
        run[key] = [item for item in run[key] if item[0] <= run["end"]]
    for key in ("rto", "fast"):
        run[key] = [time for time in run[key] if time <= run["end"]]
    for key in ("window", "duration", "delack", "seed", "delivered"):
        del run[key]
    return run


def drops(runner: Runner, data: Path) -> None:
    """Write drops.json."""
    patterns = [("fall-floyd", list(p), bugfix) for p in FALL_FLOYD for bugfix in (1, 0)]
    patterns += [("random", p, 1) for p in random_patterns()]
    kinds = [kind for kind, _, _ in patterns for _ in VARIANTS]
    cases: list[Args] = [
        {
            "variant": variant,
            "drops": ",".join(map(str, pattern)),
            "bugfix": bugfix,
            "window": DROPS_WINDOW,
            "duration": DROPS_DURATION,
            "deliver": ",".join(map(str, DROPS_REACHED)),
        }
        for _, pattern, bugfix in patterns
        for variant in VARIANTS
    ]
    runs = runner.many("drops.tcl", cases)
    about = {
        "what": "ns-2 2.35, drops.tcl; definitions in README.md",
        "common": {
            "window": DROPS_WINDOW,
            "duration": DROPS_DURATION,
            "delack": 0,
            "seed": 1,
            "until_delivered": DROPS_UNTIL,
        },
    }
    out = [{"kind": kind, **cut(run)} for kind, run in zip(kinds, runs, strict=True)]
    write_cases(data / "drops.json", about, out)


SETS = {"exp1": exp1, "drops": drops, "exp2": exp2, "exp3": exp3}


def main() -> None:
    """Parse the command line and run the chosen sets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(SETS), action="append", help="this set only (may be repeated)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time (default 1)")
    parser.add_argument("--ns", default="ns", help="the ns-2 command (default ns)")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="output folder (default data/)")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    runner = Runner(options.ns, options.jobs)
    for name, write in SETS.items():
        if options.only is None or name in options.only:
            write(runner, options.data)


if __name__ == "__main__":
    main()
