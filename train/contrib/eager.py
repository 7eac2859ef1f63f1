# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.eager` and `tf.contrib.autograph`: what graphs can honour of them.

What needs eager execution or AutoGraph can be imported, and says so when it is called
(unavailable.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import constant, export
from ...engine.compat import executing_eagerly
from ...ops.flow.graph_functions import function

if TYPE_CHECKING:
    from ..optimizers.optimizer import Optimizer

# How tensors would be copied between devices, and whether calls would wait.
for _name, _value in {
    "DEVICE_PLACEMENT_EXPLICIT": 0,
    "DEVICE_PLACEMENT_WARN": 1,
    "DEVICE_PLACEMENT_SILENT": 2,
    "SYNC": 0,
    "ASYNC": 1,
}.items():
    constant(f"contrib.eager.{_name}", _value)
constant("contrib.eager.in_eager_mode", executing_eagerly)


@export("contrib.eager.num_gpus")
def num_gpus() -> int:
    """The number of graphics processors that are used: none."""
    return 0


@export("contrib.eager.list_devices")
def list_devices() -> list[str]:
    """The names of the devices."""
    return ["/job:localhost/replica:0/task:0/device:CPU:0"]


@export("contrib.eager.get_optimizer_variables")
def get_optimizer_variables(optimizer: Optimizer) -> list[Any]:
    """The variables that an optimizer keeps."""
    return optimizer.variables()


@export("contrib.eager.run")
def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> Any:
    """Runs a program that asks for eager execution: an error, as there is none."""
    from ...engine.compat import enable_eager_execution

    del main, argv
    return enable_eager_execution()


@export("contrib.eager.defun")
def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: object = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """A function whose effects happen in order: `tf.function`, as it was called first.

    Args:
        func: the function; without it a decorator is returned.
        input_signature: TensorSpecs, one for each argument, which arguments are held to.
        autograph, experimental_autograph_options, experimental_relax_shapes: as of `tf.function`.

    Returns:
        A function with `get_concrete_function` and `python_function`.

    Example:
        >>> twice = tf.contrib.eager.defun(lambda x: x + x)
        >>> print(tf.Session().run(twice(tf.constant(2.0))))
        4.0
    """
    options = (experimental_autograph_options, experimental_relax_shapes)
    return function(func, input_signature, autograph, *options)


def defun_with_attributes(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    attributes: object = None,
    autograph: bool = True,
    experimental_autograph_options: object = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`defun` of a function with attributes, which are for TensorFlow's passes over graphs."""
    del attributes
    options = (experimental_autograph_options, experimental_relax_shapes)
    return defun(func, input_signature, autograph, *options)


UNSPECIFIED = object()


def _as_it_is(function: object = None) -> Any:
    """A test class or method as it is: it runs in graphs."""
    return (lambda given: given) if function is None else function


constant("contrib.eager.run_all_tests_in_graph_and_eager_modes", _as_it_is)
constant("contrib.eager.run_test_in_graph_and_eager_modes", _as_it_is)
