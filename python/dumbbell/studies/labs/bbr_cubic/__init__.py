"""The lab on BBR against CUBIC."""
