# SPDX-License-Identifier: Apache-2.0
"""Symbolic values: `Tensor`, `IndexedSlices` and `SparseTensor`."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..api import export
from ..errors import OperatorNotAllowedInGraphError
from ..hints import hinted
from ..types.dtypes import DType
from ..types.shape import TensorShape, shape_text, unknown_shape
from . import defaults

if TYPE_CHECKING:
    from ..session.session import BaseSession
    from .annotations import Feeds, ShapeLike, SparseLike, TensorLike
    from .graph import Graph
    from .operation import Operation

_ids = itertools.count(1)


def uid() -> int:
    """A number never given out before."""
    return next(_ids)


@export("Tensor")
class Tensor:
    """One output of an operation.  Holds no value: `session.run` computes it."""

    # Set by the ops through `overload`.
    OVERLOADABLE_OPERATORS = {
        *(
            f"__{side}{name}__"
            for name in ("add", "sub", "mul", "div", "truediv", "floordiv", "mod", "pow", "matmul")
            for side in ("", "r")
        ),
        *(f"__{side}{name}__" for name in ("and", "or", "xor") for side in ("", "r")),
        *(f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne")),
        *("__getitem__", "__invert__", "__neg__", "__abs__"),
    }
    __array_priority__ = 100

    if TYPE_CHECKING:
        # What ops define through `overload`, for type checkers.
        def __add__(self, other: object) -> Tensor: ...
        def __radd__(self, other: object) -> Tensor: ...
        def __sub__(self, other: object) -> Tensor: ...
        def __rsub__(self, other: object) -> Tensor: ...
        def __mul__(self, other: object) -> Tensor: ...
        def __rmul__(self, other: object) -> Tensor: ...
        def __div__(self, other: object) -> Tensor: ...
        def __rdiv__(self, other: object) -> Tensor: ...
        def __truediv__(self, other: object) -> Tensor: ...
        def __rtruediv__(self, other: object) -> Tensor: ...
        def __floordiv__(self, other: object) -> Tensor: ...
        def __rfloordiv__(self, other: object) -> Tensor: ...
        def __mod__(self, other: object) -> Tensor: ...
        def __rmod__(self, other: object) -> Tensor: ...
        def __pow__(self, other: object) -> Tensor: ...
        def __rpow__(self, other: object) -> Tensor: ...
        def __matmul__(self, other: object) -> Tensor: ...
        def __rmatmul__(self, other: object) -> Tensor: ...
        def __and__(self, other: object) -> Tensor: ...
        def __rand__(self, other: object) -> Tensor: ...
        def __or__(self, other: object) -> Tensor: ...
        def __ror__(self, other: object) -> Tensor: ...
        def __xor__(self, other: object) -> Tensor: ...
        def __rxor__(self, other: object) -> Tensor: ...
        def __lt__(self, other: object) -> Tensor: ...
        def __le__(self, other: object) -> Tensor: ...
        def __gt__(self, other: object) -> Tensor: ...
        def __ge__(self, other: object) -> Tensor: ...
        def __getitem__(self, item: object) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...

    def __init__(self, op: Operation, value_index: int, dtype: DType) -> None:
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        self._shape_val: TensorShape = unknown_shape()
        self._consumers: list[Operation] = []
        self._id = next(_ids)

    @property
    def op(self) -> Operation:
        """The operation whose output this is."""
        return self._op

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def graph(self) -> Graph:
        """The graph that holds the operation."""
        return self._op._graph

    @property
    def name(self) -> str:
        """The name, such as "MatMul:0"."""
        if not self._op.name:
            raise ValueError(f"Operation was not named: {self._op}")
        return f"{self._op.name}:{self._value_index}"

    @property
    def device(self) -> str:
        """The device name of the operation."""
        return self._op.device

    @property
    def value_index(self) -> int:
        """Which output of the operation this is."""
        return self._value_index

    @property
    def shape(self) -> TensorShape:
        """The static shape, as far as it is known."""
        return self._shape_val

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self._shape_val

    @property
    def _shape(self) -> TensorShape:
        return self._shape_val

    def set_shape(self, shape: ShapeLike) -> None:
        """Adds to what is known of the shape, where the program knows more than the graph.

        Args:
            shape: a TensorShape, or what makes one; None says nothing, also for a size.

        Raises:
            ValueError: it contradicts what is known.

        Example:
            >>> x = tf.placeholder(tf.float32, [None, 3])
            >>> x.set_shape([2, None])
            >>> print(x.shape)
            (2, 3)
        """
        shape = shape if isinstance(shape, TensorShape) else TensorShape(shape)
        self._shape_val = _merge_for_set(self._shape_val, shape)
        self.op.graph._stated[self] = None

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        return self._shape_val.sizes

    def _shape_as_list(self) -> list[int | None] | None:
        sizes = self._shape_val.sizes
        return None if sizes is None else list(sizes)

    def _rank(self) -> int | None:
        return self._shape_val.rank

    def consumers(self) -> list[Operation]:
        """The operations that take this tensor as input, once per input."""
        return list(self._consumers)

    def _as_node_def_input(self) -> str:
        name = self._op.name
        return name if self._value_index == 0 else f"{name}:{self._value_index}"

    def __str__(self) -> str:
        shape = f", shape={self._shape_val}" if self._shape_val.rank is not None else ""
        device = f", device={self.device}" if self.device else ""
        return f'Tensor("{self.name}"{shape}, dtype={self._dtype.name}{device})'

    def __repr__(self) -> str:
        return f"<tf.Tensor '{self.name}' shape={self._shape_val} dtype={self._dtype.name}>"

    # By identity, and without a call of Python for each of the many look-ups of a compilation.
    __hash__ = object.__hash__

    def __copy__(self) -> Tensor:
        result = Tensor.__new__(Tensor)
        result.__dict__.update(self.__dict__)
        return result

    def __iter__(self) -> Iterator[Any]:
        raise hinted(
            OperatorNotAllowedInGraphError,
            "iterating over `tf.Tensor` is not allowed in Graph execution. Use Eager execution or "
            "decorate this function with @tf.function.",
        )

    def __bool__(self) -> bool:
        raise hinted(
            OperatorNotAllowedInGraphError,
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution. Use Eager "
            "execution or decorate this function with @tf.function.",
        )

    __nonzero__ = __bool__  # Python 2's name, which random variables of libraries overload.

    def __len__(self) -> int:
        raise hinted(
            TypeError,
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` "
            "rather than `len(x)` for shape information.",
        )

    def __array__(self, *unused: Any, **options: Any) -> Any:
        raise hinted(
            NotImplementedError, f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def eval(self, feed_dict: Feeds | None = None, session: BaseSession | None = None) -> Any:
        """Computes the value: session.run of this tensor.

        Args:
            feed_dict: the values of tensors in this run, by Tensor.
            session: the default session if None.

        Returns:
            A NumPy array or number.

        Raises:
            ValueError: there is no session, or it is of another graph.
        """
        return defaults.eval_in_session(self, feed_dict, self.graph, session)

    def experimental_ref(self) -> Reference:
        """A hashable stand-in for this object, by identity."""
        return Reference(self)

    @staticmethod
    def _override_operator(operator: str, func: Callable[..., Any]) -> None:
        overload(operator, func)


class Reference:
    """An object's identity as a dictionary key."""

    __slots__ = ("_referenced",)

    def __init__(self, thing: Any) -> None:
        self._referenced = thing

    def deref(self) -> Any:
        """The object."""
        return self._referenced

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._referenced is other._referenced

    def __hash__(self) -> int:
        return id(self._referenced)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referenced!r}>"


