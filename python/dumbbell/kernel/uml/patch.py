"""The edits that make runs of User-mode Linux repeatable.

Each edit replaces an anchor in one file. Unlike a diff, it fails if the anchor is missing or occurs twice in another
version of the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dumbbell.exceptions import BackendError

__all__ = ["EDITS", "Edit", "apply"]

TEXTS = Path(__file__).with_name("edits")


@dataclass(frozen=True)
class Edit:
    """A replacement in a file of the kernel's tree.

    Attributes
    ----------
    path : str
        The file, relative to the tree.
    anchor : str
        The text that is replaced; the file has it exactly once.
    replacement : str
        The text that takes its place.
    """

    path: str
    anchor: str
    replacement: str


def _text(name: str) -> str:
    return (TEXTS / name).read_text(encoding="utf-8")


# Distributions have HZ=250. TCP's timers, its delayed ACKs and CUBIC's clock count in ticks (jiffies).
_HZ = Edit("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100", "config HZ\n\tint\n\tdefault 250")

# The virtual clock counts in units of 1 ns instead of 256 ns. Each read of the clock outside of interrupts advances
# it by one unit [Linux arch/um/kernel/time.c timer_read]: with 256 ns that is some microseconds per round trip.
_CLOCK = Edit("arch/um/include/linux/time-internal.h", "#define TIMER_MULTIPLIER 256", "#define TIMER_MULTIPLIER 1")

# The area for a process's vector registers has a fixed size, too small for CPUs with AMX (11,008 bytes). It must hold
# the whole state: if only FXSAVE's part is saved, a page fault within a copy loses the content of wide registers, and
# the copy has holes of zeros. A state that is larger still ends the boot; a buffer larger than any state detects
# that. The kernel's stacks hold such areas (KERNEL_STACK_ORDER in the configuration).
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

# Repeatable runs: with `dumbbell_seed=N` every request for the host's randomness returns the sequence of SplitMix64
# instead. The option is removed from the command line, which the kernel mixes into its own generator.
_SEED = Edit(
    "arch/um/os-Linux/util.c", "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n{\n", _text("seed.c")
)

# A run ends with the process that started it, however that ends. And its memory has the same layout each time: the
# heap's address decides the size of the guest's memory, which decides the size of its hash tables.
_PROGRAM = "arch/um/os-Linux/main.c"
_MAIN = [
    Edit(_PROGRAM, "#include <sys/resource.h>\n", "#include <sys/resource.h>\n#include <sys/personality.h>\n"),
    Edit(_PROGRAM, "\tset_stklim();\n\n", _text("main.c")),
]

# Watching a run changes nothing in it. The guest's only program sends the traffic and also measures. The timers of
# its measurement are interrupts, and its memory and system calls depend on the series and captures that it keeps.
_WATCH = [
    # The amount of memory isn't part of the command line, which the kernel mixes into its random numbers.
    Edit(
        "arch/um/kernel/physmem.c",
        "static int __init uml_mem_setup(char *line, int *add)\n{\n\tchar *retptr;\n",
        "static int __init uml_mem_setup(char *line, int *add)\n{\n\tchar *retptr;\n\n\t*add = 0;\n",
    ),
    # Interrupts aren't mixed into the random numbers.
    Edit("kernel/irq/handle.c", "\tadd_interrupt_randomness(desc->irq_data.irq);\n\n", ""),
    # The clock doesn't advance when process 1, one of its system calls or the kernel itself (the idle task) reads it.
    Edit(
        "arch/um/kernel/time.c",
        "\t\t    !time_travel_ext_waiting)\n\t\t\ttime_travel_update_time_rel(TIMER_MULTIPLIER);",
        "\t\t    current->mm && !is_global_init(current) &&\n"
        "\t\t    !time_travel_ext_waiting)\n\t\t\ttime_travel_update_time_rel(TIMER_MULTIPLIER);",
    ),
    # A timer's interrupt comes at the instant of its expiry, also if another one came just before. The original adds
    # 1 ns, and at least 500 ns pass after the last one.
    Edit("arch/um/kernel/time.c", "\tdelta += 1;\n", "\tdelta += !delta;\n"),
    Edit("arch/um/include/linux/time-internal.h", "#define TIMER_MIN_DELTA  500", "#define TIMER_MIN_DELTA  1"),
    # A timer with slack expires at the end of its slack: otherwise any other timer's interrupt within it ends it.
    # TCP delays merged ACKs with such timers [Linux net/ipv4/tcp_input.c __tcp_ack_snd_check].
    Edit(
        "kernel/time/hrtimer.c",
        "if (basenow < hrtimer_get_softexpires_tv64(timer))",
        "if (basenow < hrtimer_get_expires_tv64(timer))",
    ),
]

# Each system call of a program takes 1 us. Otherwise a program that asks again and again until something has happened
# (iperf3 calls select while it waits for its server) would never let the time pass in which it happens. The original
# delays only calls that fail. Process 1 takes no time.
_PROGRAMS = Edit(
    "arch/um/kernel/skas/syscall.c",
    "\t\tif (IS_ERR_VALUE(ret) &&\n",
    "\t\tif ((IS_ERR_VALUE(ret) || !is_global_init(current)) &&\n",
)

EDITS: tuple[Edit, ...] = (_HZ, _CLOCK, *_XSTATE, _SEED, *_MAIN, *_WATCH, _PROGRAMS)


def apply(tree: Path, edits: tuple[Edit, ...] = EDITS) -> None:
    """Make every edit in an unpacked kernel tree.

    Raises
    ------
    BackendError
        A file doesn't have its anchor exactly once: the tree isn't the version that the edits are made for.
    """
    for edit in edits:
        file = tree / edit.path
        text = file.read_text(encoding="utf-8")
        found = text.count(edit.anchor)
        if found != 1:
            first = edit.anchor.strip().splitlines()[0]
            raise BackendError(
                f"can't patch {edit.path}: {first!r} occurs {found} times, not once; another kernel version?"
            )
        file.write_text(text.replace(edit.anchor, edit.replacement), encoding="utf-8")
