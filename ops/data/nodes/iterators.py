# SPDX-License-Identifier: Apache-2.0
"""The ops on iterators, optional values, and what else of pipelines is a resource."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ....engine import errors
from ....engine.graph.build import define
from ....engine.session.state import handle_bytes
from ....engine.types.shape import TensorShape
from ...public import raw
from ...state.shared_state import kept
from ..runtime.context import Context
from ..runtime.dataset import boxed, dataset_in
from ..runtime.iterators import (
    IteratorResource,
    OptionalValue,
    optional_in,
    require_shapes,
    require_types,
)
from ..runtime.random import SeedGenerator, seeds_or_chance
from ..runtime.saving import packed, unpacked
from .common import NONE, TYPES, captured, element_types, scalar, scalars, stated_shapes

if TYPE_CHECKING:
    from ....engine.graph.inference import ShapeContext
    from ....engine.graph.kernel_context import KernelContext
    from ....engine.session.session import BaseSession
    from ..runtime.several_devices import DeviceIterators

    _Found = TypeVar("_Found", IteratorResource, DeviceIterators)

_TEST = {"needs": "a dataset"}
_numbers = itertools.count()


def _session(c: KernelContext) -> BaseSession:
    assert c.session is not None
    return c.session


def _placed(c: KernelContext, iterator: IteratorResource) -> IteratorResource:
    """An iterator, to be found by its string handle."""
    c.session_state.store(iterator.container, f"handle:{iterator.name}", iterator)
    return iterator


def _iterator(c: KernelContext) -> IteratorResource:
    types, shapes = element_types(c)
    container = c.attr("container")

    def make(name: str) -> IteratorResource:
        return _placed(c, IteratorResource(name, types, shapes, container))

    def verify(found: IteratorResource) -> None:
        require_types(found.types, types)
        require_shapes(found.shapes, shapes)

    return kept(c, "iterator", make, verify)  # type: ignore[no-any-return]


def _anonymous(c: KernelContext) -> Any:
    name = f"AnonymousIterator{next(_numbers)}"
    iterator = _placed(c, IteratorResource(name, *element_types(c)))
    return iterator if len(c.op.outputs) == 1 else (iterator, boxed(iterator))


def _make(c: KernelContext, dataset: Any, iterator: IteratorResource) -> None:
    assert c.session is not None
    iterator.begin(dataset_in(dataset), c.session)


def _one_shot(c: KernelContext) -> IteratorResource:
    session = c.session
    assert session is not None
    if c.attr("shared_name"):
        raise errors.invalid("OneShotIteratorOp does not currently support the 'shared_name' attr.")

    def make() -> IteratorResource:
        function = Context(session).function(captured(c, "dataset_factory", []))
        results = function([])
        if len(results) != 1 or results[0].ndim:
            raise errors.invalid(
                "The `dataset_factory` function must return a single scalar of dtype DT_VARIANT."
            )
        name = f"_{next(_numbers)}_{c.name}"
        iterator = IteratorResource(name, *element_types(c), c.attr("container"))
        iterator.begin(dataset_in(results[0]), session)
        return _placed(c, iterator)

    return c.kernel_state(make)  # type: ignore[no-any-return]


def _get_next(c: KernelContext, iterator: IteratorResource) -> Any:
    element = iterator.next(_session(c))
    if element is None:
        raise errors.out_of_range("End of sequence")
    return element


def _get_next_as_optional(c: KernelContext, iterator: IteratorResource) -> np.ndarray:
    return OptionalValue(iterator.next(_session(c))).boxed()


def _to_string(c: KernelContext, iterator: IteratorResource) -> np.ndarray:
    return boxed(handle_bytes(iterator).tobytes())  # type: ignore[arg-type]


def by_handle(c: KernelContext, handle: Any, kind: type[_Found]) -> _Found:
    """The iterator or iterators of a kind that a serialized handle names, of the op's types."""
    from google.protobuf.message import DecodeError

    from ....io.protos import ResourceHandleProto

    text = scalar(handle, "string_handle")
    try:
        message = ResourceHandleProto.FromString(text)
    except DecodeError:
        raise errors.invalid("Could not parse string_handle as a valid ResourceHandle") from None
    container = "" if message.container == "localhost" else message.container
    found = c.session_state.lookup(container, f"handle:{message.name}")
    if not isinstance(found, kind):
        raise errors.not_found(
            f"Resource {message.container}/{message.name}/{message.maybe_type_name} does not exist."
        )
    types, shapes = element_types(c)
    if types:
        require_types(types, found.types)
    if shapes:
        require_shapes(shapes, found.shapes)
    return found