def overload(operator: str, function: Callable[..., Any]) -> None:
    """Defines an operator of Tensor, once; comparisons of identity may be replaced."""
    _overload_on(Tensor, operator, function)


def _overload_on(cls: type, operator: str, function: Callable[..., Any]) -> None:
    # Not getattr: the metaclass answers for `|`.
    existing = vars(cls).get(operator)
    if existing is not None and not isinstance(existing, type(object.__eq__)):
        raise ValueError(f"operator {operator} cannot be overwritten again on class {cls}.")
    if operator not in Tensor.OVERLOADABLE_OPERATORS:
        raise ValueError(f"Overriding {operator} is disallowed")
    setattr(cls, operator, function)


def _merge_for_set(old: TensorShape, new: TensorShape) -> TensorShape:
    a, b = old.sizes, new.sizes
    if a is None or b is None:
        return new if a is None else old
    if len(a) != len(b):
        raise hinted(ValueError, f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for i, (m, n) in enumerate(zip(a, b)):
        if m is not None and n is not None and m != n:
            raise hinted(
                ValueError,
                f"Dimension {i} in both shapes must be equal, but are {m} and {n}. "
                f"Shapes are {shape_text(a)} and {shape_text(b)}.",
            )
    return TensorShape([n if m is None else m for m, n in zip(a, b)])


@export("IndexedSlices")
class IndexedSlices:
    """Rows `values` at `indices` of a tensor that is zero elsewhere; gradients of gathers."""

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """Where the rows stand in the dense tensor."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the dense tensor, or None."""
        return self._dense_shape

    @property
    def name(self) -> str:
        """The name of the values."""
        return self._values.name

    @property
    def device(self) -> str:
        """The device of the values."""
        return self._values.device

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """The graph of the values."""
        return self._values.graph

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        if self._dense_shape is None:
            return unknown_shape()
        from .constants import constant_value_as_shape

        return constant_value_as_shape(self._dense_shape)

    def __str__(self) -> str:
        dense = f", dense_shape={self._dense_shape}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices}, values={self._values}{dense})"

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)  # type: ignore[operator]


IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
export("IndexedSlicesValue")(IndexedSlicesValue)
SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
export("SparseTensorValue")(SparseTensorValue)


@export("SparseTensor", "sparse.SparseTensor")
class SparseTensor:
    """A tensor of which only some elements are stated, those that are not zero as a rule.

    Args:
        indices: int64 [N, rank]: where they are; in order, row by row, as most operations want.
        values: [N], of any dtype.
        dense_shape: int64 [rank]: the shape of all.

    Raises:
        ValueError: the shapes do not fit.
        TypeError: indices or dense_shape are no integers.

    Example:
        >>> x = tf.SparseTensor(indices=[[0, 1], [1, 0]], values=[5, 7], dense_shape=[2, 3])
        >>> tf.Session().run(tf.sparse_tensor_to_dense(x))
        array([[0, 5, 0],
               [7, 0, 0]], dtype=int32)
    """

    @classmethod
    def from_value(cls, sparse_tensor_value: SparseLike) -> SparseTensor:
        """From a SparseTensorValue (or a SparseTensor)."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        value = sparse_tensor_value
        return cls(indices=value.indices, values=value.values, dense_shape=value.dense_shape)

    def __init__(self, indices: TensorLike, values: TensorLike, dense_shape: TensorLike) -> None:
        from ..types import dtypes
        from .convert import convert_to_tensor
        from .graph import name_scope

        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, name="indices", dtype=dtypes.int64)
            self._values = convert_to_tensor(values, name="values")
            self._dense_shape = convert_to_tensor(
                dense_shape, name="dense_shape", dtype=dtypes.int64
            )
        indices_shape = self._indices.shape.with_rank(2)
        shape = self._dense_shape.shape.with_rank(1)
        indices_shape[0:1].merge_with(self._values.shape.with_rank(1)[0:1])
        indices_shape[1:2].merge_with(shape[0:1])

    @property
    def indices(self) -> Tensor:
        """int64 [N, rank]: the positions."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """[N]: the values."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """int64 [rank]: the shape of the dense tensor."""
        return self._dense_shape

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """The graph of the tensors."""
        return self._indices.graph

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        from .constants import constant_value_as_shape

        return constant_value_as_shape(self._dense_shape)

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    def consumers(self) -> list[Operation]:
        """The operations that take one of the three tensors."""
        parts = (self._indices, self._values, self._dense_shape)
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def eval(self, feed_dict: Feeds | None = None, session: BaseSession | None = None) -> Any:
        """Computes the SparseTensorValue in the given or the default session."""
        parts = [self.indices, self.values, self.dense_shape]
        indices, values, shape = defaults.eval_in_session(parts, feed_dict, self.graph, session)
        return SparseTensorValue(indices, values, shape)

    @staticmethod
    def _override_operator(operator: str, func: Callable[..., Any]) -> None:
        _overload_on(SparseTensor, operator, func)

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values}, "
            f"dense_shape={self._dense_shape})"
        )
