"""The lab on lossy links."""
