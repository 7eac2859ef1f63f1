# SPDX-License-Identifier: Apache-2.0
"""`Optimizer`: gradients, hyperparameters as variables, slots, and the step counter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.graph.trackable import Trackable
from ....engine.interface import log
from ....engine.types import dtypes, nest
from ....ops.public import raw, tf
from ...layers.names import snake_case, unique
from ...layers.weights import make_variable, track
from ...optimizers.optimizer import _deduplicate_indexed_slices
from ...variables.variable_kind import is_variable
from .. import initializers
from ..backend.sessions import batch_get_value, batch_set_value, set_value
from .schedules import LearningRateSchedule, schedule_from

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


# The numbers of one step, by device and dtype of variables.
State = dict[tuple[str, Any], dict[str, Any]]
_OPTIONS = ("clipnorm", "clipvalue", "lr", "decay")
_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


class Optimizer(Trackable):
    """Base class of optimizers; classes define slots and how one variable is updated.

    Hyperparameters are numbers, tensors, functions or schedules. Numbers become variables with the
    first update, which assignments change from then on: `optimizer.lr = 0.01`.

    Args:
        name: of the operations' scope.
        clipnorm: the largest norm of each gradient.
        clipvalue: the largest amount of an element of gradients.
        lr: the learning rate, by its old name.
        decay: the rate becomes lr / (1 + decay * steps).

    Raises:
        TypeError: an argument is unknown.
        ValueError: an argument is negative.
    """

    # Names of slots, each of zeros unless `_create_slots` says otherwise.
    _slots_of: tuple[str, ...] = ()
    # What programs' own optimizers pass on to ops.
    _use_locking = True

    def __init__(self, name: str | None, **kwargs: Any) -> None:
        own = vars(self)
        own["_hyper"] = {}
        for key, value in kwargs.items():
            if key not in _OPTIONS:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if isinstance(value, (int, float)) and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._name = name or unique(snake_case(type(self).__name__), zero_based=True)
        self._slots: dict[str, dict[str, Any]] = {}
        self._slot_names: list[str] = []
        self._weights: list[Any] = []
        self._iterations: Any = None
        self._waiting: dict[tuple[str, str], list[Any]] = {}
        self._hypers_created = False
        self._initial_decay = kwargs.get("decay", 0.0)
        for key in ("clipnorm", "clipvalue"):
            if key in kwargs:
                setattr(self, key, kwargs[key])

    # Hyperparameters

    def __getattr__(self, name: str) -> Any:
        hyper = vars(self).get("_hyper", {})
        name = "learning_rate" if name == "lr" else name
        if name in hyper:
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        name = "learning_rate" if name == "lr" else name
        if name in vars(self).get("_hyper", {}):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_hyper(self, name: str, value: Any) -> None:
        if isinstance(value, Trackable):
            self._track_trackable(value, name, overwrite=True)
        before = self._hyper.get(name)
        if is_variable(before) and not isinstance(value, LearningRateSchedule):
            set_value(before, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: DTypeLike | None = None) -> Any:
        self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        value = value() if callable(value) else value
        return tf.cast(value, dtype) if dtype else value

    def _create_hypers(self) -> None:
        """Makes variables of hyperparameters that are numbers."""
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if not (isinstance(value, Tensor) or is_variable(value) or callable(value)):
                self._hyper[name] = self.add_weight(name, shape=[], initializer=value)
        self._hypers_created = True

    def _serialize_hyperparameter(self, name: str) -> Any:
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return {"class_name": type(value).__name__, "config": value.get_config()}
        if callable(value):
            return value()
        if isinstance(value, Tensor) or is_variable(value):
            return batch_get_value([value])[0]
        return value

    # Variables

    @property
    def iterations(self) -> Any:
        """The variable that counts updates."""
        if self._iterations is None:
            self._iterations = self.add_weight("iter", shape=[], dtype=dtypes.int64)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                "created"
            )
        self._iterations = variable
        self._weights.append(variable)

    @property
    def weights(self) -> list[Any]:
        """The step counter and the slots."""
        return self._weights

    def variables(self) -> list[Any]:
        """The step counter and the slots."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """The values of `weights`."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives `weights` values; ValueError for another number or other shapes."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list "
                f"of length {len(weights)}, but the optimizer was expecting {len(variables)} "
                f"weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights):
            if tuple(variable.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {np.shape(value)}"
                )
        batch_set_value(list(zip(variables, weights)))

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: DTypeLike | None = None,
        initializer: Any = "zeros",
        **kwargs: Any,
    ) -> Any:
        """A variable of the optimizer."""
        getter: Any = make_variable
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)
        else:
            getter = _of_value
        variable = self._add_variable_with_custom_getter(
            name=name,
            shape=shape,
            getter=getter,
            overwrite=True,
            initializer=initializer,
            dtype=dtypes.as_dtype(dtype or dtypes.float32),
            trainable=kwargs.pop("trainable", False),
            use_resource=True,
            **kwargs,
        )
        track(variable)
        return variable

    def get_slot_names(self) -> list[str]:
        """The names of slots."""
        return self._slot_names

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """The slot of a variable, made if it is not there yet.

        Args:
            var: the variable.
            slot_name: the slot's name.
            initializer: an initializer, its name or a value.
        """
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(var.op.name, {})
        if slot_name not in slots:
            if isinstance(initializer, str) or callable(initializer):
                initial = functools.partial(
                    initializers.get(initializer), shape=var.shape, dtype=var.dtype.base_dtype
                )
            else:
                initial = initializer
            slot = tf.Variable(
                initial,
                name=f"{var.op.name}/{slot_name}",
                dtype=var.dtype.base_dtype,
                trainable=False,
                use_resource=True,
            )
            track(slot)
            slots[slot_name] = slot
            self._weights.append(slot)
            for position in self._waiting.pop((slot_name, var.op.name), []):
                position.restore(slot)
        return slots[slot_name]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot of a variable; KeyError if there is none."""
        return self._slots[var.op.name][slot_name]

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for name in self._slots_of:
            for variable in var_list:
                self.add_slot(variable, name)

    def _create_or_restore_slot_variable(
        self, slot_variable_position: Any, slot_name: str, variable: Any
    ) -> None:
        slot = self._slots.get(variable.op.name, {}).get(slot_name)
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            key = (slot_name, variable.op.name)
            self._waiting.setdefault(key, []).append(slot_variable_position)

    # Updates

    def minimize(
        self, loss: Callable[[], Any], var_list: Any, grad_loss: Any = None, name: str | None = None
    ) -> Any:
        """The operation that updates variables by a loss's gradients.

        Args:
            loss: a function that makes the loss, or a tensor.
            var_list: the variables, or a function that gives them.
            grad_loss: the gradient of the loss; 1 if None.
            name: of the operations' scope.
        """
        pairs = self._compute_gradients(loss, var_list, grad_loss)
        return self.apply_gradients(pairs, name=name)

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None
    ) -> list[tuple[Any, Any]]:
        """Pairs of gradients, clipped, and variables, for programs' own optimizers, too."""
        value = loss() if callable(loss) else loss
        variables = nest.flatten(var_list() if callable(var_list) else var_list)
        with tf.name_scope(f"{self._name}/gradients"):
            gradients = tf.gradients(value, variables, grad_ys=grad_loss)
            gradients = self._clipped(gradients)
        return list(zip(gradients, variables))

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of a loss, clipped as the optimizer says.

        Raises:
            ValueError: a variable has none.
        """
        params = nest.flatten(params)
        with tf.name_scope(f"{self._name}/gradients"):
            gradients = tf.gradients(loss, params)
            for gradient, variable in zip(gradients, params):
                if gradient is None:
                    raise ValueError(
                        f"Variable {variable} has `None` for gradient. Please make sure that all "
                        "of your ops have a gradient defined (i.e. are differentiable). Common ops "
                        "without gradient: K.argmax, K.round, K.eval."
                    )
            return self._clipped(gradients)

    def _clipped(self, gradients: list[Any]) -> list[Any]:
        if "clipnorm" in vars(self):
            gradients = [g if g is None else tf.clip_by_norm(g, self.clipnorm) for g in gradients]
        if "clipvalue" in vars(self):
            limit = self.clipvalue
            gradients = [g if g is None else tf.clip_by_value(g, -limit, limit) for g in gradients]
        return gradients

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss's gradients; ValueError as before."""
        return [self.apply_gradients(list(zip(self.get_gradients(loss, params), params)))]

    def apply_gradients(self, grads_and_vars: Iterable[Any], name: str | None = None) -> Any:
        """The operation that updates variables by gradients.

        Args:
            grads_and_vars: pairs of a gradient, or None, and a variable.
            name: of the operations' scope.

        Raises:
            ValueError: there is no gradient, or a dtype is no float.
        """
        pairs = _with_gradients(grads_and_vars)
        variables = [v for _, v in pairs]
        with tf.name_scope(self._name):
            with tf.init_scope():
                _ = self.iterations
                self._create_hypers()
                self._create_slots(variables)
            state = self._prepare(variables)
            with tf.name_scope(name or self._name):
                updates = []
                for gradient, variable in pairs:
                    with tf.name_scope(f"update_{variable.op.name}"):
                        updates.append(self._update(gradient, variable, state))
                with tf.control_dependencies(updates):
                    return self.iterations.assign_add(1).op

    def _update(self, gradient: Any, variable: Any, state: State) -> Any:
        if isinstance(gradient, IndexedSlices):
            if variable.constraint is not None:
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            given = {"apply_state": state} if _takes_state(self._resource_apply_sparse) else {}
            return self._resource_apply_sparse_duplicate_indices(
                gradient.values, variable, gradient.indices, **given
            )
        given = {"apply_state": state} if _takes_state(self._resource_apply_dense) else {}
        update = self._resource_apply_dense(gradient, variable, **given)
        if variable.constraint is None:
            return update
        with tf.control_dependencies([update]):
            return variable.assign(variable.constraint(variable))

    # What programs' own optimizers override and call, by TensorFlow's names.

    def _prepare(self, var_list: Sequence[Any]) -> State:
        """The numbers of one step, by device and dtype of variables."""
        state: State = {}
        for place in dict.fromkeys((v.device, v.dtype.base_dtype) for v in var_list):
            state[place] = {}
            self._prepare_local(*place, state)
        return state

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: State) -> None:
        """Puts the numbers of one step, tensors of a dtype, into a state."""
        apply_state[var_device, var_dtype].update(self._coefficients(var_dtype))

    def _fallback_apply_state(self, var_device: str, var_dtype: Any) -> dict[str, Any]:
        """The numbers of one step, where a state was not passed on."""
        place = var_device, var_dtype
        state: State = {place: {}}
        self._prepare_local(*place, state)
        return state[place]

    def _given(self, variable: Any, state: State | None) -> dict[str, Any]:
        place = variable.device, variable.dtype.base_dtype
        return (state or {}).get(place) or self._fallback_apply_state(*place)

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        if "learning_rate" not in self._hyper:
            return {}
        return {"lr_t": tf.identity(self._decayed_lr(dtype))}

    def _decayed_lr(self, dtype: Any) -> Any:
        rate = self._get_hyper("learning_rate", dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = tf.cast(rate(tf.cast(self.iterations, dtype)), dtype)
        if self._initial_decay > 0.0:
            steps = tf.cast(self.iterations, dtype)
            rate = rate / (1.0 + self._get_hyper("decay", dtype) * steps)
        return rate

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> Any:
        """The operation that updates one variable."""
        raise NotImplementedError(f"{type(self).__name__} does not update variables")

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        """The same for some rows, each of which comes once."""
        raise NotImplementedError(f"{type(self).__name__} does not update rows of variables")

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any, **kwargs: Any
    ) -> Any:
        """The same for some rows, each of which may come several times."""
        grad, indices = _deduplicate_indexed_slices(grad, indices)
        return self._resource_apply_sparse(grad, handle, indices, **kwargs)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        with tf.control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Any:
        with tf.control_dependencies([raw.ResourceScatterUpdate(x.handle, i, v)]):
            return x.value()

    # Configurations

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        own: dict[str, Any] = {
            key: getattr(self, key) for key in ("clipnorm", "clipvalue") if key in vars(self)
        }
        return {"name": self._name, **own}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """An optimizer of what `get_config` gave."""
        if "lr" in config:  # (In place, as in TensorFlow.)
            config["learning_rate"] = config.pop("lr")
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedule_from(config["learning_rate"], custom_objects)
        return cls(**config)


def _takes_state(method: Callable[..., Any]) -> bool:
    return _has_state(getattr(method, "__func__", method))


@functools.cache
def _has_state(function: Callable[..., Any]) -> bool:
    return "apply_state" in inspect.signature(function).parameters


def _of_value(name: str, shape: Any, dtype: Any, initializer: Any, **options: Any) -> Any:
    """A variable that begins at a value."""
    del shape
    return tf.Variable(initial_value=initializer, name=name, dtype=dtype, **options)


def _with_gradients(grads_and_vars: Iterable[Any]) -> list[tuple[Any, Any]]:
    pairs = list(grads_and_vars)
    found = [(g, v) for g, v in pairs if g is not None]
    if pairs and not found:
        names = [v.name for _, v in pairs]
        raise ValueError(f"No gradients provided for any variable: {names}.")
    if len(found) < len(pairs):
        log.warning(
            "Gradients do not exist for variables %s when minimizing the loss.",
            [v.name for g, v in pairs if g is None],
        )
    for _, variable in found:
        dtype = variable.dtype.base_dtype
        if dtype not in _FLOATS:
            raise ValueError(
                f"Invalid type {dtype!r} for {variable.name}, expected: {list(_FLOATS)}."
            )
    return found
