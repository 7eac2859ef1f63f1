# SPDX-License-Identifier: Apache-2.0
"""The words of planted.py in each library, its custom gradients and its checker of gradients.

    python namespaces.py jax|torch|pytensor

prints, as JSON, what a peer's checker says of every row; for which it runs with the peer's Python.
`check(m, f, arrays)` of a library raises where its checker is not content.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

Check = Callable[[Any, Callable[..., Any], tuple[np.ndarray, ...]], None]


def numbaflow() -> tuple[Any, Check]:
    """Ours: `check_gradients` with all that it does by default."""
    import numbaflow as tf
    from numbaflow import testing

    def custom(f: Callable[..., Any], vjp: Callable[..., Any]) -> Callable[..., Any]:
        def call(*xs: Any) -> Any:
            return f(m, *xs), lambda g: vjp(m, g, *xs)

        return tf.custom_gradient(call)

    m = SimpleNamespace(
        **{name: getattr(tf, name) for name in "sin cos exp log tanh sqrt abs conj real".split()},
        **{name: getattr(tf, name) for name in "maximum where floor sign matmul cumsum".split()},
        sum=lambda x, axis=None: tf.reduce_sum(x, axis),
        mean=tf.reduce_mean,
        max=tf.reduce_max,
        clip=tf.clip_by_value,
        T=tf.transpose,
        inv=tf.matrix_inverse,
        take=lambda x, index: tf.gather(x, list(index)),
        concat=lambda *parts: tf.concat(parts, 0),
        part=lambda x, start, stop: x[start:stop],
        complex=lambda x: tf.cast(x, tf.complex128),
        const=lambda x: tf.constant(x),
        stop=tf.stop_gradient,
        co=lambda z: z,
        custom=custom,
    )
    return m, lambda m, f, arrays: void(testing.check_gradients(f, *arrays))


def void(_: object) -> None:
    """A checker says what it has to say by raising."""


def jax() -> tuple[Any, Check]:
    """jax.test_util.check_grads to order 2 in both modes."""
    import jax
    import jax.numpy as jnp
    from jax.test_util import check_grads

    jax.config.update("jax_enable_x64", True)

    def custom(f: Callable[..., Any], vjp: Callable[..., Any]) -> Callable[..., Any]:
        call = jax.custom_vjp(lambda *xs: f(m, *xs))
        call.defvjp(lambda *xs: (f(m, *xs), xs), lambda xs, g: tuple(vjp(m, g, *xs)))
        return call

    m = SimpleNamespace(
        **{name: getattr(jnp, name) for name in "sin cos exp log tanh sqrt abs conj real".split()},
        **{name: getattr(jnp, name) for name in "maximum where floor sign matmul".split()},
        sum=lambda x, axis=None: jnp.sum(x, axis),
        mean=jnp.mean,
        max=jnp.max,
        clip=jnp.clip,
        T=jnp.transpose,
        inv=jnp.linalg.inv,
        cumsum=jnp.cumsum,
        take=lambda x, index: x[jnp.array(index)],
        concat=lambda *parts: jnp.concatenate(parts),
        part=lambda x, start, stop: x[start:stop],
        complex=lambda x: x.astype(jnp.complex128),
        const=jnp.asarray,
        stop=jax.lax.stop_gradient,
        co=jnp.conj,  # its gradients are the conjugates of those of others
        custom=custom,
    )

    def check(m: Any, f: Callable[..., Any], arrays: tuple[np.ndarray, ...]) -> None:
        modes = ("rev",) if getattr(f, "is_custom", False) else ("fwd", "rev")
        check_grads(f, tuple(map(jnp.asarray, arrays)), order=2, modes=modes)

    return m, check


def torch() -> tuple[Any, Check]:
    """torch.autograd.gradcheck, then gradgradcheck."""
    import torch

    def custom(f: Callable[..., Any], vjp: Callable[..., Any]) -> Callable[..., Any]:
        class Call(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *xs: Any) -> Any:
                ctx.save_for_backward(*xs)
                with torch.no_grad():
                    return f(m, *xs)

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return tuple(vjp(m, g, *ctx.saved_tensors))

        return Call.apply

    def stop(x: Any) -> Any:
        return x.detach()

    m = SimpleNamespace(
        **{name: getattr(torch, name) for name in "sin cos exp log tanh sqrt abs conj".split()},
        **{name: getattr(torch, name) for name in "maximum where floor sign matmul mean".split()},
        real=torch.real,
        sum=lambda x, axis=None: torch.sum(x) if axis is None else torch.sum(x, axis),
        max=torch.amax,
        clip=torch.clip,
        T=lambda x: x.transpose(0, 1),
        inv=torch.linalg.inv,
        cumsum=lambda x: torch.cumsum(x, 0),
        take=lambda x, index: x[list(index)],
        concat=lambda *parts: torch.cat(parts),
        part=lambda x, start, stop: x[start:stop],
        complex=lambda x: x.to(torch.complex128),
        const=torch.as_tensor,
        stop=stop,
        co=lambda z: z,
        custom=custom,
    )

    def check(m: Any, f: Callable[..., Any], arrays: tuple[np.ndarray, ...]) -> None:
        xs = [torch.tensor(array, requires_grad=True) for array in arrays]
        torch.autograd.gradcheck(f, xs)
        torch.autograd.gradgradcheck(f, xs)

    return m, check


def pytensor() -> tuple[Any, Check]:
    """PyTensor's verify_grad, of the function and of its gradient."""
    import pytensor
    import pytensor.tensor as pt
    from pytensor.compile.builders import OpFromGraph
    from pytensor.gradient import disconnected_grad, verify_grad

    pytensor.config.mode, pytensor.config.linker = "FAST_COMPILE", "py"

    def custom(f: Callable[..., Any], vjp: Callable[..., Any]) -> Callable[..., Any]:
        def call(*xs: Any) -> Any:
            inner = [x.type() for x in xs]

            def gradient(inputs: Any, outputs: Any, grads: Any) -> Any:
                return list(vjp(m, grads[0], *inputs))

            result = f(m, *inner)
            try:
                op = OpFromGraph(inner, [result], pullback=gradient)
            except TypeError:
                op = OpFromGraph(inner, [result], lop_overrides=gradient)
            return op(*xs)

        return call

    m = SimpleNamespace(
        **{name: getattr(pt, name) for name in "sin cos exp log tanh sqrt abs conj real".split()},
        **{name: getattr(pt, name) for name in "maximum floor sign mean max clip".split()},
        where=pt.switch,
        matmul=pt.dot,
        sum=lambda x, axis=None: pt.sum(x, axis),
        T=lambda x: x.T,
        inv=pt.linalg.matrix_inverse if hasattr(pt.linalg, "matrix_inverse") else pt.linalg.inv,
        cumsum=lambda x: pt.cumsum(x, 0),
        take=lambda x, index: x[list(index)],
        concat=lambda *parts: pt.concatenate(parts),
        part=lambda x, start, stop: x[start:stop],
        complex=lambda x: pt.cast(x, "complex128"),
        const=pt.as_tensor,
        stop=disconnected_grad,
        co=lambda z: z,
        custom=custom,
    )

    def check(m: Any, f: Callable[..., Any], arrays: tuple[np.ndarray, ...]) -> None:
        random = np.random.default_rng(0)
        verify_grad(f, list(arrays), rng=random)

        def slope(*xs: Any) -> Any:
            return pt.grad(pt.sum(f(*xs)), list(xs), disconnected_inputs="ignore")[0]

        verify_grad(slope, list(arrays), rng=random)

    return m, check


