# SPDX-License-Identifier: Apache-2.0
"""The gradient of hue, saturation and value: what each channel changes, case by case.

The cases are TensorFlow's: which channel is largest and which is smallest, red before green before
blue where two are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.record_class import record
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# For each channel, the terms of the hue's derivative where another one is the largest:
# the largest, the smallest, a factor (a difference of two channels, or a sign), and the two
# channels by whose difference it is divided: squared if the factor is a difference.
_Factor = tuple[str, str] | int
_HUE: dict[str, tuple[tuple[str, str, _Factor, tuple[str, str]], ...]] = {
    "r": (
        ("g", "r", ("b", "g"), ("r", "g")),
        ("g", "b", -1, ("g", "b")),
        ("b", "r", ("b", "g"), ("b", "r")),
        ("b", "g", 1, ("b", "g")),
    ),
    "g": (
        ("r", "g", ("r", "b"), ("r", "g")),
        ("r", "b", 1, ("r", "b")),
        ("b", "g", ("r", "b"), ("b", "g")),
        ("b", "r", -1, ("b", "r")),
    ),
    "b": (
        ("r", "b", ("g", "r"), ("r", "b")),
        ("r", "g", -1, ("r", "g")),
        ("g", "b", ("g", "r"), ("g", "b")),
        ("g", "r", 1, ("g", "r")),
    ),
}
# What the hue of a channel that is itself the largest depends on.
_NEXT = {"r": ("g", "b"), "g": ("b", "r"), "b": ("r", "g")}
# The order in which the saturation's derivative names the other two channels.
_OTHERS = {"r": ("g", "b"), "g": ("r", "b"), "b": ("g", "r")}


def _inverse(x: Tensor) -> Tensor:
    return tf.div_no_nan(1.0, x)


def _flag(condition: Tensor) -> Tensor:
    return tf.cast(condition, dtypes.float32)


@record
class _Colours:
    """The channels of an image, and where each is largest or smallest."""

    channel: dict[str, Any]
    largest: dict[str, Any]
    smallest: dict[str, Any]
    saturation: Any
    value: Any

    @staticmethod
    def of(image: Tensor, hsv: Tensor) -> _Colours:
        r, g, b = image[..., 0], image[..., 1], image[..., 2]
        saturation, value = hsv[..., 1], hsv[..., 2]
        largest = {
            "r": _flag((r >= b) & (r >= g)),
            "g": _flag((g > r) & (g >= b)),
            "b": _flag((b > r) & (b > g)),
        }
        smallest = {
            "r": _flag((r < b) & (r < g)),
            "g": _flag((g <= r) & (g < b)),
            "b": _flag((b <= r) & (b <= g)),
        }
        return _Colours({"r": r, "g": g, "b": b}, largest, smallest, saturation, value)

    def difference(self, pair: tuple[str, str]) -> Any:
        return self.channel[pair[0]] - self.channel[pair[1]]

    def by_saturation(self, name: str) -> Tensor:
        """How the saturation changes with a channel."""
        own, others = self.channel[name], _OTHERS[name]
        is_lit = _flag(own > 0)
        least = tf.add(*(self.smallest[o] * self.channel[o] for o in others))
        as_largest = self.largest[name] * least * _inverse(tf.square(own))
        below = self.smallest[name] * -1
        most = [self.largest[o] * self.channel[o] for o in others]
        return is_lit * tf.add(as_largest, below * _inverse(most[0] + most[1]))

    def by_hue(self, name: str) -> Tensor:
        """How the hue changes with a channel."""
        lit = _flag(self.channel[name] > 0) * self.largest[name] * -1
        lit = lit * self.difference(_NEXT[name]) * _inverse(tf.square(self.saturation))
        terms = [60 * (lit * _inverse(tf.square(self.value)))]
        for largest, smallest, factor, pair in _HUE[name]:
            term = _flag(self.channel[largest] > 0) * self.largest[largest]
            term = term * self.smallest[smallest]
            if isinstance(factor, tuple):
                term = term * self.difference(factor)
                term = term * _inverse(tf.square(self.difference(pair)))
            else:
                term = term * -1 if factor < 0 else term
                term = term * _inverse(self.difference(pair))
            terms.append(60 * term)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total / 360


def gradient_of_hsv(op: Operation, grad: Tensor) -> Tensor:
    """The gradient of RGBToHSV."""
    colours = _Colours.of(op.inputs[0], op.outputs[0])
    by_value = [colours.largest[name] for name in "rgb"]
    by_saturation = [colours.by_saturation(name) for name in "rgb"]
    by_hue = [colours.by_hue(name) for name in "rgb"]
    parts = [
        tf.stack([grad[..., i] * change for change in changes], axis=-1)
        for i, changes in ((2, by_value), (1, by_saturation), (0, by_hue))
    ]
    return tf.add(tf.add(parts[0], parts[1]), parts[2])
