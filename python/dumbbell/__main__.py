"""``python -m dumbbell``."""

from dumbbell.cli import main

main()
