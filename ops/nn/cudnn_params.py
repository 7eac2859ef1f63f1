# SPDX-License-Identifier: Apache-2.0
"""The weights of cudnn's recurrent nets, as one vector and one by one.

The layout is cudnn's (cudnn_layout.py); there is no padding, so that sizes are those of the parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from .cudnn_layout import ATTRS, TYPES, Attributes, Net, net

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_SIZES = "num_layers: int32, num_units: int32, input_size: int32"
_NEEDS = {"needs": "TensorFlow on a GPU; see tests/ops/nn/test_cudnn.py"}
# The name of what tells versions apart: the second ones know projections.
_COUNTS = {
    "": ("num_params", "num_params", "num_params: int >= 1", ""),
    "V2": (
        "num_params_weights",
        "num_params_biases",
        "num_params_weights: int >= 1; num_params_biases: int >= 1",
        "; num_proj: int = 0",
    ),
}


def _net(c: Attributes, sizes: tuple[Any, ...], version: str) -> Net:
    for name, size in zip(("num_layers", "num_units", "input_size"), sizes):
        if size.ndim:
            raise errors.invalid(f"{name} is not a scalar: {shape_text(size.shape)}")
    projected = c.attr("num_proj") if version else 0
    layers, units, inputs = (int(size) for size in sizes)
    return net(c, layers, units, inputs, projected)


def _check_counts(c: Attributes, made: Net, version: str) -> None:
    for key, parts in zip(_COUNTS[version][:2], made.parts()):
        if c.attr(key) != len(parts):
            raise errors.invalid(
                f"{key} is {c.attr(key)}, but a net of {made.layers} layers has {len(parts)}"
            )


def _size_kernel(c: KernelContext, *sizes: Any) -> np.ndarray:
    return np.array([_net(c, sizes, "V2").size], c.out_dtype(0))


def _size_shape(c: ShapeContext) -> TensorShape:
    return TensorShape([1])


define(
    "CudnnRNNParamsSize",
    f"{_SIZES} -> params_size: S",
    f"{TYPES}; S: {{int32, int64}}; {ATTRS}; num_proj: int = 0",
    shape=_size_shape,
    kernel=_size_kernel,
    gradient=NoGradient("it counts"),
    doc="The number of weights of a recurrent net, as a vector of one element.",
    test=lambda: _NEEDS,
)


def _canonical_shape(version: str) -> Callable[[ShapeContext], list[TensorShape]]:
    def shape(c: ShapeContext) -> list[TensorShape]:
        matrices, biases, *_ = _COUNTS[version]
        unknown = TensorShape([None, None])
        return [unknown] * c.attr(matrices) + [TensorShape([None])] * c.attr(biases)

    return shape


def _to_canonical(version: str) -> Callable[..., Any]:
    def kernel(c: KernelContext, *given: Any) -> list[Any]:
        *sizes, params = given
        made = _net(c, tuple(sizes), version)
        _check_counts(c, made, version)
        _check_size(made, params.shape)
        return [
            params[part.start : part.start + math.prod(part.shape)].reshape(part.shape)
            for parts in made.parts()
            for part in parts
        ]

    return kernel


def _check_size(made: Net, shape: tuple[int, ...]) -> None:
    if shape != (made.size,):
        raise errors.invalid(
            f"params has shape {shape_text(shape)}, but the net has {made.size} weights"
        )


def _known_net(b: Builder, op: OpView, sizes: tuple[Value, ...], version: str) -> Net | None:
    known = [b.known(size) for size in sizes]
    if any(size is None or size.dtype == object for size in known):
        return None
    return _net(op, tuple(known), version)


def _lower_to_canonical(version: str) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, *given: Value) -> Any:
        *sizes, params = given
        made = _known_net(b, op, tuple(sizes), version)
        if made is None:
            return NotImplemented
        b.require_shape(params, [made.size])
        return tuple(
            b.reshape(b.slice(params, [part.start], [math.prod(part.shape)]), part.shape)
            for parts in made.parts()
            for part in parts
        )

    return lower


def _to_params(version: str) -> Callable[..., Any]:
    def kernel(c: KernelContext, *given: Any) -> np.ndarray:
        made = _net(c, given[:3], version)
        _check_counts(c, made, version)
        wanted = [part for parts in made.parts() for part in parts]
        values = [value for group in given[3:] for value in group]
        flat = [np.ravel(value) for value in values]
        for i, (value, part) in enumerate(zip(flat, wanted, strict=True)):
            if value.size != math.prod(part.shape):
                raise errors.invalid(
                    f"Weight or bias {i} has shape {shape_text(values[i].shape)}, "
                    f"but the net's has {shape_text(part.shape)}"
                )
        return np.concatenate(flat)

    return kernel


def _lower_to_params(version: str) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, *given: Any) -> Any:
        made = _known_net(b, op, given[:3], version)
        if made is None:
            return NotImplemented
        flat = []
        values = [value for group in given[3:] for value in group]
        for value, part in zip(values, [part for parts in made.parts() for part in parts]):
            size = math.prod(part.shape)
            b.require(b.equal(math.prod(value.shape), size))
            flat.append(b.reshape(value, (size,)))
        return b.concat(flat, 0)

    return lower


def _vector(c: ShapeContext) -> TensorShape:
    return TensorShape([None])


for _apart, _together, _version in (
    ("CudnnRNNParamsToCanonical", "CudnnRNNCanonicalToParams", ""),
    ("CudnnRNNParamsToCanonicalV2", "CudnnRNNCanonicalToParamsV2", "V2"),
):
    _matrices, _biases, _counts, _more = _COUNTS[_version]
    define(
        _apart,
        f"{_SIZES}, params: T -> weights: {_matrices} * T, biases: {_biases} * T",
        f"{TYPES}; {_counts}; {ATTRS}{_more}",
        shape=_canonical_shape(_version),
        kernel=_to_canonical(_version),
        lower=_lower_to_canonical(_version),
        gradient=NoGradient("TensorFlow has none"),
        doc="The weights and biases of a recurrent net, one by one.",
        test=lambda: _NEEDS,
    )
    define(
        _together,
        f"{_SIZES}, weights: {_matrices} * T, biases: {_biases} * T -> params: T",
        f"{TYPES}; {_counts}; {ATTRS}{_more}",
        shape=_vector,
        kernel=_to_params(_version),
        lower=_lower_to_params(_version),
        gradient=NoGradient("TensorFlow has none"),
        doc="The weights and biases of a recurrent net as one vector.",
        test=lambda: _NEEDS,
    )
