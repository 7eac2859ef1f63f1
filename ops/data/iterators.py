# SPDX-License-Identifier: Apache-2.0
"""`tf.data.Iterator`: what gives the elements of datasets, one in each run."""

from __future__ import annotations

import warnings
from typing import Any

from ...engine import api
from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.graph.collections import add_to_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, device, get_default_graph, name_scope
from ...engine.graph.namespaces import resolve
from ...engine.graph.tensor import Tensor
from ...engine.graph.trackable import Trackable
from ...engine.interface.specs import TensorSpec, TypeSpec
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..public import raw
from . import nest, structure
from .optional import _OptionalImpl

# From so many calls on a graph grows that ought not to.
GET_NEXT_CALL_WARNING_THRESHOLD = 32
GET_NEXT_CALL_WARNING_MESSAGE = (
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates "
    "that `Iterator.get_next()` is being called inside a training loop, which will cause gradual "
    "slowdown and eventual resource exhaustion. If this is the case, restructure your code to call "
    "`next_element = iterator.get_next()` once outside the loop, and use `next_element` as the "
    "input to some computation that is invoked inside the loop."
)
_MAKE_SAVEABLE = "data.experimental.make_saveable_from_iterator"
# The collection of handles of all iterators.
GLOBAL_ITERATORS = "iterators"


def _on_cpu() -> Any:
    """A context in which operations go to the CPU, unless somebody has said where they go."""
    # (A device of None changes nothing.)
    is_free = not get_default_graph()._device_functions_outer_to_inner
    return device("/cpu:0" if is_free else "")


def _stated(types: Any, shapes: Any, classes: Any) -> tuple[Any, Any, Any]:
    """The types, shapes and classes of components, all of one structure."""
    types = nest.map_structure(dtypes.as_dtype, types)
    if shapes is None:
        shapes = nest.map_structure(lambda _: TensorShape(None), types)
    else:
        shapes = nest.map_structure_up_to(types, as_shape, shapes)
    if classes is None:
        classes = nest.map_structure(lambda _: Tensor, types)
    nest.assert_same_structure(types, shapes)
    return types, shapes, classes


def _flat(element_spec: Any) -> dict[str, Any]:
    return {
        "output_types": structure.get_flat_tensor_types(element_spec),
        "output_shapes": structure.get_flat_tensor_shapes(element_spec),
    }


class _Named:
    """An iterator's handle, and the name by which it is saved."""

    def __init__(self, iterator_resource: Any, saveable_name: str) -> None:
        self._iterator_resource, self.saveable_name = iterator_resource, saveable_name


def _saveable(iterator_resource: Any, name: str) -> Any:
    # (What savers take is theirs to make; they are found by name.)
    make = resolve(__name__.partition(".")[0], api.LAZY[_MAKE_SAVEABLE])
    return make(_Named(iterator_resource, name))


class _Typed:
    """What has elements of known types."""

    _element_spec: Any

    @property
    @deprecated(None, "Use `tf.compat.v1.data.get_output_classes(iterator)`.")
    def output_classes(self) -> Any:
        """The classes of an element's components, in its structure."""
        return structure.legacy(self._element_spec, "classes")

    @property
    @deprecated(None, "Use `tf.compat.v1.data.get_output_shapes(iterator)`.")
    def output_shapes(self) -> Any:
        """The shapes of an element's components, in its structure."""
        return structure.legacy(self._element_spec, "shapes")

    @property
    @deprecated(None, "Use `tf.compat.v1.data.get_output_types(iterator)`.")
    def output_types(self) -> Any:
        """The dtypes of an element's components, in its structure."""
        return structure.legacy(self._element_spec, "types")

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._element_spec


