#!/usr/bin/env python3
"""Transfers of known variants over random paths, for training and judging the classification.

    python3 validation/classify/corpus.py FOLDER --paths 200              # the simulator
    python3 validation/classify/corpus.py FOLDER --paths 120 --uml        # Linux 6.12 in virtual time

A path has a rate, a delay, a queue and its discipline, and may have losses and other traffic, all drawn from its
number. `--per-path` variants are tried on each path, each alone or beside another TCP transfer. Both ends are
captured, and each capture gives a row per transfer and round trip in FOLDER/NAME-PATH-VARIANT.parquet. Each row has
the number of the path: a fold of a cross-validation has whole paths.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import dumbbell
from dumbbell import backends, capture, registry
from dumbbell.exceptions import DumbbellError
from dumbbell.scenario import Scenario

PER_PATH = {"sim": 12, "uml": 4}
"""Variants on each path, unless `--per-path` is given."""
KERNEL = (
    *("bbr1", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv"),
    *("reno", "scalable", "vegas", "veno", "westwood", "yeah"),
)
"""Variants that Linux 6.12 in virtual time has."""
COMMON = ("cubic", "reno", "bbr1")
"""Variants that most servers of the Internet use: they are tried on every path of the kernel's, and compete."""
PACKETS = 60_000
"""Packets of a path's capacity over the time of a run, about, unless `--packets` is given."""
TEMPLATE = """
name = "classify"
duration = "{seconds} s"
seed = {seed}
capture = {{at = ["sender", "receiver"], snaplen = "96 bytes"}}
[network]
topology = "dumbbell"
bottleneck = {{rate = "{rate:.3f} Mbit/s", delay = "{delay:.3f} ms", loss = "{loss:.5f} %", \
queue = {{discipline = "{discipline}"{limit}}}}}
access = {{rate = "{access} Mbit/s", delay = "1 ms"}}
{flows}
"""


@dataclass(frozen=True)
class Job:
    """One run: a variant on a path."""

    backend: str
    path: int
    variant: str
    packets: int


def _log_uniform(draw: random.Random, low: float, high: float) -> float:
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def flow(name: str, variant: str, stack: str, more: str = "") -> str:
    """Describe a TCP transfer."""
    return f'[[flows]]\nname = "{name}"\nvariant = "{variant}"\nstack = {stack}\n{more}\n'


def stack_of(path: int, variant: str) -> str:
    """Draw the stack preset of a simulated transfer."""
    return random.Random(f"sim {path} {variant}").choice(["linux-tuned", "linux-tuned", "rfc"])


def scenario(job: Job) -> tuple[str, list[str]]:
    """Describe the run of a job. Returns the text and the variants of its TCP flows."""
    draw = random.Random(f"path {job.backend} {job.path}")
    rate = _log_uniform(draw, 2, 120 if job.backend == "sim" else 60)
    delay = _log_uniform(draw, 3, 90)
    seconds = min(90.0, max(25.0, job.packets * 12e-3 / rate))
    loss = 0.0 if draw.random() < 0.5 else _log_uniform(draw, 0.001, 0.3)
    discipline = draw.choice(["droptail"] * 6 + ["codel", "fq_codel", "pie", "red"])
    length = _log_uniform(draw, 0.25, 3.0)
    # RED and the AQMs have limits of their own.
    limit = f', limit = "{length:.2f} bdp"' if discipline == "droptail" else ""
    if job.backend == "uml" and discipline == "red":
        limit = ", gentle = false"  # the kernel's RED
    ack_every = draw.choice([1, 2, 2, 2])
    other = draw.choice(["", "", "", "tcp", "tcp", "udp", "short"])
    competitor, load, begin = draw.choice(COMMON), draw.uniform(0.05, 0.4), draw.uniform(0, 0.3)
    access = draw.choice([1000, 1000, 100])
    mine = random.Random(f"{job.backend} {job.path} {job.variant}")
    stack = '"linux-tuned"'
    if job.backend == "sim":
        mine.random()
        stack = f'{{ preset = "{stack_of(job.path, job.variant)}", ack_every = {ack_every} }}'
    if job.variant in {"dctcp", "prague"} and mine.random() < 0.7:
        discipline, limit = "codel", ""
    flows, names = [flow("f", job.variant, stack)], [job.variant]
    if other == "tcp":
        linux = '"linux-tuned"'
        flows.append(flow("x", competitor, linux, f'start = "{begin * seconds:.2f} s"'))
        names.append(competitor)
    elif other == "udp":
        kind = f'{{kind = "cbr", rate = "{load * rate:.3f} Mbit/s", jitter = 0.5}}'
        flows.append(f'[[flows]]\nname = "u"\ntransport = "udp"\napplication = {kind}\n')
    elif other == "short":
        size, every = f"{rate * 12.5 * load:.0f} kB", f"{1 / (1 + load):.2f} s"
        kind = f'{{kind = "transfer", size = "{size}", repeat = 0, every = "{every}"}}'
        flows.append(flow("s", "cubic", '"linux-tuned"', f"application = {kind}"))
    text = TEMPLATE.format(
        seconds=f"{seconds:.1f}",
        seed=mine.randrange(1 << 30),
        rate=rate,
        delay=delay,
        loss=loss,
        discipline=discipline,
        limit=limit,
        access=access,
        flows="".join(flows),
    )
    return text, names


