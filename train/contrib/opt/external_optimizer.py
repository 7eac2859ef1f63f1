# SPDX-License-Identifier: Apache-2.0
"""Optimizers outside the graph: loops in Python, such as SciPy's, that run the loss."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.interface import log
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from ....ops.state.variables import Variable

Evaluation = Callable[[np.ndarray], list[Any]]


def _shape_of(var: Variable) -> tuple[int, ...]:
    return tuple(var.get_shape().as_list())


def _gradients(value: Any, variables: Sequence[Variable]) -> list[Any]:
    gradients = tf.gradients(value, variables)
    return [tf.zeros_like(v) if g is None else g for v, g in zip(variables, gradients)]


def _pack(tensors: Sequence[Any]) -> Any:
    """All elements in one vector; None without tensors."""
    if not tensors:
        return None
    if len(tensors) == 1:
        return tf.reshape(tensors[0], [-1])
    return tf.concat([tf.reshape(tensor, [-1]) for tensor in tensors], 0)


@export("contrib.opt.ExternalOptimizerInterface")
class ExternalOptimizerInterface:
    """Minimizes a loss by a loop outside the graph (tf.contrib.opt.ExternalOptimizerInterface).

    A subclass overrides `_minimize`.

    Args:
        loss: a scalar tensor.
        var_list: the variables; all trainable ones if None.
        equalities: tensors to be held at zero, if the optimizer can.
        inequalities: tensors to be held at zero or above.
        var_to_bounds: pairs of least and greatest value, numbers or arrays, by variable.
        optimizer_kwargs: go to `_minimize`.
    """

    def __init__(
        self,
        loss: object,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: Mapping[Any, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities = equalities or []
        self._inequalities = inequalities or []
        self._vars = tf.trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._update_placeholders = [tf.placeholder(v.dtype) for v in self._vars]
        self._var_updates = [
            v.assign(tf.reshape(placeholder, _shape_of(v)))
            for v, placeholder in zip(self._vars, self._update_placeholders)
        ]
        groups = ([loss], self._equalities, self._inequalities)
        gradients = [[_gradients(value, self._vars) for value in group] for group in groups]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = self._pack(self._vars)
        packed = [[self._pack(one) for one in group] for group in gradients]
        [self._packed_loss_grad] = packed[0]
        self._packed_equality_grads, self._packed_inequality_grads = packed[1:]
        sizes = [math.prod(_shape_of(v)) for v in self._vars]
        ends = [0, *itertools.accumulate(sizes)]
        self._packing_slices = [slice(a, b) for a, b in itertools.pairwise(ends)]

    def _bounds(self, var_to_bounds: Mapping[Any, tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """The bounds of each element."""
        least: list[Any] = []
        greatest: list[Any] = []
        for v in self._vars:
            bounds = var_to_bounds.get(v, (-np.inf, np.inf))
            for bound, into in zip(bounds, (least, greatest)):
                into.extend(np.broadcast_to(bound, _shape_of(v)).flat)
        return list(zip(least, greatest))

    def minimize(
        self,
        session: BaseSession | None = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: list[Any] | None = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Runs the loop, and then sets the variables; until then they do not change.

        Args:
            session: the default session if None.
            feed_dict: for each run of the loss.
            fetches: what each run is asked for besides.
            step_callback: a function of all variables as one vector, after each step.
            loss_callback: a function of what was fetched, after each run of the loss.
            run_kwargs: go to the run that sets the variables.
        """
        session = session or tf.get_default_session()
        feeds, fetched = dict(feed_dict or {}), fetches or []

        def evaluation(tensors: object, callback: Callable[..., Any] | None = None) -> Evaluation:
            return self._make_eval_func(tensors, session, feeds, fetched, callback)

        loss_grad = [self._loss, self._packed_loss_grad]
        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=evaluation(loss_grad, loss_callback or (lambda *_: None)),
            equality_funcs=[evaluation(value) for value in self._equalities],
            equality_grad_funcs=[evaluation(grad) for grad in self._packed_equality_grads],
            inequality_funcs=[evaluation(value) for value in self._inequalities],
            inequality_grad_funcs=[evaluation(grad) for grad in self._packed_inequality_grads],
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda _: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [found[part] for part in self._packing_slices]
        session.run(
            self._var_updates, feed_dict=dict(zip(self._update_placeholders, values)), **run_kwargs
        )

    def _minimize(
        self,
        initial_val: np.ndarray,
        loss_grad_func: Evaluation,
        equality_funcs: list[Evaluation],
        equality_grad_funcs: list[Evaluation],
        inequality_funcs: list[Evaluation],
        inequality_grad_funcs: list[Evaluation],
        packed_bounds: list[tuple[Any, Any]] | None,
        step_callback: Callable[..., Any],
        optimizer_kwargs: dict[str, Any],
    ) -> np.ndarray:
        """The loop: from one vector of all variables to the best one.

        Args:
            initial_val: the vector to begin with.
            loss_grad_func: gives the loss and its gradient at a vector.
            equality_funcs, equality_grad_funcs: give what is to be zero, and its gradients.
            inequality_funcs, inequality_grad_funcs: give what is not to be negative.
            packed_bounds: least and greatest values, or None.
            step_callback: is told each vector.
            optimizer_kwargs: of the constructor.
        """
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
            "method."
        )

    @classmethod
    def _pack(cls, tensors: Sequence[Any]) -> Any:
        return _pack(tensors)

    def _make_eval_func(
        self,
        tensors: Any,
        session: BaseSession,
        feed_dict: Mapping[Any, Any],
        fetches: list[Any],
        callback: Callable[..., Any] | None = None,
    ) -> Evaluation:
        wanted = tensors if isinstance(tensors, list) else [tensors]

        def evaluate(x: np.ndarray) -> list[Any]:
            parts = zip(self._vars, self._packing_slices)
            feeds: dict[Any, Any] = {v: x[part].reshape(_shape_of(v)) for v, part in parts}
            values = session.run(wanted + fetches, feed_dict={**feeds, **feed_dict})
            if callable(callback):
                callback(*values[len(wanted) :])
            return list(values[: len(wanted)])

        return evaluate


