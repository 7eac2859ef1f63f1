# SPDX-License-Identifier: Apache-2.0
"""What programs without Keras's layers use of `tf.keras`: settings, session, regularizers, arrays.

keras_view.py names what is here.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

_ROOT = __package__.partition(".")[0]
_settings: dict[str, Any] = {
    "floatx": "float32",
    "epsilon": 1e-7,
    "image_data_format": "channels_last",
}
_own: list[Any] = []


def _tf() -> Any:
    return importlib.import_module(_ROOT)


def is_sparse(tensor: Any) -> bool:
    """Whether it is a SparseTensor (tf.keras.backend.is_sparse)."""
    return isinstance(tensor, _tf().SparseTensor)


def floatx() -> str:
    """The name of the float type that is meant where none is given: "float32" at first."""
    return str(_settings["floatx"])


def set_floatx(value: str) -> None:
    """Sets what `floatx` gives.

    Raises:
        ValueError: it is none of float16, float32 and float64.
    """
    _choose("floatx", value, ("float16", "float32", "float64"), "floatx type")


def image_data_format() -> str:
    """The order of a picture's axes where none is given: "channels_last" at first."""
    return str(_settings["image_data_format"])


def set_image_data_format(data_format: str) -> None:
    """Sets what `image_data_format` gives.

    Raises:
        ValueError: it is neither channels_last nor channels_first.
    """
    _choose("image_data_format", data_format, ("channels_last", "channels_first"), "data_format")


def _choose(setting: str, value: str, choices: Sequence[str], what: str) -> None:
    if value not in choices:
        raise ValueError(f"Unknown {what}: {value}")
    _settings[setting] = str(value)


def epsilon() -> float:
    """The small number that keeps divisors from zero: 1e-7 at first."""
    return float(_settings["epsilon"])


def set_epsilon(value: float) -> None:
    """Sets what `epsilon` gives."""
    _settings["epsilon"] = value


def get_session(op_input_list: Sequence[Any] = ()) -> Any:
    """The default session, or else the one that was set or made here for the default graph.

    Args:
        op_input_list: tensors, the first of which tells the graph that is meant.
    """
    tf = _tf()
    default = tf.get_default_session()
    if default is not None:
        return default
    graph = op_input_list[0].graph if op_input_list else tf.get_default_graph()
    if not _own or _own[0].graph is not graph:
        _own[:] = [tf.Session(graph=graph)]
    return _own[0]


def set_session(session: Any) -> None:
    """Sets the session that `get_session` gives where none is the default one."""
    _own[:] = [session]


def clear_session() -> None:
    """Begins a new default graph, and forgets the session.

    The graph holds a placeholder `keras_learning_phase`, False by default, as TensorFlow's does.
    """
    tf = _tf()
    tf.reset_default_graph()
    _own.clear()
    with tf.get_default_graph().as_default(), tf.name_scope(""):
        tf.placeholder_with_default(False, shape=(), name="keras_learning_phase")


class Regularizer:
    """What costs nothing; other regularizers inherit it (tf.keras.regularizers.Regularizer)."""

    def __call__(self, x: Any) -> Any:
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Regularizer:
        """The regularizer of what `get_config` gave."""
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of absolute values and `l2` times that of squares (without a half)."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = np.asarray(l1, floatx())
        self.l2 = np.asarray(l2, floatx())

    def __call__(self, x: Any) -> Any:
        tf = _tf()
        if not self.l1 and not self.l2:
            return tf.constant(0.0, dtype=floatx())
        cost: Any = 0.0
        if self.l1:
            cost += self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            cost += self.l2 * tf.reduce_sum(tf.square(x))
        return cost

    def get_config(self) -> dict[str, float]:
        """Its two factors by name."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741
    """A regularizer of absolute values (tf.keras.regularizers.l1)."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741
    """A regularizer of squares (tf.keras.regularizers.l2)."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """A regularizer of both (tf.keras.regularizers.l1_l2)."""
    return L1L2(l1=l1, l2=l2)


def to_categorical(y: Any, num_classes: int | None = None, dtype: str = "float32") -> Any:
    """Rows with a one at the place of each class (tf.keras.utils.to_categorical).

    Args:
        y: whole numbers, any shape; a last axis of size 1 is dropped.
        num_classes: how many classes there are; by default one more than the greatest in `y`.
        dtype: the type of what it gives.

    Returns:
        An array of `y`'s shape and one more axis, the classes.
    """
    classes = np.array(y, dtype=int)
    shape = classes.shape
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    flat = classes.ravel()
    width = num_classes or int(flat.max()) + 1
    rows = np.zeros((flat.size, width), dtype=dtype)
    rows[np.arange(flat.size), flat] = 1
    return rows.reshape((*shape, width))


def normalize(x: Any, axis: int = -1, order: float = 2) -> Any:
    """An array over its norms along an axis, unless these are zero (tf.keras.utils.normalize)."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)


def pad_sequences(
    sequences: Sequence[Any],
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Sequences as rows of one array (tf.keras.preprocessing.sequence.pad_sequences).

    Args:
        sequences: one sequence for each row; their items may be arrays of one shape.
        maxlen: the rows' length; by default that of the longest.
        dtype: the array's type.
        padding: "pre" or "post": where what is missing is filled in.
        truncating: "pre" or "post": where what is too much is cut off.
        value: what is filled in.

    Raises:
        ValueError: something is no sequence, items' shapes differ, or `padding` or `truncating`
            is neither of the two.
    """
    if not all(hasattr(one, "__len__") for one in sequences):
        bad = next(one for one in sequences if not hasattr(one, "__len__"))
        raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {bad}")
    width = max(map(len, sequences), default=0) if maxlen is None else maxlen
    item = next((np.shape(one)[1:] for one in sequences if len(one)), ())
    rows = np.full((len(sequences), width, *item), value, dtype=dtype)
    for position, (row, one) in enumerate(zip(rows, sequences, strict=True)):
        if not len(one):
            continue
        kept = np.asarray(_cut(one, width, truncating), dtype=dtype)
        if kept.shape[1:] != item:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {position} "
                f"is different from expected shape {item}"
            )
        row[_place(len(kept), width, padding)] = kept
    return rows


def _cut(sequence: Any, width: int, truncating: str) -> Any:
    if truncating not in ("pre", "post"):
        raise ValueError(f'Truncating type "{truncating}" not understood')
    return sequence[-width:] if truncating == "pre" else sequence[:width]


def _place(length: int, width: int, padding: str) -> slice:
    if padding not in ("pre", "post"):
        raise ValueError(f'Padding type "{padding}" not understood')
    return slice(width - length, width) if padding == "pre" else slice(0, length)
