# SPDX-License-Identifier: Apache-2.0
"""Mixtures of distributions: of different ones, or of a batch of one family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import TensorShape, dimension_value
from ....ops.distributions.discrete import Categorical
from ....ops.distributions.distribution import Distribution
from ....ops.nn.softmax import log_softmax, softmax
from ....ops.public import tf
from .distribution_util import (
    gen_new_seed,
    masked_sum,
    mixture_stddev,
    one_hot_mask,
    pad_mixture_dimensions,
    parents_of,
    pick_vector,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


def _checked_components(cat: object, components: object) -> None:
    if not isinstance(cat, Categorical):
        raise TypeError(f"cat must be a Categorical distribution, but saw: {cat}")
    if not components:
        raise ValueError("components must be a non-empty list or tuple")
    if not isinstance(components, (list, tuple)):
        raise TypeError(f"components must be a list or tuple, but saw: {components}")
    if not all(isinstance(one, Distribution) for one in components):
        raise TypeError(
            f"all entries in components must be Distribution instances but saw: {list(components)}"
        )
    if any(one.dtype != components[0].dtype for one in components):
        found = [(one.name, one.dtype) for one in components]
        raise TypeError(f"All components must have the same dtype, but saw dtypes: {found}")


@export("contrib.distributions.Mixture")
class Mixture(Distribution):
    """One of several distributions, chosen by `cat`, a Categorical distribution.

    use_static_graph: whether all components are drawn from and what is not chosen is thrown away,
    which has shapes that are known and is one plan.
    """

    def __init__(
        self,
        cat: Categorical,
        components: Sequence[Distribution],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        use_static_graph: bool = False,
        name: str = "Mixture",
    ) -> None:
        parameters = dict(locals())
        _checked_components(cat, components)
        event_shape, batch_shape = components[0].event_shape, cat.batch_shape
        for one in components:
            event_shape = event_shape.merge_with(one.event_shape)
            batch_shape = batch_shape.merge_with(one.batch_shape)
        if event_shape.ndims is None:
            raise ValueError(
                "Expected to know rank(event_shape) from components, but none of the components "
                "provide a static number of ndims"
            )
        with name_scope(name, values=[cat.logits]) as name:
            count = constant_value(cat.event_size)
            if count is None:
                raise ValueError(
                    "Could not infer number of classes from cat and unable to compare this value "
                    "to the number of components passed in."
                )
            if int(count) != len(components):
                raise ValueError(
                    f"cat.num_classes != len(components): {int(count)} vs. {len(components)}"
                )
            batch = cat.batch_shape_tensor()
            rank = tf.size(batch)
            self._assertions = _batch_checks(batch, rank, components) if validate_args else []
        self._cat = cat
        self._components = list(components)
        self._num_components = int(count)
        self._static_event_shape = event_shape
        self._static_batch_shape = batch_shape
        self._use_static_graph = use_static_graph
        parents = parents_of(cat, *components)
        self._complete(parameters, parents, name, components[0].dtype)

    @property
    def cat(self) -> Categorical:
        """The distribution that chooses."""
        return self._cat

    @property
    def components(self) -> list[Distribution]:
        """The distributions that are chosen from."""
        return self._components

    @property
    def num_components(self) -> int:
        """How many there are."""
        return self._num_components

    def _batch_shape_tensor(self) -> Tensor:
        return self._cat.batch_shape_tensor()

    def _batch_shape(self) -> TensorShape:
        return self._static_batch_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._components[0].event_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self._static_event_shape

    def _weights(self, logarithms: bool = False) -> list[Tensor]:
        weights = (log_softmax if logarithms else softmax)(self.cat.logits)
        return tf.unstack(weights, num=self.num_components, axis=-1)

    def _for_events(self, x: Tensor) -> Tensor:
        for _ in range(self.event_shape.ndims or 0):
            x = tf.expand_dims(x, -1)
        return x

    def _mean(self) -> Tensor:
        with control_dependencies(self._assertions):
            means = [one.mean() for one in self.components]
            weights = [self._for_events(weight) for weight in self._weights()]
            return tf.add_n([weight * mean for weight, mean in zip(weights, means)])

    def _stddev(self) -> Tensor:
        with control_dependencies(self._assertions):
            means = tf.stack([one.mean() for one in self.components], axis=-1)
            deviations = tf.stack([one.stddev() for one in self.components], axis=-1)
            weights = [self._for_events(weight) for weight in self._weights()]
            whole = tf.stack(weights, axis=-1) * tf.ones_like(means)
            rows = [tf.reshape(x, [-1, len(self.components)]) for x in (whole, means, deviations)]
            return tf.reshape(mixture_stddev(*rows), tf.shape(whole)[:-1])

    def _log_sum(self, of_component: Callable[[Any], Tensor]) -> Tensor:
        """The logarithm of a weighted sum over components, of logarithms."""
        with control_dependencies(self._assertions):
            logs = [of_component(one) for one in self.components]
            terms = [weight + log for weight, log in zip(self._weights(logarithms=True), logs)]
            return tf.reduce_logsumexp(tf.stack(terms, 0), [0])

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._log_sum(lambda one: one.log_prob(x))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._log_sum(lambda one: one.log_cdf(x))

    def entropy_lower_bound(self, name: str = "entropy_lower_bound") -> Tensor:
        """The mean of the components' entropies, which the mixture's is not below."""
        with self._name_scope(name, [self.cat.logits]), control_dependencies(self._assertions):
            entropies = [one.entropy() for one in self.components]
            return tf.add_n([weight * x for weight, x in zip(self._weights(), entropies)])

    # Samples

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        if self._use_static_graph:
            return self._sample_all(n, seed)
        with control_dependencies(self._assertions):
            n = convert_to_tensor(n, name="n")
            known = constant_value(n)
            return self._sample_chosen(n if known is None else int(known), seed)

    def _sample_all(self, n: TensorLike, seed: int | None) -> Tensor:
        """Draws from all components, of which all but one count nothing."""
        chosen = self.cat.sample(n, seed=seed)
        drawn = []
        for one in self.components:
            seed = gen_new_seed(seed, "mixture")
            drawn.append(one.sample(n, seed=seed))
        rank = len(self._static_event_shape)
        stacked = tf.stack(drawn, -rank - 1)
        mask = one_hot_mask(chosen, self._num_components, stacked.dtype)
        mask = pad_mixture_dimensions(mask, self, self._cat, rank)
        return masked_sum(stacked, mask, axis=-1 - rank)

    def _sample_chosen(self, n: Any, seed: int | None) -> Tensor:
        """As many draws from each component as it was chosen, put where it was."""
        chosen = self.cat.sample(n, seed=seed)
        known = chosen.shape
        shape: Any = known.as_list() if known.is_fully_defined() else tf.shape(chosen)
        count = known.num_elements() if known.is_fully_defined() else tf.size(chosen)
        batch: Any = self.batch_shape.num_elements()
        if batch is None:
            batch = tf.reduce_prod(self.batch_shape_tensor())
        event: Any = self.event_shape_tensor()
        if self.event_shape.is_fully_defined():
            event = np.array(self.event_shape.as_list(), dtype=np.int32)
        places = self._partitioned(tf.reshape(tf.range(0, count), shape), chosen)
        members = tf.reshape(tf.tile(tf.range(0, batch), [n]), shape)
        drawn = []
        for one, member in zip(self.components, self._partitioned(members, chosen)):
            wanted = tf.size(member)
            seed = gen_new_seed(seed, "mixture")
            # As many draws for every member of the batch, of which one is for the right one.
            all_drawn = tf.reshape(
                one.sample(wanted, seed=seed), tf.concat([[wanted * batch], event], 0)
            )
            rows = batch * tf.range(wanted) + member
            drawn.append(tf.gather(all_drawn, rows, name="samples_class_c_gather"))
        flat = tf.dynamic_stitch(indices=places, data=drawn)
        result = tf.reshape(flat, tf.concat([shape, self.event_shape_tensor()], 0))
        result.set_shape(known.concatenate(self.event_shape))
        return result

    def _partitioned(self, x: Tensor, chosen: Tensor) -> list[Tensor]:
        return tf.dynamic_partition(data=x, partitions=chosen, num_partitions=self.num_components)


def _batch_checks(own: Tensor, rank: Tensor, components: Sequence[Distribution]) -> list[Any]:
    others = [one.batch_shape_tensor() for one in components]
    ranks = [tf.size(other) for other in others]
    text = "components[{}] batch shape must match cat batch shape"
    checks = [tf.assert_equal(rank, x, message=text.format(i)) for i, x in enumerate(ranks)]
    return checks + [
        tf.assert_equal(own, other, message=text.format(i)) for i, other in enumerate(others)
    ]


@export("contrib.distributions.MixtureSameFamily")
class MixtureSameFamily(Distribution):
    """One of the last batch of a distribution, chosen by a Categorical distribution."""

    def __init__(
        self,
        mixture_distribution: object,
        components_distribution: Distribution,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MixtureSameFamily",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._mixture_distribution = mixture_distribution
            self._components_distribution = components_distribution
            shape = components_distribution.event_shape_tensor()
            rank = dimension_value(shape.shape[0])
            self._event_ndims: Any = tf.shape(shape)[0] if rank is None else rank
            self._runtime_assertions = _family_checks(
                mixture_distribution, components_distribution, validate_args
            )
            count, checks = _component_count(
                mixture_distribution, components_distribution, validate_args
            )
            self._num_components = count
            self._runtime_assertions += checks
            parents = parents_of(mixture_distribution, components_distribution)
            self._complete(parameters, parents, name, components_distribution.dtype)

    @property
    def mixture_distribution(self) -> Any:
        """The distribution that chooses."""
        return self._mixture_distribution

    @property
    def components_distribution(self) -> Distribution:
        """The batch that is chosen from."""
        return self._components_distribution

    def _batch_shape_tensor(self) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            return self.components_distribution.batch_shape_tensor()[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.components_distribution.batch_shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            return self.components_distribution.event_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self.components_distribution.event_shape

    def _padded(self, weights: Tensor) -> Tensor:
        rank: Any = self._event_shape().ndims
        return pad_mixture_dimensions(weights, self, self.mixture_distribution, rank)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            # TensorFlow 1.15 uses the seed for neither.
            drawn = self.components_distribution.sample(n)
            chosen = self.mixture_distribution.sample(n)
            mask = self._padded(one_hot_mask(chosen, self._num_components, drawn.dtype))
            return masked_sum(drawn, mask, axis=-1 - self._event_ndims)

    def _log_sum(self, logs: Tensor) -> Tensor:
        weights = log_softmax(self.mixture_distribution.logits, axis=-1)
        return tf.reduce_logsumexp(logs + weights, axis=-1)

    def _log_prob(self, x: Tensor) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            return self._log_sum(self.components_distribution.log_prob(self._with_components(x)))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._log_sum(self.components_distribution.log_cdf(self._with_components(x)))

    def _mean(self) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            weights = self._padded(self.mixture_distribution.probs)
            means = self.components_distribution.mean()
            return tf.reduce_sum(weights * means, axis=-1 - self._event_ndims)

    def _variance(self) -> Tensor:
        # The mean of the variances, and the variance of the means.
        with control_dependencies(self._runtime_assertions):
            weights = self._padded(self.mixture_distribution.probs)
            axis = -1 - self._event_ndims
            within = tf.reduce_sum(weights * self.components_distribution.variance(), axis=axis)
            means = self.components_distribution.mean()
            distances = tf.squared_difference(means, self._with_components(self._mean()))
            return within + tf.reduce_sum(weights * distances, axis=axis)

    def _covariance(self) -> Tensor:
        if self.event_shape.ndims != 1:
            raise NotImplementedError("covariance is not implemented")
        with control_dependencies(self._runtime_assertions):
            weights = self._padded(self._padded(self.mixture_distribution.probs))
            within = tf.reduce_sum(weights * self.components_distribution.covariance(), axis=-3)
            z = self.components_distribution.mean() - self._with_components(self._mean())
            distances = z[..., None, :] * z[..., None]
            return within + tf.reduce_sum(weights * distances, axis=-3)

    def _with_components(self, x: Tensor) -> Tensor:
        """A value with a dimension of 1 where the components are."""
        with name_scope("pad_sample_dims", values=[x]):
            rank: Any = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
            shape, front = tf.shape(x), rank - self._event_ndims
            return tf.reshape(x, shape=tf.concat([shape[:front], [1], shape[front:]], axis=0))


def _family_checks(mixture: Any, components: Any, validate_args: bool) -> list[Any]:
    """That a distribution chooses among numbers, for batches that fit."""
    if not mixture.dtype.is_integer:
        raise ValueError(
            f"`mixture_distribution.dtype` ({mixture.dtype.name}) is not over integers"
        )
    checks = []
    scalar = "`mixture_distribution` must have scalar `event_dim`s"
    if mixture.event_shape.ndims is not None and mixture.event_shape.ndims != 0:
        raise ValueError(scalar)
    if mixture.event_shape.ndims is None and validate_args:
        checks.append(tf.assert_equal(tf.size(mixture.event_shape_tensor()), 0, message=scalar))
    own, others = mixture.batch_shape, components.batch_shape.with_rank_at_least(1)[:-1]
    if own.is_fully_defined() and others.is_fully_defined():
        if own.ndims != 0 and own != others:
            raise ValueError(
                f"`mixture_distribution.batch_shape` (`{own.as_list()}`) is not compatible with "
                f"`components_distribution.batch_shape` (`{others.as_list()}`)"
            )
    elif validate_args:
        sizes = components.batch_shape_tensor()[:-1]
        given = pick_vector(mixture.is_scalar_batch(), sizes, mixture.batch_shape_tensor())
        text = (
            "`mixture_distribution.batch_shape` is not compatible with "
            "`components_distribution.batch_shape`"
        )
        checks.append(tf.assert_equal(given, sizes, message=text))
    return checks


def _component_count(mixture: Any, components: Any, validate_args: bool) -> tuple[Any, list[Any]]:
    """How many components there are, and what is to be checked in the run about that."""
    own = dimension_value(mixture.logits.shape.with_rank_at_least(1)[-1])
    others = dimension_value(components.batch_shape.with_rank_at_least(1)[-1])
    start = "`mixture_distribution components` "
    if own is not None and others is not None:
        if own != others:
            raise ValueError(
                f"{start}({own}) does not equal `components_distribution.batch_shape[-1]` "
                f"({others})"
            )
        return own, []
    count = tf.shape(mixture.logits)[-1] if own is None or validate_args else own
    if not validate_args:
        return count, []
    text = f"{start}does not equal `components_distribution.batch_shape[-1:]`"
    return count, [tf.assert_equal(count, components.batch_shape_tensor()[-1], message=text)]
