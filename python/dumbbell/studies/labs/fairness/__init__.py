"""The lab on fairness."""
