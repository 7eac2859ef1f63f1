# SPDX-License-Identifier: Apache-2.0
"""The cells: basic ones, GRU, LSTM in two forms, and several one above the other."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.trackable import Trackable
from ...engine.interface import log
from ...engine.signatures import without_private_bases
from ...engine.types import dtypes, nest
from ...ops.nn.bias import bias_add
from ...ops.public import tf
from ..layers import base, named
from ..layers.input_spec import InputSpec
from .cell import LayerRNNCell, RNNCell, check_input_dtypes, check_supported_dtype

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from ...ops.state.init import Zeros
    from ...ops.state.variables import Variable


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM cell (tf.nn.rnn_cell.LSTMStateTuple).

    Args:
        c: the memory [batch, units].
        h: the output [batch, units].

    Example:
        >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        >>> state = cell.zero_state(2, tf.float32)
        >>> type(state).__name__, state.c.shape.as_list(), state.h.shape.as_list()
        ('LSTMStateTuple', [2, 4], [2, 4])
    """

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The dtype of both; TypeError where they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class _Simple(LayerRNNCell):
    """What the cells with `num_units` have in common."""

    # The arguments of a class besides those of all of them.
    _own_arguments: tuple[str, ...] = ()

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Any] | None,
        reuse: object,
        name: str | None,
        dtype: DType,
        **kwargs: Any,
    ) -> None:
        LayerRNNCell.__init__(self, _reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_supported_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = named.activation(activation) if activation else tf.tanh

    def get_config(self) -> dict[str, Any]:
        """The arguments; functions and initializers as descriptions."""
        from ..keras.serialization import serialized

        names = ("num_units", *self._own_arguments, "activation", "reuse")
        found = serialized(self, (f"_{name}" for name in names))
        return {**LayerRNNCell.get_config(self), **{name: found[f"_{name}"] for name in names}}

    @property
    def state_size(self) -> Any:
        """The sizes of the state: `num_units`."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the output: `num_units`."""
        return self._num_units

    def _zeros(self) -> Zeros:
        dtype: Any = self.dtype
        return tf.zeros_initializer(dtype=dtype)

    def _product(self, inputs: Tensor, state: Tensor, kernel: TensorLike, bias: Variable) -> Tensor:
        return bias_add(tf.matmul(tf.concat([inputs, state], 1), kernel), bias)


@without_private_bases
class BasicRNNCell(_Simple):
    """activation([inputs, state] @ kernel + bias), output and state (tf.nn.rnn_cell.BasicRNNCell).

    Args:
        num_units: the size of output and state.
        activation: a function or its name; tanh if None.
        reuse: True takes variables that exist.
        name, dtype: as tf.layers.Layer.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, cell.trainable_variables[0].shape)
        (2, 4) (7, 4)
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        _Simple.__init__(self, num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel and bias."""
        depth, units = self._input_depth(inputs_shape), self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + units, units])
        self._bias = self.add_variable("bias", shape=[units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        check_input_dtypes([inputs, state])
        output = self._activation(self._product(inputs, state, self._kernel, self._bias))
        return output, output


@without_private_bases
class GRUCell(_Simple):
    """A Gated Recurrent Unit (tf.nn.rnn_cell.GRUCell), of arXiv 1406.1078.

    Args:
        num_units, activation, reuse, name, dtype: as BasicRNNCell.
        kernel_initializer, bias_initializer: initializers or names; the gates' bias is 1 if None.

    Example:
        >>> cell = tf.nn.rnn_cell.GRUCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, state.shape)
        (2, 4) (2, 4)
    """

    _own_arguments = ("kernel_initializer", "bias_initializer")

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: str | None = None,
        bias_initializer: Callable[..., Any] | None = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        _Simple.__init__(self, num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = named.initializer(kernel_initializer)
        self._bias_initializer = named.initializer(bias_initializer)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernels and biases of the gates and of the candidate."""
        depth, units = self._input_depth(inputs_shape), self._num_units
        self._gate_kernel, self._gate_bias = self._pair("gates", depth, 2 * units)
        self._candidate_kernel, self._candidate_bias = self._pair("candidate", depth, units)
        self.built = True

    def _pair(self, name: str, depth: int, size: int) -> tuple[Any, Any]:
        kernel = self.add_variable(
            f"{name}/kernel",
            shape=[depth + self._num_units, size],
            initializer=self._kernel_initializer,
        )
        initializer = self._bias_initializer
        if initializer is None:
            # Gates start open, so that a new cell keeps its state (TensorFlow 1.15,
            # rnn_cell_impl.py).
            ones = name == "gates"
            dtype: Any = self.dtype
            initializer = tf.constant_initializer(1.0, dtype=dtype) if ones else self._zeros()
        return kernel, self.add_variable(f"{name}/bias", shape=[size], initializer=initializer)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        check_input_dtypes([inputs, state])
        gates = tf.sigmoid(self._product(inputs, state, self._gate_kernel, self._gate_bias))
        r, u = tf.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = self._product(inputs, r * state, self._candidate_kernel, self._candidate_bias)
        c = self._activation(candidate)
        new = u * state + (1 - u) * c
        return new, new


def _warn_of_one_tensor(cell: RNNCell, state_is_tuple: bool) -> None:
    if not state_is_tuple:
        log.warn(
            "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
            "state_is_tuple=True.",
            cell,
        )


@without_private_bases
class BasicLSTMCell(_Simple):
    """A Long Short-Term Memory cell (tf.nn.rnn_cell.BasicLSTMCell), of arXiv 1409.2329.

    Args:
        num_units, activation, reuse, name, dtype: as BasicRNNCell.
        forget_bias: is added to the forget gate.
        state_is_tuple: whether the state is an LSTMStateTuple; else both in one tensor.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, state.c.shape, cell.trainable_variables[0].shape)
        (2, 4) (2, 4) (7, 16)
    """

    _own_arguments = ("forget_bias", "state_is_tuple")

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        _Simple.__init__(self, num_units, activation, reuse, name, dtype, **kwargs)
        _warn_of_one_tensor(self, state_is_tuple)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """The sizes of the state: two of `num_units`."""
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel and bias of the four gates together."""
        depth, units = self._input_depth(inputs_shape), self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + units, 4 * units])
        self._bias = self.add_variable("bias", shape=[4 * units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step."""
        check_input_dtypes([inputs, state])
        one = tf.constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = tf.split(value=state, num_or_size_splits=2, axis=one)
        gates = self._product(inputs, h, self._kernel, self._bias)
        # The order in the kernel, which checkpoints fix: input gate, new value, forget gate, output
        # gate.
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=one)
        forget = tf.constant(self._forget_bias, dtype=f.dtype)
        kept = tf.multiply(c, tf.sigmoid(tf.add(f, forget)))
        new_c = tf.add(kept, tf.multiply(tf.sigmoid(i), self._activation(j)))
        new_h = tf.multiply(self._activation(new_c), tf.sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, tf.concat([new_c, new_h], 1)


@without_private_bases
class LSTMCell(_Simple):
    """A Long Short-Term Memory cell with peepholes and a projection (tf.nn.rnn_cell.LSTMCell).

    Args:
        num_units, activation, reuse, name, dtype: as BasicRNNCell.
        use_peepholes: whether gates see the cell's state, by diagonal matrices.
        cell_clip: the bound of the cell's state; None for none.
        initializer: of kernels and peepholes.
        num_proj: the size of the output, that a matrix projects to; None for no projection.
        proj_clip: the bound of what is projected.
        num_unit_shards, num_proj_shards: in how many parts the kernels are; old.
        forget_bias, state_is_tuple: as BasicLSTMCell.

    Example:
        >>> cell = tf.nn.rnn_cell.LSTMCell(8, num_proj=4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, state.c.shape, state.h.shape)
        (2, 4) (2, 8) (2, 4)
    """

    _own_arguments = (
        *("use_peepholes", "cell_clip", "initializer", "num_proj", "proj_clip"),
        *("num_unit_shards", "num_proj_shards", "forget_bias", "state_is_tuple"),
    )

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Callable[..., Any] | TensorLike | None = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        _Simple.__init__(self, num_units, activation, reuse, name, dtype, **kwargs)
        _warn_of_one_tensor(self, state_is_tuple)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = named.initializer(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._output_size = num_proj or num_units
        sizes = LSTMStateTuple(num_units, self._output_size)
        self._state_size = sizes if state_is_tuple else sum(sizes)

    @property
    def state_size(self) -> Any:
        """The sizes of the state: `num_units`, and the output's."""
        return self._state_size

    @property
    def output_size(self) -> int:
        """The size of the output: `num_proj` if there is a projection."""
        return self._output_size

    def build(self, inputs_shape: Any) -> None:
        """Makes the kernel and bias of the gates, the peepholes and the projection."""
        depth, units = self._input_depth(inputs_shape), self._num_units
        h_depth = units if self._num_proj is None else self._num_proj
        self._kernel = self._matrix("kernel", [depth + h_depth, 4 * units], self._num_unit_shards)
        zeros = tf.zeros_initializer if self.dtype is None else self._zeros()
        self._bias = self.add_variable("bias", shape=[4 * units], initializer=zeros)
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_variable(f"w_{gate}_diag", shape=[units], initializer=self._initializer)
                for gate in "fio"
            )
        if self._num_proj is not None:
            self._proj_kernel = self._matrix(
                "projection/kernel", [units, self._num_proj], self._num_proj_shards
            )
        self.built = True

    def _matrix(self, name: str, shape: list[int], shards: int | None) -> Any:
        partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
        return self.add_variable(
            name, shape=shape, initializer=self._initializer, partitioner=partitioner
        )

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step."""
        check_input_dtypes([inputs, state])
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            size = self._num_units if self._num_proj is None else self._num_proj
            c_prev = tf.slice(state, [0, 0], [-1, self._num_units])
            m_prev = tf.slice(state, [0, self._num_units], [-1, size])
        if inputs.get_shape().with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = self._product(inputs, m_prev, self._kernel, self._bias)
        # The order in the kernel, which checkpoints fix: input gate, new value, forget gate, output
        # gate.
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            forget = tf.sigmoid(f + self._forget_bias + self._w_f_diag * c_prev) * c_prev
            c = forget + tf.sigmoid(i + self._w_i_diag * c_prev) * self._activation(j)
        else:
            forget = tf.sigmoid(f + self._forget_bias) * c_prev
            c = forget + tf.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            m = tf.sigmoid(o + self._w_o_diag * c) * self._activation(c)
        else:
            m = tf.sigmoid(o) * self._activation(c)
        m = self._projected(m)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else tf.concat([c, m], 1)

    def _projected(self, m: Tensor) -> Any:
        if self._num_proj is None:
            return m
        m = tf.matmul(m, self._proj_kernel)
        if self._proj_clip is None:
            return m
        return tf.clip_by_value(m, -self._proj_clip, self._proj_clip)


class MultiRNNCell(RNNCell):
    """Cells one above the other, each of which takes the former's output (tf.nn.rnn_cell).

    Args:
        cells: the cells, the lowest first: an object of its own for each.
        state_is_tuple: whether the state is a tuple of the cells'; else all in one tensor.

    Raises:
        TypeError: `cells` is no list.
        ValueError: there are none, or states are tuples where they must not be.

    Example:
        >>> cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(n) for n in (8, 4)])
        >>> outputs, states = tf.nn.dynamic_rnn(cell, tf.zeros([2, 5, 3]), dtype=tf.float32)
        >>> print(outputs.shape, [state.shape.as_list() for state in states])
        (2, 5, 4) [[2, 8], [2, 4]]
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_sequence(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            log.log_first_n(
                log.WARN,
                "At least two cells provided to MultiRNNCell are the same object and will share "
                "weights.",
                1,
            )
        self._cells = cells
        for number, cell in enumerate(cells):
            if isinstance(cell, Trackable):
                self._track_trackable(cell, name=f"cell-{number}")
        self._state_is_tuple = state_is_tuple
        sizes = [cell.state_size for cell in cells]
        if not state_is_tuple and any(nest.is_sequence(size) for size in sizes):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  "
                f"State sizes are: {sizes}"
            )

    @property
    def state_size(self) -> Any:
        """The sizes of the cells' states."""
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        return self._cells[-1].output_size

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """The states that are zero, for a batch of that size."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def _of_cells(self, attribute: str) -> list[Any]:
        layers = [cell for cell in self._cells if isinstance(cell, base.Layer)]
        return [weight for layer in layers for weight in getattr(layer, attribute)]

    @property
    def trainable_weights(self) -> list[Any]:
        """The cells' variables to train."""
        return self._of_cells("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The cells' variables that are not trained."""
        trained = [] if self.trainable else self._of_cells("trainable_weights")
        return trained + self._of_cells("non_trainable_weights")

    def call(self, inputs: TensorLike, state: Any) -> Any:  # type: ignore[override]
        """One step of every cell."""
        position, states = 0, []
        for number, cell in enumerate(self._cells):
            with tf.variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    if not nest.is_sequence(state):
                        raise ValueError(
                            f"Expected state to be a tuple of length {len(self.state_size)}, but "
                            f"received: {state}"
                        )
                    present = state[number]
                else:
                    present = tf.slice(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, new = cell(inputs, present)
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else tf.concat(states, 1)
