# SPDX-License-Identifier: Apache-2.0
"""Mixtures by quadrature: affine maps between two ends, and Poisson's with log-normal rates."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape, broadcast_static, dimension_value
from ....ops.control import with_dependencies
from ....ops.distributions.discrete import Categorical
from ....ops.distributions.distribution import Distribution
from ....ops.distributions.location_scale import Normal
from ....ops.linalg.operators.addition import add_operators
from ....ops.linalg.operators.diagonal import (
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular,
)
from ....ops.linalg.operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from ....ops.linalg.operators.operator import LinearOperator
from ....ops.nn.softmax import softmax as _softmax
from ....ops.public import tf
from .bijectors.affine import AffineLinearOperator
from .bijectors.vectors import SoftmaxCentered
from .distribution_util import (
    concat_vectors,
    gen_new_seed,
    maybe_check_scalar_distribution,
    pad,
    pick_vector,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.types.dtypes import DType


def hermite(size: int, dtype: DType) -> tuple[np.ndarray, Tensor]:
    """Points of Gauss's and Hermite's quadrature, and their weights, which add up to one."""
    points, weights = (
        x.astype(dtype.as_numpy_dtype) for x in np.polynomial.hermite.hermgauss(deg=size)
    )
    weights /= np.linalg.norm(weights, ord=1, axis=0, keepdims=True)
    return points, convert_to_tensor(weights, name="probs", dtype=dtype)


def inner_edges(dtype: DTypeLike, size: int, batch_ndims: Any) -> Tensor:
    """The edges of equal parts of (0, 1), without its ends, for batches behind."""
    zero, one = tf.zeros([], dtype=dtype), tf.ones([], dtype=dtype)
    edges = tf.linspace(zero, one, size + 3)[1:-1]
    ones = tf.ones([batch_ndims], dtype=dtypes.int32)
    return tf.reshape(edges, shape=tf.concat([[-1], ones], axis=0))


def first_axis_last(x: Tensor, batch_ndims: Any) -> Tensor:
    """The first axis moved behind those of the batch."""
    perm = tf.concat([tf.range(1, 1 + batch_ndims), [0]], axis=0)
    return tf.transpose(x, perm)


def rank_of_batch(one: Distribution) -> Any:
    """The number of dimensions of a batch, as a number if it is known."""
    known = one.batch_shape.ndims
    return tf.shape(one.batch_shape_tensor())[0] if known is None else known


def equal_weights(size: int, dtype: object) -> Tensor:
    """Weights that add up to one."""
    return tf.fill(dims=[size], value=1.0 / tf.cast(size, dtype))


def _normal_parameters(loc: object, scale: object, validate_args: bool) -> tuple[Tensor, Tensor]:
    loc = convert_to_tensor(loc, name="normal_loc")
    scale = convert_to_tensor(scale, dtype=loc.dtype.base_dtype, name="normal_scale")
    return loc, maybe_check_quadrature_param(scale, "normal_scale", validate_args)


@export("contrib.distributions.quadrature_scheme_softmaxnormal_gauss_hermite")
def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: TensorLike,
    normal_scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points and weights of Gauss's and Hermite's quadrature for a softmax of normal numbers.

    Args:
        normal_loc: the mean of the normal distribution.
        normal_scale: its standard deviation.
        quadrature_size: the number of points.
        validate_args: whether parameters are checked in the run.
        name: of the scope.

    Returns:
        The points, which have two classes more to the left, and their weights.
    """
    given = [normal_loc, normal_scale]
    with name_scope(name, "quadrature_scheme_softmaxnormal_gauss_hermite", given):
        loc, scale = _normal_parameters(normal_loc, normal_scale, validate_args)
        points, weights = hermite(quadrature_size, loc.dtype.base_dtype)
        normal = loc[..., None] + np.sqrt(2.0) * scale[..., None] * points
        return softmax(-pad(normal, axis=-2, front=True), axis=-2), weights


