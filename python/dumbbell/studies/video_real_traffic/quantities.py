"""The quantities that the report's claims compare: values by repetition for a metric and a setting.

Report: Tanmay Rajore et al., "Analysis of TCP Variants". Rules: `paper.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.studies.declared import Setting
from dumbbell.studies.judge import Quantities
from dumbbell.studies.rule_words import Words
from dumbbell.studies.shared import LABELS, Floats
from dumbbell.studies.video_real_traffic.data import VARIANTS
from dumbbell.studies.video_real_traffic.experiments import MERGED, WIRE, Experiments
from dumbbell.studies.video_real_traffic.player import NAMES, QUIC, RADIO

__all__ = ["WORDS", "quantities"]

READ = {
    "throughput": ("mean rate of the capture", "kB/s"),
    "retransmitted": ("bytes of retransmissions", "kB"),
    "duplicate ACKs": ("number of duplicate ACKs", ""),
    "out of order": ("number of packets out of order", ""),
    "spikes": ("number of seconds with 50 packets or more", ""),
    "largest spike": ("most packets in a second", "packets"),
    "variation": ("standard deviation of packets per second, part of their mean", ""),
    "packet size": ("mean length of captured packets", "bytes"),
    "packets": ("number of captured packets", ""),
    "medium packets": ("share of packets of 1280 to 2559 bytes", "%"),
    "errors": ("most error packets in a second", "packets"),
}
WHERE = ("shaped", "fast", "signal", "hall")
PLAYED = {
    "player load time": ("time until the video is loaded", "s"),
    "player startup delay": ("time until the video starts", "s"),
    "player stalls": ("number of stalls", ""),
    "player fewest stalls": ("number of stalls of the variant that stalls least", ""),
    "player stall time": ("time of the stalls", "s"),
    "player buffering": ("time until the video starts and of the stalls", "s"),
    "player medium packets": ("share of packets of 1280 to 2559 bytes", "%"),
    "player head start of QUIC": ("time by which the video starts earlier over QUIC", "s"),
}
LOSSY = {
    "lossy throughput": ("throughput of a long transfer", "Mbit/s"),
    "lossy backlog": ("mean number of waiting packets", "packets"),
    "lossy drops": ("number of packets that a full queue drops", "packets"),
    "lossy kept": ("part of the window that a fast recovery leaves", "%"),
    "cost prolonged": ("time by which losses prolong a transfer of 2 MB", "s"),
    "player range": ("range of the variants' load times, part of their mean", ""),
}
HALLS = {
    "hall": "the lecture hall",
    "hall with weak uplink": "the lecture hall with a weak uplink",
    "hall as rates": "the lecture hall as rates",
}
COMPARED = {
    "transport packet size": ("mean length of captured packets", "bytes"),
    "transport packets": ("number of captured packets", ""),
    "place errors": ("most error packets in a second", "packets"),
}
"""Quantities that one claim compares between experiments."""
PLACES = {"lecture hall": "the lecture hall", "stable": "the fast access without other stations"}
BLOCKS = {f"blocks in segments of {size}": size for size in (WIRE, MERGED)}
"""What is captured over Wi-Fi, beside the player over the medium -> the size of segments."""
RADIOS = {"a loss": "blocks with a loss", "the medium": "the player over the medium"}
CASES = {"random": "random losses", "full queue": "a full queue", "free": "Wi-Fi"}
WORDS = Words(
    metrics=COMPARED | {f"{where} {name}": words for where in WHERE for name, words in READ.items()} | PLAYED | LOSSY,
    keys={"shaper": "shaped by a {}", "host": "variant set at the {}", "segments": "segments of {}",
          "signal": "{} signal", "access": "{}"},
    values=NAMES | LABELS | HALLS | PLACES | RADIOS | CASES | {"tcp": "TCP"},
)  # fmt: skip
"""The words for the metrics and settings of the rules."""


def _by_transport(found: Experiments, name: str, transport: str, segments: str, variant: str) -> Floats:
    """Return a metric over Wi-Fi: the player's captures, or over TCP with merged segments those of blocks."""
    if transport == QUIC:
        return found.player.seen(name, "Wi-Fi", QUIC)
    if segments == WIRE:
        return found.player.seen(name, "Wi-Fi", variant)
    return found.wifi.get(name, "Wi-Fi", segments, variant)


def _by_place(found: Experiments, name: str, place: str, radio: str, variant: str) -> Floats:
    """Return a metric in the lecture hall, or over the access of a stable environment."""
    if radio == "the medium":
        return found.player.seen(name, RADIO["hall" if place == "lecture hall" else "strong"], variant)
    if place == "lecture hall":
        return found.hall.get(name, found.losses["hall"], variant)
    return found.wifi.get(name, "Wi-Fi", WIRE, variant)


def _range(found: Experiments, access: str) -> Floats:
    """Return the range of the variants' load times as a part of their mean, by repetition."""
    rows = [found.player.get("load time", access, v) for v in VARIANTS]
    if not all(row.size for row in rows):
        return np.array([], dtype=np.float64)
    return np.asarray(np.ptp(rows, axis=0) / np.mean(rows, axis=0))


def _fewest_stalls(found: Experiments, access: str) -> Floats:
    """Return the stalls of the variant with the smallest mean, by repetition."""
    return min(
        (found.player.get("stalls", access, v) for v in VARIANTS), key=lambda row: row.mean() if row.size else -1
    )


def _of_all(found: Experiments, metric: str, at: Setting) -> Floats:
    """Return a quantity of the three variants together."""
    if metric == "player fewest stalls":
        return _fewest_stalls(found, str(at["access"]))
    return _range(found, str(at["congested"]) if at["than"] == "congested" else "Wi-Fi")


def quantities(found: Experiments, absent: Mapping[str, str] | None = None) -> Quantities:
    """Return the quantities of all experiments; `absent` has by experiment why cells can't be run."""

    def get(metric: str, at: Setting) -> Floats:
        where, _, name = metric.partition(" ")
        if "variant" not in at:
            return _of_all(found, metric, at)
        variant = str(at["variant"])
        if where == "lossy":
            return found.lossy.get(name, str(at["loss"]), variant)
        if where == "cost":
            return found.cost.prolonged(QUIC if at["transport"] == QUIC else variant)
        if where == "transport":
            return _by_transport(found, name, str(at["transport"]), str(at["segments"]), variant)
        if where == "place":
            return _by_place(found, name, str(at["place"]), str(at["radio"]), variant)
        if where == "player" and name == "medium packets":
            return found.player.seen(name, str(at["access"]), variant)
        if where == "player":
            return found.player.get(name, str(at["access"]), variant)
        if where == "fast" and "captured" in at:
            size = BLOCKS.get(str(at["captured"]))
            access = str(at["access"])
            seen = found.player.seen
            return seen(name, access, variant) if size is None else found.wifi.get(name, access, size, variant)
        if where == "fast":
            return found.wifi.get(name, str(at["access"]), str(at["segments"]), variant)
        if str(at.get("radio")) == "the medium":
            return found.player.seen(name, RADIO[str(at.get("signal", where))], variant)
        if where == "signal":
            return found.signal.get(name, found.losses[str(at["signal"])], variant)
        if where == "hall":
            return found.hall.get(name, found.losses["hall"], variant)
        shaped = {"queue": found.queue, "policer": found.policer}[str(at["shaper"])]
        return shaped.get(name, str(at["host"]), variant)

    return Quantities(get, WORDS, absent or {})
