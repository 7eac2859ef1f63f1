# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers: a cell along the time axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....engine.types import nest
from ....engine.types.shape import Dimension, TensorShape
from ....ops.public import tf
from ...layers.input_spec import InputSpec
from ...layers.nodes import history_of, int_shape
from ..backend.elements import zeros
from ..backend.recurrence import rnn
from ..backend.sessions import batch_set_value
from ..identifiers import Identifier
from . import cells
from .cells import (
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    is_multiple,
    size_of_output,
    takes,
    zero_states,
)
from .style import KerasLayer


def _sizes(size: Any) -> list[Any]:
    return [size] if isinstance(size, int) else TensorShape(size).as_list()


class RNN(KerasLayer):
    """Applies a cell to each step of sequences [batch, time, …].

    Args:
        cell: a cell, or a list of cells one above the other.
        return_sequences: whether the outputs of all steps are given, instead of the last.
        return_state: whether the last states are given, too.
        go_backwards: whether the last step comes first.
        stateful: whether each batch begins with the states of the last.
        unroll: whether the steps are written out instead of a loop.
        time_major: whether the time is the first axis.
        name, trainable, dtype, input_shape, input_dim, input_length: as of all layers.

    Raises:
        ValueError: the cell has no `call` or no `state_size`.
    """

    # What the states are that a call was given, one by one; None before there was one.
    state_spec: list[InputSpec] | None

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ) -> None:
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError("`cell` should have a `call` method. The RNN was passed:", cell)
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one "
                "integer per RNN state)."
            )
        zeroes = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (
                kwargs.pop("input_length", None),
                kwargs.pop("input_dim", None),
            )
        super().__init__(**kwargs)
        self.zero_output_for_mask = zeroes
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.supports_masking = True
        vars(self).update(state_spec=None, constants_spec=None, _states=None, _num_constants=0)

    # States

    @property
    def states(self) -> Any:
        """The variables of the states of a stateful layer; None for each before they are made."""
        if vars(self)["_states"] is not None:
            return vars(self)["_states"]
        empty = nest.map_structure(lambda _: None, self.cell.state_size)
        return empty if isinstance(empty, (list, tuple)) else [empty]

    @states.setter
    def states(self, states: Any) -> None:
        vars(self)["_states"] = states

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """The states before the first step: the cell's own, or zeros."""
        first = nest.flatten(inputs)[0]
        batch_size = tf.shape(first)[1 if self.time_major else 0]
        if hasattr(self.cell, "get_initial_state"):
            made = self.cell.get_initial_state(
                inputs=None, batch_size=batch_size, dtype=first.dtype
            )
        else:
            made = zero_states(self.cell.state_size, batch_size, first.dtype)
        return list(made) if isinstance(made, (list, tuple)) else [made]

    def reset_states(self, states: Any = None) -> None:
        """Begins the states of a stateful layer anew, with zeros or values.

        Raises:
            AttributeError: the layer is not stateful.
            ValueError: the batch's size is not known, or values do not fit.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        spec = self.input_spec
        shape = None if spec is None else nest.flatten(spec)[0].shape
        batch = None if shape is None else shape[1 if self.time_major else 0]
        if not batch:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: \n- If using a Sequential model, specify the batch size by "
                "passing a `batch_input_shape` argument to your first layer.\n- If using the "
                "functional API, specify the batch size by passing a `batch_shape` argument to "
                "your Input layer."
            )
        if nest.flatten(self.states)[0] is None:
            made = nest.map_structure(
                lambda size: zeros(self._state_shape(batch, size)), self.cell.state_size
            )
            self.states = made if isinstance(made, (list, tuple)) else [made]
            return
        variables = nest.flatten(self.states)
        if states is None:
            values = [np.zeros(v.shape.as_list()) for v in variables]
        else:
            values = nest.flatten(states)
        if len(values) != len(variables):
            raise ValueError(
                f"Layer {self.name} expects {len(variables)} states, but it received "
                f"{len(values)} state values. Input received: {states}"
            )
        for number, (value, variable) in enumerate(zip(values, variables)):
            if list(np.shape(value)) != variable.shape.as_list():
                raise ValueError(
                    f"State {number} is incompatible with layer {self.name}: expected "
                    f"shape={variable.shape}, found shape={np.shape(value)}"
                )
        batch_set_value(list(zip(variables, values)))

    # Shapes

    def _state_shape(self, batch: int | None, size: Any) -> list[Any]:
        """The shape of a state, whose size the cell says."""
        return [batch, *_sizes(size)]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output, and of the states if they are given."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        batch, time = TensorShape(shape).as_list()[:2]
        if self.time_major:
            batch, time = time, batch
        head = [time, batch] if self.time_major else [batch, time]

        def of_output(size: Any) -> TensorShape:
            return TensorShape([*(head if self.return_sequences else [batch]), *_sizes(size)])

        sizes = nest.flatten(size_of_output(self.cell))
        outputs: Any = [of_output(size) for size in sizes]
        outputs = outputs[0] if len(outputs) == 1 else outputs
        if not self.return_state:
            return outputs
        states = [TensorShape([batch, *_sizes(s)]) for s in nest.flatten(self.cell.state_size)]
        return [*(outputs if isinstance(outputs, list) else [outputs]), *states]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The inputs' mask where all outputs are given; states have none."""
        of_inputs = nest.flatten(mask)[0]
        of_output = of_inputs if self.return_sequences else None
        if self.return_state:
            return [of_output, *(None for _ in self.states)]
        return of_output

    def build(self, input_shape: Any) -> None:
        """Builds the cell for one step of the inputs."""
        shapes = _as_shapes(input_shape[0] if isinstance(input_shape, list) else input_shape)
        batch, time = (1, 0) if self.time_major else (0, 1)

        def spec(shape: TensorShape) -> InputSpec:
            sizes: list[Any] = shape.as_list()
            sizes[time] = None
            if not self.stateful:
                sizes[batch] = None
            return InputSpec(shape=tuple(sizes))

        def step(shape: TensorShape) -> TensorShape:
            sizes = shape.as_list()
            return TensorShape([sizes[batch], *sizes[2:]])

        specs = [spec(shape) for shape in nest.flatten(shapes)]
        more = self.input_spec[len(specs) :] if isinstance(self.input_spec, list) else []
        self.input_spec = [*specs, *more]
        if hasattr(self.cell, "build") and not getattr(self.cell, "built", True):
            self.cell.build(nest.map_structure(step, shapes))
            self.cell.built = True
        if self.state_spec is not None:
            self._check_state_spec()
        if self.stateful:
            self.reset_states()
        self.built = True

    def _check_state_spec(self) -> None:
        """Raises a ValueError where states that a call was given are not as the cell's."""
        sizes = self.cell.state_size
        sizes = list(sizes) if is_multiple(sizes) else [sizes]
        wanted = [TensorShape(_sizes(size)) for size in nest.flatten(sizes)]
        given = [TensorShape(spec.shape[1:]) for spec in nest.flatten(self.state_spec)]
        fits = (shape.is_compatible_with(of_cell) for shape, of_cell in zip(given, wanted))
        if len(given) != len(wanted) or not all(fits):
            raise ValueError(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. "
                f"Received `state_spec`={self.state_spec}; however `cell.state_size` is {sizes}"
            )

    # Calls

    def __call__(  # type: ignore[override]
        self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any
    ) -> Any:
        """Calls the layer; tensors of a network among states and constants are inputs, too."""
        inputs, initial_state, constants = self._separated(inputs, initial_state, constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more = [*(initial_state or []), *(constants or [])]
        vars(self)["_num_constants"] = len(constants or [])
        specs = [InputSpec(shape=int_shape(x)) for x in nest.flatten(more)]
        if initial_state is not None:
            vars(self)["state_spec"] = specs[: len(nest.flatten(initial_state))]
        in_network = [history_of(x) is not None for x in nest.flatten(more)]
        if not all(in_network):
            if any(in_network):
                raise ValueError(
                    "The initial state or constants of an RNN layer cannot be specified with a mix "
                    'of Keras tensors and non-Keras tensors (a "Keras tensor" is a tensor that '
                    "was returned by a Keras layer, or by `Input`)"
                )
            if initial_state is not None:
                kwargs["initial_state"] = initial_state
            if constants is not None:
                kwargs["constants"] = constants
            return super().__call__(inputs, **kwargs)
        own, count = self.input_spec, len(nest.flatten(inputs))
        self.input_spec = [*(own if isinstance(own, list) else [None] * count), *specs]
        outputs = super().__call__([inputs, *more], **kwargs)
        self.input_spec = self.input_spec[:count]
        return outputs

    def _most_steps(self, inputs: Any) -> int | None:
        """What the loop over the steps is told to be the most of them."""
        del inputs
        return None

    def _separated(self, inputs: Any, initial_state: Any, constants: Any) -> tuple[Any, Any, Any]:
        return separated(inputs, initial_state, constants, vars(self)["_num_constants"])

    def call(  # type: ignore[override]
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        """The outputs, and the states if they are to be given.

        Raises:
            ValueError: steps of unknown number are to be written out, or states do not fit.
        """
        inputs, initial_state, constants = self._separated(inputs, initial_state, constants)
        if not initial_state:
            initial_state = self.states if self.stateful else self.get_initial_state(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(
                f"Layer has {len(self.states)} states but was passed {len(initial_state)} initial "
                "states."
            )
        sizes = int_shape(nest.flatten(inputs)[0])
        if self.unroll and sizes[0 if self.time_major else 1] is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined: give the first layer an "
                "`input_shape` or `Input` a `shape` with the number of steps"
            )
        mask = None if mask is None else nest.flatten(mask)[0]
        last, outputs, states = rnn(
            self._step(training, constants),
            inputs,
            initial_state,
            constants=constants,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            input_length=self._most_steps(inputs),
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            pairs = zip(nest.flatten(self.states), nest.flatten(states))
            self.add_update([tf.assign(variable, state) for variable, state in pairs])
        output = outputs if self.return_sequences else last
        if not self.return_state:
            return output
        listed = output if isinstance(output, list) else [output]
        return [*listed, *states]

    def _step(self, training: Any, constants: Any) -> Any:
        given: dict[str, Any] = {}
        if takes(self.cell, "training"):
            given["training"] = training
        if constants and not takes(self.cell, "constants"):
            raise ValueError("RNN cell does not support constants")
        count = len(constants or [])
        is_plain = hasattr(self.cell, "_is_tf_rnn_cell")

        def step(inputs: Any, states: Any) -> tuple[Any, Any]:
            own = dict(given)
            if count:
                own["constants"], states = states[-count:], states[:-count]
            if is_plain and len(states) == 1:
                states = states[0]
            output, new = self.cell.call(inputs, states, **own)
            return output, new if isinstance(new, (list, tuple)) else [new]

        return step

    # Configurations

    def _own_config(self) -> dict[str, Any]:
        names = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll")
        config = {
            **KerasLayer.get_config(self),
            **{name: getattr(self, name) for name in (*names, "time_major")},
        }
        if vars(self)["_num_constants"]:
            config["num_constants"] = vars(self)["_num_constants"]
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = True
        return config

    def get_config(self) -> dict[str, Any]:
        """The arguments, the cell's configuration among them."""
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**self._own_config(), "cell": cell}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A layer of what `get_config` gave."""
        from .table import deserialize

        config = dict(config)
        cell = deserialize(config.pop("cell"), custom_objects)
        count = config.pop("num_constants", 0)
        layer = cls(cell, **config)
        vars(layer)["_num_constants"] = count
        return layer


def separated(inputs: Any, initial_state: Any, constants: Any, count: int) -> tuple[Any, Any, Any]:
    """Inputs, states and so many constants, which may all come as one list; lists or None."""
    if isinstance(inputs, list):
        if count:
            constants, inputs = inputs[-count:], inputs[:-count]
        if len(inputs) > 1:
            initial_state = inputs[1:]
        inputs = inputs[0]

    def listed(x: Any) -> Any:
        if x is None or isinstance(x, list):
            return x
        return list(x) if isinstance(x, tuple) else [x]

    return inputs, listed(initial_state), listed(constants)


def _as_shapes(shape: Any) -> Any:
    """One shape, or a structure of shapes of nested inputs."""
    if isinstance(shape, TensorShape) or not nest.is_sequence(shape):
        return TensorShape(shape)
    is_one = all(size is None or isinstance(size, (int, Dimension)) for size in shape)
    return TensorShape(shape) if is_one else nest.map_structure(TensorShape, shape)


class _OfCell(RNN):
    """A layer whose arguments are its cell's and those of `RNN`."""

    cell_class: Any = None
    cell_arguments: tuple[str, ...] = ()

    def _begin_layer(self, scope: dict[str, Any], options: dict[str, Any]) -> None:
        given = {k: v for k, v in scope.items() if k not in ("self", "kwargs", "__class__")}
        activity = given.pop("activity_regularizer")
        own = {name: given.pop(name) for name in list(given) if name in self.cell_arguments}
        common = {key: options[key] for key in ("trainable", "dtype") if key in options}
        if own.get("implementation") == 0:
            own["implementation"] = 1
        cell = self.cell_class(**own, **common)
        RNN.__init__(self, cell, **given, **options)
        self.activity_regularizer = resolve_regularizer(activity)
        self.input_spec = [InputSpec(ndim=3)]

    def call(  # type: ignore[override]
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None
    ) -> Any:
        """The outputs, and the states if they are to be given."""
        self.cell.reset_dropout_mask()
        self.cell.reset_recurrent_dropout_mask()
        return super().call(inputs, mask=mask, training=training, initial_state=initial_state)

    def __getattr__(self, name: str) -> Any:
        if name in type(self).cell_arguments and "cell" in vars(self):
            return getattr(self.cell, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        from ..regularizers import serialize
        from ..serialization import serialized

        return {
            **self._own_config(),
            **serialized(self.cell, self.cell_arguments),
            "activity_regularizer": serialize(self.activity_regularizer),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:  # type: ignore[override]
        """A layer of what `get_config` gave."""
        return cls(**config)


def resolve_regularizer(given: Any) -> Any:
    """A regularizer from its name, its description or itself."""
    from ..regularizers import get

    return get(given)


class SimpleRNN(_OfCell):
    """A layer of SimpleRNNCell; arguments as of this and of RNN."""

    cell_class: Any = SimpleRNNCell
    cell_arguments = cells.SIMPLE

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("implementation", None)  # Of Keras before 2.0.
        self._begin_layer(locals(), kwargs)


class GRU(_OfCell):
    """A layer of GRUCell; arguments as of this and of RNN."""

    cell_class: Any = GRUCell
    cell_arguments = cells.GRU

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        self._begin_layer(locals(), kwargs)


class LSTM(_OfCell):
    """A layer of LSTMCell; arguments as of this and of RNN."""

    cell_class: Any = LSTMCell
    cell_arguments = cells.LSTM

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        self._begin_layer(locals(), kwargs)


__all__ = ["GRU", "LSTM", "RNN", "SimpleRNN", "is_multiple"]
