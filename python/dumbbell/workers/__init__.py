"""Worker processes: they make parts of a large piece of work, such as a sweep, at the same time."""

from typing import TYPE_CHECKING

from dumbbell.common.lazy import lazy as _lazy
from dumbbell.workers.limit import allowed, at_most

if TYPE_CHECKING:
    from dumbbell.workers.local import Pool

__all__ = ["Pool", "allowed", "at_most"]

__getattr__ = _lazy(__name__, {"Pool": "dumbbell.workers.local"})
