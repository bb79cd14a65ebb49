"""The quick study bufferbloat from beginning to end, and its physics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dumbbell.studies import Done
from quick import check_quick
from required import require_packages

require_packages("matplotlib", "jinja2")


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("bufferbloat"))


def test_bufferbloat(done: Callable[[str], Done]) -> None:
    from dumbbell.studies.bufferbloat.data import ANY, VARIANTS, Load

    load = Load(done("bufferbloat").results["load"])
    for v in VARIANTS:
        # 20 ms, two small packets (0.7 ms), and two delays of 0.25 ms in the mean.
        assert load.ping("large", v, loaded=False) == pytest.approx(21.2, abs=0.4)
        assert load.page("large", v, loaded=False) == pytest.approx(1.0, abs=0.1)
        # A full queue of 100 packets is 800 ms, of 20 packets 160 ms; a reply passes an empty one.
        assert (load.ping("large", v, ANY) <= 822).all()
        assert (load.ping("small", v, ANY) <= 182).all()
        assert np.median(load.ping("large", v, ANY)) > 400
        # Two queues: half the link is 177,669 bytes in 2 s with headers, and a request waits for one packet at most.
        assert load.page("two", v, ANY) == pytest.approx(2.0, abs=0.05)
        assert (load.ping("two", v, ANY) <= 21.8 + 8).all()
    # Runs that start the transfer earlier are others.
    first, *others = (load.page("large", "reno", since) for since in load.since)
    assert all(not np.array_equal(first, other) for other in others)
    assert len(load.page("large", "reno", ANY)) == load.n * len(load.since)
