# SPDX-License-Identifier: Apache-2.0
"""`tf.py_func` of structures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....engine.api import export
from ....engine.types import nest, nest_paths
from ....engine.types.shape import as_shape
from ....ops.public import tf


@export("contrib.framework.py_func")
def py_func(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Makes a Python function of arrays an operation.

    Args:
        func: the function.
        args: what it is given by position, structures of tensors.
        kwargs: what it is given by name.
        output_types: the dtypes of what it gives, a structure; or a function of the same arguments
            that says them.
        output_shapes: the shapes, likewise; None leaves them open.
        stateful: whether two calls may differ.
        name: the operation's name.

    Returns:
        Tensors, structured as `output_types`.

    Raises:
        TypeError: `args` is no list or tuple, or `kwargs` no dict.

    Example:
        >>> double = tf.contrib.framework.py_func(lambda x: 2 * x, [3.0], output_types=tf.float32)
        >>> print(tf.Session().run(double))
        6.0
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes
    given = (args, kwargs)

    def flat_function(*values: Any) -> list[Any]:
        positional, named = nest.pack_sequence_as(given, values)
        result = func(*positional, **named)
        nest_paths.assert_shallow_structure(types, result)
        return nest.flatten(result)

    flat_types: Any = nest.flatten(types)
    results = tf.py_func(
        flat_function, nest.flatten(given), flat_types, stateful=stateful, name=name
    )
    if shapes is not None:
        shapes = nest_paths.map_structure_up_to(types, as_shape, shapes)
        for result, shape in zip(results, nest.flatten(shapes)):
            result.set_shape(shape)
    return nest.pack_sequence_as(types, results)
