#!/usr/bin/env python3
"""Unpack and pack the corpus: `corpus/TARGET` holds the inputs of a target, each after its length in two bytes.

    python3 fuzz/corpus.py unpack FOLDER     # writes FOLDER/TARGET/0000 ...: input of libFuzzer
    python3 fuzz/corpus.py pack FOLDER       # packs it, minimized by -set_cover_merge=1 -use_counters=0 -max_len=320

`crates/capture/tests/fuzz.rs` replays it.
"""

import struct
import sys
from pathlib import Path

HERE = Path(__file__).parent / "corpus"


def unpack(folder: Path) -> None:
    """Write each input into a file."""
    for packed in sorted(HERE.iterdir()):
        data, at, n = packed.read_bytes(), 0, 0
        place = folder / packed.name
        place.mkdir(parents=True, exist_ok=True)
        while at < len(data):
            (size,) = struct.unpack_from("<H", data, at)
            (place / f"{n:04}").write_bytes(data[at + 2 : at + 2 + size])
            at, n = at + 2 + size, n + 1


def pack(folder: Path) -> None:
    """Pack the inputs, sorted, so that equal corpora are equal files."""
    HERE.mkdir(exist_ok=True)
    for place in sorted(p for p in folder.iterdir() if p.is_dir()):
        inputs = sorted({file.read_bytes() for file in place.iterdir()}, key=lambda data: (len(data), data))
        (HERE / place.name).write_bytes(b"".join(struct.pack("<H", len(data)) + data for data in inputs))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["unpack", folder]:
            unpack(Path(folder))
        case ["pack", folder]:
            pack(Path(folder))
        case _:
            sys.exit(__doc__)
