# SPDX-License-Identifier: Apache-2.0
"""What all layers have: variables, losses and updates, and how a call is surrounded.

base.py adds how variable scopes name layers and share their variables.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.graph.trackable import no_automatic_dependency_tracking_scope
from ...engine.types import dtypes, nest
from ...ops.public import tf
from ..objects.module import Module
from ..variables.variable_kind import is_variable
from . import named
from . import policy as policies
from .casting import Casting, cast_variable
from .connected import Connected
from .dependency import reaches
from .input_spec import InputSpec, assert_input_compatibility
from .names import snake_case, unique
from .nested import Nested
from .nodes import give_histories
from .serialized import Serialized
from .weights import checked_trainable, make_variable, parts_of, track

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, SparseLike, TensorLike
    from ...engine.types.dtypes import DType
    from ...ops.state.variables import Variable

_ROOT = __name__.partition(".")[0]
_OPTIONS = frozenset(
    "input_shape batch_input_shape batch_size weights activity_regularizer autocast".split()
)


class _Calls(threading.local):
    """The layer calls that are being made: what the innermost one was given."""

    def __init__(self) -> None:
        self.inputs: Any = None
        self.within = False
        self.training: Any = None

    @contextmanager
    def enter(self, inputs: SparseLike | TensorLike, training: TensorLike | None) -> Iterator[None]:
        before = dict(vars(self))
        self.inputs, self.within, self.training = inputs, True, training
        try:
            yield
        finally:
            # The layer around gets its own inputs back: updates added after the inner call are its
            # own.
            vars(self).update(before)


_calls = _Calls()


def is_called() -> bool:
    """Whether a layer is being called."""
    return _calls.within


def called_on(inputs: Any, training: Any) -> Any:
    """A context within a layer's call on some inputs."""
    return _calls.enter(inputs, training)


