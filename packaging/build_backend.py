"""PEP 517 build backend: builds the guest program of the back end `uml` and `dumbbell.wasm`, then calls maturin."""

from __future__ import annotations

from typing import Any

import maturin
from build_guest import build_guest
from build_web import build_web

build_sdist = maturin.build_sdist
get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build a wheel, with the guest program where the platform can run it, and with the simulator as WebAssembly."""
    build_guest()
    build_web()
    name: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    return name


def build_editable(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build an editable installation, with the guest program where the platform can run it."""
    build_guest()
    name: str = maturin.build_editable(wheel_directory, config_settings, metadata_directory)
    return name
