# SPDX-License-Identifier: Apache-2.0
"""Where an iterator is, as an object that checkpoints hold: JSON, and arrays beside it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ....engine import errors
from .dataset import State

_TYPE = "numbaflow::IteratorState"
# The key of what stands for an array, by number.
_ARRAY = "array"
# The keys of what stands for an array of arrays, as sparse tensors are in datasets.
_BOXES, _SHAPE = "boxes", "shape"


def packed(state: State) -> Any:
    """What `Stream.save` gave, as an object that can be written."""
    from ....io.variants import VariantData

    arrays: list[np.ndarray] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if value.dtype == object and not all(isinstance(x, bytes) for x in value.flat):
                if not all(isinstance(x, (bytes, np.ndarray)) for x in value.flat):
                    raise errors.unimplemented(
                        "An iterator that holds datasets or optional values cannot be saved"
                    )
                boxes = [plain(np.array(x, object) if type(x) is bytes else x) for x in value.flat]
                return {_BOXES: boxes, _SHAPE: list(value.shape)}
            arrays.append(np.array(value))
            return {_ARRAY: len(arrays) - 1}
        if isinstance(value, dict):
            return {"items": {key: plain(item) for key, item in value.items()}}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return int(value)

    text = json.dumps(plain(state)).encode()
    return VariantData(_TYPE, text, tuple(arrays))


def unpacked(value: Any) -> State:
    """The state of such an object; InvalidArgumentError for anything else."""
    from ....io.variants import VariantData

    if not isinstance(value, VariantData) or value.type_name != _TYPE:
        kind = value.type_name if isinstance(value, VariantData) else type(value).__name__
        raise errors.invalid(
            f"The given variant is no state of an iterator of numbaflow, but a {kind!r}."
        )

    def full(item: Any) -> Any:
        if isinstance(item, list):
            return [full(each) for each in item]
        if not isinstance(item, dict):
            return int(item)
        if _ARRAY in item:
            return value.tensors[item[_ARRAY]]
        if _BOXES in item:
            boxes = np.empty(len(item[_BOXES]), object)
            for i, box in enumerate(map(full, item[_BOXES])):
                boxes[i] = box.item() if box.dtype == object and not box.ndim else box
            return boxes.reshape(item[_SHAPE])
        return {key: full(each) for key, each in item["items"].items()}

    try:
        return full(json.loads(value.metadata))  # type: ignore[no-any-return]
    except (ValueError, KeyError, IndexError, TypeError):
        raise errors.data_loss("The state of an iterator is damaged") from None
