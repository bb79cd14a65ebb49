"""Optional libraries: an error of one line names the extra that a missing one belongs to."""

from __future__ import annotations

from importlib.util import find_spec

from dumbbell.exceptions import DumbbellError

__all__ = ["EXTRAS", "missing", "require"]

EXTRAS = {
    "matplotlib": "plots",
    "jinja2": "studies",
    "aioquic": "web",
    "hypercorn": "web",
    "cryptography": "web",
    "asyncssh": "ssh",
    "distributed": "cluster",
    "dask_jobqueue": "cluster",
}
"""Library -> the extra of the package that installs it (``[project.optional-dependencies]``)."""


def missing(module: str) -> str:
    """Return the message for a library that isn't installed."""
    return f"{module} is needed, but not installed: pip install 'dumbbell[{EXTRAS[module]}]'"


def require(*modules: str) -> None:
    """Raise DumbbellError if one of these libraries isn't installed; called before long work that needs them."""
    for module in modules:
        if find_spec(module) is None:
            raise DumbbellError(missing(module))
