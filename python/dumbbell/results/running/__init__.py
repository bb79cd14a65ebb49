"""Making the runs of a scenario, here or by workers."""
