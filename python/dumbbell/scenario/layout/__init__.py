"""The layout of a scenario: its network drawn out with the flows on it, and checked as a whole."""
