"""The edits that make User-mode Linux fit for repeatable experiments.

An edit rather than a diff: an anchor that vanished or came to stand twice in another version is an error, never a
silent misfit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dumbbell.exceptions import BackendError

__all__ = ["EDITS", "Edit", "apply"]

TEXTS = Path(__file__).with_name("edits")


@dataclass(frozen=True)
class Edit:
    """One replacement in one file of the kernel's tree."""

    path: str
    anchor: str
    replacement: str


def _text(name: str) -> str:
    return (TEXTS / name).read_text(encoding="utf-8")


# Distributions tick at 250 Hz: TCP's timers, delayed acknowledgments and CUBIC's clock are counted in ticks.
_HZ = Edit("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100", "config HZ\n\tint\n\tdefault 250")

# The virtual clock counts nanoseconds. It would count in 256 of them, and each time that it is read outside of
# interrupts would take as long: microseconds a round trip.
_CLOCK = Edit("arch/um/include/linux/time-internal.h", "#define TIMER_MULTIPLIER 256", "#define TIMER_MULTIPLIER 1")

# The area for a process's vector registers is of fixed size, too small for CPUs with AMX (11,008 bytes). It has to
# hold the whole state: with FXSAVE's part alone, a page fault within a copy loses what the copy holds in wide
# registers, and memory gets holes of zeros. A state that is larger still (seen with a buffer that none fills) ends
# the boot. The kernel's stacks hold such areas (KERNEL_STACK_ORDER in the configuration).
_REGISTERS = "arch/x86/um/os-Linux/registers.c"
_XSTATE = [
    Edit("arch/x86/um/user-offsets.c", "DEFINE_LONGS(HOST_FP_SIZE, 2696);", "DEFINE_LONGS(HOST_FP_SIZE, 12288);"),
    Edit(_REGISTERS, "#include <registers.h>\n", "#include <registers.h>\n#include <os.h>\n"),
    Edit(_REGISTERS, "malloc(FP_SIZE * sizeof(unsigned long))", "malloc(1 << 16)"),
    Edit(
        _REGISTERS,
        "\tiov.iov_len = FP_SIZE * sizeof(unsigned long);\n"
        "\tif (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0)\n",
        _text("registers.c"),
    ),
]

# Repeatable runs: with `dumbbell_seed=N` everything that asks the host for randomness gets SplitMix64's sequence
# instead. The option is taken off the command line, which the kernel mixes into its own generator.
_SEED = Edit(
    "arch/um/os-Linux/util.c",
    "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n{\n",
    _text("seed.c"),
)

# A run never outlives the process that started it, however that one ends. And its memory is laid out alike each time:
# the heap's place decides how large the guest's memory is, and that how large its tables are.
_PROGRAM = "arch/um/os-Linux/main.c"
_MAIN = [
    Edit(_PROGRAM, "#include <sys/resource.h>\n", "#include <sys/resource.h>\n#include <sys/personality.h>\n"),
    Edit(_PROGRAM, "\tset_stklim();\n\n", _text("main.c")),
]

EDITS: tuple[Edit, ...] = (_HZ, _CLOCK, *_XSTATE, _SEED, *_MAIN)


def apply(tree: Path, edits: tuple[Edit, ...] = EDITS) -> None:
    """Make every edit in an unpacked kernel tree.

    Raises
    ------
    BackendError
        An anchor doesn't stand in its file exactly once: the tree isn't the version that the edits are for.
    """
    for edit in edits:
        file = tree / edit.path
        text = file.read_text(encoding="utf-8")
        found = text.count(edit.anchor)
        if found != 1:
            first = edit.anchor.strip().splitlines()[0]
            raise BackendError(
                f"can't patch {edit.path}: {first!r} stands there {found} times, not once; another kernel version?"
            )
        file.write_text(text.replace(edit.anchor, edit.replacement), encoding="utf-8")
