"""The lab on reading a capture."""
