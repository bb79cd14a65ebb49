"""The commands of captures."""
