"""The edits that make User-mode Linux fit for repeatable experiments, as (file, anchor, replacement).

An edit rather than a diff: an anchor that moved, vanished or came to stand twice in another version is an error, never a silent misfit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dumbbell.exceptions import BackendError

__all__ = ["EDITS", "Edit", "apply"]


@dataclass(frozen=True)
class Edit:
    """One replacement in one file of the kernel's tree."""

    path: str
    anchor: str
    replacement: str


# Distributions tick at 250 Hz: TCP's timers, delayed acknowledgements and CUBIC's clock are counted in ticks.
_HZ = Edit("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100", "config HZ\n\tint\n\tdefault 250")

# The area for the floating-point state is of fixed size. A CPU with a larger state (AMX) must be served with FXSAVE, which always
# fits: ask with a buffer that no state fills, and take the extended state only where it fits.
_XSTATE = [
    Edit("arch/x86/um/os-Linux/registers.c", "malloc(FP_SIZE * sizeof(unsigned long))", "malloc(1 << 16)"),
    Edit(
        "arch/x86/um/os-Linux/registers.c",
        "iov.iov_len = FP_SIZE * sizeof(unsigned long);\n\tif (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0)",
        "iov.iov_len = 1 << 16;\n\tif (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) == 0 &&\n"
        "\t    iov.iov_len <= FP_SIZE * sizeof(unsigned long))",
    ),
]

# Repeatable runs: with `dumbbell_seed=N` everything that asks the host for randomness gets SplitMix64's sequence instead.
# The option is taken off the command line, which the kernel mixes into its own generator.
_SEED = Edit(
    "arch/um/os-Linux/util.c",
    "ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)\n{\n",
    """static unsigned long long dumbbell_state;
static int dumbbell_seeded;

static int __init dumbbell_seed_setup(char *line, int *add)
{
	dumbbell_state = strtoull(line, NULL, 0);
	dumbbell_seeded = 1;
	*add = 0;
	return 0;
}

__uml_setup("dumbbell_seed=", dumbbell_seed_setup,
"dumbbell_seed=<n>\\n"
"    Draw all randomness from a generator started with n.\\n\\n"
);

static ssize_t dumbbell_random(unsigned char *buf, size_t len)
{
	unsigned long long z = 0;
	size_t i;

	for (i = 0; i < len; i++, z >>= 8) {
		if (i % 8 == 0) {
			z = dumbbell_state += 0x9e3779b97f4a7c15ULL;
			z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
			z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
			z ^= z >> 31;
		}
		buf[i] = z;
	}
	return len;
}

ssize_t os_getrandom(void *buf, size_t len, unsigned int flags)
{
	if (dumbbell_seeded)
		return dumbbell_random(buf, len);
""",
)

# A run never outlives the process that started it, however that one ends. And its memory is laid out the same way each time:
# the heap's place decides how large the guest's memory is, and that how large its tables are.
_MAIN = [
    Edit(
        "arch/um/os-Linux/main.c", "#include <sys/resource.h>\n", "#include <sys/resource.h>\n#include <sys/personality.h>\n"
    ),
    Edit(
        "arch/um/os-Linux/main.c",
        "\tset_stklim();\n\n",
        """\tos_set_pdeathsig();
	i = personality(0xffffffff);
	if (i >= 0 && !(i & ADDR_NO_RANDOMIZE) &&
	    personality(i | ADDR_NO_RANDOMIZE) >= 0)
		execv("/proc/self/exe", argv);

	set_stklim();

""",
    ),
]

EDITS: tuple[Edit, ...] = (_HZ, *_XSTATE, _SEED, *_MAIN)


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
            first = edit.anchor.splitlines()[0]
            raise BackendError(f"cannot patch {edit.path}: {first!r} stands {found} times in it, not once; is this another kernel version?")
        file.write_text(text.replace(edit.anchor, edit.replacement), encoding="utf-8")
