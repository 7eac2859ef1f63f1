# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for tensors and graphs: `numbaflow.testing.strategies`.

What they draw shrinks to little: shapes to one element, values to round numbers, and programs to
the one op that fails.  A program that is drawn is printed as Python that makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ..graph.graph import Graph
from ..graph.tensor import Tensor
from ..types import dtypes as types
from ..types.dtypes import DType
from ..types.shape import TensorShape
from .programs import Program, Step, Training, composable

__all__ = [
    "Program",
    "Step",
    "Training",
    "arrays",
    "axes",
    "broadcastable_shapes",
    "dtypes",
    "feeds",
    "permutations",
    "programs",
    "shapes",
    "slices",
    "tensors",
    "training_steps",
]

Shape = tuple[int, ...]
Array = np.ndarray[Any, Any]
Kind = Literal["float", "complex", "int", "bool"]

_KINDS: dict[str, tuple[DType, ...]] = {
    "float": (types.float64, types.float32, types.float16, types.bfloat16),
    "complex": (types.complex128, types.complex64),
    "int": (types.int32, types.int64, types.uint8, types.int8, types.int16, types.uint16),
    "bool": (types.bool,),
}


def dtypes(*kinds: Kind) -> st.SearchStrategy[DType]:
    """Element types of the kinds, by default of all; the first ones are the usual ones."""
    return st.sampled_from([kind for name in kinds or _KINDS for kind in _KINDS[name]])


def shapes(
    min_dims: int = 0, max_dims: int = 3, min_side: int = 1, max_side: int = 4
) -> st.SearchStrategy[Shape]:
    """Sizes; with min_side=0 some tensors are empty."""
    return hnp.array_shapes(
        min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=max_side
    )


@st.composite
def partial_shapes(draw: st.DrawFn, shape: Sequence[int]) -> TensorShape:
    """What a graph may know of a shape: any of its sizes may be unknown, or the rank."""
    if draw(st.booleans()):
        return TensorShape([None if draw(st.booleans()) else size for size in shape])
    return TensorShape(None) if draw(st.booleans()) else TensorShape(list(shape))


def broadcastable_shapes(
    count: int = 2, max_dims: int = 3, min_side: int = 1, max_side: int = 4
) -> st.SearchStrategy[tuple[Shape, ...]]:
    """Shapes that broadcast against each other."""
    drawn = hnp.mutually_broadcastable_shapes(
        num_shapes=count, max_dims=max_dims, min_side=min_side, max_side=max_side
    )
    return drawn.map(lambda found: found.input_shapes)


def axes(ndim: int, min_size: int = 0) -> st.SearchStrategy[tuple[int, ...]]:
    """Different axes of a tensor of so many, some counted from the end."""
    if ndim == 0:
        return st.just(())
    chosen = st.lists(st.integers(0, ndim - 1), min_size=min_size, max_size=ndim, unique=True)
    signs = st.lists(st.booleans(), min_size=ndim, max_size=ndim)
    return st.builds(
        lambda found, flips: tuple(k - ndim if flips[k] else k for k in found), chosen, signs
    )


