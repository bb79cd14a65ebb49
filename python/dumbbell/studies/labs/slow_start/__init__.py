"""The lab on slow start."""
