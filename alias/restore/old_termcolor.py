# SPDX-License-Identifier: Apache-2.0
"""`termcolor`, which came with TensorFlow 1: text in a terminal's colours."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

_NAMES = "grey red green yellow blue magenta cyan white".split()
COLORS = {name: number for number, name in enumerate(_NAMES, 30)} | {"black": 30}
HIGHLIGHTS = {f"on_{name}": number + 10 for name, number in COLORS.items()}
ATTRIBUTES = {"bold": 1, "dark": 2, "underline": 4, "blink": 5, "reverse": 7, "concealed": 8}
RESET = "\033[0m"


def colored(
    text: object,
    color: str | None = None,
    on_color: str | None = None,
    attrs: Iterable[str] | None = None,
) -> str:
    """The text between the codes that begin and end a colour, a background and attributes."""
    shown = str(text)
    if os.getenv("ANSI_COLORS_DISABLED") is not None:
        return shown
    codes = [] if color is None else [COLORS[color]]
    codes += [] if on_color is None else [HIGHLIGHTS[on_color]]
    codes += [ATTRIBUTES[name] for name in attrs or ()]
    for code in codes:
        shown = f"\033[{code}m{shown}"
    return shown + RESET


def cprint(
    text: object,
    color: str | None = None,
    on_color: str | None = None,
    attrs: Iterable[str] | None = None,
    **kwargs: Any,
) -> None:
    """Prints such a text, as `print` does."""
    print(colored(text, color, on_color, attrs), **kwargs)


__all__ = ["ATTRIBUTES", "COLORS", "HIGHLIGHTS", "RESET", "colored", "cprint"]
