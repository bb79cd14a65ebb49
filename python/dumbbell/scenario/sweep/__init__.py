"""The sweep of a scenario: its cells, their checks, seeds and repetitions."""
