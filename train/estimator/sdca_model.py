# SPDX-License-Identifier: Apache-2.0
"""The graph of a linear model that is solved by stochastic dual coordinate ascent."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import internal_convert_to_tensor
from ...engine.graph.scope_functions import colocate_with
from ...engine.interface.log import warn
from ...ops.public import raw, tf
from ...ops.summaries.api import scalar
from .sdca_losses import mean_loss
from .sdca_partitions import Parting, is_parted, one_tensor, parts_of
from .sdca_table import _ShardedMutableDenseHashTable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")
_KINDS = ("sparse_features_weights", "dense_features_weights")
_EXAMPLES = ("example_labels", "example_weights", "example_ids")
_FEATURES = ("sparse_features", "dense_features")


class _SparseFeatureColumn:
    """Sparse features of a batch.

    Args:
        example_indices: int64 [n], which example each is of.
        feature_indices: int64 [n], which feature it is.
        feature_values: float32 [n]; None where all are 1.
    """

    def __init__(
        self,
        example_indices: TensorLike,
        feature_indices: TensorLike,
        feature_values: TensorLike | None,
    ) -> None:
        scope = "SparseFeatureColumn"
        with tf.name_scope(None, scope, [example_indices, feature_indices]):
            self._example_indices = internal_convert_to_tensor(
                example_indices, name="example_indices", dtype=tf.int64
            )
            self._feature_indices = internal_convert_to_tensor(
                feature_indices, name="feature_indices", dtype=tf.int64
            )
        self._feature_values = None
        if feature_values is not None:
            with tf.name_scope(None, scope, [feature_values]):
                self._feature_values = internal_convert_to_tensor(
                    feature_values, name="feature_values", dtype=tf.float32
                )

    @property
    def example_indices(self) -> Tensor:
        """int64 [n], which example each is of."""
        return self._example_indices

    @property
    def feature_indices(self) -> Tensor:
        """int64 [n], which feature it is."""
        return self._feature_indices

    @property
    def feature_values(self) -> Tensor | None:
        """float32 [n], or None."""
        return self._feature_values


def _specified(items: Iterable[str], given: dict[str, Any]) -> None:
    for item in items:
        if given[item] is None:
            raise ValueError(f"{item} must be specified.")


def _lists(items: Iterable[str], given: dict[str, Any]) -> None:
    for item in items:
        if not isinstance(given[item], list):
            raise ValueError(f"{item} must be a list.")


def _scatter_add(slot: Any, ids: Tensor, update: Tensor) -> list[Any]:
    return [tf.scatter_add(slot, ids, update)]


class _SDCAModel:
    """A linear model with the state of its solver.

    Args:
        examples: a dict of `sparse_features` (a list of columns), `dense_features` (a list of
            float32 matrices), `example_labels`, `example_weights` (float32 vectors) and
            `example_ids` (strings).
        variables: a dict of the lists `sparse_features_weights` and `dense_features_weights`.
        options: a dict of `loss_type`, `symmetric_l1_regularization` and
            `symmetric_l2_regularization`, and maybe `num_loss_partitions` (1), `num_table_shards`
            (1) and `adaptive` (True).

    Raises:
        ValueError: something is missing or out of range.
    """

    # What the two generations of this class do not share.
    _SLOT_SUFFIX = "_unshrunk"
    _make_slot: Callable[..., Any] = staticmethod(functools.partial(tf.Variable, use_resource=True))
    _table: Callable[..., Any] = _ShardedMutableDenseHashTable
    _select = "where_v2"

    def __init__(
        self, examples: dict[str, Any], variables: dict[str, Any], options: dict[str, Any]
    ) -> None:
        if not examples or not variables or not options:
            raise ValueError("examples, variables and options must all be specified.")
        if options["loss_type"] not in _LOSSES:
            raise ValueError("Unsupported loss_type: ", options["loss_type"])
        _specified((*_EXAMPLES, *_FEATURES), examples)
        _lists(_FEATURES, examples)
        _specified(_KINDS, variables)
        _lists(_KINDS, variables)
        penalties = "symmetric_l2_regularization", "symmetric_l1_regularization"
        _specified(("loss_type", *penalties), options)
        self._check_penalties(*(options[penalty] for penalty in penalties))
        self._examples, self._variables, self._options = examples, variables, options
        self._create_slots()
        self._hashtable = self._table(
            key_dtype=tf.int64,
            value_dtype=tf.float32,
            num_shards=self._num_table_shards(),
            default_value=[0.0, 0.0, 0.0, 0.0],
            # No fingerprint begins with 0 or 1.
            empty_key=[0, 0],
            deleted_key=[1, 1],
        )
        scalar("approximate_duality_gap", self.approximate_duality_gap())
        scalar("examples_seen", self._hashtable.size())

    def _check_penalties(self, l2: float, l1: float) -> None:
        if l2 <= 0.0:
            raise ValueError("symmetric_l2_regularization should be positive.")
        if l2 <= 1.0:
            warn(
                "symmetric_l2_regularization for SDCA should typically be larger than for online "
                "optimization methods. Recommended value is of the order of the average L2 norm "
                "of the training examples."
            )
        if l1 < 0.0:
            raise ValueError("symmetric_l1_regularization should be non-negative.")

    def _symmetric_l1_regularization(self) -> float:
        return self._options["symmetric_l1_regularization"]

    def _symmetric_l2_regularization(self) -> float:
        return self._options["symmetric_l2_regularization"]

    def _stated_l2(self) -> float:
        """The l2 of the loss that is shown."""
        return self._symmetric_l2_regularization()

    def _num_table_shards(self) -> int:
        shards = self._options.get("num_table_shards")
        return 1 if shards is None else shards

    def _slot(self, variable: Any) -> Any:
        zeros = tf.zeros_like(variable.initialized_value(), tf.float32)
        return self._make_slot(initial_value=zeros, name=f"{variable.op.name}{self._SLOT_SUFFIX}")

    def _create_slots(self) -> None:
        """Variables for weights before the proximal step."""
        self._slots: dict[str, list[Any]] = defaultdict(list)
        for kind in _KINDS:
            for variable in self._variables[kind]:
                if is_parted(variable):
                    slots = []
                    for part in variable:
                        with colocate_with(part):
                            slots.append(self._slot(part))
                    self._slots[kind].append(slots)
                else:
                    with tf.device(variable.device):
                        self._slots[kind].append(self._slot(variable))

    def _all_weights(self) -> list[Any]:
        found = [part for kind in _KINDS for one in self._variables[kind] for part in parts_of(one)]
        return list(found)

    def _sums(self, function: Callable[[Tensor], Tensor]) -> list[Tensor]:
        result = []
        for part in self._all_weights():
            weights = internal_convert_to_tensor(part)
            with tf.device(weights.device):
                result.append(tf.reduce_sum(function(tf.cast(weights, tf.float64))))
        return result

    def _l1_loss(self) -> Tensor:
        with tf.name_scope("sdca/l1_loss"):
            return self._symmetric_l1_regularization() * tf.add_n(self._sums(tf.abs))

    def _l2_loss(self, l2: float) -> Tensor:
        with tf.name_scope("sdca/l2_loss"):
            return l2 * tf.add_n(self._sums(tf.square)) / 2.0

    def _tensors(self, given: Iterable[Any], as_ref: bool = False) -> list[Tensor]:
        return [internal_convert_to_tensor(one_tensor(one), as_ref=as_ref) for one in given]

    def _linear_predictions(self, examples: dict[str, Any]) -> Tensor:
        """Products of weights and features, float32 [examples]."""
        with tf.name_scope("sdca/prediction"):
            count = tf.shape(examples["example_ids"])[0]
            sums = tf.zeros([count])
            sparse = self._tensors(self._variables["sparse_features_weights"])
            for column, weights in zip(examples["sparse_features"], sparse):
                part = tf.segment_sum(
                    tf.multiply(tf.gather(weights, column.feature_indices), column.feature_values),
                    column.example_indices,
                )
                sums += tf.pad(part, [[0, count - tf.shape(part)[0]]])
            dense = self._tensors(examples["dense_features"])
            variables = self._tensors(self._variables["dense_features_weights"])
            for features, weights in zip(dense, variables):
                sums += tf.squeeze(tf.matmul(features, tf.expand_dims(weights, -1)))
        return sums

    def predictions(self, examples: dict[str, Any]) -> Tensor:
        """The predictions for examples: probabilities with the logistic loss, rates with Poisson's.

        Raises:
            ValueError: something of the examples is missing.
        """
        _specified(("example_weights", *_FEATURES), examples)
        _lists(_FEATURES, examples)
        result = self._linear_predictions(examples)
        if self._options["loss_type"] == "logistic_loss":
            with tf.name_scope("sdca/logistic_prediction"):
                result = tf.sigmoid(result)
        elif self._options["loss_type"] == "poisson_loss":
            with tf.name_scope("sdca/poisson_prediction"):
                result = tf.exp(result)
        return result

    def _sparse_slots(
        self, features: Iterable[Tensor]
    ) -> tuple[list[Tensor], list[Tensor], list[Callable[[Tensor], list[Any]]]]:
        """The features of the batch, each once, their weights, and what adds to these."""
        indices: list[Tensor] = []
        weights: list[Tensor] = []
        adders: list[Callable[[Tensor], list[Any]]] = []
        for slot, feature in zip(self._slots["sparse_features_weights"], features):
            ids = tf.cast(tf.unique(tf.cast(feature, tf.int32))[0], tf.int64)
            indices.append(ids)
            if is_parted(slot):
                parting = Parting(slot, ids, getattr(tf, self._select))
                weights.append(parting.gather())
                adders.append(parting.scatter_add)
            else:
                tensor = internal_convert_to_tensor(slot)
                with tf.device(tensor.device):
                    weights.append(tf.gather(tensor, ids))
                adders.append(functools.partial(_scatter_add, slot, ids))
        return indices, weights, adders

    def minimize(self, global_step: Any = None, name: str | None = None) -> Operation:
        """The operation of a step over the examples, which does not change the variables yet.

        Args:
            global_step: a variable that counts steps.
            name: of the operation.
        """
        with tf.name_scope(name, "sdca/minimize"):
            columns = self._examples["sparse_features"]
            features = [column.feature_indices for column in columns]
            values = [c.feature_values for c in columns if c.feature_values is not None]
            ids = raw.SdcaFprint(internal_convert_to_tensor(self._examples["example_ids"]))
            state = self._hashtable.lookup(ids)
            indices, weights, adders = self._sparse_slots(features)
            solved = raw.SdcaOptimizerV2(
                [column.example_indices for column in columns],
                features,
                values,
                self._tensors(self._examples["dense_features"]),
                internal_convert_to_tensor(self._examples["example_weights"]),
                internal_convert_to_tensor(self._examples["example_labels"]),
                indices,
                weights,
                self._tensors(self._slots["dense_features_weights"]),
                state,
                loss_type=self._options["loss_type"],
                l1=self._symmetric_l1_regularization(),
                l2=self._symmetric_l2_regularization(),
                num_loss_partitions=self._options.get("num_loss_partitions", 1),
                num_inner_iterations=1,
                adaptive=self._options.get("adaptive", True),
            )
            new_state, sparse, dense = solved
            with tf.control_dependencies([new_state]):
                updates = [self._hashtable.insert(ids, new_state)]
                for add, update in zip(adders, sparse):
                    updates += add(update)
                updates += self._dense_updates(dense)
            if global_step is None:
                return tf.group(*updates)
            with tf.control_dependencies(updates):
                return tf.assign_add(global_step, 1, name=name).op

    def _dense_updates(self, updates: Iterable[Tensor]) -> list[Any]:
        result = []
        for slot, update in zip(self._slots["dense_features_weights"], updates):
            if is_parted(slot):
                pieces = tf.split(
                    update, num_or_size_splits=[part.shape.as_list()[0] for part in slot]
                )
                result += [tf.assign_add(*pair) for pair in zip(slot, pieces)]
            else:
                result.append(tf.assign_add(slot, update))
        return result

    def _copies(self) -> list[Any]:
        return [
            part.assign(slot_part)
            for kind in _KINDS
            for variable, slot in zip(self._variables[kind], self._slots[kind])
            for part, slot_part in zip(parts_of(variable), parts_of(slot))
        ]

    def update_weights(self, train_op: Operation) -> Operation:
        """The operation that brings the variables up to date, after `minimize`'s.

        Args:
            train_op: what `minimize` gave.
        """
        with tf.control_dependencies([train_op]):
            copies = self._copies()
        if self._symmetric_l1_regularization() <= 0:
            return tf.group(*copies)
        shrinkage = self._symmetric_l1_regularization() / self._symmetric_l2_regularization()
        with tf.control_dependencies(copies):
            shrunk = []
            for part in self._all_weights():
                with tf.device(part.device):
                    value = tf.sign(part) * tf.maximum(0.0, tf.abs(part) - shrinkage)
                    shrunk.append(part.assign(value))
            return tf.group(*shrunk)

    def approximate_duality_gap(self) -> Tensor:
        """How far the solution can be from the best one; NaN before the first step."""
        with tf.name_scope("sdca/approximate_duality_gap"):
            _, exported = self._hashtable.export_sharded()
            sums: list[Tensor] = []
            for values in exported:
                # One after another, for the sake of memory.
                with tf.device(values.device), tf.control_dependencies(sums):
                    sums.append(tf.reduce_sum(tf.cast(values, tf.float64), 0))
            summed = tf.add_n(sums)
            primal, dual, weights = summed[1], summed[2], summed[3]
            penalties = self._l1_loss(), 2.0 * self._l2_loss(self._symmetric_l2_regularization())
            return (primal + dual + penalties[0] + penalties[1]) / weights

    def unregularized_loss(self, examples: dict[str, Any]) -> Tensor:
        """The mean loss of examples, float64.

        Raises:
            ValueError: something of the examples is missing.
        """
        _specified(("example_labels", "example_weights", *_FEATURES), examples)
        _lists(_FEATURES, examples)
        with tf.name_scope("sdca/unregularized_loss"):
            predictions = tf.cast(self._linear_predictions(examples), tf.float64)
            labels = tf.cast(internal_convert_to_tensor(examples["example_labels"]), tf.float64)
            weights = tf.cast(internal_convert_to_tensor(examples["example_weights"]), tf.float64)
            return mean_loss(self._options["loss_type"], predictions, labels, weights)

    def regularized_loss(self, examples: dict[str, Any]) -> Tensor:
        """The mean loss of examples and what the weights cost, float64.

        Raises:
            ValueError: something of the examples is missing.
        """
        _specified(("example_labels", "example_weights", *_FEATURES), examples)
        _lists(_FEATURES, examples)
        with tf.name_scope("sdca/regularized_loss"):
            weights = internal_convert_to_tensor(examples["example_weights"])
            penalties = self._l1_loss() + self._l2_loss(self._stated_l2())
            total = tf.reduce_sum(tf.cast(weights, tf.float64))
            return penalties / total + self.unregularized_loss(examples)
