# SPDX-License-Identifier: Apache-2.0
"""Checks that compiled plans make of values: the words are those of the reference kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..engine import errors


def error_of(check: Callable[..., object]) -> Callable[..., BaseException]:
    """A function that gives the error which `check` raises for what is wrong."""

    def error(*contents: np.ndarray) -> BaseException:
        try:
            check(*contents)
        except errors.OpError as found:
            return found
        return errors.invalid("The inputs do not fit each other")

    return error
