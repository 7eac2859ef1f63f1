# SPDX-License-Identifier: Apache-2.0
"""`tf.data.Dataset` of TensorFlow 1: with iterators made by methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.graph.graph import device, get_default_graph
from ...engine.graph.seed import get_seed, set_random_seed
from ...engine.interface import log
from ...engine.types.dtypes import variant
from ..flow.function_library import Defun
from ..public import raw
from . import structure
from .dataset import DatasetV2, _transformation, _VariantDataset
from .functions import name_list
from .iterators import Iterator

_ADVICE = (
    "Use `for ... in dataset:` to iterate over a dataset. If using `tf.estimator`, return the "
    "`Dataset` object directly from your input function. As a last resort, you can use "
    "`tf.compat.v1.data.{}(dataset)`."
)
# What TensorFlow mixes the two seeds of a one-shot iterator with.
_SEED_FACTOR = 87654321
_LARGEST = 2**63 - 1


@export("data.Dataset")
class DatasetV1(DatasetV2):
    """A dataset: elements, each a structure of tensors, and what makes other datasets of it.

    Example:
        >>> dataset = tf.data.Dataset.range(6).map(lambda x: x * x).batch(3)
        >>> batch = tf.data.make_one_shot_iterator(dataset).get_next()
        >>> sess = tf.Session()
        >>> sess.run(batch), sess.run(batch)
        (array([0, 1, 4]), array([ 9, 16, 25]))
    """

    def __init__(self) -> None:
        try:
            variant_tensor = self._as_variant_tensor()
        except AttributeError as error:
            if "_as_variant_tensor" in str(error):
                raise AttributeError(
                    "Please use _variant_tensor instead of _as_variant_tensor() to obtain the "
                    "variant associated with a dataset"
                ) from None
            raise AttributeError(
                f"{error}: A likely cause of this error is that the super call for this dataset is "
                "not the last line of the __init__ method. The base class causes the "
                "_as_variant_tensor call in its constructor and if that uses attributes defined in "
                "the __init__ method, those attrs need to be defined before the super call."
            ) from None
        super().__init__(variant_tensor)

    def _as_variant_tensor(self) -> Any:
        raise NotImplementedError("Dataset._as_variant_tensor")

    @deprecated(None, _ADVICE.format("make_one_shot_iterator"))
    def make_one_shot_iterator(self) -> Any:
        """An iterator that reads the dataset once, and need not be initialized."""
        return self._make_one_shot_iterator()

    def _make_one_shot_iterator(self) -> Any:
        _warn_of_other_graphs(self)
        graph_seed, op_seed = get_seed(None)

        @Defun(capture_by_value=True, whitelisted_stateful_ops=_variant_ops(self))
        def _make_dataset() -> Any:
            if graph_seed is not None:
                assert op_seed is not None
                set_random_seed((graph_seed + _SEED_FACTOR * op_seed) % _LARGEST)
            return self._apply_options()._variant_tensor

        try:
            _make_dataset.add_to_graph(get_default_graph())
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise ValueError(
                "Failed to create a one-shot iterator for a dataset. "
                "`Dataset.make_one_shot_iterator()` does not support datasets that capture "
                "stateful objects, such as a `Variable` or `LookupTable`. In these cases, use "
                f"`Dataset.make_initializable_iterator()`. (Original error: {error})"
            ) from None
        with device(self._variant_tensor.device):
            handle = raw.OneShotIterator(
                dataset_factory=name_list(_make_dataset), **self._flat_structure
            )
            return _iterator(handle, None, self)

    @deprecated(None, _ADVICE.format("make_initializable_iterator"))
    def make_initializable_iterator(self, shared_name: Any = None) -> Any:
        """An iterator that reads the dataset from the beginning when it is initialized."""
        return self._make_initializable_iterator(shared_name)

    def _make_initializable_iterator(self, shared_name: Any = None) -> Any:
        _warn_of_other_graphs(self)
        dataset = self._apply_options()
        with device(self._variant_tensor.device):
            handle = raw.IteratorV2(
                container="", shared_name=shared_name or "", **self._flat_structure
            )
            initializer = raw.MakeIterator(dataset._variant_tensor, handle)
            return _iterator(handle, initializer, dataset)

    @property
    @deprecated(None, "Use `tf.compat.v1.data.get_output_classes(dataset)`.")
    def output_classes(self) -> Any:
        """The classes of an element's components, in its structure."""
        return structure.legacy(self.element_spec, "classes")

    @property
    @deprecated(None, "Use `tf.compat.v1.data.get_output_shapes(dataset)`.")
    def output_shapes(self) -> Any:
        """The shapes of an element's components, in its structure."""
        return structure.legacy(self.element_spec, "shapes")

    @property
    @deprecated(None, "Use `tf.compat.v1.data.get_output_types(dataset)`.")
    def output_types(self) -> Any:
        """The dtypes of an element's components, in its structure."""
        return structure.legacy(self.element_spec, "types")

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return structure.convert_legacy_structure(
            self.output_types, self.output_shapes, self.output_classes
        )

    @staticmethod
    @deprecated(None, "Use `tf.data.Dataset.from_tensor_slices()`.")
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Any:
        """A dataset of the slices of a SparseTensor: indices, values and shape of each."""
        from .sources import SparseTensorSliceDataset

        return DatasetV1Adapter(SparseTensorSliceDataset(sparse_tensor))

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Any:
        """See `DatasetV2.map`; the function may end the data by an OutOfRangeError."""
        return self._mapped(map_func, num_parallel_calls)

    @deprecated(None, "Use `tf.data.Dataset.map()")
    def map_with_legacy_function(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None
    ) -> Any:
        """`map` whose function is one of TensorFlow's older kind."""
        return self._mapped(map_func, num_parallel_calls, use_legacy_function=True)

    def _mapped(self, map_func: Callable[..., Any], parallel: Any, **options: Any) -> Any:
        options["preserve_cardinality"] = False
        if parallel is None:
            return DatasetV1Adapter(_transformation("MapDataset")(self, map_func, **options))
        made = _transformation("ParallelMapDataset")
        return DatasetV1Adapter(made(self, map_func, parallel, **options))

    @deprecated(None, "Use `tf.data.Dataset.filter()")
    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Any:
        """`filter` whose function is one of TensorFlow's older kind."""
        return _transformation("FilterDataset")(self, predicate, use_legacy_function=True)


