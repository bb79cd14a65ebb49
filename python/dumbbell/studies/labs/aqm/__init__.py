"""The lab on active queue management."""
