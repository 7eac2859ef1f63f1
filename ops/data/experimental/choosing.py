# SPDX-License-Identifier: Apache-2.0
"""Elements of several datasets: in turns, at random, or as another dataset says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....engine.api import export
from ....engine.deprecation import deprecated
from ....engine.graph.annotations import TensorLike
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.interface.specs import TensorSpec
from ....engine.types import dtypes
from ...public import raw, tf
from .. import nest, structure
from ..dataset import DatasetV2
from ..dataset_v1 import DatasetV1, DatasetV1Adapter
from ..mapping import FlatMapDataset, MapDataset
from ..unary import int64
from .scanning import RandomDataset, scan

Apply = Callable[[Any], Any]
_ADVICE = (
    "Use `tf.data.Dataset.interleave(map_func, cycle_length, block_length, "
    "num_parallel_calls=tf.data.experimental.AUTOTUNE)` instead. If sloppy execution is desired, "
    "use `tf.data.Options.experimental_determinstic`."
)


@export("data.experimental.parallel_interleave")
@deprecated(None, _ADVICE)
def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: TensorLike,
    block_length: TensorLike = 1,
    sloppy: TensorLike = False,
    buffer_output_elements: TensorLike | None = None,
    prefetch_input_elements: TensorLike | None = None,
) -> Apply:
    """A transformation that reads several datasets, which a function makes, in threads.

    Args:
      map_func: A function from an element to a dataset.
      cycle_length: How many datasets take turns.
      block_length: How many elements each gives at a time.
      sloppy: Whether the order may be another one; here it never is.
      buffer_output_elements: How many elements of each are read ahead.
      prefetch_input_elements: How many datasets are made before their turn comes.
    """
    rest = (cycle_length, block_length, sloppy, buffer_output_elements, prefetch_input_elements)
    return lambda dataset: ParallelInterleaveDataset(dataset, map_func, *rest)


class ParallelInterleaveDataset(FlatMapDataset):
    """The elements of the datasets that a function makes, read in threads."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        cycle_length: Any,
        block_length: Any,
        sloppy: TensorLike,
        buffer_output_elements: TensorLike | None,
        prefetch_input_elements: TensorLike | None,
    ) -> None:
        self._take_datasets(input_dataset, map_func)
        room = 2 * block_length if buffer_output_elements is None else buffer_output_elements
        ahead = 2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements
        self._become(
            raw.ParallelInterleaveDataset,
            int64(cycle_length, "cycle_length"),
            int64(block_length, "block_length"),
            convert_to_tensor(sloppy, dtype=dtypes.bool, name="sloppy"),
            int64(room, "buffer_output_elements"),
            int64(ahead, "prefetch_input_elements"),
        )

    def _transformation_name(self) -> str:
        return "tf.data.experimental.parallel_interleave()"


class _DirectedInterleaveDataset(DatasetV1):
    """Elements of several datasets in the order that another one says."""

    def __init__(self, selector_input: Any, data_inputs: Sequence[Any]) -> None:
        self._selector_input, self._data_inputs = selector_input, list(data_inputs)
        specs = [dataset.element_spec for dataset in self._data_inputs]
        kinds = [(structure.legacy(s, "types"), structure.legacy(s, "classes")) for s in specs]
        if any(kind != kinds[0] for kind in kinds[1:]):
            raise TypeError("All datasets must have the same type and class.")
        shapes = [structure.legacy(spec, "shapes") for spec in specs]
        common = nest.flatten(shapes[0])
        for other in shapes[1:]:
            pairs = zip(common, nest.flatten(other))
            common = [a.most_specific_compatible_shape(b) for a, b in pairs]
        self._structure = structure.convert_legacy_structure(
            kinds[0][0], nest.pack_sequence_as(shapes[0], common), kinds[0][1]
        )
        super().__init__()

    def _as_variant_tensor(self) -> Any:
        return raw.DirectedInterleaveDataset(
            self._selector_input._variant_tensor,
            [dataset._variant_tensor for dataset in self._data_inputs],
            **self._flat_structure,
        )

    def _inputs(self) -> list[Any]:
        return [self._selector_input, *self._data_inputs]

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._structure


@export("data.experimental.sample_from_datasets")
def sample_from_datasets(
    datasets: Sequence[Any], weights: Any = None, seed: TensorLike | None = None
) -> Any:
    """A dataset of elements of others, each drawn from one at random.

    Args:
      datasets: The others, of one type of elements.
      weights: How likely each is, or a dataset of such vectors; all alike if None.
      seed: Of the draws.

    Raises:
      TypeError: The weights are no float32 or float64.
      ValueError: There is not one weight for each dataset.
    """
    if isinstance(weights, DatasetV2):
        selector = _varying(weights, seed)
    else:
        if weights is None:
            logits: Any = [[1.0] * len(datasets)]
        else:
            logits = _logits(weights, len(datasets))
        if len(datasets) == 1:
            return DatasetV1Adapter(datasets[0])

        def select_dataset_constant_logits(seed: TensorLike) -> Any:
            return _drawn(logits, seed)

        selector = MapDataset(
            RandomDataset(seed).batch(2),
            select_dataset_constant_logits,
            use_inter_op_parallelism=False,
        )
    return DatasetV1Adapter(_DirectedInterleaveDataset(selector, datasets))


def _logits(weights: Any, count: int) -> Any:
    weights = convert_to_tensor(weights, name="weights")
    if weights.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements."
        )
    if not weights.shape.is_compatible_with([count]):
        raise ValueError("`weights` must be a vector of length `len(datasets)`.")
    return tf.expand_dims(tf.log(weights, name="logits"), 0)


