# SPDX-License-Identifier: Apache-2.0
"""`slim.tfexample_decoder`: decodes Examples; handlers make items of their features."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from .....engine.graph import tensor as tensors
from .....engine.types import dtypes
from .....ops.image.codec_public import decode_image, is_jpeg
from .....ops.parsing.features import FixedLenFeature
from .....ops.public import raw, tf
from . import data_decoder

_PREFIX = "contrib.slim.tfexample_decoder"
# Key of a feature -> what was parsed.
Parsed = dict[str, Any]


@export(f"{_PREFIX}.ItemHandler")
class ItemHandler(abc.ABC):
    """Makes an item of features.

    Args:
        keys: the keys of the features, or one.
    """

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys: Any = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Any:
        """The keys of the features."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        """The item."""


@export(f"{_PREFIX}.ItemHandlerCallback")
class ItemHandlerCallback(ItemHandler):
    """Calls a function with the dict of features.

    Args:
        keys: the keys of the features.
        func: gives the item.
    """

    def __init__(self, keys: str | Sequence[str], func: Callable[[Parsed], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        return self._func(keys_to_tensors)


@export(f"{_PREFIX}.BoundingBox")
class BoundingBox(ItemHandler):
    """Boxes, [boxes, 4], of four features with a side of each box.

    Args:
        keys: of the sides ymin, xmin, ymax and xmax, which are the default.
        prefix: stands before each.

    Raises:
        ValueError: not four keys.
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str = "") -> None:
        keys = ["ymin", "xmin", "ymax", "xmax"] if keys is None else keys
        if len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        self._prefix = prefix
        self._full_keys = [prefix + key for key in keys]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors: Parsed) -> tensors.Tensor:
        sides = (keys_to_tensors[key] for key in self._full_keys)
        rows = [
            tf.expand_dims(side.values if isinstance(side, tensors.SparseTensor) else side, 0)
            for side in sides
        ]
        return tf.transpose(tf.concat(rows, 0))


@export(f"{_PREFIX}.Tensor")
class Tensor(ItemHandler):
    """A feature, perhaps in another shape.

    Args:
        tensor_key: its key.
        shape_keys: the keys of features that hold the shape, or one.
        shape: the shape.
        default_value: stands where a sparse feature has nothing.

    Raises:
        ValueError: both `shape_keys` and `shape`.
    """

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | list[str] | None = None,
        shape: Any = None,
        default_value: Any = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]  # type: ignore[list-item]
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(shape_keys or ())])

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            sizes = [_dense(keys_to_tensors[key]) for key in self._shape_keys]
            shape = tf.reshape(tf.stack(sizes), [-1])
        if isinstance(tensor, tensors.SparseTensor):
            if shape is not None:
                tensor = tf.sparse_reshape(tensor, shape)
            return tf.sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else tf.reshape(tensor, shape)


def _dense(tensor: Any) -> Any:
    if isinstance(tensor, tensors.SparseTensor):
        return tf.sparse_tensor_to_dense(tensor)
    return tensor


@export(f"{_PREFIX}.LookupTensor")
class LookupTensor(Tensor):
    """A feature looked up in a table.

    Args:
        tensor_key: its key.
        table: a table of tf.lookup.
        shape_keys: as those of `Tensor`.
        shape: as that of `Tensor`.
        default_value: stands where a sparse feature has nothing, before the table is asked.
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: str | list[str] | None = None,
        shape: Any = None,
        default_value: Any = "",
    ) -> None:
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


@export(f"{_PREFIX}.BackupHandler")
class BackupHandler(ItemHandler):
    """The item of one handler; that of another if it is empty.

    Args:
        handler: the first.
        backup: the other.

    Raises:
        ValueError: one of them is no ItemHandler.
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for role, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"{role} handler is of type {type(given)} instead of ItemHandler")
        self._handler = handler
        self._backup = backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(
            pred=tf.equal(tf.reduce_prod(tf.shape(item)), 0),
            true_fn=lambda: self._backup.tensors_to_item(keys_to_tensors),
            false_fn=lambda: item,
        )


@export(f"{_PREFIX}.SparseTensor")
class SparseTensor(ItemHandler):
    """A sparse tensor of a feature with places in the last dimension and one with values.

    Args:
        indices_key: of the places; "indices" by default.
        values_key: of the values; "values" by default.
        shape_key: of the shape.
        shape: the shape where there is no `shape_key`; that of the places by default.
        densify: whether the item is dense.
        default_value: stands where a dense item has nothing.
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else ())])

    def tensors_to_item(self, keys_to_tensors: Parsed) -> Any:
        indices, values = (keys_to_tensors[key] for key in (self._indices_key, self._values_key))
        if self._shape_key:
            shape = _dense(keys_to_tensors[self._shape_key])
        else:
            shape = self._shape or indices.dense_shape
        rank = tf.shape(indices.indices)[1]
        kept = tf.slice(indices.indices, [0, 0], tf.stack([-1, rank - 1]))
        last = tf.reshape(tf.cast(indices.values, dtypes.int64), [-1, 1])
        item = tensors.SparseTensor(tf.concat([kept, last], 1), values.values, shape)
        return tf.sparse_tensor_to_dense(item, self._default_value) if self._densify else item


@export(f"{_PREFIX}.Image")
class Image(ItemHandler):
    """A picture of a feature with its file's content and one with the name of its format.

    Args:
        image_key: of the content; "image/encoded" by default.
        format_key: of the format; "image/format" by default.  "raw" and "RAW" mean bare numbers,
            any other name a format that the content itself shows.
        shape: that the picture is given.
        channels: the number of channels.
        dtype: of the picture.
        repeated: whether the feature holds several pictures of one size.
        dct_method: how JPEG files are decoded, see tf.image.decode_jpeg.
    """

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: Any = dtypes.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors: Parsed) -> tensors.Tensor:
        content, kind = (keys_to_tensors[key] for key in (self._image_key, self._format_key))
        if self._repeated:
            return tf.map_fn(lambda one: self._decode(one, kind), content, dtype=self._dtype)
        return self._decode(content, kind)

    def _decode(self, content: Any, kind: Any) -> tensors.Tensor:
        def by_content() -> Any:
            return tf.cast(decode_image(content, channels=self._channels), self._dtype)

        def jpeg() -> Any:
            picture = raw.DecodeJpeg(
                contents=content, channels=self._channels, dct_method=self._dct_method
            )
            return tf.cast(picture, self._dtype)

        def encoded() -> Any:
            return tf.cond(is_jpeg(content), jpeg, by_content, name="cond_jpeg")

        is_raw = tf.logical_or(tf.equal(kind, "raw"), tf.equal(kind, "RAW"))
        image = tf.case(
            [(is_raw, lambda: tf.decode_raw(content, out_type=self._dtype))],
            default=encoded,
            exclusive=True,
        )
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else tf.reshape(image, self._shape)


@export(f"{_PREFIX}.TFExampleDecoder")
class TFExampleDecoder(data_decoder.DataDecoder):
    """Decodes serialized Examples.

    Args:
        keys_to_features: key -> tf.FixedLenFeature or tf.VarLenFeature.
        items_to_handlers: item -> ItemHandler.
    """

    def __init__(
        self, keys_to_features: dict[str, Any], items_to_handlers: dict[str, ItemHandler]
    ) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        """The items that can be decoded."""
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Sequence[str] | None = None) -> list[Any]:
        """The tensors of some items, of all by default."""
        example = tf.parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, FixedLenFeature):
                example[key] = tf.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [
            handler.tensors_to_item({key: example[key] for key in handler.keys})
            for handler in handlers
        ]
