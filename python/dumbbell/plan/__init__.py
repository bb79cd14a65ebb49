"""The plan of a run: nodes, links and flows in base units, the one form that every back end reads."""
