# SPDX-License-Identifier: Apache-2.0
"""Names and orders of arguments that TensorFlow had before 1.0: `numbaflow run --api 0.12`.

`RENAMED` is the table of names, `CHANGED` that of functions whose arguments came in another order;
they tell the two orders apart by what they are given.
"""

from __future__ import annotations

import functools
import importlib
import sys
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from . import old_flags

# Old name below `tf` -> today's.
RENAMED = {
    "mul": "multiply",
    "sub": "subtract",
    "neg": "negative",
    "inv": "reciprocal",
    "pack": "stack",
    "unpack": "unstack",
    "select": "where",
    "listdiff": "setdiff1d",
    "complex_abs": "abs",
    "batch_matmul": "matmul",
    "types": "dtypes",
    **{
        f"batch_{name}": name
        for name in (
            "cholesky cholesky_solve fft fft2d fft3d ifft ifft2d ifft3d matrix_band_part "
            "matrix_determinant matrix_diag matrix_diag_part matrix_inverse matrix_set_diag "
            "matrix_solve matrix_solve_ls matrix_transpose matrix_triangular_solve "
            "self_adjoint_eig self_adjoint_eigvals svd"
        ).split()
    },
    "all_variables": "global_variables",
    "initialize_all_variables": "global_variables_initializer",
    "initialize_local_variables": "local_variables_initializer",
    "initialize_variables": "variables_initializer",
    "initialize_all_tables": "tables_initializer",
    "merge_summary": "summary.merge",
    "merge_all_summaries": "summary.merge_all",
    "train.SummaryWriter": "summary.FileWriter",
    "train.summary_iterator": "train.summary_iterator",
    "image.per_image_whitening": "image.per_image_standardization",
    "image.random_crop": "random_crop",
    "nn.rnn": "nn.static_rnn",
    "nn.bidirectional_rnn": "nn.static_bidirectional_rnn",
    "nn.state_saving_rnn": "nn.static_state_saving_rnn",
    "nn.seq2seq": "contrib.legacy_seq2seq",
}

# Modules of that time, or of 1.0 -> the namespace that has their names, besides the old ones.
MODULES = {
    "contrib.rnn.python.ops.core_rnn": "nn",
    "contrib.rnn.python.ops.core_rnn_cell": "contrib.rnn",
    "contrib.rnn.python.ops.core_rnn_cell_impl": "contrib.rnn",
    "models.rnn.rnn": "nn",
    "models.rnn.rnn_cell": "nn.rnn_cell",
    "models.rnn.seq2seq": "contrib.legacy_seq2seq",
    "python.ops.rnn": "nn",
    "python.ops.rnn_cell": "nn.rnn_cell",
    "python.ops.seq2seq": "contrib.legacy_seq2seq",
    "python.platform.default._flags": "flags",
    "python.platform.default._logging": "logging",
}
# Modules of that time -> those of 1.15 that have what programs take from inside them.
INSIDE = {
    "contrib.rnn.python.ops.core_rnn": "python.ops.rnn",
    "contrib.rnn.python.ops.core_rnn_cell_impl": "contrib.rnn.python.ops.core_rnn_cell",
    "models.rnn.rnn_cell": "python.ops.rnn_cell_impl",
    "models.rnn.seq2seq": "contrib.legacy_seq2seq.python.ops.seq2seq",
    "python.ops.rnn_cell": "python.ops.rnn_cell_impl",
    "python.ops.seq2seq": "contrib.legacy_seq2seq.python.ops.seq2seq",
}


def linear(
    args: Any, output_size: int, bias: bool, bias_start: float = 0.0, scope: Any = None
) -> Any:
    """`rnn_cell._linear`: a linear map of matrices beside each other, by variables of a scope.

    Args:
        args: a matrix, or several with as many rows.
        output_size: the columns of the result.
        bias: whether a bias is added.
        bias_start: what it starts as.
        scope: the scope of the variables, or its name; "Linear" if None.

    Returns:
        A matrix.
    """
    from ...ops.public import tf

    parts = list(args) if isinstance(args, (list, tuple)) else [args]
    columns = sum(part.get_shape().as_list()[1] for part in parts)
    with tf.variable_scope(scope or "Linear"):
        matrix = tf.get_variable("Matrix", [columns, output_size], dtype=parts[0].dtype)
        joined = parts[0] if len(parts) == 1 else tf.concat(parts, 1)
        result = tf.matmul(joined, matrix)
        if not bias:
            return result
        start = tf.constant_initializer(bias_start, dtype=parts[0].dtype)
        return result + tf.get_variable("Bias", [output_size], parts[0].dtype, start)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or getattr(value, "ndim", getattr(value, "shape", 1)) in (0, ())