@export("contrib.opt.ScipyOptimizerInterface")
class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes a loss by scipy.optimize.minimize (tf.contrib.opt.ScipyOptimizerInterface).

    Args:
        loss, var_list, equalities, inequalities, var_to_bounds: as of
            `ExternalOptimizerInterface`.
        optimizer_kwargs: of scipy.optimize.minimize, such as method="SLSQP" (L-BFGS-B by default)
            and options={"maxiter": 100}.

    Raises:
        ImportError: by `minimize`, where SciPy is not installed.
        ValueError: by `minimize`: an argument of SciPy's that is set here was given.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: np.ndarray,
        loss_grad_func: Evaluation,
        equality_funcs: list[Evaluation],
        equality_grad_funcs: list[Evaluation],
        inequality_funcs: list[Evaluation],
        inequality_grad_funcs: list[Evaluation],
        packed_bounds: list[tuple[Any, Any]] | None,
        step_callback: Callable[..., Any],
        optimizer_kwargs: dict[str, Any],
    ) -> np.ndarray:
        # SciPy's compiled parts take doubles only.
        def doubles(evaluation: Evaluation) -> Callable[[np.ndarray], Any]:
            return lambda x: np.asarray(evaluation(x), np.float64)

        def loss_and_gradient(x: np.ndarray) -> tuple[Any, Any]:
            loss, gradient = loss_grad_func(x)
            return loss, gradient.astype(np.float64)

        given = dict(optimizer_kwargs)
        kinds = (
            ("eq", equality_funcs, equality_grad_funcs),
            ("ineq", inequality_funcs, inequality_grad_funcs),
        )
        own = {
            "jac": True,
            "callback": step_callback,
            "method": given.pop("method", self._DEFAULT_METHOD),
            "constraints": [
                {"type": kind, "fun": doubles(value), "jac": doubles(gradient)}
                for kind, values, gradients in kinds
                for value, gradient in zip(values, gradients)
            ],
            "bounds": packed_bounds,
        }
        for name in own.keys() & given.keys():
            if name == "bounds":
                raise ValueError("Bounds must be set using the var_to_bounds argument")
            raise ValueError(
                f"Optimizer keyword arg '{name}' is set automatically and cannot be injected "
                "manually"
            )
        start = np.asarray(initial_val, np.float64)
        result = _scipy_minimize()(loss_and_gradient, start, **own, **given)
        _tell(result)
        best: np.ndarray = result["x"]
        return best


def _scipy_minimize() -> Callable[..., Any]:
    try:
        from scipy.optimize import minimize
    except ImportError as error:
        raise ImportError(
            "tf.contrib.opt.ScipyOptimizerInterface needs SciPy: pip install scipy"
        ) from error
    function: Callable[..., Any] = minimize
    return function


def _tell(result: Any) -> None:
    lines = [
        "Optimization terminated with:",
        f"  Message: {result.message}",
        f"  Objective function value: {result.fun}",
    ]
    if "nit" in result:
        lines.append(f"  Number of iterations: {result.nit}")
    if "nfev" in result:
        lines.append(f"  Number of functions evaluations: {result.nfev}")
    log.info("%s", "\n".join(lines))
