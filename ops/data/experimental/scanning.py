# SPDX-License-Identifier: Apache-2.0
"""Transformations that know what came before, and endless sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.deprecation import deprecated
from ....engine.graph.annotations import TensorLike
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.interface.specs import TensorSpec
from ....engine.types import dtypes
from ...public import raw
from .. import structure
from ..arguments import get_seed
from ..dataset import DatasetV2
from ..dataset_v1 import DatasetV1, DatasetV1Adapter
from ..functions import StructuredFunctionWrapper
from ..sources import DatasetSource
from ..states import settled
from ..unary import UnaryDataset, UnaryUnchangedStructureDataset, int64

Apply = Callable[[Any], Any]


@export("data.experimental.scan")
def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Apply:
    """A transformation like `map` whose function also has a state.

    Args:
      initial_state: The state that the first call is given.
      scan_func: A function of a state and an element that returns the next state and a result.

    Raises:
      TypeError: It returns no pair, or a state of another type.

    Example:
        >>> sums = tf.data.Dataset.range(4).apply(
        ...     tf.data.experimental.scan(np.int64(0), lambda s, x: (s + x, s + x)))
        >>> tf.Session().run(tf.data.make_one_shot_iterator(sums.batch(4)).get_next())
        array([0, 1, 3, 6])
    """
    return lambda dataset: _ScanDataset(dataset, initial_state, scan_func)


def _next_state(wrapped: StructuredFunctionWrapper) -> Any:
    found = wrapped.output_types
    if not (isinstance(found, Sequence) and len(found) == 2):
        raise TypeError(
            "The scan function must return a pair comprising the new state and the output value."
        )
    return wrapped.output_structure[0]


class _ScanDataset(UnaryDataset):
    """The results of a function of a state and an element."""

    def __init__(self, input_dataset: DatasetV2, initial_state: Any, scan_func: Any) -> None:
        first = structure.normalize_element(initial_state)
        self._scan_func, state = settled(
            scan_func,
            "tf.data.experimental.scan()",
            structure.type_spec_from_value(first),
            input_dataset.element_spec,
            _next_state,
        )
        self._structure = self._scan_func.output_structure[1]
        variant = raw.ScanDataset(
            input_dataset._variant_tensor,
            structure.to_tensor_list(state, first),
            self._scan_func.captured,
            f=self._scan_func.attribute,
            preserve_cardinality=True,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self) -> list[Any]:
        return [self._scan_func]


@export("data.experimental.take_while")
def take_while(predicate: Callable[..., Any]) -> Apply:
    """A transformation that ends in front of the first element for which a function does not hold.

    Raises:
      ValueError: The function returns no truth value.
    """
    return lambda dataset: _TakeWhileDataset(dataset, predicate)


class _TakeWhileDataset(UnaryUnchangedStructureDataset):
    """The elements in front of the first for which a function does not hold."""

    def __init__(self, input_dataset: DatasetV2, predicate: Callable[..., Any]) -> None:
        self._input_dataset = input_dataset
        name = "tf.data.experimental.take_while()"
        self._predicate = StructuredFunctionWrapper(predicate, name, dataset=input_dataset)
        found = self._predicate.output_structure
        truth = TensorSpec([], dtypes.bool)
        if not (isinstance(found, TensorSpec) and found.is_compatible_with(truth)):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        self._unchanged(
            raw.TakeWhileDataset,
            other_arguments=self._predicate.captured,
            predicate=self._predicate.attribute,
        )

    def _functions(self) -> list[Any]:
        return [self._predicate]


@export("data.experimental.unique")
def unique() -> Apply:
    """A transformation that leaves out what came before: of int32, int64 or string elements."""
    return _UniqueDataset


class _UniqueDataset(UnaryUnchangedStructureDataset):
    """The elements without those that came before."""

    def __init__(self, input_dataset: DatasetV2) -> None:
        self._input_dataset = input_dataset
        kind = structure.legacy(input_dataset.element_spec, "types")
        if kind not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, "
                "`tf.int64`, or `tf.string` component."
            )
        self._unchanged(raw.UniqueDataset)


@export("data.experimental.ignore_errors")
def ignore_errors() -> Apply:
    """A transformation that leaves out the elements whose computation fails."""
    return _IgnoreErrorsDataset


class _IgnoreErrorsDataset(UnaryUnchangedStructureDataset):
    """The elements that can be computed."""

    def __init__(self, input_dataset: DatasetV2) -> None:
        self._input_dataset = input_dataset
        self._unchanged(raw.IgnoreErrorsDataset)


@export("data.experimental.enumerate_dataset")
@deprecated(None, "Use `tf.data.Dataset.enumerate()")
def enumerate_dataset(start: TensorLike = 0) -> Apply:
    """A transformation that gives pairs of a number, from `start` on, and an element."""
    return lambda dataset: dataset.enumerate(start)


@export("data.experimental.shuffle_and_repeat")
@deprecated(
    None,
    "Use `tf.data.Dataset.shuffle(buffer_size, seed)` followed by `tf.data.Dataset.repeat(count)`. "
    "Static tf.data optimizations will take care of using the fused implementation.",
)
def shuffle_and_repeat(
    buffer_size: TensorLike, count: TensorLike | None = None, seed: TensorLike | None = None
) -> Apply:
    """A transformation that shuffles and repeats, another order each time.

    Args:
      buffer_size: How many elements the buffer holds that elements are drawn from.
      count: How often; for ever if it is None or -1.
      seed: Of the order.
    """
    return lambda dataset: _ShuffleAndRepeatDataset(dataset, buffer_size, count, seed)


class _ShuffleAndRepeatDataset(UnaryUnchangedStructureDataset):
    """The elements in random order, several times over."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        buffer_size: TensorLike,
        count: TensorLike | None,
        seed: TensorLike | None,
    ) -> None:
        self._input_dataset = input_dataset
        self._buffer_size = int64(buffer_size, "buffer_size")
        self._count = int64(-1 if count is None else count, "count")
        self._seed, self._seed2 = get_seed(seed)
        self._unchanged(
            raw.ShuffleAndRepeatDataset,
            buffer_size=self._buffer_size,
            count=self._count,
            seed=self._seed,
            seed2=self._seed2,
        )


