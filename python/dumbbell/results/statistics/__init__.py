"""Statistics of results: intervals, changes, harm, slowdowns, and warnings about weak results."""
