"""The commands of the real kernel."""
