"""Settings that a publication leaves open: other values, at which its claims are judged too, or why there are none.

::

    [[open]]
    id = "page-size"
    setting = "size of the page"
    used = "750 kB"
    experiments = ["hall"]
    values = [{ name = "2650 kB", changes = { "flows.page.application.size" = "2650 kB" } }]
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

__all__ = ["OpenSetting", "OpenValue"]


class OpenValue(BaseModel):
    """Another value that a report's setting may have had.

    Attributes
    ----------
    name : str
        The value in words.
    changes : dict
        Changes to the scenarios of the setting's experiments: path -> value. Those that a scenario lacks are an error.
    file : str
        Instead of changes: another scenario file in the study's folder, for an open setting of one experiment.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    changes: dict[str, Any] = {}
    file: str = ""

    @model_validator(mode="after")
    def _one_kind(self) -> OpenValue:
        if bool(self.changes) == bool(self.file):
            raise ValueError(f"{self.name}: give either changes or a file")
        return self


class OpenSetting(BaseModel):
    """A setting that the publication doesn't state.

    Attributes
    ----------
    id : str
    setting : str
        Its name in words.
    used : str
        The value of the study's own scenarios, in words.
    experiments : list of str
        The experiments that have the setting.
    claims : list of str
        The claims that are judged at the other values too; default: all that read one of the experiments.
    values : list of OpenValue
        The other values.
    reason : str
        Instead of values: why it isn't varied.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    setting: str
    used: str
    experiments: list[str] = []
    claims: list[str] = []
    values: list[OpenValue] = []
    reason: str = ""

    @model_validator(mode="after")
    def _one_answer(self) -> OpenSetting:
        if bool(self.values) == bool(self.reason):
            raise ValueError(f"open setting {self.id}: give either values or the reason why it isn't varied")
        if self.values and not self.experiments:
            raise ValueError(f"open setting {self.id}: name the experiments that have it")
        if any(value.file for value in self.values) and len(self.experiments) > 1:
            raise ValueError(f"open setting {self.id}: a file is for one experiment")
        return self
