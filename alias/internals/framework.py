# SPDX-License-Identifier: Apache-2.0
"""Parts of `tensorflow.python.framework`, `client`, `ops` and `util` that have no home here."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.interface.specs import register_type_spec_from_value_converter
from ...engine.types import nest
from ...engine.types.shape import TensorShape
from .absent import absent
from .eager import EagerTensor as EagerTensor

_TensorLike = (Tensor, IndexedSlices, SparseTensor)


class CompositeTensor:
    """What is made of several tensors, which its `_type_spec` tells: a base for programs' own."""

    _type_spec: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        nest.COMPOSITES[cls] = nest.Composite(_components, _of_components, _spec)
        register_type_spec_from_value_converter(cls, _spec)

    def _to_components(self) -> Any:
        """A structure of the tensors."""
        return _components(self)

    def _component_metadata(self) -> Any:
        """What makes a value of such tensors: the type."""
        return self._type_spec

    @staticmethod
    def _from_components(components: Any, metadata: Any) -> Any:
        """A value of tensors, and of what `_component_metadata` gave."""
        return metadata._from_components(components)

    def _shape_invariant_to_type_spec(self, shape: Any) -> Any:
        """The type of values of a shape, where a loop lets it vary."""
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    @property
    def _is_graph_tensor(self) -> bool:
        """Whether any of the tensors is one of a graph."""
        return any(hasattr(x, "graph") for x in nest.flatten(_components(self), True))

    def _consumers(self) -> list[Any]:
        """The operations that take any of the tensors."""
        tensors = (x for x in _components(self) if getattr(x, "graph", None) is not None)
        return list({op for tensor in tensors for op in tensor.consumers()})


def _spec(value: CompositeTensor) -> Any:
    return value._type_spec


def _components(value: CompositeTensor) -> Any:
    return value._type_spec._to_components(value)


def _of_components(like: CompositeTensor, components: Any) -> Any:
    return like._type_spec._from_components(components)


class NullContextmanager:
    """A context that does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        return None


def executing_eagerly_outside_functions() -> bool:
    """Whether ops run as they are made: never."""
    return False


def inside_function() -> bool:
    """Whether the graph that is built is a function's."""
    from ...engine.graph.defaults import get_default_graph
    from ...ops.flow.function_graph import FuncGraph

    return isinstance(get_default_graph(), FuncGraph)


def name_from_scope_name(name: str) -> str:
    """The name of an op, of its scope's."""
    return name.removesuffix("/")


def set_shape_and_handle_data_for_outputs(op: Any) -> None:
    """Nothing: shapes are known when an op is made."""


def list_local_devices(session_config: Any = None) -> list[Any]:
    """The processor and GPUs, as messages.

    Args:
        session_config: a ConfigProto that may say which GPUs there are to be.

    Returns:
        A list of DeviceAttributes.
    """
    from ...engine.session.session import Session
    from ...io import protos

    messages = protos.module("tensorflow/core/framework/device_attributes.proto")
    with Session(config=session_config) as session:
        return [
            messages.DeviceAttributes(
                name=device.name.partition("/task:0")[2] or device.name,
                device_type=device.device_type,
                memory_limit=device.memory_limit_bytes,
                incarnation=device.incarnation,
            )
            for device in session.list_devices()
        ]


def GraphOrParentsInXlaContext(graph: Any) -> bool:
    """Whether a graph is to be compiled by XLA: never."""
    del graph
    return False


def InXlaContext(graph: Any) -> bool:
    """Whether a graph is to be compiled by XLA: never."""
    del graph
    return False


def IsInXLAContext(op: Any) -> bool:
    """Whether an op is to be compiled by XLA: none is."""
    del op
    return False


def GetContainingXLAContext(ctxt: object) -> None:
    """The nearest context of XLA's around another: there is none."""
    del ctxt


def unchanged_shape(op: Any) -> list[TensorShape]:
    """The shape of the first input."""
    return [op.inputs[0].get_shape()]


def scalar_shape(unused_op: Any) -> list[TensorShape]:
    """That of one number."""
    del unused_op
    return [TensorShape([])]


