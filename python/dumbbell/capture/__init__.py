"""Capture files as tables: the labels and figures of Wireshark, and more.

::

    from dumbbell import capture

    found = capture.analyze("trace.pcapng")
    found.flows.filter(pl.col("retransmission") > 0)
    found.packets.filter(pl.col("flow") == 3).collect()

Any pcap or pcapng file, plain or compressed, is read once, with bounded memory.
"""

from typing import TYPE_CHECKING

from dumbbell.capture.capture import Capture, analyze, read_capture
from dumbbell.capture.select import Selection
from dumbbell.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.capture.two_points import Pair, pair

__all__ = ["Capture", "Pair", "Selection", "analyze", "pair", "read_capture"]

# It imports polars, which is slow.
__getattr__ = _lazy(__name__, dict.fromkeys(("Pair", "pair"), f"{__name__}.two_points"))
