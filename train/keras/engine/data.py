# SPDX-License-Identifier: Apache-2.0
"""Arrays that models are given: in the order and the shapes of inputs, outputs and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....engine.graph.tensor import Tensor
from ....engine.types import nest
from ...variables.variable_kind import is_variable
from ..losses import objects as losses
from .composites import is_composite, is_value, shape_of


def is_symbolic(x: Any) -> bool:
    """Whether it is a tensor of a graph, or a variable."""
    return isinstance(x, Tensor) or nest.is_composite(x) or is_variable(x)


def is_sparse_matrix(x: Any) -> bool:
    """Whether it is a sparse matrix of SciPy."""
    return hasattr(x, "tocoo")


def _plain(x: Any) -> Any:
    """A table of pandas as an array, other things as they are."""
    return x.values if type(x).__name__ in ("DataFrame", "Series") else x


def standardized(
    data: Any, names: Sequence[str], shapes: Sequence[Any] | None = None, what: str = ""
) -> list[Any]:
    """Data as one array for each name; arrays of one axis get a second.

    Args:
        data: an array, a list of arrays, or a dict by the names; None for none.
        names: the names.
        shapes: the shapes that arrays must have, the batch's axis left out; None for any.
        what: "input" or "target", for errors.

    Raises:
        ValueError: a name is missing, or there are others than these, or a shape is another.
        TypeError: something is no array.
    """
    if not names:
        if data is not None and not isinstance(data, dict) and len(data):
            raise ValueError(f"Error when checking model {what}: expected no data, but got:", data)
        return []
    if data is None:
        return [None] * len(names)
    arrays = _by_names(data, names)
    wanted = shapes or [None] * len(arrays)
    arrays = [
        _with_two_axes(x, shape) for x, shape in zip(arrays, [*wanted, *[None] * len(arrays)])
    ]
    if len(arrays) != len(names):
        arrays = [_only(arrays, names, what)]
    for x, name, shape in zip(arrays, names, wanted):
        if shape is not None:
            _check_shape(x, name, shape, what)
    return arrays


def _by_names(data: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(data, Mapping):
        missing = [name for name in names if name not in data]
        if missing:
            raise ValueError(
                f'No data provided for "{missing[0]}". Need data for each key in: {list(names)}'
            )
        return [_plain(data[name]) for name in names]
    if not isinstance(data, (list, tuple)) or is_value(data):
        return [_plain(data)]
    if isinstance(data[0], (list, tuple)):
        return [np.asarray(x) for x in data]
    if len(names) == 1 and isinstance(data[0], (float, int, np.generic)):
        return [np.asarray(data)]
    return [_plain(x) for x in data]


def _with_two_axes(x: Any, shape: Any) -> Any:
    if x is None or is_composite(x):
        return x
    if isinstance(x, int):
        raise ValueError(f"Expected an array data type but received an integer: {x}")
    if is_symbolic(x) or is_sparse_matrix(x) or not hasattr(x, "shape"):
        return x
    if len(x.shape) == 1 and (shape is None or len(shape) != 1):
        return np.expand_dims(np.asarray(x), 1)
    return x


def _only(arrays: list[Any], names: Sequence[str], what: str) -> Any:
    """The one array of what was given, if it can be one; else an error."""
    if arrays and hasattr(arrays[0], "shape") and len(names) != 1:
        raise ValueError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to "
            f"your model is not the size the model expected. Expected to see {len(names)} "
            f"array(s), but instead got the following list of {len(arrays)} arrays: "
            f"{str(arrays)[:200]}..."
        )
    if len(names) > 1:
        raise ValueError(
            f"Error when checking model {what}: you are passing a list as input to your model, but "
            f"the model expects a list of {len(names)} Numpy arrays instead. The list you passed "
            f"was: {str(arrays)[:200]}"
        )
    if arrays and hasattr(arrays[0], "shape"):
        raise ValueError(
            f"Error when checking model {what}: the list of Numpy arrays that you are passing to "
            f"your model is not the size the model expected. Expected to see 1 array(s), but "
            f"instead got the following list of {len(arrays)} arrays: {str(arrays)[:200]}..."
        )
    return np.asarray(arrays)


def _check_shape(x: Any, name: str, shape: Any, what: str) -> None:
    given = shape_of(x) if hasattr(x, "shape") or is_composite(x) else np.shape(x)
    if given is None:
        return
    if len(given) != len(shape):
        raise ValueError(
            f"Error when checking {what}: expected {name} to have {len(shape)} dimensions, but got "
            f"array with shape {given}"
        )
    for size, wanted in zip(given[1:], shape[1:]):
        if None not in (size, wanted) and size != wanted:
            raise ValueError(
                f"Error when checking {what}: expected {name} to have shape {tuple(shape[1:])} but "
                f"got array with shape {given[1:]}"
            )


def check_undeclared(x: Any) -> None:
    """Raises a ValueError for data that placeholders cannot be made for without an `Input`."""
    if isinstance(x, Mapping):
        given = list(x.values())
    else:
        given = list(x) if isinstance(x, (list, tuple)) and not is_value(x) else [x]
        if not all(isinstance(v, np.ndarray) or is_symbolic(v) or is_composite(v) for v in given):
            raise ValueError(
                "Please provide as model inputs either a single array or a list of arrays. You "
                f"passed: inputs={x}"
            )
    for value in given:
        if is_composite(value):
            raise ValueError(
                "All SparseTensor and RaggedTensor inputs must be explicitly declared using a "
                "keras.Input() with sparse=True or ragged=True. We found an undeclared input "
                f"{value}. For Sequential models, please add a keras.Input() as your first Layer. "
                "For subclassed models, please call self._set_inputs() on your input set, which "
                "you can create using keras.Input() for each input to your model."
            )


def per_output(given: Any, names: Sequence[str], what: str) -> list[Any]:
    """Weights of samples or classes, one for each output.

    Raises:
        ValueError: there are more or less than outputs, or one is of no output.
        TypeError: there are several outputs, and it is neither a list nor a dict.
    """
    if given is None or (isinstance(given, (list, tuple)) and not len(given)):
        return [None] * len(names)
    if len(names) == 1:
        if isinstance(given, (list, tuple)) and len(given) == 1:
            return list(given)
        if isinstance(given, dict) and names[0] in given:
            return [given[names[0]]]
        return [given]
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(
                f"Provided `{what}` was a list of {len(given)} elements, but the model has "
                f"{len(names)} outputs. You should provide one `{what}`array per model output."
            )
        return list(given)
    if isinstance(given, Mapping):
        check_keys(what, given, names)
        return [given.get(name) for name in names]
    raise TypeError(
        f"The model has multiple outputs, so `{what}` should be either a list or a dict. Provided "
        f"`{what}` type not understood: {given}"
    )


def check_keys(what: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raises a ValueError for keys that are none of the names."""
    unknown = set(given) - set(names)
    if unknown:
        raise ValueError(
            f"Unknown entries in {what} dictionary: {sorted(unknown)}. Only expected following "
            f"keys: {list(names)}"
        )