def _from_string(c: KernelContext, handle: Any) -> IteratorResource:
    return by_handle(c, handle, IteratorResource)


def _serialize(c: KernelContext, iterator: IteratorResource) -> np.ndarray:
    return boxed(packed(iterator.save()))


def _deserialize(c: KernelContext, iterator: IteratorResource, serialized: Any) -> None:
    found = serialized[()] if isinstance(serialized, np.ndarray) else serialized
    try:
        iterator.restore(unpacked(found), _session(c))
    except (KeyError, IndexError, ValueError, AttributeError):
        raise errors.invalid(
            "The state was saved by an iterator over another dataset than this one's."
        ) from None


def _delete(c: KernelContext, iterator: Any, deleter: Any) -> None:
    if isinstance(iterator, IteratorResource):
        iterator.close()
        c.session_state.remove(iterator.container, f"handle:{iterator.name}")


def _optional_from_value(c: KernelContext, components: list[Any]) -> np.ndarray:
    return OptionalValue(tuple(np.array(x) for x in components)).boxed()


def _optional_get_value(c: KernelContext, optional: Any) -> Any:
    element = optional_in(optional).element
    if element is None:
        raise errors.invalid("The given optional does not have a value.")
    for i, (value, output) in enumerate(zip(element, c.op.outputs)):
        if value.dtype != output.dtype.base_dtype.np_dtype:
            raise errors.invalid(
                f"The given optional does not match the expected type for component {i}. Expected: "
                f"{output.dtype.name}. Actual: {value.dtype}."
            )
        if not output.shape.is_compatible_with(value.shape):
            raise errors.invalid(
                "The given optional does not match the expected shape for component "
                f"{i}. Expected: {output.shape}. Actual: {value.shape}."
            )
    return element


def _cardinality(c: KernelContext, dataset: Any) -> np.ndarray:
    return np.asarray(dataset_in(dataset).cardinality(), np.int64)


def _seed_generator(c: KernelContext, seed: Any, seed2: Any) -> Any:
    seeds = seeds_or_chance(scalar(seed, "seed"), scalar(seed2, "seed2"))
    generator = SeedGenerator(*seeds)
    return generator, boxed(generator)


def _memory_cache(c: KernelContext) -> Any:
    cache: dict[str, Any] = {}
    return cache, boxed(cache)


def _forget(c: KernelContext, handle: Any, deleter: Any) -> None:
    """What nobody refers to any more goes by itself."""


def _nothing(c: ShapeContext) -> list[TensorShape]:
    return []


def _define(name: str, signature: str, attrs: str, kernel: Any, doc: str, **facts: Any) -> None:
    facts = {"shape": scalars(), "gradient": NONE, "touches": (), "test": _TEST, **facts}
    define(name, signature, attrs, kernel=kernel, doc=doc, **facts)


_PAIR: Any = {"shape": lambda c: [TensorShape([]), TensorShape([])]}
_NO_OUTPUT: Any = {"shape": _nothing}
_ELEMENT: Any = {"shape": stated_shapes, "dynamic_shape": True, "waits_for_data": True}
_NAMED = f"shared_name: string; container: string; {TYPES}"
_ANY = "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []"

for _name in ("Iterator", "IteratorV2"):
    _define(_name, "-> handle: resource", _NAMED, _iterator, "An iterator, not begun.")