def rows(job: Job, place: str, file: Path, names: list[str]) -> pl.DataFrame:
    """Collect the rounds of the long transfers of a capture, with the truth beside them."""
    found = capture.analyze(file, threads=1)
    # The flows' hosts have addresses in the order of the scenario.
    sources = [f"10.0.0.{n + 1}" if job.backend == "sim" else f"10.1.0.{n}" for n in range(len(names))]
    truth = pl.DataFrame({"src": sources, "variant": names})
    columns = ["flow", "direction", "src", "payload_max", "vantage", "payload_bytes"]
    flows = found.flows.filter(pl.col("payload_bytes") > 0).select(columns).join(truth, on="src")
    guesses = found.classify.select("flow", "direction", "family", "confidence", "evidence")
    return (
        found.rounds.join(flows, on=["flow", "direction"])
        .join(guesses, on=["flow", "direction"])
        .with_columns(backend=pl.lit(job.backend), path=pl.lit(job.path), run=pl.lit(job.variant), place=pl.lit(place))
    )


def one(job: Job, folder: Path) -> str:
    """Run, capture, keep the rounds. Returns a line about it."""
    out = folder / f"{job.backend}-{job.path:04}-{job.variant}.parquet"
    if out.exists():
        return f"{out.name}: kept"
    text, names = scenario(job)
    try:
        made = Scenario.from_toml(text)
        offloads = "on" if random.Random(f"offloads {job.path}").random() < 0.3 else "off"
        backend = backends.backend("uml", {"offloads": offloads}) if job.backend == "uml" else None
        with tempfile.TemporaryDirectory() as temporary:
            files = dumbbell.run(made, out=temporary, jobs=1, backend=backend).captures(0)
            table = pl.concat([rows(job, place, file, names) for place, file in files.items()])
    except DumbbellError as e:
        return f"{out.name}: left out: {e}"
    table.write_parquet(out)
    return f"{out.name}: {table.height} rounds"


def jobs(backend: str, first: int, count: int, per_path: int, packets: int) -> list[Job]:
    """Choose the variants of each path."""
    known = list(registry.variants()) if backend == "sim" else KERNEL
    found = []
    for path in range(first, first + count):
        draw = random.Random(f"variants {backend} {path}")
        others = [name for name in known if name not in COMMON]
        chosen = [draw.choice(COMMON), *draw.sample(others, min(len(others), per_path - 1))]
        if backend == "sim":
            chosen = [*COMMON, *chosen[1:]]
        found += [Job(backend, path, variant, packets) for variant in chosen]
    return found


def main() -> int:
    """Make the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--uml", action="store_true")
    parser.add_argument("--first", type=int, default=0, help="number of the first path")
    parser.add_argument("--paths", type=int, default=100)
    parser.add_argument("--per-path", type=int, help="variants on each path; otherwise 12, and 4 with --uml")
    parser.add_argument("--packets", type=int, default=PACKETS)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    backend = "uml" if options.uml else "sim"
    per_path = options.per_path or PER_PATH[backend]
    all_jobs = jobs(backend, options.first, options.paths, per_path, options.packets)
    with ProcessPoolExecutor(options.jobs) as pool:
        for line in pool.map(one, all_jobs, [options.folder] * len(all_jobs)):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