@export("data.Iterator")
class Iterator(_Typed, Trackable):
    """What gives the elements of a dataset, one in each run; made by functions of tf.data."""

    def __init__(
        self,
        iterator_resource: Any,
        initializer: Any,
        output_types: Any,
        output_shapes: Any,
        output_classes: Any,
    ) -> None:
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, `output_shapes`, and "
                "`output_classes` must be specified."
            )
        self._element_spec = structure.convert_legacy_structure(
            output_types, output_shapes, output_classes
        )
        self._flat_tensor_shapes = structure.get_flat_tensor_shapes(self._element_spec)
        self._flat_tensor_types = structure.get_flat_tensor_types(self._element_spec)
        self._string_handle = raw.IteratorToStringHandle(self._iterator_resource)
        self._get_next_call_count = 0
        add_to_collection(GLOBAL_ITERATORS, self._iterator_resource)

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: Any = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator for any dataset of such elements; `make_initializer` says for which.

        Args:
          output_types: The dtypes of components, in the structure of an element.
          output_shapes: Their shapes; unknown if None.
          shared_name: Under which sessions of one server share it.
          output_classes: Their classes; Tensor if None.
        """
        stated = _stated(output_types, output_shapes, output_classes)
        spec = structure.convert_legacy_structure(*stated)
        with _on_cpu():
            handle = raw.IteratorV2(container="", shared_name=shared_name or "", **_flat(spec))
        return Iterator(handle, None, *stated)

    @staticmethod
    def from_string_handle(
        string_handle: Any,
        output_types: Any,
        output_shapes: Any = None,
        output_classes: Any = None,
    ) -> Iterator:
        """The iterator that a string stands for: fed, it chooses one in each run.

        Args:
          string_handle: A string tensor: the value of another iterator's `string_handle()`.
          output_types: The dtypes of components, in the structure of an element.
          output_shapes: Their shapes; unknown if None.
          output_classes: Their classes; Tensor if None.
        """
        stated = _stated(output_types, output_shapes, output_classes)
        spec = structure.convert_legacy_structure(*stated)
        string_handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        with _on_cpu():
            handle = raw.IteratorFromStringHandleV2(string_handle, **_flat(spec))
        return Iterator(handle, None, *stated)

    @property
    def initializer(self) -> Any:
        """The operation that has the iterator begin; ValueError if there is none."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Any:
        """An operation that has the iterator begin with a dataset.

        Raises:
          TypeError: The dataset's elements are of other types.
        """
        with name_scope(name, "make_initializer") as scope:
            spec = dataset.element_spec
            types, shapes, classes = (
                structure.legacy(spec, what) for what in ("types", "shapes", "classes")
            )
            nest.assert_same_structure(self.output_types, types)
            nest.assert_same_structure(self.output_shapes, shapes)
            self._require(
                "classes", classes, lambda a, b: a is b or (isinstance(a, TypeSpec) and a == b)
            )
            self._require("types", types, lambda a, b: a == b)
            self._require("shapes", shapes, lambda a, b: a.is_compatible_with(b))
        with device(self._iterator_resource.device):
            return raw.MakeIterator(dataset._variant_tensor, self._iterator_resource, name=scope)

    def _require(self, what: str, given: Any, fits: Any) -> None:
        mine = structure.legacy(self._element_spec, what)
        if all(map(fits, nest.flatten(mine), nest.flatten(given))):
            return
        kind = what.removesuffix("es") if what == "classes" else what
        compatible = " compatible with" if what == "shapes" else ""
        raise TypeError(
            f"Expected output {what}{compatible} {mine!r} but got dataset with output "
            f"{kind} {given!r}."
        )

    def get_next(self, name: str | None = None) -> Any:
        """The tensors of the next element: each run that needs them takes one.

        Args:
          name: Of the operation.

        Raises:
          OutOfRangeError: In a run there are no more.
          FailedPreconditionError: The iterator was not initialized.
        """
        self._get_next_call_count += 1
        if self._get_next_call_count > GET_NEXT_CALL_WARNING_THRESHOLD:
            warnings.warn(GET_NEXT_CALL_WARNING_MESSAGE, stacklevel=2)
        with device(self._iterator_resource.device):
            flat = raw.IteratorGetNext(
                self._iterator_resource,
                output_types=self._flat_tensor_types,
                output_shapes=self._flat_tensor_shapes,
                name=name,
            )
            return structure.from_tensor_list(self._element_spec, flat)

    def get_next_as_optional(self) -> Any:
        """The next element as an Optional, which has no value at the end."""
        return get_next_as_optional(self)

    def string_handle(self, name: str | None = None) -> Any:
        """A string tensor that stands for the iterator, for `from_string_handle`."""
        if name is None:
            return self._string_handle
        return raw.IteratorToStringHandle(self._iterator_resource, name=name)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"ITERATOR": lambda name: _saveable(self._iterator_resource, name)}


class IteratorV2(_Typed, Trackable):
    """An iterator of TensorFlow 2's kind, which functions of a graph make."""

    def __init__(self, dataset: Any = None, components: Any = None, element_spec: Any = None):
        if (dataset is None) == (components is None or element_spec is None):
            raise ValueError(
                "Either `dataset` or both `components` and `element_spec` need to be provided."
            )
        if dataset is None:
            self._element_spec = element_spec
            self._iterator_resource, self._deleter = components
            return
        with _on_cpu():
            dataset = dataset._apply_options()
            self._element_spec = dataset.element_spec
            with device(dataset._variant_tensor.device):
                made = raw.AnonymousIteratorV2(**_flat(self._element_spec))
                self._iterator_resource, self._deleter = made
                self._begun = raw.MakeIterator(dataset._variant_tensor, self._iterator_resource)

    def __iter__(self) -> IteratorV2:
        return self

    def __next__(self) -> Any:
        return self.get_next()

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """The tensors of the next element."""
        with control_dependencies([self._begun]):
            flat = raw.IteratorGetNext(
                self._iterator_resource, name=name, **_flat(self._element_spec)
            )
        return structure.from_compatible_tensor_list(self._element_spec, flat)

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self.element_spec)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"ITERATOR": lambda name: _saveable(self._iterator_resource, name)}


class IteratorSpec(TypeSpec):
    """The type of iterators over elements of a type."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def value_type(self) -> type:
        """IteratorV2."""
        return IteratorV2

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> tuple[TensorSpec, TensorSpec]:
        return TensorSpec([], dtypes.resource), TensorSpec([], dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._iterator_resource, value._deleter

    def _from_components(self, components: Any) -> IteratorV2:
        return IteratorV2(components=components, element_spec=self._element_spec)

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """The type of an iterator."""
        return IteratorSpec(value.element_spec)


@export("data.experimental.get_next_as_optional")
def get_next_as_optional(iterator: Any) -> Any:
    """The next element of an iterator as an Optional, which has no value at the end.

    Args:
        iterator: a tf.data.Iterator.

    Example:
        >>> iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1))
        >>> found = tf.data.experimental.get_next_as_optional(iterator).has_value()
        >>> sess = tf.Session()
        >>> sess.run(found), sess.run(found)
        (np.True_, np.False_)
    """
    flat = _flat(iterator.element_spec)
    optional = raw.IteratorGetNextAsOptional(iterator._iterator_resource, **flat)
    return _OptionalImpl(optional, iterator.element_spec)
