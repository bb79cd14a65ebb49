"""Capture files as tables: the labels and figures of Wireshark, and more.

::

    from dumbbell import capture

    found = capture.analyze("trace.pcapng")
    found.flows.filter(pl.col("retransmission") > 0)
    found.packets.filter(pl.col("flow") == 3).collect()

Any pcap or pcapng file, plain or compressed, is read once, with bounded memory.
"""

from typing import TYPE_CHECKING

from dumbbell.common.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.capture.capture import Capture
    from dumbbell.capture.read import analyze, read_capture
    from dumbbell.capture.select import Selection
    from dumbbell.capture.two_points import Pair, pair

__all__ = ["Capture", "Pair", "Selection", "analyze", "pair", "read_capture"]

_HOMES = {
    "dumbbell.capture.capture": ("Capture",),
    "dumbbell.capture.read": ("analyze", "read_capture"),
    "dumbbell.capture.select": ("Selection",),
    "dumbbell.capture.two_points": ("Pair", "pair"),
}
__getattr__ = _lazy(__name__, {name: home for home, names in _HOMES.items() for name in names})
