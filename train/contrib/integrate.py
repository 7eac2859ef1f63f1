# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.integrate`: solutions of ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_Function = Callable[[Tensor, Tensor], Tensor]


class _ButcherTableau(NamedTuple):
    """The coefficients of a Runge-Kutta method."""

    alpha: list[float]
    beta: list[list[float]]
    c_sol: list[float]
    c_mid: list[float]
    c_error: list[float]


# Dormand and Prince (1980); the value in the middle of a step by Shampine (1986).
_DORMAND_PRINCE_TABLEAU = _ButcherTableau(
    alpha=[1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0],
    beta=[
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ],
    c_sol=[35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0],
    c_mid=[
        *(6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2),
        *(-2691868925 / 45128329728 / 2, 187940372067 / 1594534317056 / 2),
        *(-1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2),
    ],
    c_error=[
        *(1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113, 451 / 720 - 125 / 192),
        *(-12231 / 42400 - -2187 / 6784, 649 / 6300 - 11 / 84, 1 / 60),
    ],
)


def _possibly_nonzero(x: object) -> bool:
    return isinstance(x, Tensor) or x != 0


def _scaled_dot_product(
    scale: object, xs: Sequence[Any], ys: Sequence[Any], name: str | None = None
) -> Tensor:
    """scale (x0 y0 + x1 y1 ...), without what is zero."""
    with name_scope(name, "scaled_dot_product", [scale, xs, ys]) as scope:
        pairs = [(x, y) for x, y in zip(xs, ys) if _possibly_nonzero(x) and _possibly_nonzero(y)]
        return tf.add_n([(scale * x) * y for x, y in pairs], name=scope)


def _dot_product(xs: Sequence[Any], ys: Sequence[Any], name: str | None = None) -> Tensor:
    with name_scope(name, "dot_product", [xs, ys]) as scope:
        return tf.add_n([x * y for x, y in zip(xs, ys)], name=scope)


def _runge_kutta_step(
    func: _Function,
    y0: object,
    f0: object,
    t0: object,
    dt: object,
    tableau: _ButcherTableau = _DORMAND_PRINCE_TABLEAU,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor, list[Tensor]]:
    """The value and slope after a step, the error, and the slopes on the way."""
    with name_scope(name, "runge_kutta_step", [y0, f0, t0, dt]) as scope:
        y0, f0 = convert_to_tensor(y0, name="y0"), convert_to_tensor(f0, name="f0")
        t0, dt = convert_to_tensor(t0, name="t0"), convert_to_tensor(dt, name="dt")
        step = tf.cast(dt, y0.dtype)
        k, y = [f0], y0
        for alpha, beta in zip(tableau.alpha, tableau.beta):
            t = t0 + alpha * dt
            y = y0 + _scaled_dot_product(step, beta, k)
            k.append(func(y, t))
        if not (tableau.c_sol[-1] == 0 and tableau.c_sol[:-1] == tableau.beta[-1]):
            y = y0 + _scaled_dot_product(step, tableau.c_sol, k)
        y1 = tf.identity(y, name=f"{scope}/y1")
        f1 = tf.identity(k[-1], name=f"{scope}/f1")
        error = _scaled_dot_product(step, tableau.c_error, k, name=f"{scope}/y1_error")
        return y1, f1, error, k


def _interp_fit(
    y0: Tensor, y1: Tensor, y_mid: Tensor, f0: Tensor, f1: Tensor, dt: Any
) -> list[Tensor]:
    """A polynomial of degree four through three values and with two slopes."""
    given = [f0, f1, y0, y1, y_mid]
    return [
        _dot_product([-2 * dt, 2 * dt, -8, -8, 16], given),
        _dot_product([5 * dt, -3 * dt, 18, 14, -32], given),
        _dot_product([-4 * dt, dt, -11, -5, 16], given),
        dt * f0,
        y0,
    ]


def _interp_fit_rk(
    y0: Tensor,
    y1: Tensor,
    k: Sequence[Tensor],
    dt: Tensor,
    tableau: _ButcherTableau = _DORMAND_PRINCE_TABLEAU,
) -> list[Tensor]:
    with name_scope("interp_fit_rk"):
        step = tf.cast(dt, y0.dtype)
        middle = y0 + _scaled_dot_product(step, tableau.c_mid, k)
        return _interp_fit(y0, y1, middle, k[0], k[-1], step)


