"""The lab on bufferbloat."""
