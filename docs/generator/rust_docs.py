"""Doc comments of the Rust sources: the pages quote them, so that each definition is written once."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_LINK = re.compile(r"\[(`[^`\]]+`)\](?!\()")


def _text(comment: str, mark: str) -> str:
    lines = [line.strip().removeprefix(mark).removeprefix(" ") for line in comment.splitlines()]
    return _LINK.sub(lambda m: m[1].replace("crate::", ""), "\n".join(lines)).strip()


def struct(path: str, name: str) -> str:
    """Read the doc of a public struct."""
    source = (ROOT / path).read_text(encoding="utf-8")
    found = re.search(rf"((?:^ *///.*\n)+)(?:^ *#\[.*\]\n)*^ *pub struct {name} ", source, re.MULTILINE)
    if found is None:
        raise ValueError(f"{path}: no documented struct {name}")
    return _text(found[1], "///")


def header(path: str) -> str:
    """Read the doc at the top of a file."""
    lines = []
    for line in (ROOT / path).read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line)
    return _text("\n".join(lines), "//!")


def model(path: str) -> str:
    """Read the first block of plain text in a file's header: the summary of the model."""
    block = re.search(r"```text\n(.*?)```", header(path), re.DOTALL)
    if block is None:
        raise ValueError(f"{path}: no ```text block at the top")
    return block[1].rstrip()
