# SPDX-License-Identifier: Apache-2.0
"""Where columns get tensors and variables from: caches of transformed features, state managers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.tensor import SparseTensor
from ...engine.interface import log
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike

__all__ = [
    "FeatureTransformationCache",
    "OldInputs",
    "ScopeState",
    "StateManager",
    "_LazyBuilder",
    "_StateManagerImpl",
    "_StateManagerImplV2",
]


def _raw_feature(features: dict[Any, Any], key: Any) -> Any:
    """A feature as a tensor of two axes or more."""
    tensor: Any = tf.convert_to_tensor_or_sparse_tensor(features[key])

    def expanded() -> Any:
        if isinstance(tensor, SparseTensor):
            rows: Any = tensor
            return tf.sparse_reshape(tensor, [tf.shape(rows)[0], 1])
        return tf.expand_dims(tensor, -1)

    message = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
    rank = tensor.get_shape().ndims
    if rank is not None:
        if rank == 0:
            raise ValueError(message)
        return expanded() if rank == 1 else tensor
    with tf.control_dependencies([tf.assert_positive(tf.rank(tensor), message=message)]):
        return tf.cond(tf.equal(1, tf.rank(tensor)), expanded, lambda: tensor)


class _Transformed:
    """Features and what columns made of them, each once."""

    def __init__(self, features: dict[Any, Any]) -> None:
        self._features = features.copy()
        self._feature_tensors: dict[Any, Any] = {}

    def _get(self, key: Any, kind: str, transform: Callable[[Any], Any]) -> Any:
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key in self._features:
            result = _raw_feature(self._features, key)
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        else:
            from . import protocol

            if not isinstance(key, getattr(protocol, kind)):
                raise TypeError(f'"key" must be either a "str" or "{kind}". Provided: {key}')
            log.debug("Transforming feature_column %s.", key)
            result = transform(key)
            if result is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._feature_tensors[key] = result
        return result


class FeatureTransformationCache(_Transformed):
    """Features and what columns made of them, each once.

    Args:
        features: tensors, sparse or dense, by key.
    """

    def get(self, key: object, state_manager: StateManager | None) -> Any:
        """The tensor of a key, of two axes or more, or what a column makes of the features."""
        return self._get(
            key, "FeatureColumn", lambda column: column.transform_feature(self, state_manager)
        )


class _LazyBuilder(_Transformed):
    """The cache that columns of 1.x ask."""

    def get(self, key: object) -> Any:
        """The tensor of a key, of two axes or more, or what a column makes of the features."""
        return self._get(key, "_FeatureColumn", lambda column: column._transform_feature(self))


class OldInputs:
    """A cache of 1.x, as columns of today ask one."""

    def __init__(self, inputs: _LazyBuilder) -> None:
        self.inputs = inputs

    def get(self, key: object, state_manager: StateManager | None) -> Any:
        """What the old cache has."""
        return self.inputs.get(key)


Cache = FeatureTransformationCache | OldInputs
Objects = dict[str, Any] | None


class StateManager:
    """Makes and keeps the variables and other resources of columns; classes override it."""

    def create_variable(
        self,
        feature_column: object,
        name: str,
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable of a column."""
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column: object, var: object) -> None:
        """Takes up a variable that exists."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column: object, name: str) -> Any:
        """The variable of that name."""
        raise NotImplementedError("StateManager.get_var")

    def add_resource(self, feature_column: object, name: str, resource: object) -> None:
        """Takes up a resource, such as a table."""
        raise NotImplementedError("StateManager.add_resource")

    def get_resource(self, feature_column: object, name: str) -> Any:
        """The resource of that name."""
        raise NotImplementedError("StateManager.get_resource")


class _StateManagerImpl(StateManager):
    """Variables become weights of a layer, made by tf.get_variable.

    Args:
        layer: the layer; None if the columns have no variables.
        trainable: False makes all of them variables that are not trained.
    """

    def __init__(self, layer: Any, trainable: bool) -> None:
        self._trainable = trainable
        self._layer = layer
        self._cols_to_vars_map: dict[Any, dict[str, Any]] = defaultdict(dict)
        self._cols_to_resources_map: dict[Any, dict[str, Any]] = defaultdict(dict)

    def _getter(self) -> dict[str, Any]:
        return {"getter": tf.get_variable}

    def create_variable(
        self,
        feature_column: object,
        name: str,
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable of a column; ValueError if there is one of that name."""
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        variable = self._layer.add_variable(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
            **self._getter(),
        )
        self._cols_to_vars_map[feature_column][name] = variable
        return variable

    def get_variable(self, feature_column: object, name: str) -> Any:
        """The variable of that name; ValueError if there is none."""
        if name in self._cols_to_vars_map[feature_column]:
            return self._cols_to_vars_map[feature_column][name]
        raise ValueError("Variable does not exist.")

    def add_resource(self, feature_column: object, name: str, resource: object) -> None:
        """Takes up a resource, such as a table."""
        self._cols_to_resources_map[feature_column][name] = resource
        if self._layer is not None:
            vars(self._layer).setdefault("_resources", []).append(resource)

    def get_resource(self, feature_column: object, name: str) -> Any:
        """The resource of that name; ValueError if there is none."""
        if name in self._cols_to_resources_map[feature_column]:
            return self._cols_to_resources_map[feature_column][name]
        raise ValueError("Resource does not exist.")


class _StateManagerImplV2(_StateManagerImpl):
    """The same with variables that the layer makes itself."""

    def _getter(self) -> dict[str, Any]:
        return {}


class ScopeState(StateManager):
    """Variables of 1.x: each use of a column makes, or reuses, one of the scope around it.

    Args:
        weight_collections: the collections that variables join; extended by that of all variables.
        trainable: False makes all of them variables that are not trained.
    """

    def __init__(self, weight_collections: Iterable[str] | None, trainable: bool | None) -> None:
        self._collections = None if weight_collections is None else list(weight_collections)
        self._trainable = trainable
        self._made: dict[str, Any] = {}

    def create_variable(
        self,
        feature_column: object,
        name: str,
        shape: Sequence[int],
        dtype: DTypeLike | None = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes or reuses a variable of the scope."""
        collections = self._collections
        if collections and GraphKeys.GLOBAL_VARIABLES not in collections:
            collections.append(GraphKeys.GLOBAL_VARIABLES)
        self._made[name] = tf.get_variable(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable and self._trainable,
            collections=collections,
        )
        return self._made[name]

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable of that name, made as the column says."""
        feature_column.create_state(self)
        return self._made[name]


def collections_with(keys: Iterable[str] | None) -> list[str]:
    """Collections of weights: those given, that of all variables and that of the model's."""
    result = list(keys or [])
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if key not in result:
            result.append(key)
    return result
