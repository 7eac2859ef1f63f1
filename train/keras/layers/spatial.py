# SPDX-License-Identifier: Apache-2.0
"""Pooling, padding, cropping and enlarging of sequences, pictures and volumes."""

from __future__ import annotations

from typing import Any

from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers import pooling
from ...layers.input_spec import InputSpec
from ...layers.utils import normalize_data_format, normalize_tuple
from ..backend import elements
from ..backend.settings import image_data_format
from ..identifiers import PerAxis
from .style import KerasLayer

_WINDOWS = ("pool_size", "strides", "padding", "data_format")


class _Pooling(KerasLayer):
    """Pooling whose strides are the windows' sizes if None."""

    _arguments = _WINDOWS
    rank = 0

    def _begin_pooling(
        self, base: Any, size: Any, strides: PerAxis, padding: str, data_format: Any, options: Any
    ) -> None:
        if data_format is None:
            data_format = image_data_format()
        strides = size if strides is None else strides
        base.__init__(self, size, strides, padding, data_format, **options)


def _pooling_class(base: Any) -> Any:
    """Pooling of tf.layers with Keras's arguments."""
    if base.rank == 1:

        def begin(
            self: Any,
            pool_size: Any = 2,
            strides: Any = None,
            padding: str = "valid",
            data_format: str | None = "channels_last",
            **kwargs: Any,
        ) -> None:
            self._begin_pooling(base, pool_size, strides, padding, data_format, kwargs)

    else:

        def begin(
            self: Any,
            pool_size: Any = (2,) * base.rank,
            strides: Any = None,
            padding: str = "valid",
            data_format: str | None = None,
            **kwargs: Any,
        ) -> None:
            self._begin_pooling(base, pool_size, strides, padding, data_format, kwargs)

    made = type(
        base.__name__,
        (_Pooling, base),
        {"__init__": begin, "__module__": __name__, "rank": base.rank, "pool": base.pool},
    )
    made.__doc__ = (base.__doc__ or "").replace(f" (tf.layers.{base.__name__})", "")
    return made


MaxPooling1D = MaxPool1D = _pooling_class(pooling.MaxPooling1D)
MaxPooling2D = MaxPool2D = _pooling_class(pooling.MaxPooling2D)
MaxPooling3D = MaxPool3D = _pooling_class(pooling.MaxPooling3D)
AveragePooling1D = AvgPool1D = _pooling_class(pooling.AveragePooling1D)
AveragePooling2D = AvgPool2D = _pooling_class(pooling.AveragePooling2D)
AveragePooling3D = AvgPool3D = _pooling_class(pooling.AveragePooling3D)


class _GlobalPooling(KerasLayer):
    """One number for each channel.

    Args:
        data_format: "channels_last" or "channels_first"; that of settings if None.
        name, trainable, dtype, input_shape: as of all layers.
    """

    _arguments = ("data_format",)
    rank = 0

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        default = None if self.rank == 1 else image_data_format()
        self.data_format = normalize_data_format(data_format or default)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _axes(self) -> list[int]:
        first = 2 if self.data_format == "channels_first" else 1
        return list(range(first, first + self.rank))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, channels]."""
        sizes = TensorShape(input_shape).as_list()
        channels = sizes[1 if self.data_format == "channels_first" else -1]
        return TensorShape([sizes[0], channels])


class _GlobalMax(_GlobalPooling):
    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The largest element of each channel."""
        return tf.reduce_max(inputs, axis=self._axes)