def call_cpp_shape_fn(op: Any, require_shape_fn: bool = True) -> Any:
    """The shapes of an op's outputs, which it has had since it was made."""
    del require_shape_fn
    return {"shapes": [output.get_shape() for output in op.outputs]}


def _set_call_cpp_shape_fn(call_cpp_shape_fn: object) -> None:
    """Where TensorFlow was told what finds shapes, which definitions of ops do here."""
    del call_cpp_shape_fn


class RegisterShape:
    """A decorator that once told the shapes of an op; definitions of ops do."""

    # Op type -> what was registered for it.
    _registry: dict[str, Any] = {}

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Any) -> Any:
        """Notes the function, which may be None, and hands it on.

        Raises:
            KeyError: the op has one.
        """
        if f is not None and self._op_type in self._registry:
            raise KeyError(f"Registering two shape functions with name '{self._op_type}'!")
        if f is not None:
            self._registry[self._op_type] = f
        return f


class _ObjectIdentityWrapper:
    """Stands for an object in sets and dictionaries, and is equal to what stands for the same."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ObjectIdentityWrapper):
            raise TypeError(
                f"Cannot compare wrapped object with unwrapped object: {self!r} and {other!r}"
            )
        return self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self._wrapped!r}>"


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are objects, not what they are equal to."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._storage: dict[int, tuple[Any, Any]] = {}
        self.update(dict(*args, **kwargs))

    def __getitem__(self, key: Any) -> Any:
        if id(key) not in self._storage:
            raise KeyError(key)
        return self._storage[id(key)][1]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[id(key)] = (key, value)

    def __delitem__(self, key: Any) -> None:
        del self._storage[id(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._storage.values()])


class ObjectIdentitySet(MutableSet[Any]):
    """A set of objects, not of what they are equal to."""

    def __init__(self, *args: Any) -> None:
        self._storage = {id(one): one for one in (args[0] if args else ())}

    def __contains__(self, key: object) -> bool:
        return id(key) in self._storage

    def add(self, value: Any) -> None:
        """Adds an object."""
        self._storage[id(value)] = value

    def discard(self, value: Any) -> None:
        """Takes an object out."""
        self._storage.pop(id(value), None)

    def update(self, items: Any) -> None:
        """Adds objects."""
        self._storage.update((id(one), one) for one in items)

    def clear(self) -> None:
        """Takes all out."""
        self._storage.clear()

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Those that others are, too."""
        return self & ObjectIdentitySet(items)

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """Those that others are not."""
        return self - ObjectIdentitySet(items)

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._storage.values()))


ObjectIdentityWeakKeyDictionary = ObjectIdentityDictionary
ObjectIdentityWeakSet = ObjectIdentitySet


class Registry:
    """Objects by name."""

    def __init__(self, name: str) -> None:
        self._name, self._registry = name, dict[str, Any]()
        self._places: dict[str, str] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Adds an object.

        Raises:
            KeyError: the name is taken.
        """
        key = name or candidate.__name__
        if key in self._registry:
            raise KeyError(
                f"Registering two {self._name} with name '{key}'! "
                f"(Previous registration was in {self._places[key]})"
            )
        self._registry[key] = candidate
        caller = sys._getframe(1)
        file, line = caller.f_code.co_filename, caller.f_lineno
        self._places[key] = f"{caller.f_code.co_name} {file}:{line}"

    def list(self) -> Any:
        """The names."""
        return self._registry.keys()

    def lookup(self, name: str) -> Any:
        """The object of a name.

        Raises:
            LookupError: there is none.
        """
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name]


def my_fact() -> Any:
    """The op of TensorFlow's guide for adding ops.

    Raises:
        NotImplementedError: it is not here.
    """
    return absent("tf.user_ops.my_fact")()


def preload_check() -> None:
    """Nothing is to be loaded."""


is_cuda_build = False
is_rocm_build = False
func_graph_from_py_func = absent("func_graph.func_graph_from_py_func")
get_all_registered_kernels = absent("kernels.get_all_registered_kernels")
ScopedTFGraph = absent("c_api_util.ScopedTFGraph")
EagerVariableStore = absent("tf.contrib.eager.EagerVariableStore", ": it builds graphs")
