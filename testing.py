# SPDX-License-Identifier: Apache-2.0
"""Checks for programs and ops of users: gradients, to any order, against the values.

    from numbaflow import testing

    testing.check_gradients(lambda x, y: tf.reduce_sum(tf.tanh(x @ y)), a, b)

docs/gradients.md shows it all.  Hypothesis and pytest are imported when `strategies`
or `enrol` is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .engine.testing.checking import Options
from .engine.testing.gradients_of import check_gradients, gradient_report
from .engine.testing.report import Fault, GradientError, Kink, OpAtFault, Report, Row

if TYPE_CHECKING:
    from .engine.testing import strategies
    from .engine.testing.enrolling import enrol

__all__ = [
    "Fault",
    "GradientError",
    "Kink",
    "OpAtFault",
    "Options",
    "Report",
    "Row",
    "check_gradients",
    "enrol",
    "gradient_report",
    "strategies",
]

# What needs Hypothesis or pytest, by the module that it is in.
_LATER = {"enrol": ".engine.testing.enrolling", "strategies": ".engine.testing.strategies"}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(_LATER[name], __package__)
    return module if _LATER[name].endswith(f".{name}") else getattr(module, name)