def _interp_evaluate(coefficients: Sequence[Tensor], t0: object, t1: object, t: object) -> Tensor:
    """The polynomial's value at a time between the two."""
    with name_scope("interp_evaluate"):
        t0, t1, t = convert_to_tensor(t0), convert_to_tensor(t1), convert_to_tensor(t)
        dtype = coefficients[0].dtype
        text = "invalid interpolation, fails `t0 <= t <= t1`:"
        with control_dependencies([tf.Assert((t0 <= t) & (t <= t1), [text, t0, t, t1])]):
            x = tf.cast((t - t0) / (t1 - t0), dtype)
        powers = [tf.constant(1, dtype), x]
        for _ in range(2, len(coefficients)):
            powers.append(powers[-1] * x)
        return _dot_product(coefficients, powers[::-1])


def _optimal_step_size(
    last_step: Tensor,
    error_ratio: Tensor,
    safety: Any = 0.9,
    ifactor: Any = 10.0,
    dfactor: Any = 0.2,
    order: int = 5,
    name: str | None = None,
) -> Tensor:
    """A step after which the error would be what is tolerated."""
    with name_scope(name, "optimal_step_size", [last_step, error_ratio]) as scope:
        ratio = tf.cast(error_ratio, last_step.dtype)
        exponent = tf.cast(1 / order, last_step.dtype)
        factor = tf.minimum(ratio**exponent / safety, 1 / dfactor)
        return tf.div(last_step, tf.maximum(1 / ifactor, factor), name=scope)


