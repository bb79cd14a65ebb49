"""Doc comments of the Rust sources: the pages quote them, so that each definition is written once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_STRUCT = re.compile(
    r"((?:^///[^\n]*\n)+)(?:^#\[[^\n]*\]\n)*^pub struct (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL
)
_FIELD = re.compile(r"((?:^ +/// ?.*\n)+) +pub (\w+): ([^,\n]+),", re.MULTILINE)
_LINK = re.compile(r"\[(`[^`\]]+`)\](?!\()")


@dataclass(frozen=True)
class Field:
    """A field of a struct: its name, its Rust type and its doc comment."""

    name: str
    type: str
    doc: str


@dataclass(frozen=True)
class Struct:
    """A struct with its documented fields."""

    name: str
    doc: str
    fields: tuple[Field, ...]


def _text(comment: str, mark: str) -> str:
    lines = [line.strip().removeprefix(mark).removeprefix(" ") for line in comment.splitlines()]
    return _LINK.sub(lambda m: m[1].replace("crate::", ""), "\n".join(lines)).strip()


def structs(path: str) -> dict[str, Struct]:
    """Read the documented public structs of a file, by name."""
    source = (ROOT / path).read_text(encoding="utf-8")
    found = {}
    for doc, name, body in _STRUCT.findall(source):
        fields = [Field(f, t, _text(d, "///")) for d, f, t in _FIELD.findall(body)]
        undocumented = set(re.findall(r"^    pub (\w+):", body, re.MULTILINE)) - {f.name for f in fields}
        if undocumented:
            raise ValueError(f"{path}: {name} has fields without a doc: {', '.join(sorted(undocumented))}")
        found[name] = Struct(name, _text(doc, "///"), tuple(fields))
    return found


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
