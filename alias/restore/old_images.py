# SPDX-License-Identifier: Apache-2.0
"""Sizes of texts as Pillow measured them, and how alike scikit-image finds two pictures."""

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


def compare_ssim(X: Any, Y: Any, multichannel: bool = False, **kwargs: Any) -> Any:
    """How alike two pictures are (structural similarity).

    Args:
        X: a picture.
        Y: another one of its shape.
        multichannel: whether the last dimension is of colours.
        kwargs: other arguments of `skimage.metrics.structural_similarity`.
    """
    from skimage.metrics import structural_similarity

    if multichannel:
        kwargs["channel_axis"] = -1
    return structural_similarity(X, Y, **kwargs)
