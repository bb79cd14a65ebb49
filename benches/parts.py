"""Instructions by part of the simulator, from a file of callgrind.

A line of the project counts to the part of its source file. A line of the standard library or of crates/units that is
inlined into a function counts to the parts of that function's other lines, in proportion: callgrind doesn't record
which of them it was inlined into.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

__all__ = ["PARTS", "by_part", "part_of"]

PARTS = {
    "events": r"crates/sim/src/(.*/)?(events?|heap|run|schedule)\b",
    "measurement": (
        r"crates/(sim/src/(.*/)?(\w*meter|record|output|queue_result|\w*histogram|\w*stats)\b|trace/)|hdrhistogram"
    ),
    "links": (
        r"crates/(sim/src/(.*/)?(link|network|impairments|reorder|wire|inbox|fifo_queue|fetch|host)|link/|plan/)"
    ),
    "flows": r"crates/sim/",
    "endpoint": r"crates/(tcp|quic|tls|wire)/",
    "congestion control": r"crates/cc/",
    "queue disciplines": r"crates/qdisc/",
    "memory": r"malloc|memmove|memset|memcmp|memcpy|alloc/src/alloc\.rs|mremap|mmap",
}
"""The parts, with the sources that belong to them; the first that matches counts."""
OTHER = "other"
INLINED = re.compile(r"^/rustc/|/library/(core|alloc|std)/|crates/units/")
NAME = re.compile(r"^(fl|fi|fe|fn)=\((\d+)\)(?: (.*))?$")
CALLED = re.compile(r"^(cfi|cfl|cfn)=\((\d+)\) (.*)$")


def part_of(file: str) -> str:
    """Return the part to which a source file belongs."""
    return next((part for part, pattern in PARTS.items() if re.search(pattern, file)), OTHER)


def by_part(lines: Iterable[str]) -> dict[str, float]:
    """Add up the instructions of a callgrind file; the sum is its total."""
    functions: dict[str, Counter[str]] = defaultdict(Counter)
    for function, file, cost in _costs(lines):
        functions[function][file] += cost
    found: dict[str, float] = dict.fromkeys([*PARTS, OTHER], 0.0)
    for files in functions.values():
        own: Counter[str] = Counter()
        inlined = 0
        for file, cost in files.items():
            if INLINED.search(file):
                inlined += cost
            else:
                own[part_of(file)] += cost
        total = sum(own.values())
        for part, cost in own.items():
            found[part] += cost + inlined * cost / total
        if not total:
            found[OTHER] += inlined
    return found


def _costs(lines: Iterable[str]) -> Iterable[tuple[str, str, int]]:
    """Yield function, file of the line, and cost of each line of a function itself."""
    files: dict[str, str] = {}
    functions: dict[str, str] = {}
    function = file = ""
    called = False
    for line in lines:
        if match := NAME.match(line):
            kind, number, name = match.groups()
            names = functions if kind == "fn" else files
            if name is not None:
                names[number] = name
            if kind == "fn":
                function = number
            else:
                file = names[number]
        elif match := CALLED.match(line):
            (functions if match[1] == "cfn" else files)[match[2]] = match[3]
        elif line.startswith("calls="):
            called = True
        elif line[:1] in "+-*0123456789" and line.strip():
            if not called:  # the line after `calls=` has the cost of the called function
                yield functions[function], file, int(line.split()[1])
            called = False