def combined_weights(y: Any, sample: Any, classes: Any, mode: str | None) -> Any:
    """The weight of each example: of samples times of classes; None for neither.

    Raises:
        ValueError: shapes do not fit, a class has no weight, or the mode is unknown.
    """
    if mode not in (None, "samplewise", "temporal"):
        raise ValueError(f'"sample_weight_mode should be None or "temporal". Found: {mode}')
    if isinstance(sample, tuple):
        sample = sample[0]
    sample = None if sample is None else _plain(sample)
    if sample is not None and not is_symbolic(sample):
        sample = np.asarray(sample)
        _check_sample_weight(y, sample, mode)
    if not isinstance(classes, dict):
        return sample
    if len(y.shape) > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    numbers = np.asarray(y)
    if numbers.ndim == 2:
        numbers = np.argmax(numbers, axis=1) if numbers.shape[1] > 1 else numbers[:, 0]
    found = np.asarray([classes[number] for number in numbers.tolist() if number in classes])
    if len(found) != len(numbers):
        missing = set(numbers.tolist()) - set(classes)
        raise ValueError(
            "`class_weight` must contain all classes in the data. The classes "
            f"{missing} exist in the data but not in `class_weight`."
        )
    return found if sample is None else found * sample


def _check_sample_weight(y: Any, sample: np.ndarray, mode: str | None) -> None:
    if mode == "temporal":
        if len(y.shape) < 3 or sample.ndim != 2:
            raise ValueError(
                f"Found a sample_weight array with shape {sample.shape} for an input with shape "
                f"{y.shape}. Weights of time steps have two axes, and outputs at least three."
            )
    elif sample.ndim != 1:
        raise ValueError(
            f"Found a sample_weight array with shape {sample.shape}. In order to use timestep-wise "
            'sample weights, you should specify sample_weight_mode="temporal" in compile(). If you '
            "just mean to use sample-wise weights, make sure your sample_weight array is 1D."
        )
    if tuple(y.shape[: sample.ndim]) != sample.shape:
        raise ValueError(
            f"Found a sample_weight array with shape {sample.shape} for an input with shape "
            f"{y.shape}. sample_weight cannot be broadcast."
        )


