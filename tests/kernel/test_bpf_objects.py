"""The compiled BPF objects in git belong to their sources: compiled again, they are the same."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

from required import require_programs

ROOT = Path(__file__).parents[2]
BPF = ROOT / "crates" / "kernel" / "bpf"


def interface(file: Path) -> tuple[set[str], set[str]]:
    """Return what every compiler must produce: the operations (sections), and the kernel's functions (symbols)."""
    data = file.read_bytes()
    (start,), (count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HH", data, 60)
    # name, type, flags, address, offset, size, link, info, alignment, entry size [ELF-64]
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, start + 64 * n) for n in range(count)]

    def text(section: int, at: int) -> str:
        begin = headers[section][4] + at
        return data[begin : data.index(0, begin)].decode()

    operations = {text(names, h[0]) for h in headers if h[5]}
    functions = set()
    for header in (h for h in headers if text(names, h[0]) == ".symtab"):
        for at in range(header[4], header[4] + header[5], 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            if section == 0 and name:
                functions.add(text(header[6], name))
    return {name for name in operations if name.startswith("struct_ops/")}, functions


def test_objects_belong_to_their_sources(tmp_path: Path) -> None:
    require_programs("clang", "llvm-strip", "make")
    subprocess.run(["make", "-s", "bpf", f"BPF_OUT={tmp_path}"], cwd=ROOT, check=True)
    objects = sorted(tmp_path.glob("*.bpf.o"))
    assert [o.name for o in objects] == sorted(o.name for o in BPF.glob("*.bpf.o"))
    assert [o.stem for o in objects] == sorted(c.stem for c in BPF.glob("*.bpf.c"))
    same_compiler = (tmp_path / "clang-version").read_text() == (BPF / "clang-version").read_text()
    for made in objects:
        kept = BPF / made.name
        operations, functions = interface(made)
        assert {"struct_ops/ssthresh", "struct_ops/undo_cwnd", "struct_ops/cong_avoid"} <= operations
        assert (operations, functions) == interface(kept), f"{made.name}: run `make bpf`"
        # Another version of clang may choose other instructions.
        if same_compiler:
            assert made.read_bytes() == kept.read_bytes(), f"{made.name} is older than its source: run `make bpf`"


def test_objects_do_not_depend_on_the_folder_of_the_checkout() -> None:
    for kept in BPF.glob("*.bpf.o"):
        data = kept.read_bytes()
        assert f"./{kept.stem}.c\0".encode() in data
        assert b"crates" not in data
        assert b"/tmp" not in data
