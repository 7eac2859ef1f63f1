# SPDX-License-Identifier: Apache-2.0
"""Where a model's batches come from: arrays, generators, datasets or tensors."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ....engine import errors
from ....engine.interface import log
from ....engine.types import nest
from ....ops.public import tf
from ....ops.ragged.values import is_ragged
from ..backend.elements import is_sparse
from ..backend.sessions import get_session
from ..backend.settings import floatx
from ..utils.sequences import Sequence as BatchSequence
from ..utils.sequences import enqueued
from . import data as arrays
from .composites import is_value, leaves, map_leaves, shape_of


class Weights(NamedTuple):
    """Weights of examples: of each, and of classes."""

    sample: Any
    classes: Any


class Steps(NamedTuple):
    """How long batches are, or how many; and what the number is called in errors."""

    batch_size: int | None
    number: int | None
    name: str


class Workers(NamedTuple):
    """How batches of generators are got ready."""

    queue_size: int
    number: int
    use_processes: bool


class Batch(NamedTuple):
    """What a function is fed, its number of examples, and how much its loss counts."""

    values: list[Any]
    size: int
    weight: int


class ArraySource:
    """Batches of arrays, shuffled in each epoch or not.

    Args:
        model: the model.
        parts: inputs, targets and weights.
        batch_size: examples of a batch.
        shuffle: as of `fit`.
    """

    counts_samples = True
    # Whether logs say how many examples a batch has.
    tells_size = True
    # What `fit` prints that it trains on; None for nothing.
    unit: str | None = "samples"

    def __init__(self, model: Any, parts: Any, batch_size: int, shuffle: Any) -> None:
        self.model, self.parts = model, parts
        self.batch_size, self.shuffle = batch_size, shuffle
        self.values = [*parts[0], *parts[1], *(parts[2] or [])]
        self.size = _count(self.values[0]) if self.values else 0
        self.steps: int | None = None
        self.weights = parts[2]
        # Whether batches count by their examples in the mean loss.
        self._is_weighted = True

    def follow(self, batch_size: int) -> None:
        """Gives batches of a size in order, each of which counts the same.

        So TensorFlow evaluates arrays beside a generator; the size is that of its last batch.
        """
        self.batch_size, self.shuffle, self._is_weighted = batch_size, False, False

    def split(self, share: float) -> tuple[ArraySource, ArraySource]:
        """The first examples, and the share of the last ones."""
        at = int(self.size * (1.0 - share))
        halves = []
        for cut in (slice(None, at), slice(at, None)):
            parts = [
                part if part is None else [None if x is None else x[cut] for x in part]
                for part in self.parts
            ]
            # (TensorFlow shuffles what is only evaluated, too: NumPy's numbers go on from there.)
            shuffle = self.shuffle if cut.start is None else True
            halves.append(ArraySource(self.model, parts, self.batch_size, shuffle))
        return halves[0], halves[1]

    def batches(self) -> Iterator[Batch]:
        """The batches of one epoch."""
        if not self.size:
            raise ValueError("Empty training data.")
        order = np.arange(self.size)
        if self.shuffle == "batch":
            order = _shuffled_batches(order, self.batch_size)
        elif self.shuffle:
            np.random.shuffle(order)
        values = self.values
        if self.size <= self.batch_size:
            # (A single batch is fed as it is.)
            yield Batch(_fed(self.model, values), self.size, self.size)
            return
        for start in range(0, self.size, self.batch_size):
            rows = order[start : start + self.batch_size]
            # Rows in their order are read without a copy.
            where = rows if self.shuffle else slice(start, start + len(rows))
            cut = [None if x is None else _taken(x, where) for x in values]
            weight = len(rows) if self._is_weighted else 1
            yield Batch(_fed(self.model, cut), len(rows), weight)


def _taken(x: Any, where: Any) -> Any:
    """Rows of an array or a container; files of HDF5 want lists in order."""
    if is_value(x):
        raise TypeError(
            "TypeError while preparing batch: sparse and ragged values cannot be divided into "
            "batches. Give as many as a batch has, or a dataset of them."
        )
    if isinstance(where, np.ndarray) and not isinstance(x, np.ndarray) and hasattr(x, "id"):
        return x[sorted(where.tolist())]
    return x[where]


def _count(x: Any) -> int:
    """How many rows an array or another value has."""
    shape = shape_of(x) if hasattr(x, "shape") or is_value(x) else np.shape(x)
    return int((shape or (0,))[0] or 0)


def _fed(model: Any, values: list[Any]) -> list[Any]:
    """Values as placeholders take them: sparse matrices are dense where these are."""
    wanted = [*model._feed_inputs, *[None] * len(values)]
    is_dense = [arrays.is_sparse_matrix(x) and not is_sparse(w) for x, w in zip(values, wanted)]
    return [x.toarray() if dense else x for x, dense in zip(values, is_dense)]


def _shuffled_batches(order: np.ndarray, size: int) -> np.ndarray:
    """Whole batches in another order, what is left of them at the end."""
    count = len(order) // size
    whole = order[: count * size].reshape((count, size))
    np.random.shuffle(whole)
    return np.append(whole.flatten(), order[count * size :])


class _StepSource:
    """Batches that something gives one after the other."""

    counts_samples = False
    tells_size = False
    unit: str | None = "samples"
    # Targets that tensors give are not held against the outputs' shapes.
    checks_targets = False
    weights: Any = None
    batch_size: int | None = None
    # Why the last examples cannot be put aside.
    no_split = (
        "`validation_split` argument is not supported when input `x` is a dataset or a dataset "
        "iterator"
    )

    def __init__(self, model: Any, steps: Steps, is_predicted: bool, classes: Any = None) -> None:
        self.model, self.name = model, steps.name
        self.steps = steps.number
        # How many passes are to come, for messages.
        self.epochs = 1
        self.is_predicted, self.classes = is_predicted, classes
        self.size = steps.number

    def split(self, share: float) -> Any:
        """Raises a ValueError: only arrays can be split."""
        raise ValueError(f"{self.no_split}; give the examples to evaluate as `validation_data`")

    def _elements(self) -> Iterator[Any]:
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        """The batches of one epoch."""
        taken = 0
        for element in self._elements():
            yield self._batch(element)
            taken += 1
            if taken == self.steps:
                return
        if self.steps is not None and taken < self.steps:
            self.model.stop_training = True
            log.warning(
                "Your dataset ran out of data; interrupting training. Make sure that your dataset "
                f"can generate at least `{self.name} * epochs` batches (in this case, "
                f"{self.steps * self.epochs} batches). You may need to use the repeat() function "
                "when building your dataset."
            )
        self.steps = self.size = self.steps or taken

    def _batch(self, element: Any) -> Batch:
        x, y, weights = _three(element, self.is_predicted)
        parts = self.model._standardize(
            x, y, weights, self.classes, checks_targets=self.checks_targets
        )
        size = _count(leaves(x)[0])
        values = self.model._fed_values(*parts) if not self.is_predicted else parts[0]
        return Batch(_fed(self.model, values), size, 1)

    def restart(self) -> None:
        """Begins anew, where that can be, before each evaluation."""


def _three(element: Any, is_predicted: bool) -> tuple[Any, Any, Any]:
    """Inputs, targets and weights of what a generator gave; ValueError for something else."""
    if not isinstance(element, tuple) or is_value(element):
        element = (element,)
    if len(element) not in (1, 2, 3):
        raise ValueError(
            "Output of generator should be a tuple of 1 or 2 or 3 elements: (input,) or (input, "
            f"target) or (input, target, sample_weights). Received {element}"
        )
    if is_predicted:
        return element[0], None, None
    return (*element, None, None)[:3]


class GeneratorSource(_StepSource):
    """Batches of a generator, or of a Sequence, got ready by threads."""

    checks_targets = True
    tells_size = True
    unit = None
    no_split = (
        "If your data is in the form of a Python generator, you cannot use `validation_split`"
    )

    def __init__(
        self,
        model: Any,
        generator: Any,
        steps: Steps,
        workers: Workers,
        shuffle: Any = False,
        is_predicted: bool = False,
        classes: Any = None,
    ) -> None:
        super().__init__(model, steps, is_predicted, classes)
        if self.steps is None and isinstance(generator, BatchSequence):
            self.steps = self.size = len(generator)
        if self.steps is None:
            raise ValueError(f"Please specify the number of steps via the `{steps.name}` argument.")
        self._given, self._workers, self._shuffle = generator, workers, bool(shuffle)
        self._batches: Iterator[Any] | None = None

    def restart(self) -> None:
        """Has the next pass over a Sequence begin with its first batch; generators go on."""
        if isinstance(self._given, BatchSequence):
            self.close()

    def _elements(self) -> Iterator[Any]:
        # One generator for all epochs: the next begins where this one ends.
        if self._batches is None:
            self._batches = enqueued(self._given, self._workers, self._shuffle)
        yield from islice(self._batches, self.steps)

    def close(self) -> None:
        """Ends the threads."""
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()
        self._batches = None


class DatasetSource(_StepSource):
    """Batches of a dataset; begun anew in each epoch if the number of steps is not given."""

    unit = "steps"

    def __init__(
        self, model: Any, dataset: Any, steps: Steps, is_predicted: bool, classes: Any = None
    ) -> None:
        super().__init__(model, steps, is_predicted, classes)
        self._begins_anew = steps.number is None
        if self._begins_anew:
            self.steps = self.size = _number_of_batches(dataset, steps.name)
        self._iterator = _iterator(dataset)
        self._next = nest.map_structure(_as_floatx, self._iterator.get_next())
        self._is_begun = False
        if not model.inputs and not is_predicted:
            # Inputs have the dataset's dtypes, while those of arrays are of the settings'.
            x = _three(self._next, is_predicted)[0]
            arrays.check_undeclared(x)
            model._set_inputs(_specs(x))

    def restart(self) -> None:
        """Has the next pass begin with the first batch."""
        self._is_begun = False

    def _elements(self) -> Iterator[Any]:
        session = get_session()
        if self._begins_anew or not self._is_begun:
            session.run(self._iterator.initializer)
            self._is_begun = True
        while True:
            try:
                yield session.run(self._next)
            except errors.OutOfRangeError:
                return


def _as_floatx(x: Any) -> Any:
    """Floats of another width as the floats of the settings."""
    is_other = isinstance(x, tf.Tensor) and x.dtype.is_floating
    return tf.cast(x, floatx()) if is_other else x


def _specs(elements: Any) -> Any:
    return nest.map_structure(lambda x: tf.TensorSpec(x.shape, x.dtype), elements)


def _number_of_batches(dataset: Any, name: str) -> int | None:
    """The batches of a dataset, or None if nobody knows; ValueError if there is no end of them."""
    from ....engine import api

    count = get_session().run(api.NAMES["data.experimental.cardinality"](dataset))
    if count == api.NAMES["data.experimental.INFINITE_CARDINALITY"]:
        raise ValueError(
            f"When passing an infinitely repeating dataset, you must specify the `{name}` argument."
        )
    return int(count) if count >= 0 else None


def _iterator(dataset: Any) -> Any:
    from ....engine import api

    return api.NAMES["data.make_initializable_iterator"](dataset)


class IteratorSource(_StepSource):
    """Batches of an iterator that the program made, and initialized if need be."""

    def __init__(
        self, model: Any, iterator: Any, steps: Steps, is_predicted: bool, classes: Any = None
    ) -> None:
        super().__init__(model, steps, is_predicted, classes)
        if self.steps is None:
            raise ValueError(
                "When using iterators as input to a model, you should specify the "
                f"`{steps.name}` argument."
            )
        self._next = nest.map_structure(_as_floatx, iterator.get_next())

    def _elements(self) -> Iterator[Any]:
        session = get_session()
        while True:
            try:
                yield session.run(self._next)
            except errors.OutOfRangeError:
                return


class TensorSource(_StepSource):
    """Batches that tensors of the graph give each time they are run."""

    no_split = "If your data is in the form of symbolic tensors, you cannot use `validation_split`"

    def __init__(self, model: Any, parts: Any, steps: Steps, is_predicted: bool) -> None:
        super().__init__(model, steps, is_predicted)
        if self.steps is None:
            raise ValueError(
                "When using data tensors as input to a model, you should specify the "
                f"`{steps.name}` argument."
            )
        self._parts = parts

    def _elements(self) -> Iterator[Any]:
        for _ in range(self.steps or 0):
            yield _evaluated(self._parts)


def _evaluated(parts: Any) -> Any:
    """A structure with the values of its tensors, which are computed in one run."""
    tensors = [x for x in leaves(parts) if arrays.is_symbolic(x)]
    found = iter(get_session().run(tensors))
    return map_leaves(lambda x: next(found) if arrays.is_symbolic(x) else x, parts)


class WholeSource(_StepSource):
    """Steps of arrays, of which each is all of them."""

    def __init__(self, model: Any, parts: Any, steps: Steps, is_predicted: bool) -> None:
        super().__init__(model, steps, is_predicted)
        self._parts = parts

    def _elements(self) -> Iterator[Any]:
        for _ in range(self.steps or 0):
            yield self._parts

    def _batch(self, element: Any) -> Batch:
        values = element[0] if self.is_predicted else self.model._fed_values(*element)
        return Batch(_fed(self.model, values), 1, 1)


class FeedlessSource(_StepSource):
    """Batches of a model whose inputs and targets are tensors of their own."""

    def _elements(self) -> Iterator[Any]:
        for _ in range(self.steps or 0):
            yield None

    def _batch(self, element: Any) -> Batch:
        return Batch([], 1, 1)


def is_dataset(x: Any) -> bool:
    """Whether it is a dataset, of either version."""
    from ....ops.data.dataset import DatasetV2

    return isinstance(x, DatasetV2)


def is_iterator(x: Any) -> bool:
    """Whether it is an iterator over a dataset."""
    from ....ops.data.iterators import Iterator as DatasetIterator

    return isinstance(x, DatasetIterator)


def _is_generator(x: Any) -> bool:
    return (
        inspect.isgenerator(x)
        or isinstance(x, BatchSequence)
        or (hasattr(x, "__next__") and not arrays.is_symbolic(x) and not is_iterator(x))
    )


def source_of(
    model: Any,
    x: Any,
    y: Any,
    weights: Weights,
    steps: Steps,
    shuffle: Any,
    workers: Workers,
    is_predicted: bool = False,
) -> Any:
    """Where the batches of what was given come from; ValueError for what goes not together."""
    if is_dataset(x) or is_iterator(x) or _is_generator(x):
        _check_alone(x, y, weights, steps)
        if is_dataset(x):
            return DatasetSource(model, x, steps, is_predicted, weights.classes)
        if is_iterator(x):
            return IteratorSource(model, x, steps, is_predicted, weights.classes)
        return GeneratorSource(model, x, steps, workers, shuffle, is_predicted, weights.classes)
    tensors = [t for t in leaves([x, y]) if arrays.is_symbolic(t)]
    if any(not is_ragged(t) for t in tensors):
        if _is_built_on_tensors(model, x, y, is_predicted):
            return FeedlessSource(model, steps, is_predicted)
        return TensorSource(model, (x, y, weights.sample), steps, is_predicted)
    if tensors:
        # (Ragged tensors say how many rows they have, and are one batch.)
        x, y = _evaluated((x, y))
    if x is None and y is None and not model._feed_inputs and steps.number:
        return FeedlessSource(model, steps, is_predicted)
    warn_of_steps(x, steps.number)
    if steps.number is not None:
        if steps.batch_size is not None:
            raise ValueError(f"If {steps.name} is set, the `batch_size` must be None.")
        parts = model._standardize(x, y, weights.sample, weights.classes)
        return WholeSource(model, parts, steps, is_predicted)
    size = _batch_size(model, steps)
    parts = model._standardize(x, y, weights.sample, weights.classes, size)
    return ArraySource(model, parts, size, shuffle)


def warn_of_steps(x: Any, number: int | None) -> None:
    """Logs that a number of steps is of little use for arrays, which are one step each time."""
    given = list(x.values()) if isinstance(x, dict) else [x]
    if number is not None and any(isinstance(v, (np.ndarray, list, tuple)) for v in given):
        log.warning(
            "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument. "
            "Please use `batch_size` instead."
        )


def _is_built_on_tensors(model: Any, x: Any, y: Any, is_predicted: bool) -> bool:
    """Whether tensors are a model's inputs, which are made of them where there are none yet."""
    if not model.inputs:
        model._build_on(x, y)
    return not model._feed_inputs and (is_predicted or not model._fed_endpoints())


