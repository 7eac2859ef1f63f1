# SPDX-License-Identifier: Apache-2.0
"""Images rotated, translated and seen by projective transforms; matches and components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.scope_functions import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.image.projective import flat_transforms_to_matrices, matrices_to_flat_transforms
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import ShapeLike, TensorLike

_PIXELS = frozenset(
    {dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64}
)


def _batch(images: Tensor) -> Tensor:
    """One image, or one channel of one, as a batch.

    Raises:
        TypeError: the dtype or the rank does not fit.
    """
    if images.dtype.base_dtype not in _PIXELS:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None]
    if rank == 3:
        return images[None, :, :, :]
    if rank == 4:
        return images
    raise TypeError("Images should have rank between 2 and 4.")


def _unbatch(batch: Tensor, rank: int | None) -> Tensor:
    """What was made of an image of a rank, in that rank."""
    if rank == 2:
        return batch[0, :, :, 0]
    return batch[0, :, :, :] if rank == 3 else batch


def _rows(given: Tensor, unknown: str, wrong: str) -> Tensor:
    """A vector as a matrix of one row."""
    rank = given.shape.ndims
    if rank is None:
        raise TypeError(unknown)
    if rank == 1:
        return given[None]
    if rank == 2:
        return given
    raise TypeError(wrong)


@export("contrib.image.rotate")
def rotate(
    images: TensorLike,
    angles: TensorLike,
    interpolation: str = "NEAREST",
    name: str | None = None,
) -> Tensor:
    """Images turned counterclockwise around their middles (tf.contrib.image.rotate).

    Args:
        images: uint8, int32, int64 or floats: [batch, height, width, channels], [height, width,
            channels] or [height, width].
        angles: in radians, one or one for each image.
        interpolation: "NEAREST" or "BILINEAR".
        name: of the scope.

    Returns:
        Images of the same shape and dtype, 0 where nothing of them is seen.

    Raises:
        TypeError: the dtype or the rank does not fit.

    Example:
        >>> image = tf.constant([[1, 2], [3, 4]])
        >>> print(tf.Session().run(tf.contrib.image.rotate(image, 3.14159265)))
        [[4 3]
         [2 1]]
    """
    with name_scope(name, "rotate"):
        given = convert_to_tensor(images)
        batch = _batch(given)
        height = tf.cast(tf.shape(batch)[1], dtypes.float32)[None]
        width = tf.cast(tf.shape(batch)[2], dtypes.float32)[None]
        transforms = angles_to_projective_transforms(angles, height, width)
        turned = transform(batch, transforms, interpolation=interpolation)
        return _unbatch(turned, given.shape.ndims)


@export("contrib.image.translate")
def translate(
    images: TensorLike,
    translations: TensorLike,
    interpolation: str = "NEAREST",
    name: str | None = None,
) -> Tensor:
    """Images moved by [dx, dy] (tf.contrib.image.translate).

    Args:
        images: as `tf.contrib.image.rotate` takes them.
        translations: [dx, dy], or one for each image.
        interpolation: "NEAREST" or "BILINEAR".
        name: of the scope.

    Returns:
        Images of the same shape and dtype, 0 where nothing of them is seen.

    Example:
        >>> image = tf.constant([[1, 2], [3, 4]])
        >>> print(tf.Session().run(tf.contrib.image.translate(image, [1, 0])))
        [[0 1]
         [0 3]]
    """
    with name_scope(name, "translate"):
        transforms = translations_to_projective_transforms(translations)
        return transform(images, transforms, interpolation=interpolation)


@export("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(
    angles: TensorLike, image_height: Any, image_width: Any, name: str | None = None
) -> Tensor:
    """Transforms [n, 8] that turn images around their middles.

    Args:
        angles: in radians, one or a vector.
        image_height: the height of the images.
        image_width: their width.
        name: of the scope.

    Returns:
        Transforms for `tf.contrib.image.transform`.

    Raises:
        TypeError: the angles have more than one dimension.
    """
    with name_scope(name, "angles_to_projective_transforms"):
        given = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        if given.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        turns: Any = given[None] if given.shape.ndims == 0 else given
        # (Nodes as TensorFlow makes them: each difference is one.)
        x_turned = (
            (image_width - 1),
            (tf.cos(turns) * (image_width - 1) - tf.sin(turns) * (image_height - 1)),
        )
        x = (x_turned[0] - x_turned[1]) / 2.0
        y_turned = (
            (image_height - 1),
            (tf.sin(turns) * (image_width - 1) + tf.cos(turns) * (image_height - 1)),
        )
        y = (y_turned[0] - y_turned[1]) / 2.0
        count = tf.shape(turns)[0]
        columns = [
            tf.cos(turns)[:, None],
            -tf.sin(turns)[:, None],
            x[:, None],
            tf.sin(turns)[:, None],
            tf.cos(turns)[:, None],
            y[:, None],
            tf.zeros((count, 2), dtypes.float32),
        ]
        return tf.concat(values=columns, axis=1)


@export("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(
    translations: TensorLike, name: str | None = None
) -> Tensor:
    """Transforms [n, 8] that move images.

    Args:
        translations: [dx, dy] or [n, 2].
        name: of the scope.

    Returns:
        Transforms for `tf.contrib.image.transform`.

    Raises:
        TypeError: the rank is unknown or wrong.
    """
    with name_scope(name, "translations_to_projective_transforms"):
        given = convert_to_tensor(translations, name="translations", dtype=dtypes.float32)
        moves = _rows(
            given,
            "translation_or_translations rank must be statically known",
            "Translations should have rank 1 or 2.",
        )
        count = tf.shape(moves)[0]
        columns = [
            tf.ones((count, 1), dtypes.float32),
            tf.zeros((count, 1), dtypes.float32),
            -moves[:, 0, None],
            tf.zeros((count, 1), dtypes.float32),
            tf.ones((count, 1), dtypes.float32),
            -moves[:, 1, None],
            tf.zeros((count, 2), dtypes.float32),
        ]
        return tf.concat(values=columns, axis=1)


@export("contrib.image.transform")
def transform(
    images: TensorLike,
    transforms: TensorLike,
    interpolation: str = "NEAREST",
    output_shape: ShapeLike | Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """Images under projective transforms (tf.contrib.image.transform).

    Args:
        images: as `tf.contrib.image.rotate` takes them.
        transforms: eight numbers [a0, a1, a2, b0, b1, b2, c0, c1], or such for each image: the
            point (x, y) of a result shows ((a0 x + a1 y + a2) / d, (b0 x + b1 y + b2) / d) of the
            image, where d = c0 x + c1 y + 1.  They get no gradient.
        interpolation: "NEAREST" or "BILINEAR".
        output_shape: [height, width] of the results; those of the images if None.
        name: of the scope.

    Returns:
        Images of the same dtype, 0 where nothing of them is seen.

    Raises:
        TypeError: the dtype or a rank does not fit.
        ValueError: `output_shape` is no vector of two.

    Example:
        >>> image = tf.constant([[1, 2], [3, 4]])
        >>> mirrored = tf.contrib.image.transform(image, [-1, 0, 1, 0, 1, 0, 0, 0])
        >>> print(tf.Session().run(mirrored))
        [[2 1]
         [4 3]]
    """
    with name_scope(name, "transform"):
        given = convert_to_tensor(images, name="images")
        given_transforms = convert_to_tensor(transforms, name="transforms", dtype=dtypes.float32)
        batch = _batch(given)
        size = convert_to_tensor(_output_size(batch, output_shape), dtypes.int32, "output_shape")
        if not size.shape.is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width"
            )
        rows = _rows(
            given_transforms,
            "transform_or_transforms rank must be statically known",
            "Transforms should have rank 1 or 2.",
        )
        seen = raw.ImageProjectiveTransformV2(
            batch, output_shape=size, transforms=rows, interpolation=interpolation.upper()
        )
        return _unbatch(seen, given.shape.ndims)


def _output_size(batch: Tensor, wanted: object) -> Any:
    if wanted is not None:
        return wanted
    size = tf.shape(batch)[1:3]
    known = constant_value(size)
    return size if known is None else known


@export("contrib.image.compose_transforms")
def compose_transforms(*transforms: TensorLike) -> Tensor:
    """One transform that does what several do one after another.

    Args:
        *transforms: vectors of eight, or [n, 8], all of one shape.

    Returns:
        Transforms [n, 8].
    """
    assert transforms, "transforms cannot be empty"
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for other in transforms[1:]:
            composed = tf.matmul(composed, flat_transforms_to_matrices(other))
        return matrices_to_flat_transforms(composed)


@export("contrib.image.bipartite_match")
def bipartite_match(
    distance_mat: TensorLike,
    num_valid_rows: TensorLike,
    top_k: int = -1,
    name: str = "bipartite_match",
) -> Any:
    """Pairs of rows and columns, the closest first (tf.contrib.image.bipartite_match).

    Args:
        distance_mat: float32 [rows, columns].
        num_valid_rows: how many rows there are to match, a float32; all if negative.
        top_k: how many pairs at most; all if negative.
        name: of the op.

    Returns:
        `row_to_col_match_indices` and `col_to_row_match_indices`, int32: -1 where there is none.

    Example:
        >>> matches = tf.contrib.image.bipartite_match([[0.5, 0.1], [0.3, 0.2]], -1.0)
        >>> print(*tf.Session().run(matches))
        [1 0] [1 0]
    """
    return raw.BipartiteMatch(distance_mat, num_valid_rows, top_k=top_k, name=name)


@export("contrib.image.connected_components")
def connected_components(images: TensorLike) -> Tensor:
    """Numbers of what hangs together (tf.contrib.image.connected_components).

    Args:
        images: [height, width] or [batch, height, width]; what touches above, below or aside and
            has the same value is one component.

    Returns:
        int64 of the same shape: 0 where images are 0, and 1, 2, … in the order of first pixels.

    Raises:
        TypeError: the images have another rank.

    Example:
        >>> print(tf.Session().run(tf.contrib.image.connected_components([[1, 0, 1], [1, 0, 1]])))
        [[1 0 2]
         [1 0 2]]
    """
    with name_scope("connected_components"):
        given = convert_to_tensor(images, name="images")
        if given.shape.ndims not in (2, 3):
            raise TypeError(
                f"images should have rank 2 (HW) or 3 (NHW). Static shape is {given.shape}"
            )
        batch = given[None, :, :] if given.shape.ndims == 2 else given
        components = raw.ImageConnectedComponents(batch)
        found, places = tf.unique(tf.reshape(components, [-1]))
        zero = tf.where_v2(tf.equal(found, 0))[:, 0]
        ids: Any = tf.range(tf.shape(found)[0] - tf.shape(zero)[0]) + 1

        def with_zero() -> Tensor:
            at = tf.cast(zero[0], dtypes.int32)
            return tf.concat([ids[:at], [0], ids[at:]], axis=0)

        numbers = tf.cond(tf.equal(tf.shape(zero)[0], 0), lambda: ids, with_zero)
        components = tf.reshape(tf.gather(numbers, places), tf.shape(components))
        return components[0, :, :] if given.shape.ndims == 2 else components
