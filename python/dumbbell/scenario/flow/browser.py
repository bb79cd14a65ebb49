"""A video that Chromium plays: the settings that it has, and its programs."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from dumbbell.scenario.base import problem
from dumbbell.scenario.flow.programs import HTTPS_PORT, NO_QUIC, TLS_SERVER, program
from dumbbell.scenario.units import Duration, Rate

__all__ = ["SEGMENT_BYTES", "SEGMENT_S", "bitrate", "check", "plan"]

SEGMENT_S = 4
"""Length of the segment that is played again and again, s: ``kernel/programs/player/segment.webm``."""
SEGMENT_BYTES = 340_539
"""Its size."""
SETTINGS = {"kind", "client", "length", "buffer", "http"}


def bitrate() -> Rate:
    """Return the bit rate of the video."""
    return Rate(f"{8 * SEGMENT_BYTES // SEGMENT_S} bit/s")


def check(length: Duration, given: Set[str]) -> None:
    """Refuse settings that the browser doesn't have, with `problem`."""
    for key in sorted(given - SETTINGS):
        raise problem("the browser has no such setting: only length, buffer and http", key)
    if length.ns % (SEGMENT_S * 10**9):
        raise problem(f"'{length}' given: the browser plays segments of {SEGMENT_S} s, so a multiple of it", "length")


def plan(http: str, length: Duration, buffer: Duration) -> dict[str, Any]:
    """Return the plan's entry for the browser and its server, as plain values."""
    segments = length.ns // (SEGMENT_S * 10**9)
    client = ["{python}", "-I", "{browser_client}", "{chromium}", "spki", "{url_from}", HTTPS_PORT, http]
    client += [str(segments), str(SEGMENT_S), f"{buffer.ns * 1e-9:g}", "{seconds}"]
    server = [*TLS_SERVER, "{variant}" if http == "h3" else NO_QUIC, "{player}"]
    return program("video", client, server, client_receives=True)