@export("contrib.distributions.quadrature_scheme_softmaxnormal_quantiles")
def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: TensorLike,
    normal_scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points between equal quantiles of a softmax of normal numbers, and equal weights.

    Args:
        normal_loc: the mean of the normal distribution.
        normal_scale: its standard deviation.
        quadrature_size: the number of points.
        validate_args: whether parameters are checked in the run.
        name: of the scope.

    Returns:
        The points and their weights.
    """
    with name_scope(name, "softmax_normal_grid_and_probs", [normal_loc, normal_scale]):
        loc, scale = _normal_parameters(normal_loc, normal_scale, validate_args)
        one = Normal(loc=loc, scale=scale)
        rank = rank_of_batch(one)
        batch = one.batch_shape.with_rank_at_least(1)
        classes = dimension_value(batch[-1])
        classes = None if classes is None else classes + 1
        edges = inner_edges(one.dtype, quadrature_size, rank)
        quantiles = SoftmaxCentered().forward(one.quantile(edges))
        quantiles = first_axis_last(quantiles, rank)
        quantiles.set_shape(batch[:-1].concatenate([classes, quadrature_size + 1]))
        grid = (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0
        grid.set_shape(batch[:-1].concatenate([classes, quadrature_size]))
        return grid, equal_weights(quadrature_size, one.dtype)


_TWO = "Currently only bimixtures are supported; len(scale)={} is not 2."


@export("contrib.distributions.VectorDiffeomixture")
class VectorDiffeomixture(Distribution):
    """Affine maps of a distribution's draws, between two of them by a softmax of a normal number.

    mix_loc, temperature: the normal number has the mean mix_loc / temperature and the standard
    deviation 1 / temperature.  loc, scale: of the two maps; scales are linear operators.
    """

    def __init__(
        self,
        mix_loc: TensorLike,
        temperature: TensorLike,
        distribution: Distribution,
        loc: Sequence[Any] | None = None,
        scale: Sequence[LinearOperator] | None = None,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[mix_loc, temperature]) as name:
            places, scales = _checked_ends(loc, scale, validate_args)
            dtype = scales[0].dtype.base_dtype
            self._endpoint_affine = _maps("endpoint_affine", places, scales, validate_args)
            if len(scales) != 2:
                raise NotImplementedError(_TWO.format(len(scales)))
            middle = convert_to_tensor(mix_loc, dtype=dtype, name="mix_loc")
            warmth = convert_to_tensor(temperature, dtype=dtype, name="temperature")
            weights: Any
            self._grid, weights = tuple(
                quadrature_fn(middle / warmth, 1.0 / warmth, quadrature_size, validate_args)
            )
            self._mixture_distribution = Categorical(
                logits=tf.log(weights),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
            )
            checks = maybe_check_scalar_distribution(distribution, dtype, validate_args)
            if checks:
                self._grid = with_dependencies(checks, self._grid)
            self._distribution = distribution
            self._interpolated_affine = _maps(
                "interpolated_affine",
                interpolate_loc(self._grid, places),
                interpolate_scale(self._grid, scales),
                validate_args,
            )
            self._shapes = determine_batch_event_shapes(self._grid, self._endpoint_affine)
            parents = [
                *distribution._graph_parents,
                *(place for place in places if place is not None),
                *(parent for one in scales for parent in one.graph_parents),
            ]
            self._complete(parameters, parents, name, dtype, True)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the points of the quadrature."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Distribution:
        """The distribution whose draws are mapped."""
        return self._distribution

    @property
    def grid(self) -> Tensor:
        """The points of the quadrature: how much of each map."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[AffineLinearOperator]:
        """The two maps."""
        return self._endpoint_affine

    @property
    def interpolated_affine(self) -> list[AffineLinearOperator]:
        """The maps at the points of the quadrature."""
        return self._interpolated_affine

    def _batch_shape(self) -> TensorShape:
        return self._shapes[0]

    def _batch_shape_tensor(self) -> Tensor:
        return self._shapes[1]

    def _event_shape(self) -> TensorShape:
        return self._shapes[2]

    def _event_shape_tensor(self) -> Tensor:
        return self._shapes[3]

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        shape = concat_vectors([n], self.batch_shape_tensor(), self.event_shape_tensor())
        drawn = self.distribution.sample(sample_shape=shape, seed=seed)
        first, second = (one.forward(drawn) for one in self.endpoint_affine)
        batch = _number(self.batch_shape, self.batch_shape_tensor)
        mixing = self.mixture_distribution
        own = _number(mixing.batch_shape, mixing.batch_shape_tensor)
        none = np.array([], np.int32)
        is_scalar = self.is_scalar_batch()
        ids = mixing.sample(
            sample_shape=concat_vectors([n], pick_vector(is_scalar, none, [batch // own])),
            seed=gen_new_seed(seed, "vector_diffeomixture"),
        )
        flat = concat_vectors([n], pick_vector(is_scalar, none, np.array([-1], np.int32)))
        ids = tf.reshape(ids, shape=flat)
        stride = self.grid.shape.with_rank_at_least(2)[-2:].num_elements()
        stride = tf.reduce_prod(tf.shape(self.grid)[-2:]) if stride is None else stride
        offset = tf.range(start=0, limit=batch * stride, delta=stride, dtype=ids.dtype)
        weight = tf.gather(tf.reshape(self.grid, shape=[-1]), ids + offset)
        if self.batch_shape.is_fully_defined():
            sizes: Any = [-1, *self.batch_shape.as_list(), 1]
        else:
            sizes = tf.concat(([-1], self.batch_shape_tensor(), [1]), axis=0)
        weight = tf.reshape(weight, sizes)
        return weight * (first - second) + second

    def _log_prob(self, x: Tensor) -> Tensor:
        # The Jacobians do not depend on x.
        inverses = tf.stack([one.inverse(x) for one in self.interpolated_affine], axis=-1)
        likely = tf.reduce_sum(self.distribution.log_prob(inverses), axis=-2)
        rank = tf.rank(self.event_shape_tensor())
        stretch = tf.stack(
            [one.forward_log_det_jacobian(x, event_ndims=rank) for one in self.interpolated_affine],
            axis=-1,
        )
        terms = self.mixture_distribution.logits - stretch + likely
        return tf.reduce_logsumexp(terms, axis=-1)

    def _mean(self) -> Tensor:
        weights, mean = self._event_weights(), self._base_mean()
        parts = [
            weights[..., k] * one.forward(mean) for k, one in enumerate(self.interpolated_affine)
        ]
        return functools.reduce(add, parts)

    def _covariance(self) -> Tensor:
        return add(self._mean_of_covariances(False), self._covariance_of_means(False))

    def _variance(self) -> Tensor:
        return add(self._mean_of_covariances(True), self._covariance_of_means(True))

    def _mean_of_covariances(self, diag_only: bool) -> Any:
        p, v = self.mixture_distribution.probs, self.distribution.variance()
        multiple, diag, full = None, None, None
        for k, one in enumerate(self.interpolated_affine):
            s, weight = one.scale, p[..., k, None]
            if s is None or isinstance(s, LinearOperatorIdentity):
                multiple = add(multiple, weight)
            elif isinstance(s, LinearOperatorScaledIdentity):
                multiple = add(multiple, weight * tf.square(s.multiplier))
            elif isinstance(s, LinearOperatorDiag):
                diag = add(diag, weight * tf.square(s.diag_part()))
            else:
                square = p[..., k, None, None] * s.matmul(s.to_dense(), adjoint_arg=True)
                full = add(full, tf.matrix_diag_part(square) if diag_only else square)
        multiple = None if multiple is None else multiple * v
        diag = None if diag is None else diag * v[..., None]
        full = None if full is None else full * v[..., None]
        if diag_only:
            found = add(diag, full)
            if found is None and multiple is not None:
                return multiple[..., None] * tf.ones(self.event_shape_tensor(), dtype=self.dtype)
            return add(found, multiple)
        return self._added(multiple, diag, full)

    def _added(self, multiple: Any, diag: Any, full: Any) -> Any:
        """The sum of a multiple of the identity, a diagonal and a matrix, as far as they are."""
        positive = all(one.scale.is_positive_definite for one in self.endpoint_affine) or None
        operators: list[LinearOperator] = []
        if diag is not None:
            operators.append(LinearOperatorDiag(diag=diag, is_positive_definite=positive))
        if full is not None:
            operators.append(LinearOperatorFullMatrix(full, is_positive_definite=positive))
        if multiple is not None:
            rows = self.event_shape_tensor()[0]
            operators.append(
                LinearOperatorScaledIdentity(rows, multiple, is_positive_definite=positive)
            )
        return add_operators(operators)[0].to_dense() if operators else None

    def _covariance_of_means(self, diag_only: bool) -> Tensor:
        square = tf.square if diag_only else vec_osquare
        weights = self._event_weights()
        weights = weights if diag_only else weights[..., None, :]
        mean, whole = self._base_mean(), self._mean()
        parts = [
            weights[..., k] * square(one.forward(mean) - whole)
            for k, one in enumerate(self.interpolated_affine)
        ]
        return functools.reduce(add, parts)

    def _base_mean(self) -> Tensor:
        shape = concat_vectors(self.batch_shape_tensor(), self.event_shape_tensor())
        ones = tf.ones_like(shape, dtype=dtypes.int32)
        mean = tf.tile(tf.reshape(self.distribution.mean(), shape=ones), multiples=shape)
        mean.set_shape(self.batch_shape.concatenate(self.event_shape))
        return mean

    def _event_weights(self) -> Tensor:
        p = self.mixture_distribution.probs
        count = dimension_value(p.shape.with_rank_at_least(1)[-1])
        count = tf.shape(p)[-1] if count is None else count
        rank: Any = self.event_shape.ndims
        rank = tf.shape(self.event_shape_tensor())[0] if rank is None else rank
        ones = tf.ones([rank], dtype=dtypes.int32)
        p = tf.reshape(p, tf.concat([tf.shape(p)[:-1], ones, [count]], axis=0))
        if self.event_shape.ndims is not None:
            ones_known = TensorShape([1] * self.event_shape.ndims)
            p.set_shape(
                self.mixture_distribution.batch_shape.concatenate(ones_known).concatenate([None])
            )
        return p


def _number(shape: TensorShape, dynamic: Callable[[], Tensor]) -> Any:
    known = shape.num_elements()
    return tf.reduce_prod(dynamic()) if known is None else known


def _checked_ends(
    loc: Any, scale: Any, validate_args: bool
) -> tuple[list[Any], list[LinearOperator]]:
    """Places and scales of the two ends, of one length and type."""
    if not scale or len(scale) < 2:
        raise ValueError(
            "Must specify list (or list-like object) of scale LinearOperators, one for each "
            "component with num_component >= 2."
        )
    places = [None] * len(scale) if loc is None else list(loc)
    if len(places) != len(scale):
        raise ValueError("loc/scale must be same-length lists (or same-length list-like objects).")
    dtype = scale[0].dtype.base_dtype
    places = [
        None if place is None else convert_to_tensor(place, dtype=dtype, name=f"loc{k}")
        for k, place in enumerate(places)
    ]
    for k, one in enumerate(scale):
        if validate_args and not one.is_positive_definite:
            raise ValueError(
                f"scale[{k}].is_positive_definite = {one.is_positive_definite} != True"
            )
        if one.dtype.base_dtype != dtype:
            raise TypeError(
                f'dtype mismatch; scale[{k}].base_dtype="{one.dtype.base_dtype.name}" != '
                f'"{dtype.name}"'
            )
    return places, list(scale)


def _maps(
    name: str, places: Sequence[Any], scales: Sequence[Any], validate_args: bool
) -> list[AffineLinearOperator]:
    return [
        AffineLinearOperator(place, scale, validate_args=validate_args, name=f"{name}_{k}")
        for k, (place, scale) in enumerate(zip(places, scales))
    ]


def maybe_check_quadrature_param(param: Tensor, name: str, validate_args: bool) -> Tensor:
    """A parameter of one number for each mixture of two; checked in the run if it is not known."""
    with name_scope("check_" + name, values=[param]):
        checks = []
        vector = f"Mixing params must be a (batch of) vector; {name}.rank={{}} is not at least one."
        if param.shape.ndims is not None:
            if param.shape.ndims == 0:
                raise ValueError(vector.format(param.shape.ndims))
        elif validate_args:
            text = vector.format(tf.rank(param))
            checks.append(tf.assert_rank_at_least(param, 1, message=text))
        size = dimension_value(param.shape.with_rank_at_least(1)[-1])
        two = "Currently only bimixtures are supported; {}.shape[-1]={} is not 1."
        if size is not None:
            if size != 1:
                raise NotImplementedError(two.format(name, size))
        elif validate_args:
            text = f"Currently only bimixtures are supported; {name}.shape[-1] is not 1."
            checks.append(tf.assert_equal(tf.shape(param)[-1], 1, message=text))
        return with_dependencies(checks, param) if checks else param


def determine_batch_event_shapes(
    grid: Tensor, endpoint_affine: Sequence[AffineLinearOperator]
) -> tuple[TensorShape, Tensor, TensorShape, Tensor]:
    """The shapes of batch and event of a mixture, known and as tensors."""
    with name_scope("determine_batch_event_shapes"):
        batches = [grid.shape[:-2]]
        batch_tensors = [tf.shape(grid)[:-2]]
        events: list[TensorShape] = []
        event_tensors: list[Tensor] = []
        for one in endpoint_affine:
            if one.shift is not None:
                batches.append(one.shift.shape[:-1])
                batch_tensors.append(tf.shape(one.shift)[:-1])
                events.append(one.shift.shape[-1:])
                event_tensors.append(tf.shape(one.shift)[-1:])
            if one.scale is not None:
                batches.append(one.scale.batch_shape)
                batch_tensors.append(one.scale.batch_shape_tensor())
                events.append(TensorShape([one.scale.range_dimension]))
                event_tensors.append(one.scale.range_dimension_tensor()[None])
        return (
            functools.reduce(broadcast_static, batches),
            functools.reduce(tf.broadcast_dynamic_shape, batch_tensors),
            functools.reduce(broadcast_static, events),
            functools.reduce(tf.broadcast_dynamic_shape, event_tensors),
        )


def _points(grid: Tensor) -> int:
    count = dimension_value(grid.shape.with_rank_at_least(1)[-1])
    if count is None:
        raise ValueError("Num quadrature grid points must be known prior to graph execution.")
    return count


def interpolate_loc(grid: Tensor, loc: Sequence[Any]) -> list[Any]:
    """The places at the points of a quadrature, between those of the ends."""
    if len(loc) != 2:
        raise NotImplementedError(_TWO.format(len(loc)))
    count = _points(grid)
    with name_scope("interpolate_loc", values=[grid, *loc]):
        if loc[0] is None and loc[1] is None:
            return [None] * count
        weights = grid[..., None, :, :]
        first, second = (None if x is None else x[..., None] for x in loc)
        if first is None:
            x = weights[..., 1, :] * second
        elif second is None:
            x = weights[..., 0, :] * first
        else:
            x = weights[..., 0, :] * (first - second) + second
        return [x[..., k] for k in range(count)]


def interpolate_scale(grid: Tensor, scale: Sequence[LinearOperator]) -> list[LinearOperator]:
    """The scales at the points of a quadrature, between those of the ends."""
    if len(scale) != 2:
        raise NotImplementedError(_TWO.format(len(scale)))
    count = _points(grid)
    with name_scope("interpolate_scale", values=[grid]):
        return [
            add_operators([linop_scale(grid[..., k, q], one) for k, one in enumerate(scale)])[0]
            for q in range(count)
        ]


def linop_scale(w: Tensor, op: object) -> LinearOperator:
    """A linear operator times a number."""
    hints = {
        name: getattr(op, name)
        for name in ("is_non_singular", "is_self_adjoint", "is_positive_definite")
    }
    with name_scope("linop_scale", values=[w]):
        if isinstance(op, (LinearOperatorIdentity, LinearOperatorScaledIdentity)):
            if isinstance(op, LinearOperatorScaledIdentity):
                w = w * op.multiplier
            rows = op.range_dimension_tensor()
            return LinearOperatorScaledIdentity(num_rows=rows, multiplier=w, **hints)
        if isinstance(op, LinearOperatorDiag):
            return LinearOperatorDiag(diag=w[..., None] * op.diag_part(), **hints)
        if isinstance(op, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(tril=w[..., None, None] * op.to_dense(), **hints)
        raise NotImplementedError(f"Unsupported Linop type ({type(op).__name__})")


def add(x: Any, y: Any) -> Any:
    """A sum of what there is."""
    if x is None or y is None:
        return y if x is None else x
    return x + y


def vec_osquare(x: Tensor) -> Tensor:
    """The products of all pairs of a vector's entries."""
    return x[..., :, None] * x[..., None, :]


def softmax(x: TensorLike, axis: int, name: str | None = None) -> Tensor:
    """Softmax along any axis."""
    with name_scope(name, "softmax", [x, axis]):
        x = convert_to_tensor(x, name="x")
        rank = x.shape.ndims
        if axis < 0 and rank is not None:
            axis += rank
        return _softmax(x, axis=axis)
