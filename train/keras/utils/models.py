# SPDX-License-Identifier: Apache-2.0
"""What old programs do with whole models."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..backend.sessions import batch_get_value, batch_set_value


def multi_gpu_model(
    model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False
) -> NoReturn:
    """Raises a ValueError: there is one device."""
    del model, cpu_merge, cpu_relocation
    raise ValueError(
        f"To call `multi_gpu_model` with `gpus={gpus}`, there must be as many GPUs; numbaflow "
        "computes on one device. Train the model itself."
    )


def convert_all_kernels_in_model(model: Any) -> None:
    """Mirrors the kernels of all convolutions, as weights of Theano need it."""
    kinds = (
        *("Conv1D", "Conv2D", "Conv3D", "Convolution1D", "Convolution2D", "Convolution3D"),
        *("Conv2DTranspose", "Conv3DTranspose"),
    )
    kernels = [layer.kernel for layer in model.layers if type(layer).__name__ in kinds]
    turned = []
    for kernel, value in zip(kernels, batch_get_value(kernels)):
        axes = tuple(range(np.ndim(value) - 2))
        turned.append((kernel, np.flip(value, axes)))
    batch_set_value(turned)