LIBRARIES: dict[str, Callable[[], tuple[Any, Check]]] = {
    "numbaflow": numbaflow,
    "jax": jax,
    "torch": torch,
    "pytensor": pytensor,
}


def planted_call(m: Any, row: Any) -> Callable[..., Any]:
    """The function of a row with its wrong gradient."""
    call = m.custom(row.f, row.vjp)

    def f(*xs: Any) -> Any:
        return call(*xs)

    f.is_custom = True  # type: ignore[attr-defined]
    return f


def verdict(check: Check, m: Any, f: Callable[..., Any], arrays: Any) -> str:
    """What a checker says: "" or the first line of what it raises."""
    try:
        check(m, f, arrays)
    except Exception as error:
        text = next(iter(str(error).strip().splitlines()), "")
        return f"{type(error).__name__}: {text[:100]}"
    return ""


def _rows() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("planted", Path(__file__).with_name("planted.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted"] = module
    spec.loader.exec_module(module)
    return module


def main(name: str) -> None:
    """Prints the verdicts of a library on all rows."""
    import importlib.metadata

    warnings.simplefilter("ignore")
    rows = _rows()
    m, check = LIBRARIES[name]()
    found = {
        "version": importlib.metadata.version(name),
        "planted": {r.name: verdict(check, m, planted_call(m, r), r.arrays) for r in rows.PLANTED},
        "nasty": {
            r.name: verdict(check, m, lambda *xs, r=r: r.f(m, *xs), r.arrays) for r in rows.NASTY
        },
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
