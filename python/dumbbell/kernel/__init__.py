"""The real kernel: the host's own, Linux in virtual time, machines over SSH; and comparisons with the simulator.

::

    host         the host's own kernel in real time, with link emulation or its own queue disciplines
    uml          Linux in virtual time: the back end, and how its kernels are built
    ssh          real machines: the back end, the hosts file, the agent
    programs     real programs in runs
    guest        ``dumbbell-guest``, which makes a run; `outcome` reads what it leaves
    validate     the same scenarios in the simulator and on a kernel
"""

from typing import TYPE_CHECKING

from dumbbell.common.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.kernel.uml.compile import build
    from dumbbell.kernel.uml.store import Kernel, find, installed

__all__ = ["Kernel", "build", "find", "installed"]

_HOMES = {"Kernel": "uml.store", "build": "uml.compile", "find": "uml.store", "installed": "uml.store"}
__getattr__ = _lazy(__name__, {name: f"{__name__}.{module}" for name, module in _HOMES.items()})
