"""Modules that the drawing processes need, imported once for all of them."""

import matplotlib.backends.backend_agg
import matplotlib.backends.backend_svg
import matplotlib.figure  # noqa: F401

import dumbbell.plots.files  # noqa: F401
