# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.gpu_products`: products and convolutions on a GPU beside PyTorch's.

First every case is computed at small sizes and compared with NumPy in float64, twice, for the same
bits; then all are timed at their sizes, ours by a session whose values are variables on the card,
PyTorch's by its functions over tensors there, in full precision both (no TF32).  Figures are
medians by the card's own events, written into benchmarks/results/gpu/.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine.session.device_placement import gpus
from numbaflow.jit import threads

from .gpu import RESULTS
from .report import machine

_RUNS, _FIRST = 15, 3
# What a sum of ordinary numbers may be off by, of the largest of the results.
_NEAR = {"float64": 1e-12, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


@dataclass(frozen=True)
class Product:
    """x @ y of stacks of matrices, perhaps with bias and relu."""

    dtype: str
    lead: int
    m: int
    k: int
    n: int
    turn_x: bool = False
    turn_y: bool = False
    is_dense: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        turns = f"{'t' * self.turn_x}.{'t' * self.turn_y}".replace(".", "n" if self.turn_x else "")
        stack = f"{self.lead}x" if self.lead > 1 else ""
        text = f"product {self.dtype} {stack}{self.m}x{self.k}x{self.n} {turns}".strip()
        return text + " +bias relu" * self.is_dense

    @property
    def operations(self) -> float:
        """Multiplications and additions."""
        return 2.0 * self.lead * self.m * self.k * self.n

    def small(self) -> Product:
        """The same at small, odd sizes."""
        sizes = min(self.m, 77), min(self.k, 50), min(self.n, 39)
        return Product(self.dtype, min(self.lead, 3), *sizes, *self._rest)

    @property
    def _rest(self) -> tuple[bool, bool, bool]:
        return self.turn_x, self.turn_y, self.is_dense

    def shapes(self) -> list[tuple[int, ...]]:
        """Those of the inputs."""
        lead = (self.lead,) if self.lead > 1 else ()
        x = (self.k, self.m) if self.turn_x else (self.m, self.k)
        y = (self.n, self.k) if self.turn_y else (self.k, self.n)
        return [(*lead, *x), (*lead, *y), *[(self.n,)] * self.is_dense]

    def ours(self, x: Any, y: Any, *bias: Any) -> Any:
        """The operation."""
        z = tf.matmul(x, y, transpose_a=self.turn_x, transpose_b=self.turn_y)
        return tf.nn.relu(tf.nn.bias_add(z, bias[0])) if bias else z

    def numpy(self, x: Any, y: Any, *bias: Any) -> Any:
        """The same by NumPy."""
        x = x.swapaxes(-1, -2) if self.turn_x else x
        z = x @ (y.swapaxes(-1, -2) if self.turn_y else y)
        return np.maximum(z + bias[0], 0) if bias else z

    def torch(self, torch: Any, x: Any, y: Any, *bias: Any) -> Any:
        """The same by PyTorch."""
        x = x.transpose(-1, -2) if self.turn_x else x
        y = y.transpose(-1, -2) if self.turn_y else y
        return torch.relu(torch.addmm(bias[0], x, y)) if bias else torch.matmul(x, y)


@dataclass(frozen=True)
class Convolution:
    """A convolution of NHWC images, or a gradient of it: "forward", "images" or "filters"."""

    kind: str
    dtype: str
    images: tuple[int, int, int, int]
    window: int
    features: int
    stride: int = 1
    padding: str = "SAME"

    @property
    def name(self) -> str:
        """What the table calls it."""
        images = "x".join(map(str, self.images))
        how = f"{self.window}x{self.window}/{self.stride} {self.padding}"
        return f"conv {self.kind} {self.dtype} {images} {how} {self.features}"

    @property
    def operations(self) -> float:
        """Multiplications and additions."""
        n, _, _, c = self.images
        high, wide = self.out
        return 2.0 * n * high * wide * self.window**2 * c * self.features

    @property
    def out(self) -> tuple[int, int]:
        """Height and width of the result."""
        reach = 1 if self.padding == "SAME" else self.window
        return tuple((size - reach) // self.stride + 1 for size in self.images[1:3])  # type: ignore[return-value]

    @property
    def ends(self) -> list[tuple[int, int]]:
        """How much padding is before and behind."""
        if self.padding != "SAME":
            return [(0, 0), (0, 0)]
        wanted = (
            (o - 1) * self.stride + self.window - s for o, s in zip(self.out, self.images[1:])
        )
        return [(max(p, 0) // 2, max(p, 0) - max(p, 0) // 2) for p in wanted]

    def small(self) -> Convolution:
        """The same of small images."""
        n, high, wide, c = self.images
        images = (min(n, 2), min(high, 13), min(wide, 11), min(c, 12))
        rest = self.window, min(self.features, 20), self.stride, self.padding
        return Convolution(self.kind, self.dtype, images, *rest)

    def shapes(self) -> list[tuple[int, ...]]:
        """Those of the inputs."""
        w = (self.window, self.window, self.images[3], self.features)
        dy = (self.images[0], *self.out, self.features)
        return {"forward": [self.images, w], "images": [w, dy], "filters": [self.images, dy]}[
            self.kind
        ]

    def ours(self, one: Any, other: Any) -> Any:
        """The operation."""
        rest = {"strides": [1, self.stride, self.stride, 1], "padding": self.padding}
        if self.kind == "forward":
            return tf.nn.conv2d(one, other, **rest)
        if self.kind == "images":
            return tf.nn.conv2d_backprop_input(list(self.images), one, other, **rest)
        w = [self.window, self.window, self.images[3], self.features]
        return tf.nn.conv2d_backprop_filter(one, w, other, **rest)

    def numpy(self, one: Any, other: Any) -> Any:
        """The same by NumPy: a product for each tap."""
        (high, wide), step = self.out, self.stride
        pads = [(0, 0), *self.ends, (0, 0)]
        n, height, width, c = self.images
        whole = tuple(s + sum(p) for s, p in zip(self.images, pads))
        x = np.zeros(whole) if self.kind == "images" else np.pad(one, pads)
        y = np.zeros((n, high, wide, self.features))
        w = np.zeros((self.window, self.window, c, self.features))
        for i in range(self.window):
            for j in range(self.window):
                tap = x[:, i : i + high * step : step, j : j + wide * step : step][:, :high, :wide]
                if self.kind == "forward":
                    y += tap @ other[i, j]
                elif self.kind == "images":
                    tap += other @ one[i, j].T
                else:
                    w[i, j] = np.einsum("nhwc,nhwf->cf", tap, other)
        (top, _), (left, _) = self.ends
        part = x[:, top : top + height, left : left + width]
        return {"forward": y, "images": part, "filters": w}[self.kind]

    def torch(self, torch: Any, one: Any, other: Any) -> Any:
        """The same by PyTorch, whose images lie as ours do (channels_last)."""
        first, second = (
            self._turned(one, self.kind == "images"),
            self._turned(other, self.kind == "forward"),
        )
        pads, grad = self.ends, torch.nn.grad
        assert pads[0][0] == pads[0][1], "PyTorch pads both sides alike"
        rest = {"stride": self.stride, "padding": (pads[0][0], pads[1][0])}
        n, high, wide, c = self.images
        if self.kind == "forward":
            return torch.nn.functional.conv2d(first, second, **rest)
        if self.kind == "images":
            return grad.conv2d_input((n, c, high, wide), first, second, **rest)
        shape = (self.features, c, self.window, self.window)
        return grad.conv2d_weight(first, shape, second, **rest)

    @staticmethod
    def _turned(tensor: Any, is_filter: bool) -> Any:
        order = (3, 2, 0, 1) if is_filter else (0, 3, 1, 2)
        turned = tensor.permute(*order)
        return turned.contiguous(memory_format=_channels_last()) if is_filter else turned


def _channels_last() -> Any:
    import torch

    return torch.channels_last


Case = Product | Convolution
BIG: list[Case] = [
    Product("float32", 1, 8192, 8192, 8192),
    Product("float32", 1, 4096, 4096, 4096),
    Product("float32", 1, 4096, 4096, 4096, True, False),
    Product("float32", 1, 4096, 4096, 4096, False, True),
    Product("float32", 1, 512, 1024, 10),
    Product("float32", 1, 4096, 1024, 4096, is_dense=True),
    Product("float32", 256, 512, 64, 512, False, True),
    Product("float64", 1, 4096, 4096, 4096),
    Product("bfloat16", 1, 8192, 8192, 8192),
    Product("float16", 1, 8192, 8192, 8192),
    Product("float16", 256, 512, 64, 512, False, True),
    Product("float16", 1, 4096, 1024, 4096, is_dense=True),
]
for _dtype in ("float32", "float16"):
    for _kind in ("forward", "images", "filters"):
        BIG.append(Convolution(_kind, _dtype, (64, 56, 56, 64), 3, 64))
        BIG.append(Convolution(_kind, _dtype, (64, 28, 28, 128), 3, 128))
        BIG.append(Convolution(_kind, _dtype, (64, 14, 14, 256), 3, 256))
        BIG.append(Convolution(_kind, _dtype, (64, 56, 56, 256), 1, 64))
        BIG.append(Convolution(_kind, _dtype, (64, 57, 57, 128), 3, 128, 2, "VALID"))
    BIG.append(Convolution("forward", _dtype, (64, 229, 229, 3), 7, 64, 2, "VALID"))


def values(case: Case) -> list[np.ndarray]:
    """Ordinary numbers for the inputs, in the case's dtype."""
    rng = np.random.default_rng(0)
    made = (rng.standard_normal(shape, np.float32) for shape in case.shapes())
    return [array.astype(tf.as_dtype(case.dtype).as_numpy_dtype) for array in made]


def difference(case: Case) -> tuple[float, bool]:
    """How far a small case is from NumPy's, of the largest; whether two runs give the same bits."""
    given = values(case)
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(case.dtype, array.shape) for array in given]
        operation = case.ours(*inputs)
        feeds = dict(zip(inputs, given))
        one, other = (session.run(operation, feeds) for _ in range(2))
    wanted = case.numpy(*(array.astype(np.float64) for array in given))
    off = np.abs(one.astype(np.float64) - wanted).max() / np.abs(wanted).max()
    return float(off), one.tobytes() == other.tobytes()


def seconds(device: Any, run: Callable[[], None]) -> float:
    """The median time of a run, by the card's events if it is a card."""
    clock = _events if hasattr(device, "stream") else _by_processor
    found = [clock(device, run) for _ in range(_RUNS + _FIRST)]
    return statistics.median(found[_FIRST:])


def _by_processor(device: Any, run: Callable[[], None]) -> float:
    device.synchronize()
    start = time.perf_counter()
    run()
    device.synchronize()
    return time.perf_counter() - start


def _events(device: Any, run: Callable[[], None]) -> float:
    from numbaflow.jit.cuda.card import binding

    cu, stream = binding(), device.stream()
    (_, first), (_, last) = cu.cuEventCreate(0), cu.cuEventCreate(0)
    cu.cuEventRecord(first, stream)
    run()
    cu.cuEventRecord(last, stream)
    cu.cuEventSynchronize(last)
    _, taken = cu.cuEventElapsedTime(first, last)
    for event in (first, last):
        cu.cuEventDestroy(event)
    return float(taken) / 1e3


def by_us(case: Case, device: Any) -> float:
    """The time of a session that computes a case from variables."""
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = (tf.random_normal(shape, seed=1) for shape in case.shapes())
        inputs = [tf.Variable(tf.cast(value, case.dtype)) for value in drawn]
        result = case.ours(*inputs)
        # A few numbers of it are kept: a copy of all would cost as much as a small product.
        kept = tf.Variable(tf.zeros([8], case.dtype))
        step = tf.assign(kept, tf.reshape(result, [-1])[:8]).op
        session.run(tf.global_variables_initializer())
        return seconds(device, lambda: session.run(step))


def by_torch(torch: Any, case: Case) -> float:
    """PyTorch's time for the same."""
    kind = getattr(torch, case.dtype)
    inputs = [torch.randn(*shape, device="cuda").to(kind) for shape in case.shapes()]
    taken = []
    for _ in range(_RUNS + _FIRST):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        case.torch(torch, *inputs)
        last.record()
        last.synchronize()
        taken.append(first.elapsed_time(last) / 1e3)
    return statistics.median(taken[_FIRST:])


def torch_on_card() -> Any:
    """PyTorch, set to full precision and determinism, or None."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
    return torch


def checked(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Every case at small sizes: how far off, and whether that is near enough."""
    rows = []
    for case in dict.fromkeys(case.small() for case in cases):
        off, is_same = difference(case)
        is_right = is_same and off <= _NEAR[case.dtype]
        rows.append({"case": case.name, "off": off, "same_bits": is_same, "right": is_right})
        print(f"{'right' if is_right else 'WRONG':6} {case.name:60} off by {off:.1e}", flush=True)
    return rows


def nan_passes(dtype: str = "float32") -> bool:
    """Does NaN stay NaN where a relu is part of a product?"""
    case = Product(dtype, 1, 64, 64, 64, is_dense=True)
    given = values(case)
    given[0][3, 5] = np.nan
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(case.dtype, array.shape) for array in given]
        found = session.run(case.ours(*inputs), dict(zip(inputs, given)))
    return bool(np.isnan(found[3]).all())


def timed(cases: Sequence[Case], device: Any, until: float) -> list[dict[str, Any]]:
    """Every case beside PyTorch's, as long as there is time."""
    torch, rows = torch_on_card(), []
    for case in cases:
        if time.monotonic() > until:
            print(f"no time left for {case.name}")
            continue
        ours = by_us(case, device)
        theirs = by_torch(torch, case) if torch is not None else None
        rate = case.operations / ours
        row = {"case": case.name, "seconds": ours, "torch": theirs, "operations_per_second": rate}
        rows.append(row)
        beside = "" if theirs is None else f"  torch {theirs * 1e3:9.3f} ms  {theirs / ours:6.1%}"
        print(f"{case.name:60} {ours * 1e3:9.3f} ms {rate / 1e12:7.1f} T/s{beside}", flush=True)
    return rows


def main() -> None:
    """Checks, measures, prints and writes a dated report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_products", description=__doc__)
    parser.add_argument("--only", default="", help="part of the names of cases")
    parser.add_argument("--seconds", type=float, default=50.0, help="time for the measurements")
    parser.add_argument("--small", action="store_true", help="time the small cases, to try it out")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if not gpus():
        raise SystemExit("This machine has no GPU that CUDA knows: see docs/cuda.md.")
    device, began = gpus()[0], time.monotonic()
    cases = [case for case in BIG if options.only in case.name]
    libraries = {kind: library.name for kind, library in device.libraries.items()}
    print(f"{device.name}: libraries {libraries or 'none'}")
    right = checked(cases)
    is_nan = nan_passes()
    print(f"NaN passes a relu: {is_nan}")
    cases = [case.small() for case in cases] if options.small else cases
    rows = timed(cases, device, began + options.seconds)
    now = datetime.now(UTC)
    found = {"date": now.isoformat(), "machine": machine(threads.count()), "gpu": device.name}
    declined = [str(what) for library in device.libraries.values() for what in library.declined]
    print(*(f"by a kernel, for want of a library's: {what}" for what in declined), sep="\n")
    found |= {"libraries": libraries, "nan_passes": is_nan, "checks": right, "rows": rows}
    found |= {"declined": declined}
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"products-{now:%Y-%m-%d-%H%M%S}.json"
    file.write_text(json.dumps(found, indent=1) + "\n")
    print(file)
    if not all(row["right"] for row in right):
        raise SystemExit("Some results are wrong.")


if __name__ == "__main__":
    main()