def _check_alone(x: Any, y: Any, weights: Weights, steps: Steps) -> None:
    """Raises a ValueError where more is given than something that gives targets, too."""
    if not (is_dataset(x) or is_iterator(x)):
        what = "argument is not supported when data is a generator or Sequence instance"
        if y is not None:
            raise ValueError(
                f"`y` {what}. Instead pass targets as the second element of the generator."
            )
        if weights.sample is not None:
            raise ValueError(
                f"`sample_weight` {what}. Instead pass sample weights as the third element of the "
                "generator."
            )
    elif y is not None:
        raise ValueError(
            f"You passed a dataset or dataset iterator ({x}) as input `x` to your model. In that "
            "case, you should not specify a target (`y`) argument, since the dataset or dataset "
            f"iterator generates both input data and target data. Received: {y}"
        )
    elif weights.sample is not None:
        raise ValueError(
            "`sample_weight` argument is not supported when input `x` is a dataset or a dataset "
            "iterator. Instead, you can provide sample_weight as the third element of your "
            "dataset, i.e. (inputs, targets, sample_weight)."
        )
    if steps.batch_size is not None and not is_iterator(x):
        raise ValueError(
            "The `batch_size` argument must not be specified for the given input type. Received "
            f"input: {x}, batch_size: {steps.batch_size}"
        )


