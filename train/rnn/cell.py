# SPDX-License-Identifier: Apache-2.0
"""`RNNCell`: what one step of a recurrent network is, and states that are zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.constants import constant_value
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes, nest
from ...engine.types.shape import TensorShape, as_shape
from ...ops.public import tf
from ..layers import base
from ..layers.weights import parts_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...ops.state.scope_defaults import VariableScope

# What programs that make cells of their own call their variables.
WEIGHTS_NAME, BIAS_NAME = "kernel", "bias"
ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"


def _has(thing: object, attribute: str) -> bool:
    """Whether an attribute is there; getting it may well raise something else."""
    try:
        getattr(thing, attribute)
    except AttributeError:
        return False
    return True


def assert_like_rnncell(cell_name: str, cell: RNNCell) -> None:
    """Raises a TypeError for what has not the attributes of a cell."""
    conditions = {
        "'output_size' property is missing": _has(cell, "output_size"),
        "'state_size' property is missing": _has(cell, "state_size"),
        "either 'zero_state' or 'get_initial_state' method is required": (
            _has(cell, "get_initial_state") or _has(cell, "zero_state")
        ),
        "is not callable": callable(cell),
    }
    errors = [error for error, holds in conditions.items() if not holds]
    if errors:
        raise TypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(errors)}."
        )


def _vector(sizes: TensorLike | None, what: str) -> tuple[Any, Any]:
    """Sizes as a tensor with one axis (None if it cannot be), and as far as they are known."""
    if isinstance(sizes, Tensor):
        known = constant_value(sizes)
        if sizes.shape.ndims == 0:
            return tf.expand_dims(sizes, 0), known
        if sizes.shape.ndims != 1:
            raise ValueError(
                f"{what} tensor must be either a scalar or vector, but saw tensor: {sizes}"
            )
        return sizes, known
    shape = as_shape(sizes)
    known = shape.as_list() if shape.ndims is not None else None
    if not shape.is_fully_defined():
        return None, known
    return tf.constant(known, dtype=dtypes.int32), known


def concat(prefix: TensorLike | None, suffix: int, static: bool = False) -> Any:
    """A shape of two parts, each a number, a shape or a tensor: as a tensor, or as a list."""
    p, known_prefix = _vector(prefix, "prefix")
    s, known_suffix = _vector(suffix, "suffix")
    if static:
        shape = as_shape(known_prefix).concatenate(as_shape(known_suffix))
        return shape.as_list() if shape.ndims is not None else None
    if p is None or s is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return tf.concat((p, s), 0)


def zero_state_tensors(state_size: object, batch_size: TensorLike, dtype: DTypeLike) -> Any:
    """Zeros of shape [batch_size, ...] for every size in a structure."""

    def zeros(size: int) -> Tensor:
        made = tf.zeros(concat(batch_size, size), dtype=dtype)
        made.set_shape(concat(batch_size, size, static=True))
        return made

    return nest.map_structure(zeros, state_size)


class RNNCell(base.Layer):
    """Base class of cells: a call takes inputs and a state, and gives an output and a new state.

    Subclasses have `call(inputs, state)`, `state_size` and `output_size`.  Variables are named by
    the variable scope around the first call.

    Args:
        trainable, name, dtype: as tf.layers.Layer.
    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        # Keras asks for this mark.
        self._is_tf_rnn_cell = True

    def __call__(self, inputs: Any, state: Any, scope: VariableScope | str | None = None) -> Any:  # type: ignore[override]
        """One step: (output, new state).

        Args:
            inputs: [batch, ...], or a structure of such.
            state: a structure of tensors as `state_size` is one of sizes.
            scope: a variable scope for the variables; the present one if None.
        """
        if scope is not None:
            getter = self._rnn_get_variable
            with tf.variable_scope(scope, custom_getter=getter) as opened:
                return super().__call__(inputs, state, scope=opened)
        # The scope of the first call serves all later ones, which thus find the same variables.
        if not hasattr(self, "rnncell_scope"):
            self.rnncell_scope = tf.variable_scope(
                tf.get_variable_scope(), custom_getter=self._rnn_get_variable
            )
        with self.rnncell_scope:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Notes variables that a cell gets by tf.get_variable as its own."""
        variable = getter(*args, **kwargs)
        first = parts_of(variable)[0]
        trainable = any(first is v for v in tf.trainable_variables())
        own = self._trainable_weights if trainable else self._non_trainable_weights
        if not any(variable is v for v in own):
            own.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The sizes of the state without the batch: integers or shapes, or a structure."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The sizes of the output without the batch."""
        raise NotImplementedError("Abstract method")

    def build(self, _: Any) -> None:
        """Nothing: many cells make variables in their call."""

    def get_initial_state(
        self,
        inputs: Any = None,
        batch_size: Any = None,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """A state to begin with: zeros.

        Args:
            inputs: a tensor that has the batch size and the dtype.
            batch_size, dtype: those; must be given without inputs, and agree with them.

        Raises:
            ValueError: one of them is missing or differs.
        """
        if inputs is not None:
            inputs = tf.convert_to_tensor(inputs, name="inputs")
            known = inputs.shape.as_list()[0]
            if batch_size is not None:
                given = constant_value(batch_size) if _is_tensor(batch_size) else batch_size
                if known != given:
                    raise ValueError(
                        "batch size from input tensor is different from the input param. Input "
                        f"tensor batch: {known}, batch_size: {batch_size}"
                    )
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input tensor "
                    f"dtype: {inputs.dtype}, dtype: {dtype}"
                )
            batch_size, dtype = known or tf.shape(inputs)[0], inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: TensorLike, dtype: DTypeLike) -> Any:
        """The state that is zero, for a batch of that size."""
        with tf.name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_state_tensors(self.state_size, batch_size, dtype)


def _is_tensor(value: Tensor) -> bool:
    return isinstance(value, Tensor)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as layers do."""

    def __call__(  # type: ignore[override]
        self,
        inputs: Any,
        state: Any,
        scope: VariableScope | str | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """One step: (output, new state); `scope` names the variables, for the first call."""
        return base.Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _input_depth(self, inputs_shape: TensorShape) -> int:
        """The size of the inputs' last axis; ValueError where it is unknown."""
        sizes = TensorShape(inputs_shape).as_list()
        if sizes[-1] is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {tuple(sizes)}")
        check_supported_dtype(self.dtype)
        return int(sizes[-1])


def check_input_dtypes(inputs: Sequence[Any]) -> None:
    """Raises a ValueError for inputs or states that are not of a floating-point dtype."""
    for tensor in nest.flatten(inputs):
        check_supported_dtype(tensor.dtype)


def check_supported_dtype(dtype: DTypeLike | None) -> None:
    """Raises a ValueError for a dtype, if there is one, that cells do not compute in."""
    if dtype is None:
        return
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")
