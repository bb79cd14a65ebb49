"""The virtual-time kernel: User-mode Linux, built once from Debian's kernel source, kept in the user's cache."""

from dumbbell.kernel.build import build
from dumbbell.kernel.store import Kernel, find, installed

__all__ = ["Kernel", "build", "find", "installed"]
