# SPDX-License-Identifier: Apache-2.0
"""What specs of networks may use: layers and ops under short names.

The second letter of layers is their activation: s for sigmoid, t for tanh, r for relu, m for
softmax, l for none; x has the layer's usual one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....ops.checks.logging import Print as _print
from ....ops.nn.activation import relu
from ....ops.nn.local_response import lrn
from ....ops.nn.softmax import softmax
from ....ops.public import tf
from ....ops.state.scope_defaults import VariableScope
from ..layers.batch_norm import batch_norm
from ..layers.convolutions import convolution2d
from ..layers.dense import fully_connected
from ..layers.pooling import avg_pool2d, max_pool2d
from ..layers.shaping import dropout, flatten, unit_norm
from . import specs_lib
from .specs_lib import Composable, External, Import, debug

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from .specs_lib import Function

Fun = specs_lib.Function
__all__ = ["Conc", "External", "Fun", "Idx", "Import", "Shared", "debug"]


@export("contrib.specs.Idx")
class Idx(Composable):
    """Gives the input back."""

    def funcall(self, x: Any) -> Any:
        """The input."""
        return x


@export("contrib.specs.Conc")
class Conc(Composable):
    """The results that functions have for the same input, side by side.

    Args:
        dim: the axis.
        args: the functions.
    """

    def __init__(self, dim: int, *args: Composable) -> None:
        self.dim = dim
        self.funs = args

    def funcall(self, x: Any) -> Tensor:
        """The results joined."""
        return tf.concat([f.funcall(x) for f in self.funs], self.dim)


_ACTIVATIONS = {"s": tf.sigmoid, "t": tf.tanh, "r": relu, "m": softmax, "l": None}

Print, Id = Fun(_print), Fun(tf.identity)
Cx, Fx = Fun(convolution2d), Fun(fully_connected)
Cs, Ct, Cr, Cm, Cl = (Fun(convolution2d, activation_fn=f) for f in _ACTIVATIONS.values())
Fs, Ft, Fr, Fm, Fl = (Fun(fully_connected, activation_fn=f) for f in _ACTIVATIONS.values())
Mp, Ap = Fun(max_pool2d), Fun(avg_pool2d)
Do, Bn, Lrn, Unit = Fun(dropout), Fun(batch_norm), Fun(lrn), Fun(unit_norm)
Flat, Reshape, Transpose = Fun(flatten), Fun(tf.reshape), Fun(tf.transpose)
Squeeze, Expand = Fun(tf.squeeze), Fun(tf.expand_dims)
Relu, Sig, Tanh, Smax = Fun(relu), Fun(tf.sigmoid), Fun(tf.tanh), Fun(softmax)

_SHORT = """
    Ap Bn Cl Cm Cr Cs Ct Cx Do Expand Fl Flat Fm Fr Fs Ft Fun Fx Id Lrn Mp Print Relu Reshape Sig
    Smax Squeeze Tanh Transpose Unit
"""
for _name in _SHORT.split():
    constant(f"contrib.specs.{_name}", globals()[_name])


@export("contrib.specs.Dws")
def Dws(n: int) -> Function:
    """A dense layer of `n` units at every place of an image, with sigmoids."""
    return Cs(n, [1, 1])


@export("contrib.specs.Dwm")
def Dwm(n: int) -> Function:
    """A dense layer of `n` units at every place of an image, with a softmax."""
    return Cm(n, [1, 1])


@export("contrib.specs.Var")
def Var(name: str, *args: Any, **kw: Any) -> specs_lib.Callable:
    """A variable, whatever the input is; arguments as of `tf.get_variable`."""
    return specs_lib.Callable(lambda _: tf.get_variable(name, *args, **kw))


@export("contrib.specs.Shared")
class Shared(Composable):
    """A function whose variables are the same wherever it is used.

    Args:
        subnet: the function.
        name: of the variables' scope; a new one if None.
        scope: a scope that has the variables.

    Raises:
        ValueError: the scope is none, the name no string, or both are given.
    """

    shared_number = 1

    def __init__(self, subnet: Composable, name: str | None = None, scope: Any = None) -> None:
        if scope is not None and not isinstance(scope, VariableScope):
            raise ValueError("scope must be None or a VariableScope")
        if name is not None and not isinstance(name, str):
            raise ValueError("name must be None or a string")
        if scope is not None and name is not None:
            raise ValueError("cannot provide both a name and a scope")
        if name is None:
            name = f"Shared_{Shared.shared_number}"
            Shared.shared_number += 1
        self.subnet = subnet
        self.name = name
        self.scope = scope

    def funcall(self, x: Any) -> Any:
        """The function's result; the first use makes the variables."""
        if self.scope is not None:
            with tf.variable_scope(self.scope, values=[x], reuse=True):
                return self.subnet.funcall(x)
        with tf.variable_scope(self.name, values=[x]) as self.scope:
            return self.subnet.funcall(x)
