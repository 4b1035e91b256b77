"""Every error a user can cause, in one tree under `EquipoiseError`.

A message names the place (which state, which action, which field), the value found there, and what would be accepted.
A call that raises one of these changes nothing.
"""

from __future__ import annotations


class EquipoiseError(Exception):
    """The root of all errors raised on purpose by this package."""


class ModelError(EquipoiseError):
    """A world or a space that is not well formed."""


class RewardError(EquipoiseError):
    """A reward function that is not concave, not Lipschitz as declared, or of the wrong size."""


class OracleError(EquipoiseError):
    """An oracle that does not fit the reward it was given."""


class ParameterError(EquipoiseError):
    """A parameter of an agent, a planner or a simulation outside its range."""


class ProtocolError(EquipoiseError):
    """`act` and `observe` called out of turn, or with something that cannot have happened."""


class ConvergenceError(EquipoiseError):
    """A planner that did not reach its tolerance within its limit."""


class SolverError(EquipoiseError):
    """An offline program that could not be solved."""


class FileError(EquipoiseError):
    """A file that is missing, truncated, or not one of ours."""


class LogError(EquipoiseError):
    """A log of transitions with rows that cannot have happened."""


class ContractError(EquipoiseError):
    """A component that does not keep to what is asked of its kind; see `equipoise.testing`."""


class StudyError(EquipoiseError):
    """A study that is not well formed, or that cannot be run as it is."""


class ReportError(EquipoiseError):
    """A section of a report that is not well formed, or that cannot be made."""


class AdapterError(EquipoiseError):
    """An environment of another library that cannot be turned into a model, or that broke its own promises."""


class MissingExtraError(EquipoiseError):
    """An optional library that is not installed; the message says what to install."""
