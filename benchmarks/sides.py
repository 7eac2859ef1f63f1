# SPDX-License-Identifier: Apache-2.0
"""The peers by name: what they are called, what Python runs them, what their processes get."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Kind:
    """A peer: its title in tables, the variable and the folder that lead to its Python."""

    title: str
    variable: str
    folder: str
    module: str


KINDS = {
    "numbaflow": Kind("numbaflow", "", "", "numbaflow"),
    "tensorflow": Kind("TensorFlow", "NUMBAFLOW_TF_PYTHON", "tf", "tensorflow.compat.v1"),
    "tensorflow_xla": Kind("TF+XLA", "NUMBAFLOW_TF_PYTHON", "tf", "tensorflow.compat.v1"),
    "jax": Kind("JAX", "NUMBAFLOW_JAX_PYTHON", "jax", "jax.numpy"),
    "torch": Kind("PyTorch", "NUMBAFLOW_TORCH_PYTHON", "torch", "torch"),
    "torch_compile": Kind("torch.compile", "NUMBAFLOW_TORCH_PYTHON", "torch", "torch"),
    "pytensor": Kind("PyTensor", "NUMBAFLOW_PYTENSOR_PYTHON", "pytensor", "pytensor.tensor"),
}
# Peers that are another peer's package in another mode.
SAME_PACKAGE = ("tensorflow_xla", "torch_compile")


def pythons(folder: str | None) -> dict[str, str]:
    """The Python of every peer that there is: from the environment, else from the folder."""
    found = {"numbaflow": sys.executable}
    for name, kind in KINDS.items():
        python = os.environ.get(kind.variable, "") if kind.variable else ""
        if not python and folder and kind.folder:
            python = str(Path(folder).absolute() / kind.folder / "bin" / "python")
        if python and Path(python).exists():
            found.setdefault(name, python)
    return found


def environment(peer: str, threads: int, scratch: str) -> dict[str, str]:
    """The variables of a peer's process; compilers keep what they make in the scratch folder."""
    count = str(threads)
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    variables = dict.fromkeys(
        ("NUMBAFLOW_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), count
    )
    if peer == "jax":
        variables["PJRT_NPROC"] = count
    return {
        **kept,
        **variables,
        "NUMBAFLOW_CACHE": os.path.join(scratch, "kernels"),
        "NUMBAFLOW_WARM": "0",
        "TORCHINDUCTOR_CACHE_DIR": os.path.join(scratch, "torch"),
        "PYTENSOR_FLAGS": f"base_compiledir={os.path.join(scratch, 'pytensor')}",
        "NUMBA_CACHE_DIR": os.path.join(scratch, "numba"),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        "JAX_PLATFORMS": "cpu",
    }


def load(peer: str, threads: int) -> Any:
    """The peer's side of the comparison, in a process that has its package."""
    if peer == "jax":
        from .in_jax import Jax

        return Jax()
    if peer in ("torch", "torch_compile"):
        from .in_torch import Torch

        return Torch(peer == "torch_compile", threads)
    if peer == "pytensor":
        from .in_pytensor import PyTensor

        return PyTensor()
    from .in_tensorflow import Graphs

    return Graphs(peer, threads)
