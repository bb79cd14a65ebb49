"""Scenarios: one description of an experiment, read from TOML or made in Python, checked before anything runs."""

from dumbbell.scenario.model import Cell, Scenario, load
from dumbbell.scenario.reading_modes import trusted
from dumbbell.scenario.schema import json_schema

__all__ = ["Cell", "Scenario", "json_schema", "load", "trusted"]