def _drawn(logits: Any, seed: TensorLike) -> Any:
    return tf.squeeze(raw.StatelessMultinomial(logits, 1, seed=seed), axis=[0, 1])


def _varying(weights: Any, seed: TensorLike | None) -> Any:
    def select_dataset_varying_logits(logits: Any, seed: TensorLike) -> Any:
        return _drawn(logits, seed)

    logits = weights.map(lambda *p: tf.log(p, name="logits"))
    both = DatasetV1.zip((logits, RandomDataset(seed).batch(2)))
    return MapDataset(both, select_dataset_varying_logits, use_inter_op_parallelism=False)


@export("data.experimental.choose_from_datasets")
def choose_from_datasets(datasets: Sequence[Any], choice_dataset: Any) -> Any:
    """A dataset of elements of others, in the order that a dataset of numbers says.

    Args:
      datasets: The others, of one type of elements.
      choice_dataset: Of int64 numbers: of which dataset the next element is.

    Raises:
      TypeError: It has other elements.

    Example:
        >>> letters = [tf.data.Dataset.from_tensors(letter).repeat() for letter in "ab"]
        >>> order = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1]))
        >>> chosen = tf.data.experimental.choose_from_datasets(letters, order).batch(3)
        >>> tf.Session().run(tf.data.make_one_shot_iterator(chosen).get_next())
        array([b'a', b'b', b'b'], dtype=object)
    """
    if not structure.are_compatible(choice_dataset.element_spec, TensorSpec([], dtypes.int64)):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return DatasetV1Adapter(_DirectedInterleaveDataset(choice_dataset, datasets))


choose_from_datasets_v1 = choose_from_datasets_v2 = choose_from_datasets
sample_from_datasets_v1 = sample_from_datasets_v2 = sample_from_datasets


@export("data.experimental.rejection_resample")
def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: TensorLike,
    initial_dist: TensorLike | None = None,
    seed: int | None = None,
) -> Apply:
    """A transformation that leaves out elements so that classes come as often as is wanted.

    Args:
      class_func: A function from an element to its class, int32.
      target_dist: How often each class is to come.
      initial_dist: How often each comes; estimated from what is read if None.
      seed: Of the draws.

    Elements of the result are pairs of a class and an element.
    """

    def apply(dataset: DatasetV2) -> Any:
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        initial = None
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            found = (initial, *_acceptance(initial, target))
            constant = [DatasetV1.from_tensors(tensor).repeat() for tensor in found]
            initials, acceptances, originals = constant
        else:
            initials = _estimated(target, classes)
            pairs = initials.map(lambda initial: _acceptance(initial, target))
            acceptances = pairs.map(lambda accept, _: accept)
            originals = pairs.map(lambda _, original: original)
        filtered = _filtered(dataset, acceptances, initials, classes, seed).prefetch(3)
        static = _static_share(initial, target)
        both = DatasetV1.zip((classes, dataset))
        if static == 1:
            return both
        if static == 0:
            return filtered
        weights = originals.map(lambda share: [(share, 1.0 - share)])
        return sample_from_datasets([both, filtered], weights=weights, seed=seed)

    return apply


def _static_share(initial: Any, target: Any) -> Any:
    """How many elements are taken as they come, if that is known while building."""
    if initial is None:
        return None
    values = constant_value(initial), constant_value(target)
    return None if any(v is None for v in values) else np.min(values[1] / values[0])


def _acceptance(initial: Any, target: Any) -> tuple[Any, Any]:
    """How likely elements of each class are kept, and how many elements are taken as they come.

    With r = target / initial, a share min(r) of elements is taken unseen; of the others those of a
    class are kept with (r - min r) / (max r - min r).
    """
    ratio = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    largest, least = tf.reduce_max(ratio), tf.reduce_min(ratio)
    return (ratio - least) / (largest - least), least


def _filtered(dataset: DatasetV2, acceptances: Any, initials: Any, classes: Any, seed: Any) -> Any:
    def maybe_warn_on_large_rejection(accept: Any, initial: Any) -> Any:
        rejected = tf.reduce_sum((1 - accept) * initial)
        return tf.cond(
            tf.less(rejected, 0.5),
            lambda: accept,
            lambda: tf.Print(
                accept,
                [rejected, initial, accept],
                message="Proportion of examples rejected by sampler is high: ",
                summarize=100,
                first_n=10,
            ),
        )

    def _gather_and_copy(kind: Any, accept: Any, data: Any) -> Any:
        return kind, tf.gather(accept, kind), data

    checked = DatasetV1.zip((acceptances, initials)).map(maybe_warn_on_large_rejection)
    likely = DatasetV1.zip((classes, checked, dataset)).map(_gather_and_copy)
    kept = likely.filter(lambda _1, share, _2: tf.random_uniform([], seed=seed) < share)
    return kept.map(lambda kind, _, data: (kind, data))


def _estimated(target: Any, classes: Any, size: int = 32, smoothing: int = 10) -> Any:
    """How often classes came up to each element, in steps of some elements."""
    count = target.shape[0] or tf.shape(target)[0]
    first = tf.fill([count], np.int64(smoothing))

    def update_estimate_and_tile(seen: Any, kinds: Any) -> tuple[Any, Any]:
        wide = tf.one_hot(kinds, seen.get_shape()[0], dtype=dtypes.int64)
        seen = tf.add(seen, tf.reduce_sum(wide, 0))
        share = tf.cast(tf.truediv(seen, tf.reduce_sum(seen)), dtypes.float32)
        return seen, tf.tile(tf.expand_dims(share, 0), [size, 1])

    return classes.batch(size).apply(scan(first, update_estimate_and_tile)).unbatch()
