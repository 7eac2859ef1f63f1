# SPDX-License-Identifier: Apache-2.0
"""Cells around a cell: dropout, residual connections, a device."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.constants import constant_value
from ...engine.graph.trackable import Trackable
from ...engine.types import nest
from ...engine.types.nest_paths import get_traverse_shallow_structure, map_structure_up_to
from ...engine.types.shape import TensorShape
from ...ops.flow.tensor_array import TensorArray
from ...ops.nn.dropout import dropout_v2
from ...ops.public import tf
from .cell import RNNCell, assert_like_rnncell
from .cells import LSTMStateTuple

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor


class Wrapping:
    """A cell that calls another one, `self.cell`, whose variables stay as they would be without it;
    classes add a kind of cell, of `tf.nn.rnn_cell` or of Keras."""

    cell: Any

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state."""
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        """The size of the cell's output."""
        return self.cell.output_size

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """The cell's state that is zero."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(
        self, inputs: Tensor, state: Tensor, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments; the cell as a description."""
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        rest: Any = super()
        return {**rest.get_config(), "cell": cell}


class _Wrapper(RNNCell):
    """Such a cell of `tf.nn.rnn_cell`."""

    def __init__(self, cell: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell
        if isinstance(cell, Trackable):
            self._track_trackable(cell, name="cell")

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        """One step: (output, new state)."""
        call: Any = self
        return call._call_wrapped_cell(inputs, state, self.cell.__call__, scope=scope)

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> _Wrapper:
        """A wrapper from its arguments.

        Raises:
            ValueError: `config["cell"]` is a description and no cell; make one of it before.
        """
        del custom_objects
        try:
            assert_like_rnncell("cell", config["cell"])
        except TypeError as error:
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in "
                "the config with a RNNCell instance."
            ) from error
        return cls(**config)


