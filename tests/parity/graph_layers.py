# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs as networks have them: pictures, losses, embeddings, tensor arrays."""

from __future__ import annotations

from typing import Any

from .graph_source import Writer
from .graph_steps import Step, _numbers
from .graph_values import LARGEST, Size


def picture(w: Writer) -> None:
    """Rows made pictures of five by four, and what is made of these."""
    value = w.pick(
        lambda v: v.is_float and v.ndim == 2 and v.sizes[1].fixed is not None and v.largest <= 8
    )
    if value is None:
        return
    inner = value.sizes[1].fixed or 0
    if inner > 4:
        return
    matrix = _numbers(w, (inner, 20))
    text = f"tf.matmul({value.name}, tf.constant({matrix}, tf.{value.dtype}))"
    sizes = (value.sizes[0], Size(0, 5), Size(0, 4), Size(0, 1))
    bits = None if value.bits is None else value.bits + 2
    end = value.largest * 2 * inner + 1
    w.like(f"tf.reshape({text}, [-1, 5, 4, 1])", value, sizes=sizes, low=-end, high=end, bits=bits)
    for _ in range(w.random.randint(1, 3)):
        w.random.choice([convolution, convolution, pool, batch_normalized, resized])(w)


def _pictures(w: Writer, exact: bool = False) -> Any:
    # (Later versions of TensorFlow give convolutions of no pictures a wrong shape.)
    return w.pick(
        lambda v: (
            v.is_float
            and v.ndim == 4
            and v.sizes[0].least > 0
            and all(size.fixed and size.fixed > 1 for size in v.sizes[1:3])
            and v.sizes[3].fixed is not None
            and v.largest <= 300
            and (v.is_exact or not exact)
        )
    )


