"""What tests of scenarios share: scenarios over one link, and refusals with their place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dumbbell import Scenario, ScenarioError

__all__ = ["network", "one_link", "refused"]


def network(
    rate: Any = "10 Mbit/s", delay: str = "20 ms", *, access: str = "1 Gbit/s", near: str = "0 ms", **more: Any
) -> dict[str, Any]:
    """Return a dumbbell: rate and delay of its bottleneck, those of the access links, more of the bottleneck."""
    return {"bottleneck": {"rate": rate, "delay": delay, **more}, "access": {"rate": access, "delay": near}}


def one_link(*flows: dict[str, Any], **changes: Any) -> Scenario:
    """Return a scenario with these flows, and with other values of its keys."""
    document = {"name": "one link", "duration": "10 s", "network": network(), "flows": list(flows)}
    return Scenario.from_dict({**document, **changes})


@contextmanager
def refused(*parts: str, place: str | None = None) -> Iterator[None]:
    """Expect a refusal with these parts; with a place, the first problem is there and has them."""
    with pytest.raises(ScenarioError) as caught:
        yield
    problem = caught.value.problems[0]
    assert place in (None, problem.place), str(caught.value)
    for part in parts:
        assert part in (str(caught.value) if place is None else problem.message)