class RandomDatasetV2(DatasetSource):
    """See `RandomDatasetV1`."""

    _structure = TensorSpec([], dtypes.int64)

    def __init__(self, seed: TensorLike | None = None) -> None:
        self._seed, self._seed2 = get_seed(seed)
        super().__init__(
            raw.RandomDataset(seed=self._seed, seed2=self._seed2, **self._flat_structure)
        )


@export("data.experimental.RandomDataset")
class RandomDatasetV1(DatasetV1Adapter):
    """An endless dataset of random int64 numbers below 2 ** 32.

    Args:
      seed: Of the numbers; the same seeds give TensorFlow's numbers.
    """

    def __init__(self, seed: TensorLike | None = None) -> None:
        super().__init__(RandomDatasetV2(seed))


RandomDataset = RandomDatasetV1


@export("data.experimental.Counter")
def counter(start: TensorLike = 0, step: TensorLike = 1, dtype: Any = dtypes.int64) -> Any:
    """An endless dataset of numbers.

    Args:
      start: The first one.
      step: How far they are apart.
      dtype: Of the numbers.

    Example:
        >>> numbers = tf.data.experimental.Counter(2, 5).batch(3)
        >>> tf.Session().run(tf.data.make_one_shot_iterator(numbers).get_next())
        array([ 2,  7, 12])
    """
    with name_scope("counter"):
        start = convert_to_tensor(start, dtype=dtype, name="start")
        step = convert_to_tensor(step, dtype=dtype, name="step")
        zeros = DatasetV1.from_tensors(0).repeat(None)
        return DatasetV1Adapter(zeros.apply(scan(start, lambda state, _: (state + step, state))))


Counter = CounterV1 = CounterV2 = counter
