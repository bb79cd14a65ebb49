"""Finished runs: their records with derived metrics, as text, as columns, and as a list of any length."""
