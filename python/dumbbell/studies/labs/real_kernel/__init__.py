"""The lab on the real kernel."""
