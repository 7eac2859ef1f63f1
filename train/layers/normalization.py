# SPDX-License-Identifier: Apache-2.0
"""Batch normalization: by the batch's mean and variance when training, else by moving averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...ops.nn.activation import relu
from ...ops.nn.fused_norm import fused_batch_norm
from ...ops.nn.norm import batch_normalization as normalize
from ...ops.nn.norm import moments
from ...ops.public import tf
from ..variables import replicas
from . import base, named
from .functional import functional
from .input_spec import InputSpec
from .utils import constant_value, smart_cond

if TYPE_CHECKING:
    from ...engine.graph.annotations import ShapeLike, TensorLike
    from ...engine.graph.tensor import Tensor
    from ...ops.state.variables import Variable

_PARTS = ("beta", "gamma", "moving_mean", "moving_variance")


class BatchNormalization(base.Layer):
    """gamma * (inputs - mean) / sqrt(variance + epsilon) + beta (tf.layers.BatchNormalization).

    The call takes `training`, a bool or a tensor (False): whether mean and variance are the
    batch's.  Updates of the moving averages join the collection UPDATE_OPS.

    Args:
        axis: the axis, or the list of axes, with parameters of their own.
        momentum: how much of a moving average an update keeps.
        epsilon: is added to variances.
        center, scale: whether there are beta and gamma.
        *_initializer: initializers or their names.
        *_regularizer: functions that make losses.
        *_constraint: functions that project variables after updates.
        renorm: corrects by moving averages when training, too (Batch Renormalization).
        renorm_clipping: bounds of those corrections: "rmax", "rmin", "dmax".
        renorm_momentum: the momentum of the averages that correct.
        fused: False never uses the op that does all at once; else it serves where it can:
            inputs of four axes, the second or last of them normalized.
        virtual_batch_size: batches are taken as several of that size.
        adjustment: a function from the inputs' shape to a scale and a bias of normalized values.
        trainable, name: as tf.layers.Layer.

    Raises:
        TypeError: `axis` is neither an integer nor a list.
        ValueError: an argument does not fit the inputs or another argument.
    """

    _arguments: tuple[str, ...] = (
        *("axis", "momentum", "epsilon", "center", "scale"),
        *(f"{part}_initializer" for part in _PARTS),
        *("beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint"),
    )

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Callable[..., Any] | None = tf.zeros_initializer(),
        gamma_initializer: Callable[..., Any] | None = tf.ones_initializer(),
        moving_mean_initializer: Callable[..., Any] | None = tf.zeros_initializer(),
        moving_variance_initializer: Callable[..., Any] | None = tf.ones_initializer(),
        beta_regularizer: object = None,
        gamma_regularizer: Callable[..., Any] | None = None,
        beta_constraint: object = None,
        gamma_constraint: object = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable[..., Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = axis[:] if isinstance(axis, list) else axis
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        given = (
            beta_initializer,
            gamma_initializer,
            moving_mean_initializer,
            moving_variance_initializer,
        )
        for part, initializer in zip(_PARTS, given):
            setattr(self, f"{part}_initializer", named.initializer(initializer))
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.supports_masking = True
        self.fused = True if fused is None else fused
        if renorm:
            self.renorm_clipping = renorm_clipping or {}
            known = ["rmax", "rmin", "dmax"]
            if set(self.renorm_clipping) - set(known):
                raise ValueError(
                    f"renorm_clipping {self.renorm_clipping} contains keys not in {known}"
                )
            self.renorm_momentum = renorm_momentum

    @property
    def _param_dtype(self) -> Any:
        # Averages of many steps need more bits than activations in half precision.
        small = self.dtype in (dtypes.float16.name, dtypes.bfloat16.name)
        return dtypes.float32 if small else self.dtype or dtypes.float32

    # Variables

    def build(self, input_shape: ShapeLike) -> None:
        """Makes gamma, beta and the moving averages."""
        shape = TensorShape(input_shape)
        if not shape.ndims:
            raise ValueError("Input has undefined rank:", shape)
        sizes = self._sizes(shape)
        ndims = shape.ndims
        # The fused op is for images with channels first or last, and plain batch normalization.
        self.fused = bool(
            self.fused
            and ndims == 4
            and self.axis in ([1], [3])
            and not (self.renorm or self.adjustment is not None or self.virtual_batch_size)
        )
        self._data_format = "NCHW" if self.axis == [1] else "NHWC"
        self.input_spec = InputSpec(ndim=ndims, axes=sizes)
        if len(sizes) == 1 and self.virtual_batch_size is None:
            parameters = list(sizes.values())
        else:
            # Several axes: the parameters have the inputs' rank, with ones to broadcast along.
            parameters = [sizes.get(i, 1) for i in range(ndims)]
            if self.virtual_batch_size is not None:
                # The second axis will be that of the batches.
                parameters.insert(1, 1)
                self.axis = [axis + 1 for axis in self.axis]
        self.gamma = self._parameter("gamma", parameters, self.scale, 1.0)
        self.beta = self._parameter("beta", parameters, self.center, 0.0)
        partitioner = self._scope.partitioner if self._scope else None
        try:
            if self._scope:
                # The averages stay whole, whatever the scope cuts.
                self._scope.set_partitioner(None)
            self._make_averages(parameters)
        finally:
            if partitioner:
                self._scope.set_partitioner(partitioner)
        self.built = True

    def _sizes(self, shape: Any) -> dict[int, Any]:
        """Axis -> size, of the axes with parameters; checks the arguments about axes."""
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [axis + shape.ndims if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if not 0 <= axis < shape.ndims:
                raise ValueError(f"Invalid axis: {axis}")
        if len(self.axis) != len(set(self.axis)):
            raise ValueError(f"Duplicate axis: {self.axis}")
        if self.virtual_batch_size is not None:
            if self.virtual_batch_size <= 0:
                raise ValueError(
                    "virtual_batch_size must be a positive integer that divides the true batch "
                    "size of the input Tensor"
                )
            if 0 in self.axis:
                raise ValueError(
                    "When using virtual_batch_size, the batch dimension must be 0 and thus axis "
                    "cannot include 0"
                )
            if self.adjustment is not None:
                raise ValueError("When using virtual_batch_size, adjustment cannot be specified")
        sizes = {axis: shape.as_list()[axis] for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        return sizes

    def _parameter(self, name: str, shape: list[int], wanted: bool, otherwise: float) -> Any:
        if wanted:
            return self.add_weight(
                name=name,
                shape=shape,
                dtype=self._param_dtype,
                initializer=getattr(self, f"{name}_initializer"),
                regularizer=getattr(self, f"{name}_regularizer"),
                constraint=getattr(self, f"{name}_constraint"),
                trainable=True,
                experimental_autocast=False,
            )
        if self.fused:
            # The op has no form without.
            constant = tf.constant(otherwise, dtype=self._param_dtype, shape=shape)
            setattr(self, f"_{name}_const", constant)
        return None

    def _average(
        self, name: str, shape: list[int], initializer: Callable[..., Any] | TensorLike | None
    ) -> Any:
        return self.add_weight(
            name=name,
            shape=shape,
            dtype=self._param_dtype,
            initializer=initializer,
            synchronization=tf.VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=tf.VariableAggregation.MEAN,
            experimental_autocast=False,
        )

    def _make_averages(self, shape: list[int]) -> None:
        of_mean: Any = self.moving_mean_initializer  # type: ignore[attr-defined]
        of_variance: Any = self.moving_variance_initializer  # type: ignore[attr-defined]
        self.moving_mean = self._average("moving_mean", shape, of_mean)
        self.moving_variance = self._average("moving_variance", shape, of_variance)
        if not self.renorm:
            return

        def of_stddev(*args: Any, **kwargs: Any) -> Any:
            return tf.sqrt(of_variance(*args, **kwargs))

        with tf.colocate_with(self.moving_variance):
            self.moving_stddev = self._average("moving_stddev", shape, of_stddev)
        with tf.colocate_with(self.moving_mean):
            self.renorm_mean = self._average("renorm_mean", shape, of_mean)
        with tf.colocate_with(self.moving_stddev):
            self.renorm_stddev = self._average("renorm_stddev", shape, of_stddev)

    # Updates

    def _size_if_it_counts(self, inputs: Tensor) -> Tensor | None:
        """How many elements a batch has, where a strategy's last batches may have none."""
        return tf.size(inputs) if replicas.may_be_empty() else None

    def _assign_moving_average(
        self, variable: Variable, value: Tensor, momentum: Any, size: Tensor | None
    ) -> Any:
        with tf.name_scope("AssignMovingAvg") as scope, tf.colocate_with(variable):
            decay = tf.convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype != variable.dtype.base_dtype:
                decay = tf.cast(decay, variable.dtype.base_dtype)
            delta = (variable - tf.cast(value, variable.dtype)) * decay
            delta = _zero_if_empty(delta, size)
            return tf.assign_sub(variable, delta, name=scope)

    def _assign_new_value(self, variable: Variable, value: Tensor) -> Any:
        with tf.name_scope("AssignNewValue") as scope, tf.colocate_with(variable):
            return tf.assign(variable, value, name=scope)

    def _updated_variance(self, variance: Tensor, size: Tensor | None) -> Any:
        """The update of the moving variance; of its root, and then by it, with renorm."""
        if not self.renorm:
            average = self.moving_variance
            return self._assign_moving_average(average, variance, self.momentum, size)
        root = tf.sqrt(variance + self.epsilon)
        stddev = self._assign_moving_average(self.moving_stddev, root, self.momentum, size)
        # The average is of the root with epsilon inside; without epsilon rounding may leave it
        # below zero.
        return self._assign_new_value(self.moving_variance, relu(stddev * stddev - self.epsilon))

    # Calls

    def call(self, inputs: Any, training: Any = False) -> Any:  # type: ignore[override]
        """The normalized inputs."""
        if self.virtual_batch_size is None:
            return (self._fused if self.fused else self._plain)(inputs, training)
        whole = [-1, *inputs.shape.as_list()[1:]]
        batches = tf.reshape(inputs, [self.virtual_batch_size, -1, *whole[1:]])
        return tf.reshape(self._plain(batches, training), whole)

    def _fused(self, inputs: Tensor, training: TensorLike) -> Any:
        beta = self.beta if self.center else vars(self)["_beta_const"]
        gamma = self.gamma if self.scale else vars(self)["_gamma_const"]
        common: Any = dict(epsilon=self.epsilon, data_format=self._data_format)
        size = self._size_if_it_counts(inputs)
        output, mean, variance = smart_cond(
            training,
            lambda: fused_batch_norm(inputs, gamma, beta, **common),
            lambda: fused_batch_norm(
                inputs,
                gamma,
                beta,
                mean=self.moving_mean,
                variance=self.moving_variance,
                is_training=False,
                **common,
            ),
        )
        if not self._bessels_correction_test_only:
            # From division by n - 1 to division by n, for n elements of a channel.
            size = tf.cast(tf.size(inputs) / tf.size(variance), variance.dtype)
            variance *= (size - tf.cast(1.0, variance.dtype)) / size
        known = constant_value(training)
        if known is None:
            # A momentum of one leaves the averages as they are: one update serves both cases.
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = tf.convert_to_tensor(self.momentum)
        if known is None or known:
            for average, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
                self.add_update(self._assign_moving_average(average, value, momentum, size))
        return output

    # The fused op's variance is that of a sample; tests of TensorFlow's ask for the other.
    _bessels_correction_test_only = True

    def _plain(self, inputs: Any, training: Any) -> Any:
        shape = inputs.shape
        reduced = [i for i in range(shape.ndims) if i not in self.axis]
        if self.virtual_batch_size is not None:
            # Each virtual batch has its own moments.
            del reduced[1]
        broadcast = self._broadcaster(shape, reduced)
        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        known = constant_value(training)
        if known is not None and not known:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            mean, variance, scale, offset = self._of_batch(
                inputs, training, reduced, broadcast, scale, offset
            )
        mean, variance = tf.cast(mean, inputs.dtype), tf.cast(variance, inputs.dtype)
        offset = None if offset is None else tf.cast(offset, inputs.dtype)
        scale = None if scale is None else tf.cast(scale, inputs.dtype)
        outputs = normalize(
            inputs, broadcast(mean), broadcast(variance), offset, scale, self.epsilon
        )
        outputs.set_shape(shape)
        return outputs

    def _broadcaster(self, shape: Any, reduced: list[int]) -> Callable[[Any], Any]:
        sizes = [1] * shape.ndims
        sizes[self.axis[0]] = shape.as_list()[self.axis[0]]
        last = reduced == list(range(shape.ndims - 1))

        def broadcast(v: Any) -> Any:
            if v is None or v.shape.ndims == shape.ndims or last:
                return v
            return tf.reshape(v, sizes)

        return broadcast

    def _of_batch(
        self,
        inputs: Tensor,
        training: TensorLike,
        reduced: list[int],
        broadcast: Callable[[Any], Any],
        scale: Any,
        offset: Any,
    ) -> tuple[Any, Any, Any, Any]:
        """Mean, variance, scale and offset where the batch may count; adds the updates."""
        if self.adjustment:
            factor, bias = self.adjustment(tf.shape(inputs))
            factor = _if(training, factor, tf.ones_like)
            bias = _if(training, bias, tf.zeros_like)
            scale, offset = _composed(factor, bias, scale, offset)
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        mean, variance = moments(tf.cast(inputs, self._param_dtype), reduced, keep_dims=keep)
        counted = self._size_if_it_counts(inputs)
        mean, variance = _zero_if_empty(mean, counted), _zero_if_empty(variance, counted)
        mean = _if(training, mean, lambda _: tf.convert_to_tensor(self.moving_mean))
        variance = _if(training, variance, lambda _: tf.convert_to_tensor(self.moving_variance))
        new_mean, new_variance = mean, variance
        if self.virtual_batch_size is not None:
            new_mean = tf.reduce_mean(mean, axis=1, keepdims=True)
            new_variance = tf.reduce_mean(variance, axis=1, keepdims=True)
        size = self._size_if_it_counts(inputs)
        if self.renorm:
            # Batch renormalization, https://arxiv.org/abs/1702.03275: x' = (x - mean) / stddev * r
            # + d, and r and d are constants to the gradient.
            r, d, new_mean, new_variance = self._corrections(new_mean, new_variance, training, size)
            r = broadcast(tf.stop_gradient(r, name="renorm_r"))
            d = broadcast(tf.stop_gradient(d, name="renorm_d"))
            scale, offset = _composed(r, d, scale, offset)

        def new_average() -> Any:
            return self._assign_moving_average(self.moving_mean, new_mean, self.momentum, size)

        def new_average_variance() -> Any:
            return self._updated_variance(new_variance, size)

        self.add_update(smart_cond(training, new_average, lambda: self.moving_mean))
        self.add_update(smart_cond(training, new_average_variance, lambda: self.moving_variance))
        return mean, variance, scale, offset

    def _corrections(
        self, mean: Tensor, variance: Tensor, training: TensorLike, size: Tensor | None
    ) -> tuple[Any, Any, Any, Any]:
        """Factor and offset of renormalization, and the moments after its averages' updates."""
        stddev = tf.sqrt(variance + self.epsilon)
        average = self.renorm_mean
        # Averages that start at zero are nothing to divide by.
        average_stddev = tf.maximum(self.renorm_stddev, tf.sqrt(self.epsilon))
        r = stddev / average_stddev
        d = (mean - average) / average_stddev
        # r and d are of the averages before this batch.
        with tf.control_dependencies([r, d]):
            mean, stddev = tf.identity(mean), tf.identity(stddev)
        rmin, rmax, dmax = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        r = r if rmin is None else tf.maximum(r, rmin)
        r = r if rmax is None else tf.minimum(r, rmax)
        if dmax is not None:
            d = tf.minimum(tf.maximum(d, -dmax), dmax)
        r = _if(training, r, tf.ones_like)
        d = _if(training, d, tf.zeros_like)
        updates = []
        for variable, value in ((self.renorm_mean, mean), (self.renorm_stddev, stddev)):
            updates.append(self._renorm_update(variable, tf.identity(value), training, size))
        with tf.control_dependencies(updates):
            return r, d, tf.identity(mean), tf.identity(variance)

    def _renorm_update(
        self, variable: Variable, value: Tensor, training: TensorLike, size: Tensor | None
    ) -> Any:
        return smart_cond(
            training,
            lambda: self._assign_moving_average(variable, value, self.renorm_momentum, size),
            lambda: tf.identity(variable),
        )

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        """The input's shape."""
        return input_shape


