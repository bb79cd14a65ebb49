"""Finds or makes a Rust toolchain for WebAssembly: a compiler with a standard library for `wasm32-unknown-unknown`.

1. The toolchain in use, if it has the target.
2. rustup adds the target to it.
3. Debian's `rustc-web` and its source of the standard library, unpacked into a folder of `target/` and not installed:
   `rustc-web` conflicts with the package `rustc` and with rustup. Cargo compiles the standard library too; that takes
   about a minute, once.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["TARGET", "MissingError", "Toolchain", "find"]

ROOT = Path(__file__).resolve().parent.parent
TARGET = "wasm32-unknown-unknown"
UNPACKED = ROOT / "target" / "rustc-web"


class MissingError(Exception):
    """No way leads to a toolchain: the message names what is needed."""


@dataclass(frozen=True)
class Toolchain:
    """Additions to the command and the environment of cargo."""

    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def find() -> Toolchain:
    """Find a toolchain, or make one; MissingError has the reasons if none of the three ways works."""
    if _has_target():
        return Toolchain()
    reasons = []
    for make in (_of_rustup, _of_debian):
        try:
            return make()
        except MissingError as e:
            reasons.append(str(e))
    raise MissingError(f"Rust's standard library for {TARGET} is needed ({'; '.join(reasons)})")


def _run(*command: str | Path, cwd: Path = ROOT) -> str:
    try:
        done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)
    except OSError:
        raise MissingError(f"{command[0]} is not installed") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise MissingError(f"`{' '.join(str(c) for c in command[:4])}` failed: {lines[-1]}")
    return done.stdout


def _has_target() -> bool:
    libraries = Path(_run("rustc", "--print", "target-libdir", "--target", TARGET).strip())
    return any(libraries.glob("libstd-*.rlib"))


def _of_rustup() -> Toolchain:
    _run("rustup", "target", "add", TARGET)
    return Toolchain()


def _of_debian() -> Toolchain:
    linker = _linker()
    compiler = UNPACKED / "rustc"
    if not compiler.exists():
        shutil.rmtree(UNPACKED, ignore_errors=True)
        UNPACKED.mkdir(parents=True)
        _run("apt-get", "download", *_packages(), cwd=UNPACKED)
        for package in sorted(UNPACKED.glob("*.deb")):
            _run("dpkg-deb", "-x", package, UNPACKED)
            package.unlink()
        libraries = [*UNPACKED.glob("usr/lib/*-linux-gnu*"), *UNPACKED.glob("usr/lib/llvm-*/lib")]
        paths = ":".join(str(path) for path in libraries)
        new = compiler.with_suffix(".new")
        new.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH="{paths}" exec "{UNPACKED}/usr/bin/rustc" "$@"\n')
        new.chmod(0o755)
        _run(new, "--version")  # its libraries may need others that are not installed
        new.rename(compiler)
    return Toolchain(
        ("-Zbuild-std=std,panic_abort",),
        {
            "RUSTC": str(compiler),
            "RUSTC_BOOTSTRAP": "1",  # build-std is not stable
            "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": str(linker),
        },
    )


def _linker() -> Path:
    """Return the linker of the toolchain in use: Debian's packages have none for WebAssembly."""
    sysroot = Path(_run("rustc", "--print", "sysroot").strip())
    found = next(sysroot.glob("lib/rustlib/*/bin/rust-lld"), None) or shutil.which("wasm-ld")
    if found is None:
        raise MissingError("no rust-lld or wasm-ld")
    return Path(found)


def _packages() -> Sequence[str]:
    """Name Debian's packages of the compiler, the source of its library, and the libraries that it loads."""
    packages = ["rustc-web", "rust-web-src", "libstd-rust-web-dev"]
    for package, pattern in (("libstd-rust-web-dev", r"libstd-rust-web-[\d.]+"), (None, r"libllvm\d+")):
        described = _run("apt-cache", "--no-all-versions", "show", package or packages[-1])
        needed = re.search(rf"^Depends:.*\b({pattern})\b", described, re.MULTILINE)
        if needed is None:
            raise MissingError(f"{packages[-1]} names no {pattern}")
        packages.append(needed[1])
    return packages
