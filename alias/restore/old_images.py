# SPDX-License-Identifier: Apache-2.0
"""Sizes of texts as Pillow measured them."""

from __future__ import annotations

from typing import Any


def font_size(self: Any, text: str, *args: Any, **kwargs: Any) -> tuple[int, int]:
    """(width, height) of a text in a font."""
    _, _, right, bottom = self.getbbox(text, *args, **kwargs)
    return int(right), int(bottom)


def text_size(self: Any, text: str, font: Any = None, *args: Any, **kwargs: Any) -> tuple[int, int]:
    """(width, height) of a text that would be drawn."""
    left, top, right, bottom = self.textbbox((0, 0), text, font, *args, **kwargs)
    return int(right - min(left, 0)), int(bottom - min(top, 0))
