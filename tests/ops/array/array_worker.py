# SPDX-License-Identifier: Apache-2.0
"""Computes many array ops on fixed inputs and saves the results; run once per implementation.

As a script, `python array_worker.py MODULE OUT.npz` imports a TensorFlow 1.x API by name.  A case
gives a tensor or a list; static shapes are saved beside the values, errors as the name of their
class.  Works under Python 3.7 with NumPy 1.18.
"""

import importlib
import sys

import numpy as np

TYPES = ("float32", "int64", "uint8", "bool", "complex64", "string", "float16")
SHAPES = [(), (3,), (0,), (2, 3), (2, 0, 3), (2, 3, 1, 2), (2, 1, 2, 3, 2)]
IMAGES = np.arange(2 * 4 * 6 * 4, dtype=np.float32).reshape(2, 4, 6, 4)
CUBE = np.arange(24).reshape(2, 3, 4)


def sample(random, shape, kind):
    """An array of small numbers of any type."""
    array = random.randint(-5, 9, size=shape)
    if kind == "bool":
        return array > 1
    if kind == "string":
        texts = np.empty(shape, dtype=object)
        for i, value in np.ndenumerate(array):
            texts[i] = str(value).encode()
        return texts
    if kind.startswith("complex"):
        return (array + 1j * random.randint(0, 5, size=shape)).astype(kind)
    return np.abs(array).astype(kind) if kind.startswith("u") else array.astype(kind)


def typed_cases(tf, random):
    """Cases for every type and shape."""
    for kind in TYPES:
        for shape in SHAPES:
            array = sample(random, shape, kind)
            for name, make in general(tf, array, kind):
                yield f"{name}/{kind}/" + "x".join(map(str, shape)), make


def general(tf, array, kind):
    """What works on any tensor, or on any of at least one dimension."""
    rank, axes = array.ndim, range(-array.ndim, array.ndim)

    def x():
        return tf.constant(array)

    yield "reshape", lambda: tf.reshape(x(), [-1])
    yield "expand_dims", lambda: [tf.expand_dims(x(), axis) for axis in (-1, 0)]
    yield "squeeze", lambda: tf.squeeze(x())
    yield "transpose", lambda: tf.transpose(x())
    yield "shape", lambda: [tf.shape_n([x()])[0], tf.size(x()), tf.rank(x())]
    yield "zeros_like", lambda: tf.zeros_like(x(), optimize=False)
    yield "stack", lambda: [tf.stack([x(), x()], axis=axis) for axis in range(-rank - 1, rank + 1)]
    yield "tile", lambda: tf.tile(x(), [axis % 3 for axis in range(2, rank + 2)])
    if rank:
        yield "concat", lambda: [tf.concat([x(), x()], axis) for axis in axes]
        yield "reverse", lambda: [tf.reverse(x(), [axis]) for axis in axes]
        yield "slice", lambda: tf.slice(x(), [0] * rank, [-1] * rank)
        yield (
            "subscript",
            lambda: [x()[1:], x()[:-1], x()[::2], x()[::-2], x()[-1:0:-1], x()[5:], x()[..., None]],
        )
        yield "broadcast_to", lambda: tf.broadcast_to(x(), (2,) + array.shape) if rank < 5 else x()
    if rank and array.shape[0]:
        yield "gather", lambda: [tf.gather(x(), [0, array.shape[0] - 1, 0]), tf.gather(x(), 0)]
        yield "unstack", lambda: tf.unstack(x())
    if rank and kind not in ("string", "bool"):
        yield "pad", lambda: tf.pad(x(), [[axis % 2, axis] for axis in range(rank)])
    if rank == 1 and kind not in ("string", "bool", "complex64"):
        yield "setdiff1d", lambda: list(tf.setdiff1d(x(), array[:1]))
    if rank == 2 and kind != "string":
        yield "matrix", lambda: [tf.linalg.diag_part(x()), tf.linalg.band_part(x(), 1, 0)]


