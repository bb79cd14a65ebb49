#!/usr/bin/env python3
"""Run Dumbbell's QUIC endpoint beside quinn and aioquic in virtual time: the same links, variants and settings.

python validation/quic/quic_beside.py                     # builds peers/ once, runs beside.toml with quinn
python validation/quic/quic_beside.py --aioquic           # and with aioquic (pip install 'dumbbell[web]')
python validation/quic/quic_beside.py --aioquic --write   # and renew data/, docs/data/quic and the figure
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

import quic_page
from quic_page import SHOWN, Cell

HERE = Path(__file__).resolve().parent
PEERS = HERE / "peers"
RUNS = HERE / "data" / "runs.jsonl"
HANDSHAKES = HERE / "data" / "handshakes.jsonl"
RTTS = (10, 40, 200)


def settings() -> dict[str, Any]:
    """The conditions."""
    return tomllib.loads((HERE / "beside.toml").read_text(encoding="utf-8"))


def build() -> Path:
    """Build peers/; return the folder of its program and library."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", str(PEERS / "Cargo.toml")]
    subprocess.run(command, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", PEERS / "target")) / "release"


def arguments(condition: dict[str, Any], variant: str, seed: int, more: dict[str, str]) -> list[str]:
    """The arguments of a run."""
    link = {k: v for k, v in condition.items() if k in ("rate_mbps", "rtt_ms", "buffer", "loss", "bytes")}
    stack = {**settings()["common"], **condition.get("stack", {}), **more}
    return [f"{k}={v}" for k, v in {"variant": variant, "seed": seed, **link, **stack}.items()]


def run(folder: Path, peer: str, given: list[str]) -> dict[str, Any]:
    """One run: own, quinn or aioquic."""
    command = [str(folder / "dumbbell-quic-peers"), peer]
    if peer == "aioquic":
        library = next(folder.glob("*dumbbell_quic_peers.[sd][oy]*"))
        command = [sys.executable, str(HERE / "aioquic_peer.py"), str(library)]
        # The C interface takes settings separated by spaces; sizes have none there.
        given = [a.replace(" ", "") for a in given]
    result = subprocess.run([*command, *given], check=True, capture_output=True, text=True)
    return dict(json.loads(result.stdout))


def cell(folder: Path, peer: str, condition: dict[str, Any], variant: str) -> tuple[Cell, dict[str, list[float]]]:
    """Run a condition with both; return the means, and cwnd of the first seed in packets."""
    seeds = condition.get("seeds", 1)
    more = settings()["aioquic"] if peer == "aioquic" else {}
    sides: dict[str, list[dict[str, Any]]] = {}
    for side in ("own", peer):
        sides[side] = [run(folder, side, arguments(condition, variant, seed, more)) for seed in range(1, seeds + 1)]

    def of(side: str, *names: str) -> float:
        return float(mean(sum(r[name] for name in names) for r in sides[side]))

    def payload(side: str) -> float:
        accepted = [r["sent"] - r["drops"] - r["losses"] for r in sides[side]]
        delivered = [r["goodput_mbps"] * r["end_ms"] * 125 for r in sides[side]]
        return float(mean(d / a for d, a in zip(delivered, accepted, strict=True)))

    values = [
        x
        for parts in (("goodput_mbps",), ("drops", "losses"), ("queueing_ms",))
        for x in (of("own", *parts), of(peer, *parts))
    ]
    rounded = [round(x, 4) for x in (*values, payload("own"), payload(peer))]
    curves = {side: [w / 1200 for w in runs[0].get("cwnd", [])] for side, runs in sides.items()}
    return Cell(peer, condition["name"], variant, seeds, *rounded), curves


def handshake(folder: Path, peer: str, rtt: int) -> dict[str, Any]:
    """Times of the handshake of a page of 100 kB over 10 Mbit/s, ms, and the datagrams before the response."""
    given = [f"rtt_ms={rtt}", "bytes=100000", "mtu_discovery=false"]
    outcome = run(folder, peer, given)
    first = [d for d in outcome["first"] if d[0] < outcome["request_ms"]]
    names = ("established_ms", "request_ms", "response_ms", "end_ms")
    return {"peer": peer, "rtt_ms": rtt, **{n: outcome[n] for n in names}, "datagrams": first}


def cells(folder: Path, peers: list[str]) -> Iterator[tuple[Cell, dict[str, list[float]]]]:
    """All cells."""
    given = settings()
    for peer in peers:
        for condition in given["condition"]:
            if peer == "quinn" or condition.get("aioquic"):
                for variant in given["variants"]:
                    yield cell(folder, peer, condition, variant)


def stored() -> tuple[list[Cell], list[dict[str, Any]]]:
    """The cells and handshakes in data/."""
    runs, handshakes = ([json.loads(s) for s in f.read_text(encoding="utf-8").splitlines()] for f in (RUNS, HANDSHAKES))
    return [Cell(**run) for run in runs], handshakes


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aioquic", action="store_true", help="run aioquic too")
    parser.add_argument("--write", action="store_true", help="renew data/, docs/data/quic and the figure")
    options = parser.parse_args()
    folder = build()
    found, curves = [], {}
    for one, curve in cells(folder, ["quinn", "aioquic"] if options.aioquic else ["quinn"]):
        print(
            f"{one.peer:8}{one.condition:46}{one.variant:6} goodput {one.goodput:8.3f} {one.peer_goodput:8.3f}"
            f"  drops {one.drops:7.1f} {one.peer_drops:7.1f}  {' and '.join(one.outside)}",
            flush=True,
        )
        found.append(one)
        if one.condition == SHOWN and one.peer == "quinn":
            curves[one.variant] = curve
    handshakes = [handshake(folder, peer, rtt) for rtt in RTTS for peer in ("own", "quinn")]
    for times in handshakes:
        print(times)
    if options.write:
        RUNS.parent.mkdir(exist_ok=True)
        RUNS.write_text("".join(json.dumps(asdict(c)) + "\n" for c in found), encoding="utf-8")
        HANDSHAKES.write_text("".join(json.dumps(h) + "\n" for h in handshakes), encoding="utf-8")
        quic_page.write(quic_page.tables(found, handshakes, settings()["reason"]), curves)


if __name__ == "__main__":
    main()