def _abs_square(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        return tf.square(tf.real(x)) + tf.square(tf.imag(x))
    return tf.square(x)


class _RungeKuttaState(NamedTuple):
    """Value and slope at t1, the last step, the next one, and what interpolates the last one."""

    y1: Any
    f1: Any
    t0: Any
    t1: Any
    dt: Any
    interp_coeff: Any


class _History(NamedTuple):
    """Where steps ended, and how large their errors were."""

    integrate_points: Any
    error_ratio: Any


def _assert_increasing(t: Tensor) -> Any:
    is_increasing = tf.reduce_all(t[1:] > t[:-1])
    return control_dependencies([tf.Assert(is_increasing, ["`t` must be monotonic increasing"])])


def _check_input_types(y0: Tensor, t: Tensor, dt: Tensor | None = None) -> None:
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    for name, x in (("t", t), ("dt", dt)):
        if x is not None and not x.dtype.is_floating:
            raise TypeError(f"`{name}` must have a floating point dtype")


def _check_input_sizes(t: Tensor, dt: Tensor) -> None:
    if len(t.shape) > 1 or len(dt.shape) > 1:
        raise ValueError("t must be a 1D tensor")
    if t.shape[0] != dt.shape[0] + 1:
        raise ValueError("t and dt have incompatible lengths, must be N and N-1")


class _DormandPrince:
    """Steps of a size that follows from the error."""

    def __init__(
        self, func: _Function, t: Tensor, rtol: Tensor, atol: Tensor, options: dict[str, Any]
    ) -> None:
        self._func = func
        self._tolerances = rtol, atol
        known = {"first_step": 1.0, "safety": 0.9, "ifactor": 10.0, "dfactor": 0.2}
        steps = options.pop("max_num_steps", 1000)
        for name in options:
            if name not in known:
                raise TypeError(f"_dopri5() got an unexpected keyword argument '{name}'")
        given = {**known, **options}
        self._factors: dict[str, Any] = {
            name: convert_to_tensor(given[name], dtype=t.dtype, name=name) for name in known
        }
        self.first_step = self._factors.pop("first_step")
        self._max_num_steps = convert_to_tensor(steps, dtype=dtypes.int32, name="max_num_steps")

    def _checks(self, y0: Tensor, t0: Tensor, dt: Tensor, n_steps: Tensor) -> list[Any]:
        with name_scope("assertions"):
            moves = tf.Assert(t0 + dt > t0, ["underflow in dt", dt])
            ends = tf.Assert(n_steps < self._max_num_steps, ["max_num_steps exceeded"])
            finite = tf.reduce_all(tf.is_finite(abs(y0)))
            return [moves, ends, tf.Assert(finite, ["non-finite values in state `y`", y0])]

    def step(self, rk_state: _RungeKuttaState, history: _History, n_steps: Tensor) -> Any:
        """One more step, which counts only if its error is small enough."""
        y0, f0, _, t0, dt, coefficients = rk_state
        with control_dependencies(self._checks(y0, t0, dt, n_steps)):
            y1, f1, error, k = _runge_kutta_step(self._func, y0, f0, t0, dt)
        rtol, atol = self._tolerances
        with name_scope("error_ratio"):
            tolerated = atol + rtol * tf.maximum(abs(y0), abs(y1))
            ratio = tf.sqrt(tf.reduce_mean(_abs_square(error) / _abs_square(tolerated)))
            is_accepted = ratio <= 1
        with name_scope("update/rk_state"):
            state = _RungeKuttaState(
                tf.cond(is_accepted, lambda: y1, lambda: y0),
                tf.cond(is_accepted, lambda: f1, lambda: f0),
                t0,
                tf.cond(is_accepted, lambda: t0 + dt, lambda: t0),
                _optimal_step_size(dt, ratio, **self._factors),
                tf.cond(is_accepted, lambda: _interp_fit_rk(y0, y1, k, dt), lambda: coefficients),
            )
        with name_scope("update/history"):
            points, ratios = history
            history = _History(
                points.write(points.size(), t0 + dt), ratios.write(ratios.size(), ratio)
            )
        return state, history, n_steps + 1


def _dopri5(
    func: _Function,
    y0: Tensor,
    t: Tensor,
    rtol: Tensor,
    atol: Tensor,
    full_output: bool,
    name: str | None,
    options: dict[str, Any],
) -> Any:
    with name_scope(name, "dopri5", [y0, t, rtol, atol]) as scope:
        method = _DormandPrince(func, t, rtol, atol, options)

        def interpolate(
            solution: Any, history: Any, rk_state: Any, i: Tensor
        ) -> tuple[Any, Any, Any, Tensor]:
            with name_scope("interpolate"):
                rk_state, history, _ = tf.while_loop(
                    lambda state, *_: t[i] > state.t1,
                    method.step,
                    (rk_state, history, 0),
                    name="integrate_loop",
                )
                y = _interp_evaluate(rk_state.interp_coeff, rk_state.t0, rk_state.t1, t[i])
                return solution.write(i, y), history, rk_state, i + 1

        with _assert_increasing(t):
            count = tf.size(t)
        solution = tf.TensorArray(y0.dtype, size=count).write(0, y0)
        history = _History(*(tf.TensorArray(x.dtype, size=0, dynamic_size=True) for x in (t, rtol)))
        state = _RungeKuttaState(y0, func(y0, t[0]), t[0], t[0], method.first_step, [y0] * 5)
        solution, history, _, _ = tf.while_loop(
            lambda _, __, ___, i: i < count,
            interpolate,
            (solution, history, state, 1),
            name="interpolate_loop",
        )
        y = solution.stack(name=scope)
        y.set_shape(t.shape.concatenate(y0.shape))
        if not full_output:
            return y
        points = history.integrate_points.stack()
        return y, {
            "num_func_evals": 6 * tf.size(points) + 1,
            "integrate_points": points,
            "error_ratio": history.error_ratio.stack(),
        }


@export("contrib.integrate.odeint")
def odeint(
    func: _Function,
    y0: TensorLike,
    t: TensorLike,
    rtol: object = 1e-6,
    atol: object = 1e-12,
    method: str | None = None,
    options: dict[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """The solution of dy / dt = func(y, t) at some times, by steps that fit the tolerances.

    Args:
        func: the slope of a value and a time.
        y0: the value at the first time.
        t: the times, which increase.
        rtol: the relative error that is tolerated.
        atol: the absolute error that is tolerated.
        method: "dopri5" or None.
        options: of the method: first_step, safety, ifactor, dfactor, max_num_steps.
        full_output: whether facts about the steps are given, too.
        name: of the scope.

    Returns:
        A Tensor of the values at all times; with `full_output` also a dict.

    Raises:
        ValueError: there is no such method, or there are options without one.
        TypeError: a dtype is not floating.
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = convert_to_tensor(y0, name="y0")
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        _check_input_types(y0, t)
        kind = abs(y0).dtype
        rtol = convert_to_tensor(rtol, dtype=kind, name="rtol")
        atol = convert_to_tensor(atol, dtype=kind, name="atol")
        return _dopri5(func, y0, t, rtol, atol, full_output, scope, dict(options or {}))


def _midpoint(func: _Function, t: Tensor, dt: Tensor, y: Tensor) -> Tensor:
    step = tf.cast(dt, y.dtype)
    return step * func(y + func(y, t) * step / 2, t + dt / 2)


def _runge_kutta(func: _Function, t: Tensor, dt: Tensor, y: Tensor) -> Tensor:
    k1 = func(y, t)
    half = t + dt / 2
    step = tf.cast(dt, y.dtype)
    k2 = func(y + step * k1 / 2, half)
    k3 = func(y + step * k2 / 2, half)
    k4 = func(y + step * k3, t + dt)
    return tf.add_n([k1, 2 * k2, 2 * k3, k4]) * (step / 6)


_FIXED = {"midpoint": _midpoint, "rk4": _runge_kutta}


def _integrate(
    change: Callable[..., Tensor],
    func: _Function,
    y0: Tensor,
    times: Tensor,
    steps: Tensor,
    counts: Tensor,
) -> Tensor:
    """The values at all times, by so many equal steps in each interval."""

    def step(y: Tensor, t: Tensor, j: Tensor, i: Tensor) -> tuple[Any, Tensor, Tensor, Tensor]:
        dt = steps[i - 1]
        return y + tf.cast(change(func, t, dt, y), dtype=y.dtype), t + dt, j + 1, i

    def interval(
        values: Any, y: Tensor, t: Tensor, i: Tensor
    ) -> tuple[Any, Tensor, Tensor, Tensor]:
        y, t, _, _ = tf.while_loop(lambda _, __, j, i: j < counts[i - 1], step, (y, t, 0, i))
        return values.write(i, y), y, t, i + 1

    count = tf.size(times)
    values = tf.TensorArray(y0.dtype, count).write(0, y0)
    values, _, _, _ = tf.while_loop(
        lambda _, __, ___, i: i < count, interval, (values, y0, times[0], 1)
    )
    found = values.stack()
    found.set_shape(times.shape.concatenate(y0.shape))
    return found


@export("contrib.integrate.odeint_fixed")
def odeint_fixed(
    func: _Function,
    y0: TensorLike,
    t: TensorLike,
    dt: TensorLike | None = None,
    method: str = "rk4",
    name: str | None = None,
) -> Tensor:
    """The solution of dy / dt = func(y, t) at some times, by steps of given sizes.

    Args:
        func: the slope of a value and a time.
        y0: the value at the first time.
        t: the times, which increase.
        dt: the largest step, one for all intervals or for each; the intervals themselves if None.
        method: "rk4" or "midpoint".
        name: of the scope.

    Returns:
        A Tensor of the values at all times.

    Raises:
        ValueError: there is no such method, or sizes do not fit.
        TypeError: a dtype is not floating.
    """
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = convert_to_tensor(t, preferred_dtype=dtypes.float64, name="t")
        y0 = convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        largest = intervals if dt is None else dt
        steps = convert_to_tensor(largest, preferred_dtype=dtypes.float64, name="dt")
        counts = tf.ceil(intervals / steps)
        steps = intervals / counts
        counts = tf.cast(counts, dtype=dtypes.int32)
        _check_input_types(y0, t, steps)
        _check_input_sizes(t, steps)
        with _assert_increasing(t), name_scope(method):
            if method not in _FIXED:
                raise ValueError(f"method not supported: {method!s}")
            return _integrate(_FIXED[method], func, y0, t, steps, counts)
