# SPDX-License-Identifier: Apache-2.0
"""The op Einsum, which TensorFlow 2 writes for tf.einsum and for attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.types.shape import TensorShape, unknown_shape
from .. import shape_inference
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_SUMS = {"bool": "b", "float16": "f", "bfloat16": "f"}


def labels(c: KernelContext | OpView | ShapeContext, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The dimensions of each input and of the result; those of "..." are named by digits."""
    equation = c.attr("equation")
    left, arrow, right = equation.replace(" ", "").partition("->")
    given = left.split(",")
    if not arrow:
        raise ValueError(f"Expecting exactly one '->' in einsum equation: {equation}")
    if len(given) > 2:
        raise ValueError(f"Expected either 1 or 2 inputs but got: {len(given)}")
    if len(given) != len(ranks):
        raise ValueError(
            f"Expected {len(given)} inputs for equation {equation} but got: {len(ranks)}"
        )
    named: list[str] = []
    most = 0
    for part, rank in zip(given, ranks):
        letters = part.replace("...", "", 1)
        spread = rank - len(letters)
        if "." in letters:
            raise ValueError(f"Invalid ellipsis in einsum subscript: {part}")
        if spread < 0 or (spread and letters == part):
            raise ValueError(
                f"Expected input {len(named)} to have rank {'at least ' * (letters != part)}"
                f"{len(letters)} but got: {rank}"
            )
        most = max(most, spread)
        named.append(part.replace("...", _digits(spread)))
    if most and "..." not in right:
        raise ValueError(
            f"Output contains {most} broadcasting dimension(s) but no ellipsis (...) was found in "
            "the output subscripts."
        )
    out = right.replace("...", _digits(most))
    for label in out:
        if not any(label in part for part in named):
            raise ValueError(
                f"Einsum output subscripts for equation '{equation}' has label '{label}' which is "
                "not present in the input subscripts"
            )
    return named, out


def _digits(count: int) -> str:
    """Names of dimensions that "..." stands for: the last one is 0, so that they broadcast."""
    if count > 10:
        raise ValueError(f"Einsum of {count} dimensions behind an ellipsis is not supported")
    return "9876543210"[10 - count :]


def _shape(c: ShapeContext) -> TensorShape:
    ranks = [shape.rank for shape in c.inputs if shape.rank is not None]
    if len(ranks) < len(c.inputs):
        return unknown_shape()
    named, out = labels(c, ranks)
    found: dict[str, int | None] = {}
    for part, shape in zip(named, c.inputs):
        for label, size in zip(part, shape.as_list()):
            before = found.setdefault(label, size)
            if label.isdigit() and 1 in (before, size):
                # Dimensions of an ellipsis broadcast.
                found[label] = size if before == 1 else before
            else:
                found[label] = shape_inference.merge_dim(before, size)
    return TensorShape([found[label] for label in out])


def _kernel(c: KernelContext, inputs: list[np.ndarray]) -> np.ndarray:
    try:
        named, out = labels(c, [x.ndim for x in inputs])
    except ValueError as error:
        raise errors.invalid(str(error)) from None
    numbers = {label: i for i, label in enumerate(sorted(set("".join(named))))}
    kind = inputs[0].dtype
    wide = kind if kind.name not in _SUMS else np.dtype(np.float32)
    arguments: list[Any] = []
    for part, x in zip(named, inputs):
        arguments += [x.astype(wide, copy=False), [numbers[label] for label in part]]
    once = [numbers[label] for label in dict.fromkeys(out)]
    try:
        result = np.asarray(np.einsum(*arguments, once, optimize=True)).astype(kind, copy=False)
    except ValueError as error:
        raise errors.invalid(f"Einsum: {error}") from None
    if len(once) == len(out):
        return result
    # A label that comes again: what is not on that diagonal is zero.
    sizes = dict(zip(once, result.shape))
    places = [numbers[label] for label in out]
    spread = np.zeros([sizes[place] for place in places], kind)
    np.einsum(spread, places, once)[...] = result
    return spread


def _lower(b: Builder, op: OpView, inputs: list[Any]) -> Any:
    from ...jit import library

    named, out = labels(op, [x.ndim for x in inputs])
    if any(len(set(part)) < len(part) for part in (*named, out)) or inputs[0].dtype in _SUMS:
        return NotImplemented
    parts = []
    for i, (part, x) in enumerate(zip(named, inputs)):
        others = out + "".join(named[:i] + named[i + 1 :])
        parts.append(_summed(b, x, part, others))
    if len(parts) == 1:
        part, x = parts[0]
        return _turned(b, x, part, out)
    (first, x), (second, y) = parts
    shared = [label for label in out if label in first and label in second]
    inner = [label for label in first if label in second and label not in out]
    rows = [label for label in first if label not in second]
    columns = [label for label in second if label not in first]
    x = _turned(b, x, first, [*shared, *rows, *inner])
    y = _turned(b, y, second, [*shared, *columns, *inner])
    # Both are stacks of matrices whose rows are summed along: a product with the second transposed.
    lead = b.broadcast_shape(x.shape[: len(shared)], y.shape[: len(shared)])
    for p, q in zip(x.shape[len(shared) + len(rows) :], y.shape[len(shared) + len(columns) :]):
        if not b.equal(p, q):
            return NotImplemented
    m, n = x.shape[len(shared) :][: len(rows)], y.shape[len(shared) :][: len(columns)]
    x = _matrices(b, x, lead, len(rows))
    y = _matrices(b, y, lead, len(columns))
    product = (library.batch_matmul if lead else library.matmul)(b, x, y, False, True)
    if product is NotImplemented:
        return product
    return _turned(b, b.reshape(product, (*lead, *m, *n)), [*shared, *rows, *columns], out)