def _keeps_memory(substate: object) -> Any:
    """Which parts of a state are dropped: all but an LSTM's memory and arrays."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(substate, TensorArray)


def _numbered(shallow: object, function: Callable[..., Any], *structures: Any) -> Any:
    """Maps leaves by function(number of the leaf, leaf, ...)."""
    count = iter(range(1 << 30))
    return map_structure_up_to(shallow, lambda *leaves: function(next(count), *leaves), *structures)


class Dropping(Wrapping):
    """What drops elements of a cell's inputs, states and outputs."""

    def __init__(
        self,
        cell: object,
        input_keep_prob: float = 1.0,
        output_keep_prob: TensorLike = 1.0,
        state_keep_prob: float = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: object = None,
        **kwargs: Any,
    ) -> None:
        begin: Any = super().__init__
        begin(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _keeps_memory
        with tf.name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._noise: dict[str, Any] = dict.fromkeys(("input", "state", "output"))
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _make_noise(self, input_size: Any, dtype: DTypeLike) -> None:
        """Makes the random numbers of all steps."""
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        sizes = {"state": self.cell.state_size, "output": self.cell.output_size}
        if _drops(self._input_keep_prob):
            if input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            sizes = {"input": input_size, **sizes}
        for what, size in sizes.items():

            def noise(index: int, s: int, what: str = what) -> Tensor:
                # One mask for all rows of the batch and for all steps:
                # https://arxiv.org/abs/1512.05287.
                shape = tf.concat(([1], TensorShape(s).as_list()), 0)
                return tf.random_uniform(shape, seed=self._gen_seed(what, index), dtype=dtype)

            self._noise[what] = _numbered(size, noise, size)

    def _gen_seed(self, salt_prefix: str, index: int) -> int | None:
        """A seed of its own for each tensor; that of the graph if there is no seed."""
        if self._seed is None:
            return None
        # TensorFlow's text and digest, so that its masks are drawn again from the same seed.
        text = f"{self._seed}{salt_prefix}_{index}".encode()
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    @property
    def wrapped_cell(self) -> Any:
        """The cell."""
        return self.cell

    def get_config(self) -> dict[str, Any]:
        """The arguments; the cell as a description, and a visitor as its name or its code."""
        names = "input_keep_prob output_keep_prob state_keep_prob variational_recurrent input_size"
        config = {name: getattr(self, f"_{name}") for name in [*names.split(), "seed"]}
        visitor = self._dropout_state_filter
        kept = {} if visitor is _keeps_memory else _kept(_VISITOR, visitor)
        return {**super().get_config(), **config, **kept}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A wrapper from its arguments, of which the cell must be one again."""
        config = _restored(_VISITOR, config, custom_objects)
        if _VISITOR[0] in config:
            config["dropout_state_filter_visitor"] = config.pop(_VISITOR[0])
        rest: Any = super()
        return rest.from_config(config, custom_objects)

    def _dropout(self, values: object, what: str, keep_prob: Any, shallow: object = None) -> Any:
        shallow = values if shallow is None else shallow

        def dropped(index: int, do: TensorLike, value: Any, *noise: Any) -> Any:
            if isinstance(do, bool) and not do:
                return value
            if not noise:
                seed = self._gen_seed(what, index)
                return dropout_v2(value, rate=1.0 - keep_prob, seed=seed)
            # Uniform noise in [0, 1) plus keep_prob is at least 1 with that probability.
            mask = tf.floor(keep_prob + noise[0])
            result = tf.div(value, keep_prob) * mask
            result.set_shape(value.get_shape())
            return result

        noise = [self._noise[what]] if self._variational_recurrent else []
        return _numbered(shallow, dropped, shallow, values, *noise)

    def _call_wrapped_cell(
        self, inputs: Tensor, state: object, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> tuple[Any, Any]:
        if _drops(self._input_keep_prob):
            inputs = self._dropout(inputs, "input", self._input_keep_prob)
        output, new_state = cell_call_fn(inputs, state, **kwargs)
        if _drops(self._state_keep_prob):
            shallow = get_traverse_shallow_structure(self._dropout_state_filter, new_state)
            new_state = self._dropout(new_state, "state", self._state_keep_prob, shallow)
        if _drops(self._output_keep_prob):
            output = self._dropout(output, "output", self._output_keep_prob)
        return output, new_state


# What configurations call a function, how it is kept, and its module; TensorFlow's spelling.
_VISITOR = ("dropout_fn", "dropout_fn_type", "dropout_fn_module")
_RESIDUAL = ("residual_fn", "residual_fn_type", "residule_fn_module")


def _kept(names: tuple[str, str, str], function: Any) -> dict[str, Any]:
    """A function in a configuration."""
    from ..keras.serialization import function_config

    return dict(zip(names, function_config(function)))


def _restored(
    names: tuple[str, str, str], config: dict[str, Any], custom_objects: Any
) -> dict[str, Any]:
    """A copy of a configuration in which that function, if there is one, is a function again."""
    from ..keras.serialization import function_of

    name, kind, module = names
    config = dict(config)
    if name in config:
        how, home = config.pop(kind), config.pop(module, None)
        config[name] = function_of(config[name], how, home, custom_objects)
    return config


def _probability(name: str, value: TensorLike) -> Any:
    """A probability as a number if it is known, else as a tensor."""
    tensor = tf.convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {known}")
    return float(known)


def _drops(keep_prob: TensorLike) -> bool:
    return not isinstance(keep_prob, numbers.Real) or keep_prob < 1


class Adding(Wrapping):
    """What adds a cell's inputs to its outputs."""

    def __init__(
        self, cell: object, residual_fn: Callable[..., Any] | None = None, **kwargs: Any
    ) -> None:
        begin: Any = super().__init__
        begin(cell, **kwargs)
        self._residual_fn = residual_fn

    def get_config(self) -> dict[str, Any]:
        """The arguments; the cell as a description, and the function as its name or its code."""
        function = self._residual_fn
        return {**super().get_config(), **(_kept(_RESIDUAL, function) if function else {})}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A wrapper from its arguments, of which the cell must be one again."""
        rest: Any = super()
        return rest.from_config(_restored(_RESIDUAL, config, custom_objects), custom_objects)

    def _call_wrapped_cell(
        self, inputs: Tensor, state: Tensor, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> tuple[Any, Any]:
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)
        return (self._residual_fn or _sums)(inputs, outputs), new_state


def _sums(inputs: Tensor, outputs: Tensor) -> Any:
    nest.assert_same_structure(inputs, outputs)
    for x, y in zip(nest.flatten(inputs), nest.flatten(outputs)):
        x.get_shape().assert_is_compatible_with(y.get_shape())
    return nest.map_structure(lambda x, y: x + y, inputs, outputs)


class OnDevice(Wrapping):
    """What places a cell on a device."""

    def __init__(self, cell: object, device: str, **kwargs: Any) -> None:
        begin: Any = super().__init__
        begin(cell, **kwargs)
        self._device = device

    def get_config(self) -> dict[str, Any]:
        """The arguments; the cell as a description."""
        return {**super().get_config(), "device": self._device}

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """The cell's state that is zero, made on the device."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            with tf.device(self._device):
                return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(
        self, inputs: Tensor, state: Tensor, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> Any:
        with tf.device(self._device):
            return cell_call_fn(inputs, state, **kwargs)


class DropoutWrapper(Dropping, _Wrapper):
    """Drops elements of a cell's inputs, states and outputs (tf.nn.rnn_cell.DropoutWrapper).

    Args:
        cell: the cell.
        input_keep_prob, output_keep_prob, state_keep_prob: how probably an element stays; numbers
            or tensors.
        variational_recurrent: whether all steps drop the same elements (arXiv 1512.05287).
        input_size: the sizes of the inputs, which that needs if inputs are dropped.
        dtype: of all these tensors, which that needs.
        seed: of the random numbers.
        dropout_state_filter_visitor: a function from a part of the state to what of it is dropped,
            as a structure of bools; all but an LSTM's memory if None.

    Raises:
        TypeError: `cell` is no cell, or the visitor no function.
        ValueError: a probability lies outside [0, 1], or an argument is missing.

    Example:
        >>> cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=0.5)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, state.shape)
        (2, 4) (2, 4)
    """


class ResidualWrapper(Adding, _Wrapper):
    """Adds a cell's inputs to its outputs (tf.nn.rnn_cell.ResidualWrapper).

    Args:
        cell: the cell.
        residual_fn: a function of inputs and outputs, instead of the sum of equal structures.
    """


class DeviceWrapper(OnDevice, _Wrapper):
    """A cell on a device (tf.nn.rnn_cell.DeviceWrapper).

    Args:
        cell: the cell.
        device: as tf.device.
    """
