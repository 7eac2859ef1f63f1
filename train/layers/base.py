# SPDX-License-Identifier: Apache-2.0
"""`tf.layers.Layer`: layers that variable scopes name, and that share variables by them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.deprecation import deprecated
from ...engine.graph.tensor import Tensor
from ...engine.tracebacks import shorten
from ...engine.types import dtypes, nest
from ...ops.public import tf
from ...ops.state.variable_scope import VariableScope
from . import base_layer
from .input_spec import InputSpec
from .names import snake_case, unique
from .weights import checked_trainable, parts_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.graph import Graph
    from ...ops.state.variable_scope import variable_scope
    from ...ops.state.variables import Variable

__all__ = ["InputSpec", "Layer", "keras_style_scope", "set_keras_style"]

_keras_style = False


@contextmanager
def keras_style_scope() -> Iterator[None]:
    """A context whose layers make variables of their own, whatever the variable scopes are.

    `scope=` and `reuse=` raise a ValueError there.
    """
    global _keras_style
    before, _keras_style = _keras_style, True
    try:
        yield
    finally:
        _keras_style = before


def set_keras_style() -> None:
    """From here on, all layers are as those of `keras_style_scope`."""
    global _keras_style
    _keras_style = True


class Layer(base_layer.Layer):
    """Base class of tf.layers: `build` makes variables, `call` computes.

    The first call opens a variable scope of the layer's name, made unique; later calls reuse it.

    Args:
        trainable: whether the variables join the collection of those to be trained.
        name: the layer's name; made from the class's if None.
        dtype: dtype of the variables; that of the first input if None.
        _scope: the variable scope, or its name, instead of one made from `name`.
        _reuse: True takes variables that exist instead of making some.

    Raises:
        ValueError: `_scope` or `_reuse` is given where layers are in Keras's style.
    """

    _looks_at_attributes = False
    # The attributes that are arguments, besides those of all layers.
    _arguments: tuple[str, ...] = ()

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        self._use_resource_variables = False
        scope = kwargs.pop("_scope", None)
        self._reuse = kwargs.pop("_reuse", None)
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._keras_style = _keras_style
        if _keras_style:
            _require_none("scope", scope)
            _require_none("reuse", self._reuse)
        self._call_has_scope_arg = "scope" in self._call_fn_args
        self._scope: Any = None
        self._current_scope: Any = None
        if scope:
            with tf.variable_scope(scope) as captured:
                self._scope = captured

    def get_config(self) -> dict[str, Any]:
        """The arguments; objects among them as descriptions."""
        from ..keras.serialization import serialized

        return {**super().get_config(), **serialized(self, self._arguments)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """A layer from its arguments; objects may be descriptions."""
        from ..keras.layers.style import resolved

        return cls(**resolved(**config))

    @property
    @deprecated(None, "tf.layers layers no longer track their graph.")
    def graph(self) -> None:
        """None: layers belong to no graph."""
        return None

    def _init_set_name(self, name: Any) -> None:
        if isinstance(name, VariableScope):
            self._base_name = name.name
            self._name, _ = self._make_unique_name()
        elif name:
            self._name = self._base_name = name
        else:
            self._name, self._base_name = self._make_unique_name()

    def _make_unique_name(
        self,
        name_uid_map: object = None,
        avoid_names: object = None,
        namespace: str = "",
        zero_based: bool = False,
    ) -> tuple[str, str]:
        base = snake_case(type(self).__name__)
        return unique(base, name_uid_map, avoid_names, namespace, zero_based), base

    @property
    def scope_name(self) -> str:
        """The name of the layer's variable scope; ValueError before the first call."""
        if not self._scope:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name  is determined the first time the layer instance is "
                "called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name  # type: ignore[no-any-return]

    def _name_scope(self) -> Any:
        return self.name if self._keras_style else self._current_scope.original_name_scope

    def _set_scope(self, scope: Any = None) -> None:
        """Opens the layer's variable scope if it has none yet."""
        if self._scope is not None:
            return
        if self._reuse:
            opened = tf.variable_scope(self._base_name if scope is None else scope)
        else:
            opened = tf.variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def add_loss(self, losses: object, inputs: TensorLike | None = None) -> None:
        """Adds losses, to the collection of regularization losses as well."""
        tensors, functions = len(self._losses), len(self._callable_losses)
        super().add_loss(losses, inputs=inputs)
        # What the base class added just now, by the lengths before: losses, then functions that
        # make some.
        new = self._losses[tensors:]
        made = [function() for function in self._callable_losses[functions:]]
        new += [loss for loss in made if loss is not None]
        _add_to_collection(new, tf.GraphKeys.REGULARIZATION_LOSSES)

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        initializer: object = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: object = tf.VariableSynchronization.AUTO,
        aggregation: object = tf.VariableAggregation.NONE,
        partitioner: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Makes or reuses a variable of the layer's variable scope; returns it.

        Args: as tf.get_variable; `dtype` is the layer's or float32, `initializer` the scope's.

        Raises:
            TypeError: an argument is unknown.
            ValueError: a variable that is synchronized when it is read cannot be trainable.
        """
        for unknown in kwargs:
            if unknown != "experimental_autocast":
                raise TypeError("Unknown keyword argument:", unknown)
        common = dict(constraint=constraint, partitioner=partitioner)
        if self._keras_style:
            return super().add_weight(
                name=name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                regularizer=regularizer,
                trainable=trainable and self.trainable,
                use_resource=use_resource,
                **common,
            )
        trainable = checked_trainable(trainable, synchronization) and self.trainable
        with tf.init_scope():
            # The graph of variables, where functions' bodies are other graphs.
            graph = tf.get_default_graph()
        with graph.as_default():
            # A variable that is reused was regularized by the layer that made it: once is enough.
            existing = {id(v) for v in tf.global_variables()} if regularizer else set()
        self._set_scope(None)
        reuse = self.built or self._reuse
        known = len(self._trainable_weights)
        opened = tf.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False)
        with opened as scope:
            self._current_scope = scope
            with tf.name_scope(self._name_scope()):
                variable = super().add_weight(
                    name,
                    shape,
                    dtype=dtypes.as_dtype(dtype or self.dtype or dtypes.float32),
                    initializer=scope.initializer if initializer is None else initializer,
                    trainable=trainable,
                    use_resource=use_resource or self._use_resource_variables or scope.use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                    getter=tf.get_variable,
                    **common,
                )
                if regularizer and not any(id(v) in existing for v in parts_of(variable)):
                    self._handle_weight_regularization(name, variable, regularizer)
                if trainable:
                    self._follow_getter(graph, variable, known)
        return variable

    def _follow_getter(self, graph: Graph, variable: Variable, known: int) -> None:
        """The weights behind the first `known` are not to train if a custom getter had it so."""
        trained = graph.get_collection_ref(tf.GraphKeys.TRAINABLE_VARIABLES)
        if not any(vars(v) is vars(variable) for v in trained):
            self._non_trainable_weights += self._trainable_weights[known:]
            del self._trainable_weights[known:]

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls the layer in its variable scope.

        Args:
            inputs: a tensor, or a structure of some; then what `call` takes.
            scope: the variable scope, or its name, for the first call.
        """
        try:
            scope = kwargs.pop("scope", None)
            if self._keras_style:
                _require_none("scope", scope)
                return super().__call__(inputs, *args, **kwargs)
            self._set_scope(scope)
            with self._scope_of_call() as opened:
                self._current_scope = opened
                if not hasattr(self, "_call_has_scope_arg"):
                    # A class that does not call the constructor.
                    self._find_call_arguments()
                    self._call_has_scope_arg = "scope" in self._call_fn_args
                if self._call_has_scope_arg:
                    kwargs["scope"] = opened
                outputs = super().__call__(inputs, *args, **kwargs)
            _add_to_collection(self.updates, tf.GraphKeys.UPDATE_OPS)
            return outputs
        except Exception as error:
            shorten(error)
            raise

    def _scope_of_call(self) -> variable_scope:
        if not self.built:
            return tf.variable_scope(self._scope, reuse=self._reuse, auxiliary_name_scope=False)
        if not hasattr(self, "_always_reuse_variable_scope"):
            self._always_reuse_variable_scope = tf.variable_scope(
                self._scope, reuse=True, auxiliary_name_scope=False
            )
        return self._always_reuse_variable_scope

    def __deepcopy__(self, memo: dict[int, Any]) -> Layer:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for name, value in vars(self).items():
            if name in ("_scope", "_always_reuse_variable_scope"):
                value = copy.copy(value)
            # Tensors and variables are nodes of a graph, of which there is no second: the copy
            # shares them.
            elif name != "_self_tracking" and not _holds_tensors(value):
                value = copy.deepcopy(value, memo)
            vars(made)[name] = value
        return made

    @property
    def _is_legacy_layer(self) -> bool:
        return True


def _require_none(argument: str, value: object) -> None:
    if value is not None:
        raise ValueError(
            f"{argument} argument not allowed when keras style layers are enabled, but saw: {value}"
        )


def _holds_tensors(value: object) -> bool:
    """Whether a value is a tensor, a variable or a list of some."""
    flat = nest.flatten(value)
    return bool(flat) and (isinstance(flat[0], Tensor) or hasattr(flat[0], "initializer"))


def _add_to_collection(elements: list[Any], name: str) -> None:
    collection = tf.get_collection_ref(name)
    present = {id(x) for x in collection}
    collection.extend(x for x in nest.flatten(elements) if id(x) not in present)