def concat(new: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`tf.concat(concat_dim, values)`."""
    if "concat_dim" in kwargs:
        kwargs["axis"] = kwargs.pop("concat_dim")
    elif len(args) >= 2 and (_is_number(args[0]) or isinstance(args[1], (list, tuple))):
        args = (args[1], args[0], *args[2:])
    elif args and _is_number(args[0]) and "values" in kwargs:
        kwargs["axis"], args = args[0], args[1:]
    return new(*args, **kwargs)


def split(new: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`tf.split(split_dim, num_split, value)`."""
    named = {"split_dim": "axis", "num_split": "num_or_size_splits"}
    is_old = (len(args) > 0 and _is_number(args[0])) or "split_dim" in kwargs
    if not is_old:
        return new(*args, **kwargs)
    old = dict(zip(("split_dim", "num_split", "value", "name"), args))
    return new(**{named.get(key, key): value for key, value in {**old, **kwargs}.items()})


def reverse(new: Callable[..., Any], tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """`tf.reverse(tensor, dims)` with a truth value for every dimension."""
    axes = kwargs.pop("dims", None) if "dims" in kwargs else (args[0] if args else None)
    if isinstance(axes, Sequence) and all(isinstance(one, bool) for one in axes):
        return new(tensor, [i for i, one in enumerate(axes) if one], *args[1:], **kwargs)
    return new(tensor, *args, **kwargs)


def _cross_entropy(new: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`f(logits, labels)`, by position."""
    named = dict(zip(("logits", "targets" if "targets" in kwargs else "labels"), args[:2]))
    more = dict(zip(("dim", "name") if "softmax" in new.__name__ else ("name",), args[2:]))
    values = {**named, **more, **kwargs}
    if "targets" in values:
        values["labels"] = values.pop("targets")
    return new(**values)


def _sparse_cross_entropy(new: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`f(logits, labels)`, by position."""
    return new(**{**dict(zip(("logits", "labels", "name"), args)), **kwargs})


def _sampled(new: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`f(weights, biases, inputs, labels, …)`: labels are integers."""
    if len(args) >= 4 and not _is_integer(args[2]) and _is_integer(args[3]):
        args = (*args[:2], args[3], args[2], *args[4:])
    return new(*args, **kwargs)


def _is_integer(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return bool(getattr(dtype, "is_integer", False)) or getattr(dtype, "kind", "") in ("i", "u")


def resize_images(new: Callable[..., Any], images: Any, *args: Any, **kwargs: Any) -> Any:
    """`tf.image.resize_images(images, new_height, new_width, method)`."""
    if len(args) >= 2 and isinstance(args[0], int) and isinstance(args[1], int):
        if len(args) == 2 or not isinstance(args[0], (list, tuple)):
            args = ([args[0], args[1]], *args[2:])
    elif "new_height" in kwargs:
        kwargs["size"] = [kwargs.pop("new_height"), kwargs.pop("new_width")]
    return new(images, *args, **kwargs)


def _summary(op_type: str, **settings: str) -> Callable[..., Any]:
    """A function that makes the node of a summary with a tag as it is written."""

    def make(_: Any, tag: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        from ...ops.public import raw, tf

        collections = kwargs.pop("collections", None)
        name = kwargs.pop("name", None) or op_type
        options = {settings[key]: kwargs.pop(key) for key in list(kwargs) if key in settings}
        options.update(zip(settings.values(), args))
        if kwargs:
            raise TypeError(f"{name} takes no argument {next(iter(kwargs))!r}")
        names = {"ScalarSummary": ("tags", "values"), "HistogramSummary": ("tag", "values")}
        first, second = names.get(op_type, ("tag", "tensor"))
        made = getattr(raw, op_type)(**{first: tag, second: value}, name=name, **options)
        for collection in collections or [tf.GraphKeys.SUMMARIES]:
            tf.add_to_collection(collection, made)
        return made

    return make


# Functions whose arguments came otherwise -> what calls today's, given first.
CHANGED: dict[str, Callable[..., Any]] = {
    "concat": concat,
    "split": split,
    "reverse": reverse,
    "nn.softmax_cross_entropy_with_logits": _cross_entropy,
    "nn.sigmoid_cross_entropy_with_logits": _cross_entropy,
    "nn.sparse_softmax_cross_entropy_with_logits": _sparse_cross_entropy,
    "nn.nce_loss": _sampled,
    "nn.sampled_softmax_loss": _sampled,
    "image.resize_images": resize_images,
    "scalar_summary": _summary("ScalarSummary"),
    "histogram_summary": _summary("HistogramSummary"),
    "image_summary": _summary("ImageSummary", max_images="max_images"),
    "audio_summary": _summary(
        "AudioSummaryV2", sample_rate="sample_rate", max_outputs="max_outputs"
    ),
}
# Cells that took the size of their input.
CELLS = "BasicRNNCell BasicLSTMCell GRUCell LSTMCell".split()
# Wrappers that called the cell within `_cell`, as classes of programs do that extend them.
WRAPPERS = "DropoutWrapper ResidualWrapper DeviceWrapper".split()


def install(package: str) -> None:
    """Gives the package of this process the names of before 1.0; other modules keep theirs."""
    root = importlib.import_module(package)
    for old, new in RENAMED.items():
        _put(root, old, functools.partial(_find, root, new))
    for name, call in CHANGED.items():
        module, _, leaf = name.rpartition(".")
        today = getattr(_find(root, module), leaf, None)
        setattr(_find(root, module), leaf, _bound(name, call, today))
    for name in (*CELLS, "MultiRNNCell"):
        made = _as_function(getattr(root.nn.rnn_cell, name))
        for place in (root.nn.rnn_cell, root.contrib.rnn):
            setattr(place, name, made)
    for name in WRAPPERS:
        getattr(root.nn.rnn_cell, name)._cell = property(lambda wrapper: wrapper.cell)
    for path, namespace in MODULES.items():
        _Module.make(f"tensorflow.{path}", functools.partial(_find, root, namespace))
        if namespace == "nn.rnn_cell":
            sys.modules[f"tensorflow.{path}"].__dict__["_linear"] = linear
    importlib.import_module("tensorflow.python")
    old_flags.take_any_name(root.flags.FLAGS)
    old_flags.give_attributes(root.flags.FLAGS)
    importlib.import_module(f"{package}.train.variables.slot_creator").REUSE.is_of_slots = False


def _find(root: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        root = getattr(root, part)
    return root


def _put(root: ModuleType, path: str, find: Callable[[], Any]) -> None:
    module, _, leaf = path.rpartition(".")
    place = _find(root, module)
    others = place.__dict__["__getattr__"]

    def look_up(name: str) -> Any:
        return find() if name == leaf else others(name)

    if not hasattr(place, leaf):
        place.__dict__["__getattr__"] = look_up


def _bound(name: str, call: Callable[..., Any], today: Any) -> Callable[..., Any]:
    def changed(*args: Any, **kwargs: Any) -> Any:
        return call(today, *args, **kwargs)

    changed.__name__ = changed.__qualname__ = name.rpartition(".")[2]
    changed.__doc__ = getattr(today, "__doc__", None)
    return changed


def _as_function(cell: type) -> type:
    """A cell's class whose variables are those of the scope in which it is called.

    Cells were functions: one object, called in several scopes, had variables in each, so that
    `MultiRNNCell([cell] * 2)` has two layers.  `input_size` is taken where it stood, and makes
    nothing.  (Classes of programs that extend these keep one set of variables.)
    """
    place = {"BasicLSTMCell": 2}.get(cell.__name__, 1) if cell.__name__ in CELLS else -1
    given: Any = weakref.WeakKeyDictionary()
    others: Any = weakref.WeakKeyDictionary()

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("input_size", None)
        # None or a whole number stood there; what stands there now is neither.
        if 0 <= place < len(args) and (args[place] is None or type(args[place]) is int):
            args = (*args[:place], *args[place + 1 :])
        given[self] = args, kwargs
        cell.__init__(self, *args, **kwargs)  # type: ignore[misc]

    def __call__(self: Any, inputs: Any, state: Any, scope: Any = None, **more: Any) -> Any:
        from ...ops.public import tf

        called = self
        if type(self) is made:
            within = tf.get_variable_scope()._name, getattr(scope, "name", scope)
            known = others.setdefault(self, {})
            key = (*within, id(tf.get_default_graph()))
            if key not in known:
                args, kwargs = given[self]
                known[key] = made(*args, **kwargs) if known else None
            called = self if known[key] is None else known[key]
        return cell.__call__(called, inputs, state, scope, **more)  # type: ignore[operator]

    body = {"__init__": __init__, "__call__": __call__, "__module__": cell.__module__}
    made = type(cell.__name__, (cell,), body)
    return made


class _Module(ModuleType):
    """A module of before 1.0: what a namespace has, and what the module had in 1.15."""

    @classmethod
    def make(cls, path: str, find: Callable[[], Any]) -> None:
        """Puts one where `import` finds it, with the packages above."""
        from .. import finder

        parent, _, leaf = path.rpartition(".")
        if parent.count(".") and parent not in sys.modules and parent.startswith("tensorflow.mod"):
            cls.make(parent, lambda: ModuleType(parent))
        module = cls(path)
        try:
            known: Any = finder.resolve(path)
        except ImportError:
            known = None
        inside = INSIDE.get(path.removeprefix("tensorflow."))
        vars(module).update(__path__=[], _find=find, _known=known, _inside=inside)
        sys.modules[path] = module
        if parent in sys.modules:
            setattr(sys.modules[parent], leaf, module)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for place in (self._known, self._find()):
            if place is not None and hasattr(place, name):
                return getattr(place, name)
        if self._inside is not None:
            within = importlib.import_module(f"tensorflow.{self._inside}")
            if hasattr(within, name):
                return getattr(within, name)
        raise AttributeError(f"module {self.__name__!r} has no {name!r} in numbaflow")