def _summed(b: Builder, x: Value, part: str, others: str) -> tuple[str, Any]:
    """An input without the dimensions that occur nowhere else."""
    axes = [i for i, label in enumerate(part) if label not in others]
    if not axes:
        return part, x
    return "".join(label for label in part if label in others), b.reduce("sum", x, axes)


def _turned(b: Builder, x: Value, given: str | Sequence[str], wanted: str | Sequence[str]) -> Value:
    return b.transpose(x, [list(given).index(label) for label in wanted])


def _matrices(b: Builder, x: Value, lead: Sequence[AnySize], rows: int) -> Value:
    """A stack of matrices: the first of the dimensions behind `lead` are the rows."""
    sizes = x.shape[len(lead) :]
    x = b.broadcast(x, (*lead, *sizes))
    return b.reshape(x, (*lead, math.prod(sizes[:rows]), math.prod(sizes[rows:])))


def _gradient(op: Operation, grad: Tensor) -> list[Any]:
    """Each input's gradient: the products of the result's with the other input."""
    ranks = [x.shape.rank for x in op.inputs]
    if None in ranks:
        raise ValueError("The gradient of Einsum needs inputs of known rank.")
    left, _, right = op.attr("equation").replace(" ", "").partition("->")
    given = left.split(",")
    if _once(right) != right:
        grad = raw.Einsum([grad], equation=f"{right}->{_once(right)}")
        right = _once(right)
    if len(given) == 1:
        return [_of_input(op.inputs[0], given[0], right, grad)]
    x, y = op.inputs
    return [
        _of_input(x, given[0], right, grad, given[1], y),
        _of_input(y, given[1], right, grad, given[0], x),
    ]


def _of_input(x: Tensor, part: str, right: str, grad: Tensor, *other: Any) -> Tensor:
    """The gradient of one input: where a label comes twice, that of its diagonal."""
    if _once(part) == part:
        return _share(x, part, right, grad, *other)
    diagonal = raw.Einsum([x], equation=f"{part}->{_once(part)}")
    found = _share(diagonal, _once(part), right, grad, *other)
    return raw.Einsum([found], equation=f"{_once(part)}->{part}")


def _once(part: str) -> str:
    """A term with every label where it comes first."""
    kept = "".join(dict.fromkeys(part.replace("...", "*")))
    return kept.replace("*", "...")


def _letters(part: str) -> str:
    return part.replace("...", "")


def _share(
    x: Any, part: str, right: str, grad: Tensor, other: str = "", y: Tensor | None = None
) -> Tensor:
    """The gradient of one input, whose own dimensions were summed over."""
    elsewhere = right + other
    spread = x.shape.rank - len(_letters(part))
    kept = "".join(label for label in _letters(part) if label in elsewhere)
    dots = "..." if "..." in right else ""
    if y is None:
        found = raw.Einsum([grad], equation=f"{right}->{dots}{kept}")
    else:
        found = raw.Einsum([grad, y], equation=f"{right},{other}->{dots}{kept}")
    sizes = tf.shape(x)
    # Where the input's dimensions stand: those of its ellipsis first, then the kept ones.
    at = part.find("...") if spread else 0
    places = {}
    for i, label in enumerate(_letters(part)):
        places[label] = i + spread if spread and i >= at else i
    order = [*range(at, at + spread), *(places[label] for label in kept)]
    missing = [places[label] for label in _letters(part) if label not in kept]
    if dots and grad.shape.rank is not None:
        extra = grad.shape.rank - len(_letters(right)) - spread
        if extra > 0:
            found = tf.reduce_sum(found, list(range(extra)))
    elif dots:
        raise ValueError("The gradient of Einsum with an ellipsis needs a result of known rank.")
    wanted = tf.gather(sizes, order) if order else tf.constant([], tf.int32)
    if spread:
        _, axes = raw.BroadcastGradientArgs(tf.shape(found), wanted)
        found = tf.reshape(tf.reduce_sum(found, axes), wanted)
    if missing:
        found = tf.reshape(found, tf.concat([wanted, [1] * len(missing)], 0))
    order += missing
    found = tf.transpose(found, [order.index(i) for i in range(len(order))])
    return tf.broadcast_to(found, sizes) if missing else found


define(
    "Einsum",
    "inputs: N * T -> output: T",
    "equation: string; N: int >= 1; T: type",
    shape=_shape,
    kernel=_kernel,
    lower=_lower,
    gradient=_gradient,
    doc="Sums of products along the dimensions that an equation names.",
    test={"values": [], "needs": "an equation"},
)