def _zero_if_empty(value: Tensor, size: Tensor | None) -> Tensor:
    """A value, which is zero if the size is."""
    return value if size is None else tf.where(size > 0, value, tf.zeros_like(value))


def _if(training: TensorLike, value: Tensor, otherwise: Callable[[Any], Any]) -> Any:
    """The value when training, else what a function makes of it."""
    return smart_cond(training, lambda: value, lambda: otherwise(value))


def _composed(
    scale: Tensor, offset: Tensor, then_scale: Variable, then_offset: Variable
) -> tuple[Any, Any]:
    """The scale and offset of two linear functions, one after the other."""
    if then_scale is not None:
        scale *= then_scale
        offset *= then_scale
    if then_offset is not None:
        offset += then_offset
    return scale, offset


batch_normalization = functional(
    BatchNormalization,
    "batch_normalization",
    "axis momentum epsilon center scale beta_initializer gamma_initializer "
    "moving_mean_initializer moving_variance_initializer beta_regularizer gamma_regularizer "
    "beta_constraint gamma_constraint training trainable name reuse renorm renorm_clipping "
    "renorm_momentum fused virtual_batch_size adjustment",
    example=("tf.zeros([2, 28, 28, 3]), training=True", "(2, 28, 28, 3)"),
)

BatchNorm, batch_norm = BatchNormalization, batch_normalization