def _batch_size(model: Any, steps: Steps) -> int:
    fixed = None
    if model._is_graph_network and model.inputs:
        sizes = [x.shape.as_list()[0] for x in model.inputs if x.shape.ndims]
        fixed = next((size for size in sizes if size is not None), None)
    if fixed is None:
        return steps.batch_size or 32
    if steps.batch_size not in (None, fixed):
        raise ValueError(
            f"The `batch_size` argument value {steps.batch_size} is incompatible with the "
            f"specified batch size of your Input Layer: {fixed}"
        )
    return int(fixed)


def validation_source(model: Any, data: Any, steps: Steps, workers: Workers) -> Any:
    """Where the batches of an evaluation come from; ValueError for a tuple of another length."""
    weights = None
    # (TensorFlow shuffles arrays that are only evaluated, too: NumPy's numbers go on from there.)
    shuffle = True
    if is_dataset(data) or is_iterator(data) or _is_generator(data):
        x, y, shuffle = data, None, False
        steps = steps._replace(batch_size=None)
    elif isinstance(data, (tuple, list)) and len(data) in (2, 3):
        x, y, weights = (*data, None)[:3]
    else:
        raise ValueError(
            "When passing a `validation_data` argument, it must contain either 2 items (x_val, "
            "y_val), or 3 items (x_val, y_val, val_sample_weights), or alternatively it could be a "
            f"dataset or a generator. However we received `validation_data={data}`"
        )
    return source_of(model, x, y, Weights(weights, None), steps, shuffle, workers)


def values_of(model: Any, x: Any, y: Any, sample: Any, classes: Any) -> Any:
    """Inputs, targets and weights of one batch; a dataset or tensors give their next one."""
    if is_dataset(x):
        x = _iterator(x)
        get_session().run(x.initializer)
    is_given = is_iterator(x)
    if is_given:
        x, y, sample = _three(x.get_next(), False)
    if any(arrays.is_symbolic(t) for t in leaves([x, y, sample])):
        if not is_given and _is_built_on_tensors(model, x, y, y is None):
            return [], [], None
        x, y, sample = _evaluated((x, y, sample))
    return model._standardize(x, y, sample, classes)
