# SPDX-License-Identifier: Apache-2.0
"""Random numbers from a state that is a variable: a counter of 128 bits and a key of 64.

Every op reads the state and moves the counter on, by 256 blocks for each output, whatever it draws.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.session.shared_reads import Changing
from ...engine.types.shape import TensorShape, shape_text
from .philox import RESERVED, Philox, integers, normal, truncated_normal, uniform
from .random_ops import RANDOM, _dims

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.session.state import VariableStorage

RNG_ALG_PHILOX = 1
_STATE_SIZE = 3
_WORD = (1 << 64) - 1
_NEEDS = {"needs": "a variable that holds the state"}
Fill = Callable[[Philox, tuple[int, ...], np.dtype], np.ndarray]


def _signed(value: int) -> int:
    """64 bits as int64."""
    value &= _WORD
    return value - (1 << 64) if value >> 63 else value


def take(cell: VariableStorage, algorithm: np.ndarray | None, blocks: int) -> Philox:
    """The generator of a state, which moves on by so many blocks.

    The oldest op has the algorithm in front of the state; then `algorithm` is None.
    """
    if algorithm is not None and algorithm.ndim:
        raise errors.invalid(
            f"input 1 (0-based) must have shape [], not {shape_text(algorithm.shape)}"
        )
    with Changing(cell):
        state = cell.looked_up()
        if state.dtype != np.int64:
            raise errors.invalid(f"dtype of RNG state variable must be int64, not {state.dtype}")
        if state.ndim != 1:
            raise errors.invalid(
                f"RNG state must have one and only one dimension, not {state.ndim}"
            )
        first = int(algorithm is None)
        if state.size < first:
            raise errors.invalid("Size of tensor must be at least 1")
        found = int(state[0] if algorithm is None else algorithm)
        if found != RNG_ALG_PHILOX:
            raise errors.invalid(f"Unsupported algorithm id: {found}")
        if state.size < first + _STATE_SIZE:
            raise errors.invalid(
                "For the Philox algorithm, the size of state must be at least "
                f"{first + _STATE_SIZE}; got {state.size}"
            )
        low, high, key = (int(word) & _WORD for word in state[first : first + _STATE_SIZE])
        here = Philox(high << 64 | low, key)
        counter = here.skip(blocks).counter
        state[first], state[first + 1] = _signed(counter), _signed(counter >> 64)
    return here


def _drawn(fill: Fill) -> Callable[..., np.ndarray]:
    def kernel(c: KernelContext, cell: VariableStorage, *rest: np.ndarray) -> np.ndarray:
        algorithm = rest[0] if len(rest) > 1 else None
        dims = _dims(rest[-1])
        size = int(np.prod(dims, dtype=np.int64))
        return fill(take(cell, algorithm, size * RESERVED), dims, c.out_dtype())

    return kernel


def _whole_words(at: Philox, dims: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Integers of all bits."""
    size, wide = int(np.prod(dims, dtype=np.int64)), dtype.itemsize == 8
    blocks = at.blocks(-(-size // (2 if wide else 4)))
    if wide:
        words = blocks[:, 0::2] | blocks[:, 1::2].astype(np.uint64) << np.uint64(32)
    else:
        words = blocks
    return words.reshape(-1)[:size].view(dtype).reshape(dims)


def _bounded(
    c: KernelContext,
    cell: VariableStorage,
    algorithm: np.ndarray,
    shape: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    for name, limit in (("minval", low), ("maxval", high)):
        if limit.ndim:
            raise errors.invalid(f"{name} must be 0-D, got shape {shape_text(limit.shape)}")
    if not low < high:
        raise errors.invalid(f"Need minval < maxval, got {low} >= {high}")
    dims = _dims(shape)
    at = take(cell, algorithm, int(np.prod(dims, dtype=np.int64)) * RESERVED)
    return integers(at, dims, c.out_dtype(), int(low), int(high))


def _skip(
    c: KernelContext, cell: VariableStorage, algorithm: np.ndarray, delta: np.ndarray
) -> None:
    if delta.ndim:
        raise errors.invalid(f"input 2 (0-based) must have shape [], not {shape_text(delta.shape)}")
    take(cell, algorithm, int(delta) * RESERVED)


def _from_machine(c: KernelContext, shape: np.ndarray) -> np.ndarray:
    kind, dims = c.out_dtype(), _dims(shape)
    if kind.kind not in "iu" or kind.itemsize < 4:
        raise errors.invalid(f"Unsupported dtype: {kind.name}")
    size = int(np.prod(dims, dtype=np.int64))
    drawn = secrets.randbits(8 * size * kind.itemsize).to_bytes(size * kind.itemsize, "little")
    return np.frombuffer(drawn, kind).reshape(dims).copy()


def shape_at(index: int) -> Callable[[ShapeContext], TensorShape]:
    def shape(c: ShapeContext) -> TensorShape:
        if index == 2 and c.inputs[1].ndims not in (None, 0):
            raise ValueError(f"Shape must be rank 0 but is rank {c.inputs[1].ndims}")
        if c.inputs[index].ndims not in (None, 1):
            raise ValueError(f"Shape must be rank 1 but is rank {c.inputs[index].ndims}")
        return c.value_as_shape(index)

    return shape


_DRAW = "resource: resource, algorithm: int64, shape: shape_dtype"
for _name, _signature, _dtype, _fill, _doc in (
    (
        "StatefulStandardNormal",
        "resource: resource, shape: shape_dtype",
        "float32",
        normal,
        "Standard normal numbers; the algorithm stands in front of the state.",
    ),
    ("StatefulStandardNormalV2", _DRAW, "float32", normal, "Standard normal numbers."),
    ("StatefulUniform", _DRAW, "float32", uniform, "Uniform numbers in [0, 1)."),
    ("StatefulUniformFullInt", _DRAW, "uint64", _whole_words, "Integers of all bits."),
    (
        "StatefulTruncatedNormal",
        _DRAW,
        "float32",
        truncated_normal,
        "Normal numbers within two deviations.",
    ),
):
    define(
        _name,
        f"{_signature} -> output: dtype",
        f"dtype: type = {_dtype}; shape_dtype: type = int64",
        shape=shape_at(1 if _name == "StatefulStandardNormal" else 2),
        kernel=_drawn(_fill),
        gradient=RANDOM,
        stateful=True,
        doc=_doc,
        test=lambda: _NEEDS,
    )
define(
    "StatefulUniformInt",
    f"{_DRAW}, minval: dtype, maxval: dtype -> output: dtype",
    "dtype: type = int64; shape_dtype: type = int64",
    shape=shape_at(2),
    kernel=_bounded,
    gradient=RANDOM,
    stateful=True,
    doc="Uniform integers in [minval, maxval).",
    test=lambda: _NEEDS,
)
define(
    "RngSkip",
    "resource: resource, algorithm: int64, delta: int64 ->",
    kernel=_skip,
    gradient=RANDOM,
    stateful=True,
    doc="Moves a state on as if so many numbers had been drawn.",
    test=lambda: _NEEDS,
)
define(
    "NonDeterministicInts",
    "shape: shape_dtype -> output: dtype",
    "dtype: type = int64; shape_dtype: type = int64",
    shape=shape_at(0),
    kernel=_from_machine,
    gradient=RANDOM,
    stateful=True,
    doc="Integers that the machine draws.",
    test=lambda: _NEEDS,
)
