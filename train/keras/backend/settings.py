# SPDX-License-Identifier: Apache-2.0
"""Settings that all of Keras reads: the float type, a small number, the order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_settings: dict[str, Any] = {
    "floatx": "float32",
    "epsilon": 1e-7,
    "image_data_format": "channels_last",
}


def floatx() -> str:
    """The name of the float type that is meant where none is given: "float32" at first."""
    return str(_settings["floatx"])


def set_floatx(value: str) -> None:
    """Sets what `floatx` gives.

    Raises:
        ValueError: it is none of float16, float32 and float64.
    """
    _choose("floatx", value, ("float16", "float32", "float64"), "floatx type")


def image_data_format() -> str:
    """The order of a picture's axes where none is given: "channels_last" at first."""
    return str(_settings["image_data_format"])


def set_image_data_format(data_format: str) -> None:
    """Sets what `image_data_format` gives.

    Raises:
        ValueError: it is neither channels_last nor channels_first.
    """
    _choose("image_data_format", data_format, ("channels_last", "channels_first"), "data_format")


def _choose(setting: str, value: str, choices: Sequence[str], what: str) -> None:
    if value not in choices:
        raise ValueError(f"Unknown {what}: {value}")
    _settings[setting] = str(value)


def epsilon() -> float:
    """The small number that keeps divisors from zero: 1e-7 at first."""
    return float(_settings["epsilon"])


def set_epsilon(value: float) -> None:
    """Sets what `epsilon` gives."""
    _settings["epsilon"] = value