class Layer(Casting, Connected, Nested, Serialized, Module):
    """Base class of layers; graphs only.

    Args:
        trainable: whether the variables are to be trained.
        name: the layer's name; made from the class's if None.
        dtype: dtype of the variables; that of the first input if None.
        activity_regularizer: a function from each output to a loss.
        input_shape, batch_input_shape, batch_size: the shape of inputs, for models of Keras.
        weights: arrays, the variables' first values.
        autocast: whether float inputs are cast to the dtype in which the layer computes.

    Raises:
        TypeError: an argument is unknown.
    """

    _input_spec: Any

    # The classes' attributes are properties; instances hold theirs below an underscore.
    def __init__(
        self,
        trainable: bool = True,
        name: Any = None,
        dtype: DTypeLike | None = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        unknown = set(kwargs) - _OPTIONS
        if unknown:
            raise TypeError("Keyword argument not understood:", sorted(unknown)[0])
        if dynamic:
            raise ValueError("dynamic=True needs eager execution, which numbaflow has not")
        with no_automatic_dependency_tracking_scope(self):
            self._begin(trainable, name, dtype, kwargs)

    def _begin(self, trainable: bool, name: Any, dtype: Any, options: dict[str, Any]) -> None:
        self._trainable = trainable
        self.stateful = False
        self.built = False
        self.supports_masking = False
        self.input_spec = None
        self._init_set_name(name)
        self._activity_regularizer = named.function_or_none(
            options.get("activity_regularizer"), "regularizer"
        )
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Any] = []
        self._losses: list[Any] = []
        self._callable_losses: list[Callable[[], Any]] = []
        self._set_dtype_policy(dtype)
        self._autocast = options.get("autocast", policies.v2_dtype_behavior_enabled())
        if "batch_input_shape" in options or "input_shape" in options:
            rest = (options.get("batch_size"), *options.get("input_shape", ()))
            self._batch_input_shape = tuple(options.get("batch_input_shape", rest))
        self._initial_weights = options.get("weights")
        self._find_call_arguments()

    def _init_set_name(self, name: str) -> None:
        self._name = name or unique(snake_case(type(self).__name__), zero_based=True)

    def _name_scope(self) -> str:
        return self.name

    def _find_call_arguments(self) -> None:
        # (What tf.function made of a method says by `__wrapped__` what that takes.)
        found = inspect.getfullargspec(inspect.unwrap(self.call))
        self._call_fn_args = found.args[1:] if found.args[:1] == ["self"] else found.args
        self._expects_training_arg = "training" in self._call_fn_args or found.varkw is not None

    # What layers consist of

    @property
    def dynamic(self) -> bool:
        """Whether the layer needs eager execution: never."""
        return False

    @property
    def trainable(self) -> bool:
        """Whether the variables are to be trained."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = value
        for layer in self._nested_layers():
            layer.trainable = value

    @property
    def activity_regularizer(self) -> Any:
        """The function from each output to a loss, or None."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, value: int | Sequence[int]) -> None:
        self._activity_regularizer = value

    @property
    def input_spec(self) -> Any:
        """An InputSpec, or several, that inputs must meet; None demands nothing."""
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: object) -> None:
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        vars(self)["_input_spec"] = value  # No dependency, though it may be a dict.

    @property
    def trainable_weights(self) -> list[Any]:
        """The variables to train."""
        if not self.trainable:
            return []
        return [*self._trainable_weights, *self._of_nested("trainable_weights")]

    @property
    def non_trainable_weights(self) -> list[Any]:
        """The variables that are not trained."""
        own, nested = self._non_trainable_weights, self._of_nested("non_trainable_weights")
        if self.trainable:
            return [*own, *nested]
        return [*self._trainable_weights, *own, *self._of_nested("weights")]

    @property
    def weights(self) -> list[Any]:
        """All variables, those to train first."""
        return self.trainable_weights + self.non_trainable_weights

    # Other names of the same lists; what subclasses override counts for them, too.

    @property
    def variables(self) -> Any:
        """All variables, those to train first."""
        return self.weights

    @property
    def trainable_variables(self) -> Any:
        """The variables to train."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables that are not trained."""
        return self.non_trainable_weights

    def count_params(self) -> int:
        """The number of elements of all variables; ValueError before the layer is built."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. "
                f"You can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(np.prod(w.shape.as_list()) for w in self.weights))

    def get_weights(self) -> list[np.ndarray]:
        """The values of the variables, in the session of Keras, which may be the default one."""
        from ..keras.backend.sessions import batch_get_value

        return batch_get_value(self.weights)

    def set_weights(self, weights: list[Any]) -> None:
        """Gives the variables values, in that session; ValueError where shapes differ."""
        from ..keras.backend.sessions import batch_set_value

        variables = self.weights
        if len(weights) != len(variables):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights):
            if not variable.shape.is_compatible_with(np.shape(value)):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {np.shape(value)}"
                )
        batch_set_value(list(zip(variables, weights)))

    def get_config(self) -> dict[str, Any]:
        """The arguments that all layers have; classes with others add theirs.

        Raises:
            NotImplementedError: the class's constructor has others, which it has not added.
        """
        config = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if type(self).get_config is Layer.get_config:
            own = inspect.getfullargspec(type(self).__init__).args[1:]
            if any(name not in config and name != "dynamic" for name in own):
                raise NotImplementedError(
                    "Layers with arguments in `__init__` must override `get_config`."
                )
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """A layer from the arguments in a dict."""
        return cls(**config)

    # Variables

    def build(self, input_shape: ShapeLike) -> None:
        """Makes the variables, once, for inputs of that shape; classes override it."""
        del input_shape
        self.built = True

    def add_weight(
        self,
        name: Any = None,
        shape: Any = None,
        dtype: DTypeLike | None = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = tf.VariableSynchronization.AUTO,
        aggregation: Any = tf.VariableAggregation.NONE,
        **kwargs: Any,
    ) -> Any:
        """Makes a variable of the layer; returns it.

        Args: as tf.get_variable, `dtype` being the layer's if None.

        Raises:
            TypeError: an argument is unknown.
            ValueError: a variable that is synchronized when it is read cannot be trainable, or
                no initializer is given for a dtype that has no default.
        """
        getter = kwargs.pop("getter", make_variable)
        collections = kwargs.pop("collections", None)
        casts = kwargs.pop("experimental_autocast", True)
        for unknown in kwargs:
            raise TypeError("Unknown keyword argument:", unknown)
        dtype = dtypes.as_dtype(dtype or self.dtype or dtypes.float32)
        if self._dtype is None:
            self._dtype = dtype
        if casts and dtype.is_floating and self._dtype_policy.should_cast_variables:
            getter = functools.partial(cast_variable, getter)
        initializer = named.initializer(initializer)
        trainable = checked_trainable(trainable, synchronization)
        if initializer is None:
            initializer = self._default_initializer(name, dtype)
        variable = self._add_variable_with_custom_getter(
            name=name,
            shape=() if shape is None else shape,
            getter=getter,
            overwrite=True,
            initializer=initializer,
            dtype=dtype,
            constraint=named.function_or_none(constraint, "constraint"),
            trainable=trainable,
            partitioner=partitioner,
            use_resource=use_resource,
            collections=collections,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        regularizer = named.function_or_none(regularizer, "regularizer")
        if regularizer is not None:
            self._handle_weight_regularization(variable.name.split(":")[0], variable, regularizer)
        track(variable)
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        return variable

    def _default_initializer(self, name: str, dtype: DType) -> Any:
        if dtype.is_floating:
            return tf.glorot_uniform_initializer()
        if dtype.is_integer or dtype.is_unsigned or dtype.is_bool:
            return tf.zeros_initializer()
        raise ValueError(
            f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer "
            f"{self.name}"
        )

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        """The old name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    # Losses and updates

    @property
    def losses(self) -> list[Any]:
        """The losses; those of regularizers are made anew whenever this is asked for."""
        made = (loss() for loss in self._callable_losses)
        own = self._losses + [loss for loss in made if loss is not None]
        return own + self._of_nested("losses")

    def add_loss(self, losses: object, inputs: TensorLike | None = None) -> None:
        """Adds losses: tensors, values or functions that make them.

        Args:
            losses: one, or a list.
            inputs: anything but None says that the losses depend on the layer's inputs.
        """

        def marked(loss: Any) -> Any:
            loss = loss() if callable(loss) else loss
            if loss is not None:
                if not _is_symbolic(loss):
                    loss = tf.convert_to_tensor(loss, dtype=dtypes.float32)
                loss._unconditional_loss = inputs is None
            return loss

        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(functools.partial(marked, loss))
            elif loss is not None:
                self._losses.append(marked(loss))

    def _handle_weight_regularization(
        self, name: str, variable: TensorLike, regularizer: Callable[..., Any]
    ) -> None:
        def loss(part: Variable) -> Any:
            with tf.name_scope(name + "/Regularizer"):
                return regularizer(part)

        for part in parts_of(variable):
            self.add_loss(functools.partial(loss, part))

    def _handle_activity_regularization(self, inputs: TensorLike, outputs: TensorLike) -> None:
        if not self._activity_regularizer:
            return
        with tf.name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                # The mean over the batch, so that the weight of the loss does not grow with it.
                self.add_loss(loss / tf.cast(tf.shape(output)[0], loss.dtype), inputs=inputs)

    @property
    def updates(self) -> list[Any]:
        """The update ops; none when the layer is not trained."""
        if not (self.trainable or self.stateful):
            return []
        return [*self._updates, *self._of_nested("updates")]

    def add_update(self, updates: object, inputs: TensorLike | None = None) -> None:
        """Adds updates: operations, tensors or functions that make one; one, or a list."""
        del inputs  # Found out from the graph.

        def operation(update: object) -> Any:
            if callable(update):
                return operation(update())
            if isinstance(update, Operation):
                return update
            return update.op if hasattr(update, "op") else tf.convert_to_tensor(update)

        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            made = operation(update)
            # Updates that no input reaches are to run always; the others when the layer's output is
            # used.
            made._unconditional_update = not reaches(self._relevant_inputs(), made)
            self._updates.append(made)

    def _relevant_inputs(self) -> Any:
        """What the call that is being made was given; outside of calls, what all were given."""
        if _calls.within:
            return _calls.inputs
        return [node.input_tensors for node in getattr(self, "inbound_nodes", ())]

    @property
    def metrics(self) -> list[Any]:
        """The metrics that were added, those of inner layers, too."""
        return [*super().metrics, *self._of_nested("metrics")]

    def get_updates_for(self, inputs: TensorLike | None) -> list[Any]:
        """The updates that depend on the inputs; those that depend on none for None."""
        if inputs is None:
            return [u for u in self.updates if u._unconditional_update]
        return [u for u in self.updates if not u._unconditional_update and reaches(inputs, u)]

    def get_losses_for(self, inputs: TensorLike | None) -> list[Any]:
        """The losses that depend on the inputs; those that depend on none for None."""
        losses = self.losses
        if inputs is None:
            return [loss for loss in losses if loss._unconditional_loss]
        return [x for x in losses if not x._unconditional_loss and reaches(inputs, x)]

    # Calls

    def call(self, inputs: TensorLike | None, **kwargs: Any) -> Any:
        """What the layer computes; classes override it."""
        del kwargs
        return inputs

    def apply(self, inputs: SparseLike | TensorLike, *args: Any, **kwargs: Any) -> Any:
        """The same as calling the layer."""
        return self(inputs, *args, **kwargs)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        symbolic = all(_is_symbolic(x) for x in nest.flatten(inputs))
        if not symbolic:
            inputs = nest.map_structure(_as_tensor, inputs)
        given = dict(kwargs)
        training = self._training_argument(args, kwargs)
        mask = self._mask_argument(inputs, args, kwargs)
        if not _calls.within:
            give_histories(inputs)
        with _calls.enter(inputs, training):
            if symbolic:
                assert_input_compatibility(self.input_spec, inputs, self.name)
            with tf.name_scope(self._name_scope()):
                self._maybe_build(inputs)
                with tf.get_default_graph()._enable_auto_casting_variables(self._cast_dtype()):
                    given_inputs = self._cast_inputs(inputs)
                    outputs = self._converted_call()(given_inputs, *args, **kwargs)
                if outputs is None:
                    raise ValueError(
                        "A layer's `call` method should return a Tensor or a list of Tensors, not "
                        f"None (layer: {self.name})."
                    )
                outputs = self._connect(inputs, outputs, args, given)
                self._handle_activity_regularization(inputs, outputs)
                self._carry_masks(inputs, outputs, mask)
                self._called(inputs, outputs)
        return outputs

    def _converted_call(self) -> Callable[..., Any]:
        """`call`, a program's own with its `if` and loops ready for tensors."""
        call = self.call
        if getattr(call, "__module__", _ROOT).partition(".")[0] == _ROOT:
            return call
        from ...ops.flow.autograph.conversion import converted

        return converted(call)

    def _training_argument(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The `training` argument: as passed, else that of the layer around this one."""
        passed = dict(zip(self._call_fn_args[1:], args))
        if "training" in kwargs or "training" in passed:
            value = kwargs["training"] if "training" in kwargs else passed["training"]
            if not self._expects_training_arg:
                kwargs.pop("training", None)
            return value
        # As Keras passes it on: a layer that is called without `training` takes it from the layer
        # that calls it.
        value = _calls.training
        if value is not None and self._expects_training_arg:
            is_tensor = isinstance(value, Tensor) or is_variable(value)
            kwargs["training"] = tf.cast(value, dtypes.bool) if is_tensor else bool(value)
        return value

    def _maybe_build(self, inputs: SparseLike | TensorLike) -> None:
        if self.built:
            return
        assert_input_compatibility(self.input_spec, inputs, self.name)
        flat = nest.flatten(inputs)
        if flat and self._compute_dtype is None and hasattr(flat[0], "dtype"):
            self._dtype_policy = policies.with_input_dtype(self._dtype_policy, flat[0].dtype)
        shapes = None
        if all(hasattr(x, "shape") for x in flat):
            shapes = nest.map_structure(lambda x: x.shape, inputs)
        self.build(shapes)
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        """The shape of the output for a shape of the input."""
        raise NotImplementedError(f"{type(self).__name__} computes no output shapes")


def _is_symbolic(x: Any) -> bool:
    return isinstance(x, Tensor) or nest.is_composite(x) or is_variable(x)


def _as_tensor(x: SparseLike | TensorLike) -> Any:
    return tf.convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x
