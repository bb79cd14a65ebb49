"""The browser studio: one HTML page with the simulator as WebAssembly, which needs no server and no network.

`settings` has the values that a reader of the page can change, and the scenario that follows; `presets` has examples;
`templates` turns the plans of such scenarios into texts with holes, so that the page makes plans without rules of its
own; `any_scenario` makes those of any other one; `write` writes the page from these, the scripts in the folder
``page``, those of `dumbbell.plots.web`, the engine and a reader of Parquet files (folder ``parquet``).
"""

from typing import TYPE_CHECKING

from dumbbell.common.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.studio.any_scenario import given
    from dumbbell.studio.write import page

__all__ = ["given", "page"]

__getattr__ = _lazy(__name__, {"given": "dumbbell.studio.any_scenario", "page": "dumbbell.studio.write"})