def _after(size: Size, window: int, stride: int, padding: str) -> Size:
    number = size.fixed or 1
    return Size(0, -(-(number if padding == "SAME" else number - window + 1) // stride))


def convolution(w: Writer) -> None:
    """A convolution with constants, perhaps one channel at a time."""
    value = _pictures(w)
    if value is None:
        return
    channels, out = value.sizes[3].fixed, w.random.randint(1, 3)
    kernel = f"tf.constant({_numbers(w, (2, 2, channels, out))}, tf.{value.dtype})"
    stride, padding = w.random.choice([1, 1, 2]), w.random.choice(["SAME", "VALID"])
    rows, columns = (_after(size, 2, stride, padding) for size in value.sizes[1:3])
    end = value.largest * 2 * 4 * channels
    deep = w.chance(0.3)
    name, outer = ("depthwise_conv2d", channels * out) if deep else ("conv2d", out)
    if channels > 4 or end > LARGEST:
        return
    text = f"tf.nn.{name}({value.name}, {kernel}, [1, {stride}, {stride}, 1], {padding!r})"
    sizes = (value.sizes[0], rows, columns, Size(0, outer))
    bits = None if value.bits is None else value.bits + 2
    w.like(text, value, sizes=sizes, low=-end, high=end, bits=bits)


def pool(w: Writer) -> None:
    """The mean or largest of windows."""
    kind = w.random.choice(["avg", "max"])
    value = _pictures(w, kind == "max")
    if value is None:
        return
    stride, padding = w.random.choice([1, 2]), w.random.choice(["SAME", "VALID"])
    rows, columns = (_after(size, 2, stride, padding) for size in value.sizes[1:3])
    strides = f"[1, {stride}, {stride}, 1]"
    text = f"tf.nn.{kind}_pool({value.name}, [1, 2, 2, 1], {strides}, {padding!r})"
    sizes = (value.sizes[0], rows, columns, value.sizes[3])
    w.like(text, value, sizes=sizes, bits=value.bits if kind == "max" else None)


def batch_normalized(w: Writer) -> None:
    """Batch normalization as one operation."""
    value = w.pick(
        lambda v: v.dtype == "float32" and v.ndim == 4 and v.sizes[3].fixed and v.sizes[0].least > 1
    )
    if value is None:
        return
    ones = f"tf.ones([{value.sizes[3].fixed}])"
    text = f"tf.nn.fused_batch_norm({value.name}, {ones} * 1.5, {ones} * 0.5, epsilon=0.5)[0]"
    w.like(text, value, low=-40.0, high=40.0, bits=None)


def resized(w: Writer) -> None:
    """Pictures of another size."""
    value = _pictures(w)
    if value is None or value.dtype != "float32":
        return
    size = [w.random.randint(1, 7), w.random.randint(1, 7)]
    name = w.random.choice(["bilinear", "nearest_neighbor"])
    flag = w.random.choice(["", ", align_corners=True"])
    text = f"tf.image.resize_{name}({value.name}, {size}{flag})"
    sizes = (value.sizes[0], Size(0, size[0]), Size(0, size[1]), value.sizes[3])
    w.like(text, value, sizes=sizes, bits=None)


def loss(w: Writer) -> None:
    """What a classifier loses."""
    logits = w.pick(lambda v: v.is_float and v.ndim == 2 and v.largest <= 50 and v.sizes[1].least)
    if logits is None:
        return
    classes = logits.sizes[1]
    number = w.pick(lambda v: v.is_int and v.ndim == 1 and v.sizes[0] == logits.sizes[0])
    if number is None or classes.fixed is None or w.chance(0.3):
        text = f"labels=tf.nn.softmax({logits.name} * 0.5), logits={logits.name}"
        text = f"tf.nn.softmax_cross_entropy_with_logits_v2({text})"
    else:
        labels = f"tf.floormod({number.name}, {classes.fixed})"
        text = f"labels={labels}, logits={logits.name}"
        text = f"tf.nn.sparse_softmax_cross_entropy_with_logits({text})"
    sizes = logits.sizes[:1]
    w.like(text, logits, sizes=sizes, low=0.0, high=110.0, bits=None)


def embedded(w: Writer) -> None:
    """Rows of a variable by number: its gradients are of some rows only."""
    if not w.variables or w.indent:
        return
    table = w.random.choice(w.variables)
    number = w.pick(lambda v: v.is_int and v.ndim <= 2)
    if number is None:
        return
    # (Before anything else happens to the variable.)
    rows = f"tf.floormod({number.name}, {table.sizes[0].fixed})"
    if w.effect is None:
        text = f"tf.nn.embedding_lookup({table.name}, {rows}) * 1.0"
        found = w.like(text, table, sizes=(*number.sizes, *table.sizes[1:]))
        w.effect = found.name


def stacked(w: Writer) -> None:
    """Through a tensor array and back."""
    value = w.pick(lambda v: 1 <= v.ndim <= 3 and v.sizes[0].least >= 1)
    if value is None:
        return
    name = w.fresh("array")
    size = f"tf.shape({value.name})[0]"
    w.line(f"{name} = tf.TensorArray({value.name}.dtype, {size}).unstack({value.name})")
    if w.chance(0.5):
        w.like(f"{name}.stack()", value)
    else:
        w.like(f"{name}.read({size} - 1)", value, sizes=value.sizes[1:])


def sparse(w: Writer) -> None:
    """A product with a sparse matrix."""
    value = w.pick(
        lambda v: v.is_float and v.ndim == 2 and v.sizes[0].fixed is not None and v.largest <= 90
    )
    if value is None:
        return
    rows = value.sizes[0].fixed or 1
    places = [[0, 0], [1, rows - 1], [2, rows // 2]]
    numbers = f"tf.constant({_numbers(w, (3,))}, tf.{value.dtype})"
    matrix = f"tf.SparseTensor({places}, {numbers}, [3, {rows}])"
    text = f"tf.sparse_tensor_dense_matmul({matrix}, {value.name})"
    end, bits = 2 * value.largest, None if value.bits is None else value.bits + 2
    w.like(text, value, sizes=(Size(0, 3), value.sizes[1]), low=-end, high=end, bits=bits)


def drawn(w: Writer) -> None:
    """Numbers that are random by a seed alone."""
    value = w.pick(lambda v: 1 <= v.ndim <= 3)
    if value is not None:
        seed = [w.random.randint(0, 9), w.random.randint(0, 9)]
        text = f"tf.random.stateless_uniform(tf.shape({value.name}), {seed})"
        w.like(text, value, dtype="float32", low=0.0, high=1.0, bits=None)


LAYERS: list[Step] = [
    *([picture] * 4 + [convolution] + [pool]),
    *(batch_normalized, resized, loss, loss, embedded, embedded, stacked, sparse, drawn),
]
