# SPDX-License-Identifier: Apache-2.0
"""What debugging runs write of a value beside, or instead of, the value itself.

Debug operations are asked for by text, with settings: `DebugNumericSummary(lower_bound=-1.0)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.record_class import record
from ..engine.types.dtypes import DType

IDENTITY = "DebugIdentity"
# What an operation makes of a value, whose type in messages has a number; None: nothing is written.
Summary = Callable[[np.ndarray, int, dict[str, str]], np.ndarray | None]


def _nan_count(value: np.ndarray, number: int, settings: dict[str, str]) -> np.ndarray:
    del number, settings
    return np.array([np.isnan(value).sum() if value.dtype.kind in "fc" else 0])


def _numeric_summary(value: np.ndarray, number: int, settings: dict[str, str]) -> np.ndarray | None:
    """How many numbers are of which kind, their range, mean and variance, their type and shape.

    Numbers up to the lower bound, or from the upper one, count as infinite.
    """
    x = value.astype(np.float64).ravel()
    finite = x[np.isfinite(x)]
    lower = float(settings.get("lower_bound", "-inf"))
    upper = float(settings.get("upper_bound", "inf"))
    low, high = (x == -np.inf).sum(), (x == np.inf).sum()
    below = finite <= lower if np.isfinite(lower) else np.zeros(finite.shape, bool)
    above = ~below & (finite >= upper) if np.isfinite(upper) else np.zeros(finite.shape, bool)
    inside = finite[~below & ~above]
    unusual = (np.isnan(x).sum(), low + below.sum(), high + above.sum())
    if _is_true(settings.get("mute_if_healthy", "")) and not any(unusual):
        return None
    counts = [1, x.size, *unusual[:2], (inside < 0).sum(), (inside == 0).sum(), (inside > 0).sum()]
    some = finite.size > 0
    spread = (finite.min(), finite.max(), finite.mean(), finite.var()) if some else ()
    rest = spread or (np.inf, -np.inf, np.nan, np.nan)
    return np.array([*counts, unusual[2], *rest, number, value.ndim, *value.shape], np.float64)


def _is_true(text: str) -> bool:
    return text.strip().lower() in ("true", "1", "t", "y", "yes")


_SUMMARIES: dict[str, Summary] = {
    "DebugNanCount": _nan_count,
    "DebugNumericSummary": _numeric_summary,
}


@record(frozen=True)
class DebugOp:
    """A debug operation as a watch asks for it."""

    name: str
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parsed(cls, text: str) -> DebugOp:
        """What a text asks for.

        Raises:
            UnimplementedError: there is no such operation here.
        """
        found = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
        name, given = (found[1], found[2] or "") if found else (text, "")
        if name != IDENTITY and name not in _SUMMARIES:
            raise errors.unimplemented(
                f"{text} is not in numbaflow; watches have {', '.join([IDENTITY, *_SUMMARIES])}"
            )
        pairs = (part.partition("=") for part in given.split(";") if part.strip())
        return cls(name, tuple((key.strip(), value.strip()) for key, _, value in pairs))

    def of(self, value: np.ndarray, dtype: DType) -> Any:
        """What is written of a value; None for nothing, as of texts, which are no numbers."""
        if self.name == IDENTITY:
            return value
        if value.dtype.kind not in "biufc" and value.dtype.name != "bfloat16":
            return None
        return _SUMMARIES[self.name](value, dtype.as_datatype_enum, dict(self.settings))
