# SPDX-License-Identifier: Apache-2.0
"""What a layer demands of its inputs: ranks, dtypes and sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes, nest

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, SparseLike, TensorLike


class InputSpec:
    """The demands on one input (tf.layers.InputSpec); None demands nothing.

    Args:
        dtype: the dtype of the input.
        shape: the shape, a tuple in which None stands for any size; gives `ndim`, too.
        ndim, max_ndim, min_ndim: the rank and its bounds.
        axes: axis -> size that the axis must have.

    Raises:
        TypeError: a key of `axes` is no integer.
        ValueError: an axis lies outside the rank.
    """

    def __init__(
        self,
        dtype: DTypeLike | None = None,
        shape: Sequence[int] | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[int, Any] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        try:
            self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        except (ValueError, TypeError):
            raise TypeError("The keys in axes must be integers.") from None
        most = self.ndim or self.max_ndim
        if self.axes and most is not None and max(self.axes) > most - 1:
            raise ValueError(
                f"Axis {max(self.axes)} is greater than the maximum allowed value: {most - 1}"
            )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal one."""
        return {
            name: getattr(self, name)
            for name in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The opposite of `get_config`."""
        return cls(**config)

    def __repr__(self) -> str:
        said = (f"{name}={value}" for name, value in self.get_config().items() if value)
        return f"InputSpec({', '.join(said)})"


def assert_input_compatibility(
    input_spec: object, inputs: SparseLike | TensorLike, layer_name: str
) -> None:
    """Raises a ValueError when the inputs are not what the spec (or a list of specs) demands."""
    if not input_spec:
        return
    given, specs = nest.flatten(inputs), nest.flatten(input_spec)
    if len(given) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(given)} input "
            f"tensors. Inputs received: {given}"
        )
    for index, (x, spec) in enumerate(zip(given, specs)):
        for reason in () if spec is None else _reasons(x, spec):
            raise ValueError(
                f"Input {index} of layer {layer_name} is incompatible with the layer: {reason}"
            )
        wrong = None if spec is None else _wrong_shape(x, spec)
        if wrong:
            raise ValueError(f"Input {index} is incompatible with layer {layer_name}: {wrong}")


def _reasons(x: Any, spec: InputSpec) -> Iterator[str]:
    """What is wrong with an input."""
    bounds = (spec.ndim, spec.min_ndim, spec.max_ndim)
    rank = x.shape.ndims
    if rank is None and any(bound is not None for bound in bounds):
        yield "its rank is undefined, but the layer requires a defined rank."
    if rank is not None:
        received = f"found ndim={rank}. Full shape received: {x.shape.as_list()}"
        if spec.ndim is not None and rank != spec.ndim:
            yield f"expected ndim={spec.ndim}, {received}"
        if spec.max_ndim is not None and rank > spec.max_ndim:
            yield f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
        if spec.min_ndim is not None and rank < spec.min_ndim:
            yield f": expected min_ndim={spec.min_ndim}, {received}"
    if spec.dtype is not None and x.dtype != spec.dtype:
        yield f"expected dtype={spec.dtype}, found dtype={x.dtype}"
    if rank is not None:
        yield from _wrong_sizes(x.shape.as_list(), spec)


def _wrong_sizes(sizes: list[Any], spec: InputSpec) -> Iterator[str]:
    for axis, value in spec.axes.items():
        value = getattr(value, "value", value)
        if value is not None and sizes[axis] not in (value, None):
            yield (
                f"expected axis {axis} of input shape to have value {value} but received input "
                f"with shape {sizes}"
            )


def _wrong_shape(x: Any, spec: InputSpec) -> str | None:
    """What is wrong with an input's shape, if a spec has a whole one."""
    sizes = x.shape.as_list() if spec.shape is not None and x.shape.ndims is not None else ()
    for wanted, size in zip(spec.shape or (), sizes):
        if wanted is not None and size is not None and wanted != size:
            return f"expected shape={spec.shape}, found shape={sizes}"
    return None
