"""The plan's entry for one direction of a link, in base units. Values that the link doesn't set are left out."""

from __future__ import annotations

from typing import Any

from dumbbell.scenario.network.cellular import Cellular
from dumbbell.scenario.network.directions import Settings
from dumbbell.scenario.network.impairments import corruption_plan, duplication_plan, jitter_plan, loss_plan
from dumbbell.scenario.network.schedules import DelaySteps, RateSteps, RateTrace, delivery_trace, first_delay_ns

__all__ = ["link_plan"]


def link_plan(settings: Settings, duration_ns: int) -> dict[str, Any]:
    """Return the plan's entry for a direction of a link, without its ends, its queue and its scripted drops."""
    plan: dict[str, Any] = {
        "rate_bps": settings.rate_bps,
        "delay_ns": first_delay_ns(settings.delay) if settings.delay is not None else 0,
        "overhead_bytes": settings.overhead.bytes,
    }
    if isinstance(settings.rate, RateSteps):
        plan["rate_course"] = settings.rate.plan()
    if isinstance(settings.rate, RateTrace | Cellular):
        trace = delivery_trace(settings.rate)
        plan["opportunities"] = {"counts": trace.until(duration_ns), "period_ms": trace.period}
    if isinstance(settings.delay, DelaySteps):
        plan["delay_course"] = settings.delay.plan()
        plan["delay_reorders"] = settings.delay.reorders
    if settings.outages:
        plan["outages"] = [outage.plan() for outage in settings.outages]
    if settings.policer is not None:
        plan["policer"] = settings.policer.plan()
    if settings.loss is not None:
        plan["loss"] = loss_plan(settings.loss)
    if settings.corruption is not None:
        plan["corruption"] = corruption_plan(settings.corruption)
    if settings.jitter is not None:
        plan["jitter"] = jitter_plan(settings.jitter)
        plan["jitter_reorders"] = settings.jitter_reorders
    if settings.reordering is not None:
        plan["reordering"] = settings.reordering.plan()
    if settings.duplication is not None:
        plan["duplication"] = duplication_plan(settings.duplication)
    return plan
