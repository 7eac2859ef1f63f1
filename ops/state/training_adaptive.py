# SPDX-License-Identifier: Apache-2.0
"""The update ops of the adaptive optimizers: Adam and its kin, RMSProp, Adadelta, Ftrl, signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...jit.kernel import scalar as k
from .training import _one_minus, update_op

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...jit.kernel.scalar import Operand


def _toward(x: Operand, goal: Operand, keep: Operand) -> Any:
    """A moving average: x moves to `goal` by the part that is not kept."""
    # keep * x + (1 - keep) * goal, written as in TensorFlow's kernels, whose bits it has.
    return k.add(x, k.mul(k.sub(goal, x), _one_minus(keep)))


# The correction of both moments for their start at zero, taken together as in section 2 of Kingma
# and Ba (arXiv 1412.6980), where epsilon is then their "epsilon hat".
def _adam_rate(rate: Operand, power1: Operand, power2: Operand) -> Any:
    return k.div(k.mul(rate, k.sqrt(_one_minus(power2))), _one_minus(power1))


def _adam(op: Operation) -> Any:
    nesterov = op.attr("use_nesterov")

    def update(
        var: Operand,
        m: Operand,
        v: Operand,
        power1: Operand,
        power2: Operand,
        lr: Operand,
        beta1: Operand,
        beta2: Operand,
        epsilon: Operand,
        grad: Operand,
    ) -> Any:
        rate = _adam_rate(lr, power1, power2)
        m, v = _toward(m, grad, beta1), _toward(v, k.square(grad), beta2)
        move = k.add(k.mul(grad, _one_minus(beta1)), k.mul(beta1, m)) if nesterov else m
        return k.sub(var, k.div(k.mul(move, rate), k.add(k.sqrt(v), epsilon))), m, v

    return update


update_op(
    ("ApplyAdam", "ResourceApplyAdam"),
    "var m v",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    _adam,
    attrs="use_nesterov: bool = false",
    doc="Adam: moving averages of the gradient and of its square.",
)


def _amsgrad(op: Operation) -> Any:
    def update(
        var: Operand,
        m: Operand,
        v: Operand,
        vhat: Operand,
        power1: Operand,
        power2: Operand,
        lr: Operand,
        beta1: Operand,
        beta2: Operand,
        epsilon: Operand,
        grad: Operand,
    ) -> Any:
        rate = _adam_rate(lr, power1, power2)
        m, v = _toward(m, grad, beta1), _toward(v, k.square(grad), beta2)
        vhat = k.maximum(vhat, v)
        return k.sub(var, k.div(k.mul(m, rate), k.add(k.sqrt(vhat), epsilon))), m, v, vhat

    return update


update_op(
    (None, "ResourceApplyAdamWithAmsgrad"),
    "var m v vhat",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    _amsgrad,
    doc="Adam that divides by the largest second moment so far.",
)


def _adamax(op: Operation) -> Any:
    def update(
        var: Operand,
        m: Operand,
        v: Operand,
        power1: Operand,
        lr: Operand,
        beta1: Operand,
        beta2: Operand,
        epsilon: Operand,
        grad: Operand,
    ) -> Any:
        m = _toward(m, grad, beta1)
        v = k.maximum(k.mul(beta2, v), k.abs(grad))
        rate = k.div(lr, _one_minus(power1))
        return k.sub(var, k.mul(rate, k.div(m, k.add(v, epsilon)))), m, v

    return update


update_op(
    ("ApplyAdaMax", "ResourceApplyAdaMax"),
    "var m v",
    "beta1_power lr beta1 beta2 epsilon grad",
    _adamax,
    doc="Adam with the infinity norm.",
)


def _rmsprop(op: Operation) -> Any:
    def update(
        var: Operand,
        ms: Operand,
        mom: Operand,
        lr: Operand,
        rho: Operand,
        momentum: Operand,
        epsilon: Operand,
        grad: Operand,
    ) -> Any:
        ms = _toward(ms, k.square(grad), rho)
        # Epsilon stands under the root here, and beside it in Adam.
        step = k.div(k.mul(grad, lr), k.sqrt(k.add(ms, epsilon)))
        mom = k.add(k.mul(mom, momentum), step)
        return k.sub(var, mom), ms, mom

    return update


def _centered_rmsprop(op: Operation) -> Any:
    def update(
        var: Operand,
        mg: Operand,
        ms: Operand,
        mom: Operand,
        lr: Operand,
        rho: Operand,
        momentum: Operand,
        epsilon: Operand,
        grad: Operand,
    ) -> Any:
        ms, mg = _toward(ms, k.square(grad), rho), _toward(mg, grad, rho)
        variance = k.add(k.sub(ms, k.square(mg)), epsilon)
        mom = k.add(k.mul(mom, momentum), k.div(k.mul(grad, lr), k.sqrt(variance)))
        return k.sub(var, mom), mg, ms, mom

    return update


update_op(
    ("ApplyRMSProp", "ResourceApplyRMSProp"),
    "var ms mom",
    "lr rho momentum epsilon grad",
    _rmsprop,
    sparse=("SparseApplyRMSProp", "ResourceSparseApplyRMSProp"),
    sparse_inputs="lr rho momentum epsilon grad indices",
    doc="Divides by the root of a moving average of squared gradients.",
)
update_op(
    ("ApplyCenteredRMSProp", "ResourceApplyCenteredRMSProp"),
    "var mg ms mom",
    "lr rho momentum epsilon grad",
    _centered_rmsprop,
    sparse=("SparseApplyCenteredRMSProp", "ResourceSparseApplyCenteredRMSProp"),
    sparse_inputs="lr rho momentum epsilon grad indices",
    doc="RMSProp with the variance in place of the second moment.",
)


def _adadelta(op: Operation) -> Any:
    def update(
        var: Operand,
        accum: Operand,
        updates: Operand,
        lr: Operand,
        rho: Operand,
        epsilon: Operand,
        grad: Operand,
    ) -> Any:
        accum = k.add(k.mul(accum, rho), k.mul(k.square(grad), _one_minus(rho)))
        # Zeiler (arXiv 1212.5701): the ratio gives steps the unit of the variable.
        ratio = k.mul(k.sqrt(k.add(updates, epsilon)), k.rsqrt(k.add(accum, epsilon)))
        step = k.mul(ratio, grad)
        updates = k.add(k.mul(updates, rho), k.mul(k.square(step), _one_minus(rho)))
        return k.sub(var, k.mul(step, lr)), accum, updates

    return update


update_op(
    ("ApplyAdadelta", "ResourceApplyAdadelta"),
    "var accum accum_update",
    "lr rho epsilon grad",
    _adadelta,
    sparse=("SparseApplyAdadelta", "ResourceSparseApplyAdadelta"),
    sparse_inputs="lr rho epsilon grad indices",
    doc="Steps scaled by the ratio of moving averages of steps and of gradients.",
)


def _ftrl_step(
    var: Operand,
    accum: Operand,
    linear: Operand,
    grad: Operand,
    slope: Operand,
    lr: Operand,
    l1: Operand,
    l2: Operand,
    power: Operand,
) -> Any:
    """One step of follow-the-regularized-leader; `slope` includes the shrinkage."""
    new = k.add(accum, k.square(grad))
    # TensorFlow takes the root for the usual power: it is exact where a power is not.
    is_root = k.eq(power, k.const_like(-0.5, power))

    def root(x: Operand) -> Any:
        return k.select(is_root, k.sqrt(x), k.pow(x, k.neg(power)))

    grown = root(new)
    # McMahan and others, "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1.
    sigma = k.div(k.sub(grown, root(accum)), lr)
    linear = k.add(linear, k.sub(slope, k.mul(sigma, var)))
    # The minimum is at zero where |linear| does not exceed l1: that is what makes weights sparse.
    pull = k.sub(k.mul(l1, k.sign(linear)), linear)
    scale = k.add(k.div(grown, lr), k.mul(k.const_like(2, l2), l2))
    var = k.select(k.gt(k.abs(linear), l1), k.div(pull, scale), k.const_like(0, var))
    return var, new, linear


def _ftrl(op: Operation) -> Any:
    return lambda var, accum, linear, grad, lr, l1, l2, power: _ftrl_step(
        var, accum, linear, grad, grad, lr, l1, l2, power
    )


def _ftrl_v2(op: Operation) -> Any:
    def update(
        var: Operand,
        accum: Operand,
        linear: Operand,
        grad: Operand,
        lr: Operand,
        l1: Operand,
        l2: Operand,
        shrinkage: Operand,
        power: Operand,
    ) -> Any:
        twice = k.mul(k.const_like(2, shrinkage), shrinkage)
        slope = k.add(grad, k.mul(twice, var))
        return _ftrl_step(var, accum, linear, grad, slope, lr, l1, l2, power)

    return update


update_op(
    ("ApplyFtrl", "ResourceApplyFtrl"),
    "var accum linear",
    "grad lr l1 l2 lr_power",
    _ftrl,
    sparse=("SparseApplyFtrl", "ResourceSparseApplyFtrl"),
    sparse_inputs="grad indices lr l1 l2 lr_power",
    doc="Follow the regularized leader.",
)
update_op(
    ("ApplyFtrlV2", "ResourceApplyFtrlV2"),
    "var accum linear",
    "grad lr l1 l2 l2_shrinkage lr_power",
    _ftrl_v2,
    sparse=("SparseApplyFtrlV2", "ResourceSparseApplyFtrlV2"),
    sparse_inputs="grad indices lr l1 l2 l2_shrinkage lr_power",
    doc="Follow the regularized leader, with shrinkage.",
)


def _signs_agree(m: Operand, beta: Operand, grad: Operand) -> tuple[Any, Any]:
    m = k.add(k.mul(m, beta), k.mul(grad, _one_minus(beta)))
    return m, k.mul(k.sign(grad), k.sign(m))


def _add_sign(op: Operation) -> Any:
    def update(
        var: Operand,
        m: Operand,
        lr: Operand,
        alpha: Operand,
        decay: Operand,
        beta: Operand,
        grad: Operand,
    ) -> Any:
        m, sign = _signs_agree(m, beta, grad)
        scale = k.mul(lr, k.add(alpha, k.mul(decay, sign)))
        return k.sub(var, k.mul(scale, grad)), m

    return update


def _power_sign(op: Operation) -> Any:
    def update(
        var: Operand,
        m: Operand,
        lr: Operand,
        logbase: Operand,
        decay: Operand,
        beta: Operand,
        grad: Operand,
    ) -> Any:
        m, sign = _signs_agree(m, beta, grad)
        scale = k.exp(k.mul(k.mul(logbase, decay), sign))
        return k.sub(var, k.mul(k.mul(lr, scale), grad)), m

    return update


update_op(
    ("ApplyAddSign", "ResourceApplyAddSign"),
    "var m",
    "lr alpha sign_decay beta grad",
    _add_sign,
    doc="Larger steps where the gradient agrees with its moving average.",
)
update_op(
    ("ApplyPowerSign", "ResourceApplyPowerSign"),
    "var m",
    "lr logbase sign_decay beta grad",
    _power_sign,
    doc="Exponentially larger steps where the gradient agrees with its moving average.",
)
