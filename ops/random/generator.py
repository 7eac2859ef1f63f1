# SPDX-License-Identifier: Apache-2.0
"""`tf.random.experimental.Generator`: a stream of random numbers whose state is a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ..public import raw, tf
from .stateful import RNG_ALG_PHILOX

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

RNG_ALG_THREEFRY = 2
DEFAULT_ALGORITHM = RNG_ALG_PHILOX
_STATE_SIZES = {RNG_ALG_PHILOX: 3, RNG_ALG_THREEFRY: 2}
_WORD = (1 << 64) - 1


def _signed(value: int) -> int:
    return value - (1 << 64) if value > (1 << 63) - 1 else value


def _state_size(algorithm: int) -> int:
    if algorithm not in _STATE_SIZES:
        raise ValueError(f"Unsupported algorithm id: {algorithm}")
    return _STATE_SIZES[algorithm]


@export("random.experimental.create_rng_state")
def create_rng_state(seed: Any, algorithm: int) -> np.ndarray:
    """The state that a seed stands for (tf.random.experimental.create_rng_state).

    Args:
        seed: an integer of any size, or a vector of integers of 64 bits.
        algorithm: 1, which is Philox, or 2, ThreeFry, of which nothing can be drawn.

    Returns:
        int64, as many as the state of the algorithm has.

    Raises:
        ValueError: there is no such algorithm, or the seed has several dimensions.

    Example:
        >>> tf.random.experimental.create_rng_state(7, 1)
        array([7, 0, 0])
    """
    size = _state_size(algorithm)
    if isinstance(seed, int):
        seed = [seed >> (64 * i) & _WORD for i in range(size)]
    words = np.asarray([_signed(word) for word in seed], np.int64)
    if words.ndim != 1:
        raise ValueError(f"seed should only have one dimension; got shape: {words.shape}")
    return np.pad(words[:size], [(max(size - len(words), 0), 0)])


def _state_tensor(value: Any) -> Tensor:
    if isinstance(value, list):
        value = [_signed(word) if isinstance(word, int) else word for word in value]
    return convert_to_tensor(value, dtype=dtypes.int64)


def _shape_tensor(shape: TensorLike) -> Tensor:
    is_empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtype=dtypes.int64 if is_empty else None, name="shape")


@export("random.experimental.Generator")
class Generator:
    """A stream of random numbers, whose state is a variable.

    The variable is a resource variable and belongs to the graph, like all variables: initialize it
    before numbers are drawn.  What resets the stream or skips numbers returns the operation that
    does so, for a graph runs nothing of itself.

    Args:
        copy_from: a generator of which the state is copied.
        state: the state itself, int64; with it goes
        alg: the algorithm, 1 for Philox.

    Example:
        >>> generator = tf.random.experimental.Generator.from_seed(1)
        >>> draws = generator.uniform_full_int([2], tf.uint32)
        >>> with tf.Session() as session:
        ...     _ = session.run(generator.state.initializer)
        ...     print(session.run(draws))
        [4175744164 1555169499]
    """

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: int | None = None
    ) -> None:
        if copy_from is not None:
            assert alg is None and state is None, "copy_from goes without alg and state"
            self._alg_var, initial = copy_from.algorithm, copy_from.state
        else:
            assert alg is not None and state is not None, "alg and state go together"
            self._alg_var, initial = alg, _state_tensor(state)
            initial.shape.assert_is_compatible_with([_state_size(alg)])
        self._state_var: Any = tf.Variable(
            initial, dtype=dtypes.int64, trainable=False, use_resource=True
        )

    @classmethod
    def from_state(cls, state: Any, alg: int) -> Generator:
        """A generator with a given state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: int, alg: int | None = None) -> Generator:
        """A generator with the state that a seed stands for."""
        algorithm = DEFAULT_ALGORITHM if alg is None else alg
        return cls(state=create_rng_state(seed, algorithm), alg=algorithm)

    @classmethod
    def from_non_deterministic_state(cls, alg: int | None = None) -> Generator:
        """A generator with a state that the machine draws when the variable is initialized."""
        algorithm = DEFAULT_ALGORITHM if alg is None else alg
        state = raw.NonDeterministicInts(shape=[_state_size(algorithm)], dtype=dtypes.int64)
        return cls(state=state, alg=algorithm)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: int) -> Generator:
        """A generator whose state has two parts: the key of a stream and the place in it."""
        return cls(state=_joined(key, counter, alg), alg=alg)

    def reset(self, state: Any) -> Operation:
        """Makes `state` the state."""
        state = _state_tensor(state)
        state.shape.assert_is_compatible_with([_state_size(self._alg_var)])
        return self._assigned(state)

    def reset_from_seed(self, seed: int) -> Operation:
        """Makes what a seed stands for the state."""
        return self._assigned(create_rng_state(seed, self._alg_var))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Operation:
        """Makes a key and a counter the state."""
        return self._assigned(_joined(key, counter, self._alg_var))

    def _assigned(self, state: Any) -> Operation:
        operation: Operation = self._state_var.assign(state, read_value=False)
        return operation

    @property
    def state(self) -> Any:
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._alg_var

    @property
    def key(self) -> Any:
        """The last number of the state, which says which stream it is."""
        _state_size(self._alg_var)
        return self._state_var[-1]

    def skip(self, delta: TensorLike) -> Operation:
        """Moves on as if `delta` numbers had been drawn."""
        operation: Operation = raw.RngSkip(self._state_var.handle, self._alg_var, delta)
        return operation

    def normal(
        self,
        shape: TensorLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normally distributed numbers."""
        given = ("StatefulStandardNormalV2", shape, mean, stddev, dtype)
        return self._scaled(name, "stateful_normal", *given)

    def truncated_normal(
        self,
        shape: TensorLike,
        mean: TensorLike = 0.0,
        stddev: TensorLike = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normally distributed numbers within two deviations of the mean."""
        given = ("StatefulTruncatedNormal", shape, mean, stddev, dtype)
        return self._scaled(name, "truncated_normal", *given)

    def _scaled(
        self,
        name: str | None,
        scope: str,
        op_type: str,
        shape: TensorLike,
        mean: TensorLike,
        stddev: TensorLike,
        dtype: DTypeLike,
    ) -> Tensor:
        with name_scope(name, scope, [shape, mean, stddev]) as name:
            shape = _shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype=dtype, name="mean")
            stddev = convert_to_tensor(stddev, dtype=dtype, name="stddev")
            draws = getattr(raw, op_type)(self._state_var.handle, self._alg_var, shape, dtype=dtype)
            return tf.add(draws * stddev, mean, name=name)

    def uniform(
        self,
        shape: TensorLike,
        minval: TensorLike = 0,
        maxval: Any = None,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Uniformly distributed numbers in [minval, maxval).

        Args:
            shape: of the result.
            minval: the least number.
            maxval: the limit, which is not reached; 1 for floats, needed for integers.
            dtype: of the result: floats, int32 or int64.
            name: of the operations.

        Raises:
            ValueError: there is no limit for integers.
        """
        kind = dtypes.as_dtype(dtype)
        if maxval is None:
            if kind.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {kind!r}")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as name:
            shape = _shape_tensor(shape)
            low = convert_to_tensor(minval, dtype=kind, name="min")
            high = convert_to_tensor(maxval, dtype=kind, name="max")
            given = (self._state_var.handle, self._alg_var, shape)
            if kind.is_integer:
                return raw.StatefulUniformInt(*given, low, high, name=name)
            draws = raw.StatefulUniform(*given, dtype=kind)
            return tf.add(draws * (high - low), low, name=name)

    def uniform_full_int(
        self, shape: TensorLike, dtype: DTypeLike = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers of all bits of their dtype: int32, int64, uint32 or uint64."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as name:
            return raw.StatefulUniformFullInt(
                self._state_var.handle, self._alg_var, _shape_tensor(shape), dtype=dtype, name=name
            )

    def binomial(
        self,
        shape: TensorLike,
        counts: TensorLike,
        probs: TensorLike,
        dtype: DTypeLike = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """How many of `counts` trials succeed, each with the probability `probs`.

        Both are numbers, or vectors with one for each row of the result.
        """
        with name_scope(name, "binomial", [shape, counts, probs]) as name:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, name="probs")
            shape = _shape_tensor(shape)
            return raw.StatefulRandomBinomial(
                *(self._state_var.handle, self._alg_var, shape, counts, probs),
                dtype=dtype,
                name=name,
            )

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for stateless ops: int64 of the shape [2, count]."""
        _state_size(self._alg_var)
        keys = self.uniform_full_int([count], dtypes.int64)
        return tf.stack([keys, tf.zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Generators with streams of their own, whose keys this one draws.

        The keys are drawn when the new variables are initialized.
        """
        size = _state_size(self._alg_var)
        keys = self.uniform_full_int([count], dtypes.int64)
        rest = tf.zeros([size - 1], dtypes.int64)
        return [
            Generator(state=tf.concat([rest, keys[i : i + 1]], 0), alg=self._alg_var)
            for i in range(count)
        ]


def _joined(key: Any, counter: Any, algorithm: int) -> Tensor:
    counter, key = _state_tensor(counter), _state_tensor(key)
    counter.shape.assert_is_compatible_with([_state_size(algorithm) - 1])
    key.shape.assert_is_compatible_with([])
    return tf.concat([counter, tf.reshape(key, [1])], 0)


_global: list[Generator] = []


@export("random.experimental.get_global_generator")
def get_global_generator() -> Generator:
    """The generator of the process, made when it is first asked for."""
    if not _global:
        _global.append(Generator.from_non_deterministic_state())
    return _global[0]


@export("random.experimental.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Makes another generator that of the process."""
    _global[:] = [generator]