class _GlobalMean(_GlobalPooling):
    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The mean of each channel."""
        return tf.reduce_mean(inputs, axis=self._axes)


class GlobalMaxPooling1D(_GlobalMax):
    """The largest element of each channel over one axis."""

    rank = 1


class GlobalMaxPooling2D(_GlobalMax):
    """The largest element of each channel over two axes."""

    rank = 2


class GlobalMaxPooling3D(_GlobalMax):
    """The largest element of each channel over three axes."""

    rank = 3


class GlobalAveragePooling1D(_GlobalMean):
    """The mean of each channel over one axis; of the steps that a mask keeps."""

    rank = 1

    def __init__(self, data_format: str | None = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Any:  # type: ignore[override]
        """The mean of each channel."""
        if mask is None:
            return super().call(inputs)
        axis = self._axes[0]
        steps = inputs.shape.as_list()[axis]
        mask = tf.cast(mask, inputs.dtype)
        if steps is None:
            mask = tf.expand_dims(mask, 2 if axis == 1 else 1)
        else:
            mask = tf.reshape(mask, [-1, steps, 1] if axis == 1 else [-1, 1, steps])
        inputs *= mask
        return tf.reduce_sum(inputs, axis=axis) / tf.reduce_sum(mask, axis=axis)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """None: there is no time behind it."""
        return None


class GlobalAveragePooling2D(_GlobalMean):
    """The mean of each channel over two axes."""

    rank = 2


class GlobalAveragePooling3D(_GlobalMean):
    """The mean of each channel over three axes."""

    rank = 3


GlobalMaxPool1D, GlobalMaxPool2D = GlobalMaxPooling1D, GlobalMaxPooling2D
GlobalMaxPool3D = GlobalMaxPooling3D
GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D
GlobalAvgPool3D = GlobalAveragePooling3D


class _Around(KerasLayer):
    """A change at the ends of axes of space."""

    rank = 0
    data_format = "channels_last"

    def _begin_around(self, data_format: Any, options: dict[str, Any]) -> None:
        super().__init__(**options)
        self.data_format = normalize_data_format(data_format or image_data_format())
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _start(self) -> int:
        return 2 if self.data_format == "channels_first" else 1

    def _pairs(self, given: Any, name: str) -> Any:
        """(before, behind) for each axis, from a number, one per axis, or pairs."""
        if isinstance(given, int):
            return ((given, given),) * self.rank
        if not hasattr(given, "__len__") or len(given) != self.rank:
            raise ValueError(f"`{name}` should have {self.rank} elements. Found: {given}")
        return tuple(normalize_tuple(pair, 2, f"entry of {name}") for pair in given)

    def _changed(self, input_shape: Any, change: Any) -> TensorShape:
        sizes = TensorShape(input_shape).as_list()
        for axis in range(self.rank):
            if sizes[self._start + axis] is not None:
                sizes[self._start + axis] = change(sizes[self._start + axis], axis)
        return TensorShape(sizes)


class ZeroPadding1D(KerasLayer):
    """Zeros before and behind sequences: a number, or one for each end."""

    _arguments = ("padding",)

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.padding = normalize_tuple(padding, 2, "padding")
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, the second larger."""
        batch, length, size = TensorShape(input_shape).as_list()
        longer = None if length is None else length + sum(self.padding)
        return TensorShape([batch, longer, size])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The padded sequences."""
        return elements.temporal_padding(inputs, self.padding)


class _ZeroPadding(_Around):
    _arguments = ("padding", "data_format")

    def __init__(self, padding: Any = 1, data_format: str | None = None, **kwargs: Any) -> None:
        self._begin_around(data_format, kwargs)
        self.padding = self._pairs(padding, "padding")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, those of space larger."""
        return self._changed(input_shape, lambda size, axis: size + sum(self.padding[axis]))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The padded inputs."""
        pad = elements.spatial_2d_padding if self.rank == 2 else elements.spatial_3d_padding
        return pad(inputs, padding=self.padding, data_format=self.data_format)


class ZeroPadding2D(_ZeroPadding):
    """Zeros around pictures: a number, one for each axis, or one for each end of each axis."""

    rank = 2

    def __init__(self, padding: Any = (1, 1), data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(padding, data_format, **kwargs)


class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes: a number, one for each axis, or one for each end of each axis."""

    rank = 3

    def __init__(self, padding: Any = (1, 1, 1), data_format: Any = None, **kwargs: Any) -> None:
        super().__init__(padding, data_format, **kwargs)


class Cropping1D(KerasLayer):
    """Sequences without their first and last steps: a number, or one for each end."""

    _arguments = ("cropping",)

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cropping = normalize_tuple(cropping, 2, "cropping")
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, the second smaller."""
        batch, length, size = TensorShape(input_shape).as_list()
        shorter = None if length is None else length - sum(self.cropping)
        return TensorShape([batch, shorter, size])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The sequences without their ends."""
        before, behind = self.cropping
        return inputs[:, before : -behind or None, :]


class _Cropping(_Around):
    _arguments = ("cropping", "data_format")

    def __init__(self, cropping: Any = 0, data_format: Any = None, **kwargs: Any) -> None:
        self._begin_around(data_format, kwargs)
        self.cropping = self._pairs(cropping, "cropping")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, those of space smaller."""
        return self._changed(input_shape, lambda size, axis: size - sum(self.cropping[axis]))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The inputs without their ends."""
        cuts = [slice(before, -behind or None) for before, behind in self.cropping]
        return inputs[(*[slice(None)] * self._start, *cuts)]


class Cropping2D(_Cropping):
    """Pictures without their edges, as ZeroPadding2D."""

    rank = 2

    def __init__(
        self, cropping: Any = ((0, 0), (0, 0)), data_format: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(_Cropping):
    """Volumes without their edges, as ZeroPadding3D."""

    rank = 3

    def __init__(
        self, cropping: Any = ((1, 1), (1, 1), (1, 1)), data_format: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)


class UpSampling1D(KerasLayer):
    """Sequences, each of whose steps comes `size` times."""

    _arguments = ("size",)

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)
        self.input_spec = InputSpec(ndim=3)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, the second larger."""
        batch, length, size = TensorShape(input_shape).as_list()
        longer = None if length is None else length * self.size
        return TensorShape([batch, longer, size])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The repeated steps."""
        return elements.repeat_elements(inputs, self.size, axis=1)


class UpSampling2D(_Around):
    """Pictures enlarged by whole factors; `interpolation` is "nearest" or "bilinear"."""

    _arguments = ("size", "data_format", "interpolation")
    rank = 2

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        self._begin_around(data_format, kwargs)
        self.size = normalize_tuple(size, 2, "size")
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or `"bilinear"`.'
            )
        self.interpolation = interpolation

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, those of space larger."""
        return self._changed(input_shape, lambda size, axis: size * self.size[axis])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The enlarged pictures."""
        height, width = self.size
        return elements.resize_images(
            inputs, height, width, self.data_format, interpolation=self.interpolation
        )


class UpSampling3D(_Around):
    """Volumes, each of whose elements comes several times along each axis."""

    _arguments = ("size", "data_format")
    rank = 3

    def __init__(
        self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any
    ) -> None:
        self._begin_around(data_format, kwargs)
        self.size = normalize_tuple(size, 3, "size")

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes, those of space larger."""
        return self._changed(input_shape, lambda size, axis: size * self.size[axis])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The enlarged volumes."""
        depth, height, width = self.size
        return elements.resize_volumes(inputs, depth, height, width, self.data_format)
