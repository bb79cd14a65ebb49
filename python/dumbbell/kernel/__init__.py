"""The kernels that runs use.

::

    store, build, source, patch, tools     the virtual-time kernel (User-mode Linux) and how it is built
    guest, processors, outcome, folders    one run: boot, processor, results, folder
    host, doctor                           the host's own kernel: its features, and the report of `dumbbell doctor`
    web                                    the web server of flows of kind http
"""

from typing import TYPE_CHECKING

from dumbbell.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.kernel.compile import build
    from dumbbell.kernel.store import Kernel, find, installed

__all__ = ["Kernel", "build", "find", "installed"]

_HOMES = {"Kernel": "store", "build": "compile", "find": "store", "installed": "store"}
__getattr__ = _lazy(__name__, {name: f"{__name__}.{module}" for name, module in _HOMES.items()})
