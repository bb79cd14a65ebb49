"""Results as frames: tables over all runs, means over repetitions, export."""