_define("AnonymousIterator", "-> handle: resource", TYPES, _anonymous, "An iterator of no name.")
_define(
    "AnonymousIteratorV2",
    "-> handle: resource, deleter: variant",
    TYPES,
    _anonymous,
    "An iterator of no name, and what deletes it.",
    **_PAIR,
)
_define(
    "MakeIterator",
    "dataset: variant, iterator: resource ->",
    "",
    _make,
    "Has an iterator begin with a dataset.",
    **_NO_OUTPUT,
)
_define(
    "OneShotIterator",
    "-> handle: resource",
    f"dataset_factory: func; {TYPES}; container: string = ''; shared_name: string = ''",
    _one_shot,
    "An iterator over the dataset that a function makes.",
    stateful=True,
)
for _name in ("IteratorGetNext", "IteratorGetNextSync"):
    _define(
        _name,
        "iterator: resource -> components: output_types",
        TYPES,
        _get_next,
        "The next element; OutOfRangeError at the end.",
        may_end=True,
        **_ELEMENT,
    )
_define(
    "IteratorGetNextAsOptional",
    "iterator: resource -> optional: variant",
    TYPES,
    _get_next_as_optional,
    "The next element, or nothing at the end.",
)
_define(
    "IteratorToStringHandle",
    "resource_handle: resource -> string_handle: string",
    "",
    _to_string,
    "A string that stands for an iterator.",
)
for _name in ("IteratorFromStringHandle", "IteratorFromStringHandleV2"):
    _define(
        _name,
        "string_handle: string -> resource_handle: resource",
        _ANY,
        _from_string,
        "The iterator that a string stands for.",
    )
_define(
    "SerializeIterator",
    "resource_handle: resource -> serialized: variant",
    "",
    _serialize,
    "Where an iterator is.",
)
_define(
    "DeserializeIterator",
    "resource_handle: resource, serialized: variant ->",
    "",
    _deserialize,
    "Has an iterator go on where one was.",
    **_NO_OUTPUT,
)
_define(
    "DeleteIterator",
    "handle: resource, deleter: variant ->",
    "",
    _delete,
    "Ends an iterator.",
    **_NO_OUTPUT,
)


def _optionals() -> ModuleType:
    """How plans have what branches give."""
    from ....jit.library import optionals

    return optionals


_define(
    "OptionalFromValue",
    "components: Toutput_types -> optional: variant",
    "Toutput_types: list(type) >= 1",
    _optional_from_value,
    "An optional value that is there.",
    lower=lambda b, op, values: _optionals().make(b, values),
    gradient=lambda op, grad: raw.OptionalGetValue(
        grad,
        output_types=[x.dtype for x in op.inputs],
        output_shapes=[x.shape for x in op.inputs],
    ),
)
_define(
    "OptionalNone",
    "-> optional: variant",
    "",
    lambda c: OptionalValue(None).boxed(),
    "An optional value that is not there.",
    lower=lambda b, op: _optionals().make(b, None),
)
_define(
    "OptionalHasValue",
    "optional: variant -> has_value: bool",
    "",
    lambda c, optional: np.asarray(optional_in(optional).element is not None),
    "Whether an optional value is there.",
    lower=lambda b, op, optional: _optionals().has_value(b, optional),
)
_define(
    "OptionalGetValue",
    "optional: variant -> components: output_types",
    TYPES,
    _optional_get_value,
    "The value of an optional; InvalidArgumentError if there is none.",
    lower=lambda b, op, optional: _optionals().values_of(b, optional),
    gradient=lambda op, *grads: raw.OptionalFromValue(grads),
    **_ELEMENT,
)
for _name in ("DatasetCardinality", "ExperimentalDatasetCardinality"):
    _define(
        _name,
        "input_dataset: variant -> cardinality: int64",
        "",
        _cardinality,
        "The number of elements, -1 for endless ones, -2 where it is not known.",
    )
_define(
    "AnonymousRandomSeedGenerator",
    "seed: int64, seed2: int64 -> handle: resource, deleter: variant",
    "",
    _seed_generator,
    "What gives seeds, and what deletes it.",
    **_PAIR,
)
_define(
    "AnonymousMemoryCache",
    "-> handle: resource, deleter: variant",
    "",
    _memory_cache,
    "What keeps elements, and what deletes it.",
    **_PAIR,
)
for _name in ("DeleteRandomSeedGenerator", "DeleteMemoryCache"):
    _define(
        _name,
        "handle: resource, deleter: variant ->",
        "",
        _forget,
        "Lets a resource go.",
        **_NO_OUTPUT,
    )