def check_lengths(inputs: Sequence[Any], targets: Sequence[Any], weights: Sequence[Any]) -> None:
    """Raises a ValueError where arrays have other numbers of examples."""
    lengths = []
    for what, arrays in (
        ("All input arrays (x)", inputs),
        ("All target arrays (y)", targets),
        ("All sample_weight arrays", weights),
    ):
        known = [x for x in arrays if x is not None and not is_symbolic(x) and not is_value(x)]
        found = {x.shape[0] for x in known}
        if len(found) > 1:
            raise ValueError(
                f"{what} should have the same number of samples. Got array shapes: "
                f"{[x.shape for x in known]}"
            )
        lengths.append(found)
    x, y, w = lengths
    if x and y and x != y:
        raise ValueError(
            f"Input arrays should have the same number of samples as target arrays. Found "
            f"{x.pop()} input samples and {y.pop()} target samples."
        )
    if y and w and y != w:
        raise ValueError(
            "Sample_weight arrays should have the same number of samples as target arrays. Got "
            f"{y.pop()} input samples and {w.pop()} target samples."
        )


def check_targets(targets: Sequence[Any], loss_functions: Sequence[Any], shapes: Any) -> None:
    """Raises a ValueError for targets whose shapes a loss has no use for."""
    strict = ("mean_squared_error", "binary_crossentropy", "categorical_crossentropy")
    for y, loss, shape in zip(targets, loss_functions, shapes):
        if y is None or loss is None or is_symbolic(y) or is_value(y):
            continue
        if losses.is_by(loss, "categorical_crossentropy") and y.shape[-1] == 1:
            raise ValueError(
                f"You are passing a target array of shape {y.shape} while using as loss "
                "`categorical_crossentropy`. `categorical_crossentropy` expects targets to be "
                "binary matrices (1s and 0s) of shape (samples, classes). Convert integer classes "
                "by `tf.keras.utils.to_categorical(y)`, or use the loss "
                "`sparse_categorical_crossentropy`, which expects integer targets."
            )
        if shape is None or not any(losses.is_by(loss, name) for name in strict):
            continue
        for size, wanted in zip(y.shape[1:], shape[1:]):
            if wanted is not None and size != wanted:
                raise ValueError(
                    f"A target array with shape {y.shape} was passed for an output of shape "
                    f"{shape} while using as loss `{loss.name}`. This loss expects targets to have "
                    "the same shape as the output."
                )


def sliced(arrays: Sequence[Any], where: Any, behind: int | None = None) -> list[Any]:
    """The rows of arrays at indices, or from one index to another; None stays."""
    if isinstance(where, np.ndarray):
        return [None if x is None else x[where] for x in arrays]
    return [None if x is None else x[where:behind] for x in arrays]