def permutations(ndim: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Orders of all axes; the simplest one leaves them as they are."""
    return st.permutations(range(ndim)).map(tuple)


def slices(shape: Sequence[int]) -> st.SearchStrategy[Any]:
    """What stands in the brackets of `x[...]`: numbers, slices, an ellipsis, new axes."""
    return hnp.basic_indices(tuple(shape), allow_newaxis=True)


# Values of floats that ops go wrong at, as functions of what is known of the type.
def _special(kind: np.dtype[Any]) -> list[float]:
    info = np.finfo(kind) if kind.kind == "f" else np.finfo(np.float32)
    tiny = float(info.smallest_subnormal)
    return [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, float(info.max), float(info.tiny), tiny]


@st.composite
def arrays(
    draw: st.DrawFn,
    dtype: DType | st.SearchStrategy[DType] = types.float64,
    shape: Any = None,
    special: bool = False,
    low: float = -2.0,
    high: float = 2.0,
) -> Array:
    """Arrays of a type and shape, or of drawn ones.

    Values lie between low and high and are often alike, as ties are what maxima and sorting go
    wrong at; with `special` they are also ±0, infinite, NaN, huge, tiny and denormal.
    """
    kind = draw(dtype) if isinstance(dtype, st.SearchStrategy) else dtype
    sizes = draw(shapes() if shape is None else st.just(shape) if _is_shape(shape) else shape)
    numpy_kind = np.dtype(kind.as_numpy_dtype)
    if kind == types.bool:
        return draw(hnp.arrays(np.bool_, sizes))
    if kind.is_integer:
        lowest = max(int(kind.min), int(low) if kind.min < 0 else 0)
        return draw(
            hnp.arrays(numpy_kind, sizes, elements=st.integers(lowest, max(int(high), lowest)))
        )
    values = _floats(numpy_kind, special, low, high)
    drawn = draw(hnp.arrays(np.float64, sizes, elements=values))
    if kind.is_complex:
        parts = np.stack([drawn, draw(hnp.arrays(np.float64, sizes, elements=values))], -1)
        drawn = parts.view(np.complex128)[..., 0]
    with np.errstate(all="ignore"):
        return np.asarray(drawn).astype(numpy_kind)


def _is_shape(shape: object) -> bool:
    return isinstance(shape, (tuple, list))


def _floats(
    kind: np.dtype[Any], special: bool, low: float, high: float
) -> st.SearchStrategy[float]:
    # Sixteenths: round numbers, few enough for ties.
    usual = st.integers(round(16 * low), round(16 * high)).map(lambda k: k / 16)
    return usual | st.sampled_from(_special(kind)) if special else usual


@st.composite
def feeds(
    draw: st.DrawFn, placeholders: Sequence[Tensor], unknown: int = 2, special: bool = False
) -> dict[Tensor, Array]:
    """Something to feed for placeholders: sizes that their shapes leave open are `unknown`."""
    found: dict[Tensor, Array] = {}
    for place in placeholders:
        known = place.shape.as_list() if place.shape.ndims is not None else [None]
        sizes = tuple(unknown if size is None else size for size in known)
        found[place] = draw(arrays(place.dtype.base_dtype, sizes, special=special))
    return found


def tensors(graph: Graph, *kinds: Kind) -> st.SearchStrategy[Tensor]:
    """Tensors of a graph, those made first are the simplest."""
    wanted = {kind for name in kinds or _KINDS for kind in _KINDS[name]}
    made = [y for op in graph.get_operations() for y in op.outputs]
    return st.sampled_from([y for y in made if y.dtype in wanted])


@st.composite
def programs(
    draw: st.DrawFn,
    ops: Sequence[str] | None = None,
    max_steps: int = 5,
    max_inputs: int = 2,
    control_flow: bool = False,
    well_conditioned: bool = True,
) -> Program:
    """Small graphs: functions of one or two arrays of one shape, made of the registry's ops.

    Args:
      ops: types of the ops to use; by default all that are functions of tensors of one shape and
        have gradients.
      max_steps: at most so many ops.
      max_inputs: at most so many inputs.
      control_flow: whether some stand in a branch or a loop.
      well_conditioned: leaves out what makes values infinite, NaN or large at the arrays drawn.

    Returns:
      A Program: call it on tensors, or print it.
    """
    arity = composable() if ops is None else {name: composable()[name] for name in ops}
    shape = draw(shapes(min_dims=1, max_dims=2, max_side=3))
    count = draw(st.integers(1, max_inputs))
    inputs = tuple(draw(arrays(shape=shape)) for _ in range(count))
    names = sorted(arity)
    steps: list[Step] = []
    for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=max_steps)):
        # Counted from the newest value, so that steps follow on each other.
        newest = count + len(steps) - 1
        back = [draw(st.integers(0, newest)) for _ in range(arity[name])]
        steps.append(Step(name, tuple(newest - k for k in back)))
    around = draw(st.sampled_from(("", "cond", "while"))) if control_flow else ""
    program = Program(inputs, tuple(steps), around)
    return program.well_conditioned() if well_conditioned else program


@st.composite
def training_steps(draw: st.DrawFn, ops: Sequence[str] | None = None) -> Training:
    """A loss of a variable, and an optimizer that makes it smaller."""
    program = draw(programs(ops, max_inputs=1))
    return Training(program, draw(st.sampled_from(Training.OPTIMIZERS)), draw(_RATES))


_RATES = st.sampled_from([0.01, 0.1])
