"""The experiments of the study, read from their captures, with their fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from dumbbell.results import Results
from dumbbell.studies.partial import data
from dumbbell.studies.video_real_traffic.changed import changed_keys
from dumbbell.studies.video_real_traffic.data import MERGED, WIRE, Captured, fast_keys, lossy_keys, shaped_keys
from dumbbell.studies.video_real_traffic.fits import SHAPED_ON, WIFI_ON, Fit, by_cell, nearest
from dumbbell.studies.video_real_traffic.loss import Cost, Lossy
from dumbbell.studies.video_real_traffic.player import Played
from dumbbell.studies.video_real_traffic.reported import medians_of_report, wifi_of_report

__all__ = ["FITTED_ACKS", "MERGED", "WIRE", "Experiments"]

FITTED_ACKS = "duplicate ACKs"
"""CUBIC's metric to which the loss of a signal is fitted."""


LOSSY, SHAPED, CHANGED, FAST = (
    partial(Captured, keys=keys) for keys in (lossy_keys, shaped_keys, changed_keys, fast_keys)
)
"""Readers of experiments, the same objects in each call: data are made once for each."""


@dataclass(frozen=True)
class Experiments:
    """All experiments.

    Attributes
    ----------
    queue, policer : Captured
        The shaped link, by host and variant.
    veno : Captured
        The link shaped by a queue, by variant and changed rule.
    wifi : Captured
        The fast access, by access, size of segments and variant.
    signal, hall : Captured
        By loss and variant.
    player : Played
        The player, by access and variant.
    lossy : Lossy
        A long transfer, by loss and variant.
    cost : Cost
        Transfers with and without losses, by transport and variant.
    fits : dict of str to Fit
        ``queue``, ``policer`` and ``wifi``, as far as a back end can run them.
    losses : dict of str to str
        The loss that stands for the ``weak`` and the ``strong`` signal and for the ``hall``.
    """

    queue: Captured
    veno: Captured
    policer: Captured
    wifi: Captured
    signal: Captured
    hall: Captured
    player: Played
    lossy: Lossy
    cost: Cost
    fits: Mapping[str, Fit]
    losses: Mapping[str, str]

    @classmethod
    def read(cls, results: Mapping[str, Results], reported: Mapping[str, Any]) -> Experiments:
        """Read them all."""
        signal, hall = (data(results, name, LOSSY) for name in ("signal", "hall"))
        shaped = {m: v for m, v in medians_of_report(reported, "cubic").items() if m in SHAPED_ON}
        fast = {m: v for m, v in wifi_of_report(reported, "cubic").items() if m in WIFI_ON}
        what = {
            "queue": ("the link shaped by a queue", shaped),
            "policer": ("the link shaped by a policer", shaped),
            "wifi": ("the fast access", fast),
        }
        losses = list(dict.fromkeys(loss for loss, _ in signal.settings))
        found = {
            s: nearest(signal, FITTED_ACKS, reported["signal"][s]["duplicate_acks"]["cubic"], losses)
            for s in ("weak", "strong")
        }
        losses = list(dict.fromkeys(loss for loss, _ in hall.settings))
        found["hall"] = nearest(hall, "errors", reported["error_packets_per_s"]["tcp"], losses)
        return cls(
            queue=data(results, "queue", SHAPED),
            veno=data(results, "veno", CHANGED),
            policer=data(results, "policer", SHAPED),
            wifi=data(results, "wifi", FAST),
            signal=signal,
            hall=hall,
            player=data(results, "player", Played),
            lossy=data(results, "lossy", Lossy),
            cost=data(results, "cost", Cost),
            fits={
                name: Fit(
                    f"fit-{name}",
                    words,
                    results[f"fit-{name}"],
                    on,
                    results[name],
                    data(results, f"fit-{name}", by_cell),
                )
                for name, (words, on) in what.items()
                if len(results[f"fit-{name}"]) and len(results[name])
            },
            losses=found,
        )