def index_cases(tf):
    """Cases that pick or put by index."""
    yield "one_hot", lambda: [tf.one_hot([0, 2, -1, 5], 3), tf.one_hot([[0, 1]], 2, axis=0)]
    yield "one_hot/values", lambda: [tf.one_hot([0, 1], 3, 5, 7), tf.one_hot(1, 3)]
    yield "scatter_nd", lambda: tf.scatter_nd([[0], [0], [2]], [1.0, 2.0, 3.0], [4])
    yield "tensor_scatter_add", lambda: tf.tensor_scatter_add([1.0, 2.0], [[1], [1]], [9.0, 1.0])
    yield "gather_nd", lambda: tf.gather_nd(CUBE, [[0, 1], [1, 2]])
    yield "gather_nd/bounds", lambda: tf.gather_nd(CUBE, [[0, 7]])
    yield "gather/axis", lambda: tf.gather(CUBE, [[0], [1]], axis=2)
    yield "gather/bounds", lambda: tf.gather(CUBE, [2])
    yield "batch_gather", lambda: tf.batch_gather([[1.0, 2.0], [3.0, 4.0]], [[1], [0]])
    yield "batch_gather_nd", lambda: tf.gather_nd(CUBE, [[[0, 1]], [[2, 3]]], batch_dims=1)
    yield "boolean_mask", lambda: tf.boolean_mask(CUBE, [True, False, True], axis=1)
    yield "where", lambda: tf.where(np.array([[True, False], [True, True]]))
    yield "searchsorted", lambda: tf.searchsorted([1, 2, 2, 5], [2, 0, 9], side="right")
    yield "sequence_mask", lambda: tf.sequence_mask([[1, 2]], 4, tf.int32)
    yield "unique", lambda: list(tf.unique_with_counts([3, 1, 3, 2, 1]))
    yield "partition", lambda: tf.dynamic_partition(CUBE, [1, 0], 3)
    yield "stitch", lambda: tf.dynamic_stitch([[0, 2], [1, 0]], [[1.0, 2.0], [3.0, 4.0]])
    yield "unravel_index", lambda: tf.unravel_index([5, 1], [2, 3])


def layout_cases(tf):
    """Cases that move elements."""
    paddings = [[1, 1], [2, 2]]
    table = [[1, 2, 3], [4, 5, 6]]
    yield "mirror", lambda: [tf.pad(table, paddings, mode) for mode in ("REFLECT", "SYMMETRIC")]
    yield "blocks", lambda: [tf.space_to_depth(IMAGES, 2), tf.depth_to_space(IMAGES, 2)]
    yield "space_to_batch", lambda: tf.space_to_batch_nd(IMAGES, [2, 3], [[2, 0], [0, 3]])
    yield (
        "batch_to_space",
        lambda: tf.batch_to_space_nd(np.arange(24.0).reshape(6, 2, 2, 1), [2, 3], [[1, 0], [0, 2]]),
    )
    yield (
        "patches",
        lambda: [
            tf.extract_image_patches(IMAGES, [1, 3, 2, 1], [1, 2, 1, 1], [1, rate, 1, 1], padding)
            for rate in (1, 2)
            for padding in ("SAME", "VALID")
        ],
    )
    yield "reverse_sequence", lambda: tf.reverse_sequence(CUBE, [1, 3], 1, 0)
    yield "roll", lambda: tf.roll(CUBE, [1, -2], [0, 2])
    yield "meshgrid", lambda: tf.meshgrid([1, 2], [3], [4, 5], indexing="ij")
    yield "repeat", lambda: tf.repeat([[1, 2], [3, 4]], [1, 2], axis=1)
    yield "bitcast", lambda: [tf.bitcast([1.0, 2.0], tf.int32), tf.bitcast([1.0], tf.uint8)]
    yield "constants", lambda: [tf.constant(3.0, shape=[2, 2]), tf.constant([1, 2], shape=[2, 2])]
    yield "constant/text", lambda: tf.constant([["a", b"b"]])
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(4, 6))
    for i, cut in enumerate((np.s_[1], np.s_[::2, ::-1], np.s_[3:0:-2, 1:5:3], np.s_[5:])):
        yield f"subscript/gradient/{i}", lambda cut=cut: tf.gradients(x[cut] * x[cut], x)


def compute(tf):
    """Values and static shapes by case name."""
    results = {}
    random = np.random.RandomState(7)
    for group in (
        lambda: typed_cases(tf, random),
        lambda: index_cases(tf),
        lambda: layout_cases(tf),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            pending = {}
            for name, make in group():
                try:
                    found = make()
                    pending[name] = list(found) if isinstance(found, (list, tuple)) else [found]
                except Exception as error:
                    results[name] = np.array("!" + type(error).__name__)
            # All at once: TensorFlow 1 pays for every run after the graph has grown.
            for name, values in run(session, pending).items():
                if isinstance(values, Exception):
                    results[name] = np.array("!" + type(values).__name__)
                    continue
                for i, (tensor, value) in enumerate(zip(pending[name], values)):
                    value = np.asarray(value)
                    results[f"{name}:{i}"] = value.astype("S") if value.dtype == object else value
                    results[f"{name}:{i} shape"] = np.array(str(tensor.shape))
    return results


def run(session, pending):
    """The values of all cases, in one run if none fails."""
    try:
        return session.run(pending)
    except Exception:
        values = {}
        for name, tensors in pending.items():
            try:
                values[name] = session.run(tensors)
            except Exception as error:
                values[name] = error
        return values


if __name__ == "__main__":
    np.savez(sys.argv[2], **compute(importlib.import_module(sys.argv[1])))
