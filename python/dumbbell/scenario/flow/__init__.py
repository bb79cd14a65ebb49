"""The flows of a scenario: applications, workloads, sizes, starts and presets."""