class DatasetV1Adapter(DatasetV1):
    """A dataset of TensorFlow 2's kind with the methods of TensorFlow 1."""

    def __init__(self, dataset: DatasetV2) -> None:
        self._dataset = dataset
        super().__init__()

    def _as_variant_tensor(self) -> Any:
        return self._dataset._variant_tensor

    def _has_captured_ref(self) -> bool:
        return self._dataset._has_captured_ref()

    def _inputs(self) -> list[Any]:
        return self._dataset._inputs()

    def _functions(self) -> list[Any]:
        return self._dataset._functions()

    def options(self) -> Any:
        """The options of this dataset and of those that it reads."""
        return self._dataset.options()

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._dataset.element_spec

    def __iter__(self) -> Any:
        return iter(self._dataset)


def _adapted(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        return DatasetV1Adapter(method(*args, **kwargs))

    return adapted


def define_adapted(sources: str, transformations: str) -> None:
    """Gives DatasetV1 methods of DatasetV2 whose results have TensorFlow 1's methods again."""
    for name in sources.split():
        setattr(DatasetV1, name, staticmethod(_adapted(getattr(DatasetV2, name))))
    for name in transformations.split():
        setattr(DatasetV1, name, _adapted(getattr(DatasetV2, name)))


define_adapted(
    "from_tensors from_tensor_slices from_generator range zip list_files",
    "concatenate prefetch repeat shuffle cache take skip shard batch padded_batch flat_map "
    "interleave filter apply window with_options",
)
Dataset = DatasetV1


def _iterator(handle: Any, initializer: Any, dataset: DatasetV2) -> Iterator:
    kinds = (structure.legacy(dataset.element_spec, k) for k in ("types", "shapes", "classes"))
    return Iterator(handle, initializer, *kinds)


def _variant_ops(dataset: DatasetV2) -> set[Any]:
    """The operations that make what a dataset reads."""
    found: set[Any] = set()
    pending = [dataset._variant_tensor.op]
    seen = set(pending)
    while pending:
        op = pending.pop()
        if op.outputs[0].dtype == variant:
            found.add(op)
        new = {tensor.op for tensor in op.inputs} - seen
        seen |= new
        pending += new
    return found


def obtain_all_variant_tensor_ops(dataset: DatasetV2) -> list[Any]:
    """The operations of variant tensors that a dataset is made of, its own first."""
    return sorted(_variant_ops(dataset), key=lambda op: -op._id)


def _warn_of_other_graphs(dataset: DatasetV2) -> None:
    """Warns of parts of a pipeline that are of another graph than the default one."""
    graph = get_default_graph()
    pending, seen = [dataset], set()
    while pending:
        current = pending.pop(0)
        seen.add(id(current))
        if current._graph is not graph:
            log.warning(
                f"The graph ({graph}) of the iterator is different from the graph "
                f"({current._graph}) the dataset: {current._variant_tensor} was created in. If you "
                "are using the Estimator API, make sure that no part of the dataset returned by "
                "the `input_fn` function is defined outside the `input_fn` function. Please ensure "
                "that all datasets in the pipeline are created in the same graph as the iterator. "
                "NOTE: This warning will become an error in future versions of TensorFlow."
            )
        pending += [source for source in current._inputs() if id(source) not in seen]


def _v1(dataset: Any) -> Any:
    return dataset if isinstance(dataset, DatasetV1) else DatasetV1Adapter(dataset)


@export("data.make_one_shot_iterator")
def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator that reads a dataset once, and need not be initialized.

    Args:
        dataset: a tf.data.Dataset.

    Raises:
        ValueError: the dataset depends on variables or tables.

    Example:
        >>> element = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2)).get_next()
        >>> sess = tf.Session()
        >>> sess.run(element), sess.run(element)
        (np.int64(0), np.int64(1))
    """
    return _v1(dataset)._make_one_shot_iterator()


@export("data.make_initializable_iterator")
def make_initializable_iterator(dataset: Any, shared_name: Any = None) -> Any:
    """An iterator that reads a dataset from the beginning whenever it is initialized.

    Args:
        dataset: a tf.data.Dataset.
        shared_name: under which sessions of one server share it.

    Example:
        >>> iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(2))
        >>> element, sess = iterator.get_next(), tf.Session()
        >>> sess.run(iterator.initializer)
        >>> sess.run(element)
        np.int64(0)
    """
    return _v1(dataset)._make_initializable_iterator(shared_name)


@export("data.experimental.get_structure")
def get_structure(dataset_or_iterator: Any) -> Any:
    """The types of the components of elements, in their structure."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(dataset_or_iterator)}."
        ) from None


@export("data.get_output_classes")
def get_legacy_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of the components of elements, in their structure."""
    return structure.legacy(get_structure(dataset_or_iterator), "classes")


@export("data.get_output_shapes")
def get_legacy_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the components of elements, in their structure."""
    return structure.legacy(get_structure(dataset_or_iterator), "shapes")


@export("data.get_output_types")
def get_legacy_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the components of elements, in their structure."""
    return structure.legacy(get_structure(dataset_or_iterator), "types")


@export("data.experimental.from_variant")
def from_variant(variant: Any, structure: Any) -> Any:
    """The dataset that a variant tensor stands for, of elements of known types."""
    return _VariantDataset(variant, structure)


@export("data.experimental.to_variant")
def to_variant(dataset: Any) -> Any:
    """The variant tensor that stands for a dataset."""
    return dataset._variant_tensor
