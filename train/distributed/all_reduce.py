# SPDX-License-Identifier: Apache-2.0
"""Ways to have all devices hold the reduction of tensors that lie on each: ring, halving and
doubling, and by way of other devices (`tensorflow.python.distribute.all_reduce`).

Here all devices are one processor: the nodes are TensorFlow's, and the values theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.devices import DeviceSpec
from ...engine.graph.scope_functions import colocate_with
from ...ops.public import tf
from . import nccl_ops

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

Tensors = list["Tensor"]
Pair = Callable[[Any, Any], Any]
Unary = Callable[[Any], Any] | None
# Of all devices, by subchunk and device.
Ranks = list[list[int]]


def _require_vector(tensor: Tensor, what: str) -> None:
    if len(tensor.shape) != 1:
        raise ValueError(f"{what} must be 1D")


def _flatten_tensors(tensors: Sequence[Tensor]) -> tuple[Tensors, Any]:
    """The tensors as vectors, and the shape that all have.

    Raises:
        ValueError: there are none, or their shapes differ or are not known.
    """
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError("Tensors must have statically known shape.")
    return (list(tensors) if len(shape) == 1 else _reshape_tensors(tensors, [-1])), shape


def _reshape_tensors(tensors: Sequence[Tensor], shape: Any) -> Tensors:
    reshaped = []
    for tensor in tensors:
        with colocate_with(tensor):
            reshaped.append(tf.reshape(tensor, shape))
    return reshaped


def _padded_split(tensor: Tensor, pieces: int) -> tuple[Tensors, int]:
    """A vector in pieces of one length, and how many zeros that takes at its end."""
    _require_vector(tensor, "input tensor")
    length = int(tensor.shape[0])
    with colocate_with(tensor):
        if length % pieces == 0:
            return tf.split(tensor, pieces), 0
        size = length // pieces + 1
        if pieces > length:
            padding = pieces - length
        elif (pieces - 1) * size >= length:
            padding = pieces * size % length
        else:
            last = length - (pieces - 1) * size
            padding = size - last
            parts = tf.split(tensor, [size] * (pieces - 1) + [last])
            parts[-1] = tf.concat([parts[-1], tf.zeros([padding], dtype=tensor.dtype)], 0)
            return parts, padding
        whole = tf.concat([tensor, tf.zeros([padding], dtype=tensor.dtype)], 0)
        return tf.split(whole, pieces), padding


def _strip_padding(tensors: Sequence[Tensor], pad_len: int) -> Tensors:
    """The vectors without so many elements at their ends."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    if len(tensors[0].shape) > 1:
        raise ValueError("tensors must be 1D")
    length = int(tensors[0].shape[0]) - pad_len
    if length < 0:
        raise ValueError("pad_len longer than tensor")
    stripped = []
    for tensor in tensors:
        with colocate_with(tensor):
            stripped.append(tf.slice(tensor, [0], [length]))
    return stripped


def _ragged_split(tensor: Tensor, pieces: int) -> Tensors:
    """A vector in pieces, the last of which takes what is left over."""
    _require_vector(tensor, "input tensor")
    length = int(tensor.shape[0])
    size = length // pieces
    with colocate_with(tensor):
        if length == pieces * size:
            return tf.split(tensor, pieces)  # type: ignore[no-any-return]
        rest = length - (pieces - 1) * size
        return tf.split(tensor, [size] * (pieces - 1) + [rest])  # type: ignore[no-any-return]


def _ring_permutations(
    num_workers: int, num_subchunks: int, gpu_perm: Sequence[int]
) -> tuple[Ranks, Ranks]:
    """Rings of devices, one for each subchunk, the order of each worker's devices turned.

    Returns:
        The device before each, and the rank of each, by subchunk and device.

    Raises:
        ValueError: there are more subchunks than devices of a worker.
    """
    devices = num_workers * len(gpu_perm)
    if devices == 0:
        return [], []
    if num_subchunks > len(gpu_perm):
        raise ValueError(f"num_subchunks {num_subchunks} must be <= num_gpus {len(gpu_perm)}")
    step = max(1, len(gpu_perm) // num_subchunks)
    before, ranks = [], []
    for turn in range(0, num_subchunks * step, step):
        turned = [*gpu_perm[turn:], *gpu_perm[:turn]]
        ring = [worker * len(gpu_perm) + gpu for worker in range(num_workers) for gpu in turned]
        place = {device: rank for rank, device in enumerate(ring)}
        ranks.append([place.get(device, -1) for device in range(devices)])
        before.append([ring[place[d] - 1] if d in place else -1 for d in range(devices)])
    return before, ranks


def build_ring_all_reduce(
    input_tensors: Sequence[Tensor],
    num_workers: int,
    num_subchunks: int,
    gpu_perm: Sequence[int],
    red_op: Pair,
    un_op: Unary = None,
) -> Tensors:
    """Reductions by a ring: each device reduces a part, and hands it on.

    Args:
        input_tensors: at least two, of one shape and dtype.
        num_workers: the number of tasks that they are on.
        num_subchunks: how many parts a device works on in one step.
        gpu_perm: the order of a worker's devices in the ring.
        red_op: a function of two tensors.
        un_op: a function of what was reduced.

    Returns:
        A list of as many equal tensors.

    Raises:
        ValueError: there are fewer tensors, or their shapes differ.
    """
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    tensors, shape = _flatten_tensors(input_tensors)
    devices = [tensor.device for tensor in tensors]
    before, ranks = _ring_permutations(num_workers, num_subchunks, gpu_perm)
    chunks, padding = _build_ring_gather(tensors, devices, num_subchunks, before, ranks, red_op)
    if un_op:
        chunks = _apply_unary_to_chunks(un_op, chunks)
    outputs = _build_ring_scatter(before, ranks, chunks)
    if padding > 0:
        outputs = _strip_padding(outputs, padding)
    return outputs if len(shape) == 1 else _reshape_tensors(outputs, shape)


def _ring_step(
    chunks: list[Tensors],
    subchunks: int,
    before: Ranks,
    ranks: Ranks,
    behind: int,
    device_of: Callable[[int], Any],
    of_chunks: Pair,
) -> None:
    """One step: each device has of some chunks what comes of its neighbour's and its own.

    A chunk is `behind` places before the device's rank in its ring.  All work on what the step
    before left.
    """
    found: list[tuple[int, int, Any]] = []
    for d in range(len(chunks)):
        with device_of(d):
            for s in range(subchunks):
                segment = (ranks[s][d] + len(chunks) - behind) % len(chunks)
                at = segment * subchunks + s
                found.append((d, at, of_chunks(chunks[before[s][d]][at], chunks[d][at])))
    for d, at, value in found:
        chunks[d][at] = value


def _build_ring_gather(
    input_tensors: Tensors,
    devices: Sequence[str],
    num_subchunks: int,
    pred_by_s_d: Ranks,
    rank_by_s_d: Ranks,
    red_op: Pair,
) -> Any:
    """The first half of a ring: parts of vectors, of which each device has some reduced in full.

    Returns:
        Lists of parts by device, and how many zeros were appended; the vectors if there are fewer
        than two.
    """
    if len(input_tensors) < 2:
        return input_tensors
    _require_vector(input_tensors[0], "input tensors")
    chunks, padding = [], 0
    for device, tensor in zip(devices, input_tensors):
        with tf.device(device):
            parts, padding = _padded_split(tensor, len(devices) * num_subchunks)
            chunks.append(parts)
    for tick in range(len(devices) - 1):
        _ring_step(
            *(chunks, num_subchunks, pred_by_s_d, rank_by_s_d, tick + 2),
            lambda d: tf.device(devices[d]),
            red_op,
        )
    return chunks, padding


def _apply_unary_to_chunks(f: Callable[[Any], Any], chunks_by_dev: list[Tensors]) -> list[Tensors]:
    output = []
    for chunks in chunks_by_dev:
        with colocate_with(chunks[0]):
            output.append([f(chunk) for chunk in chunks])
    return output


def _build_ring_scatter(
    pred_by_s_d: Ranks, rank_by_s_d: Ranks, chunks_by_dev: list[Tensors]
) -> Tensors:
    """The second half of a ring: parts that are reduced are handed on, and put together."""
    devices, parts = len(chunks_by_dev), len(chunks_by_dev[0])
    if parts % devices != 0:
        raise ValueError("Expect number of chunks per device to be divisible by num_devices")
    for tick in range(devices - 1):
        _ring_step(
            *(chunks_by_dev, parts // devices, pred_by_s_d, rank_by_s_d, tick + 1),
            lambda d: colocate_with(chunks_by_dev[d][0]),
            lambda theirs, mine: tf.identity(theirs),
        )
    output = []
    for chunks in chunks_by_dev:
        with colocate_with(chunks[0]):
            output.append(tf.concat(chunks, 0))
    return output


def _hops(devices: Sequence[str]) -> int:
    hops = len(devices).bit_length() - 1
    if len(devices) != 2**hops:
        raise ValueError("num_devices must be a power of 2")
    return hops


def build_recursive_hd_all_reduce(
    input_tensors: Sequence[Tensor], red_op: Pair, un_op: Unary = None
) -> Tensors:
    """Reductions by halving and doubling: pairs of devices exchange halves, at growing distances.

    Args:
        input_tensors: of one shape and dtype; as many as a power of 2, by which their number of
            elements is divisible.
        red_op: a function of two tensors.
        un_op: a function of what was reduced.

    Returns:
        A list of as many equal tensors.

    Raises:
        ValueError: the number of tensors is no power of 2, or their shapes differ.
    """
    devices = [tensor.device for tensor in input_tensors]
    tensors, shape = _flatten_tensors(input_tensors)
    shards = _build_recursive_hd_gather(tensors, devices, red_op)
    if un_op:
        shards = [un_op(shard) for shard in shards]
    outputs = _build_recursive_hd_scatter(shards, devices)
    return outputs if len(shape) == 1 else _reshape_tensors(outputs, shape)


def _pairs(devices: Sequence[str], span: int) -> list[tuple[int, int]]:
    return [(d, d + span) for d in range(len(devices)) if d % (2 * span) < span]


def _build_recursive_hd_gather(
    input_tensors: Tensors, devices: Sequence[str], red_op: Pair
) -> Tensors:
    chunks = list(input_tensors)
    for hop in range(_hops(devices)):
        for left, right in _pairs(devices, 2**hop):
            halves, others = tf.split(chunks[left], 2), tf.split(chunks[right], 2)
            for i, at in enumerate((left, right)):
                with tf.device(devices[at]):
                    chunks[at] = red_op(halves[i], others[i])
    return chunks


def _build_recursive_hd_scatter(input_tensors: Tensors, devices: Sequence[str]) -> Tensors:
    chunks = list(input_tensors)
    for hop in reversed(range(_hops(devices))):
        for left, right in _pairs(devices, 2**hop):
            both = [chunks[left], chunks[right]]
            for at in (left, right):
                with tf.device(devices[at]):
                    chunks[at] = tf.concat(both, 0)
    return chunks


def build_shuffle_all_reduce(
    input_tensors: Sequence[Tensor],
    gather_devices: Sequence[str],
    red_op: Callable[[Any], Any],
    un_op: Unary = None,
) -> Tensors:
    """Reductions by way of other devices, each of which has a part, as parameter servers do.

    Args:
        input_tensors: of one shape and dtype.
        gather_devices: the names of these devices.
        red_op: a function of a list of tensors, such as `tf.add_n`.
        un_op: a function of what was reduced.

    Returns:
        A list of as many equal tensors.

    Raises:
        ValueError: there are no tensors, or their shapes differ.
    """
    tensors, shape = _flatten_tensors(input_tensors)
    shards = _build_shuffle_gather(tensors, gather_devices, red_op, un_op)
    outputs = _build_shuffle_scatter(shards, [tensor.device for tensor in tensors])
    return outputs if len(shape) == 1 else _reshape_tensors(outputs, shape)


def _build_shuffle_gather(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    red_op: Callable[[Any], Any],
    un_op: Unary = None,
) -> Tensors:
    _require_vector(input_tensors[0], "input_tensors")
    by_source = []
    for tensor in input_tensors:
        with colocate_with(tensor):
            by_source.append(_ragged_split(tensor, len(gather_devices)))
    shards = []
    for device, parts in zip(gather_devices, zip(*by_source)):
        with tf.device(device):
            shard = red_op(list(parts))
            shards.append(un_op(shard) if un_op else shard)
    return shards


def _build_shuffle_scatter(reduced_shards: Tensors, dst_devices: Sequence[str]) -> Tensors:
    outputs = []
    for device in dst_devices:
        with tf.device(device):
            outputs.append(tf.concat(reduced_shards, 0))
    return outputs


def _split_by_task(
    devices: Sequence[str], values: Sequence[Tensor]
) -> tuple[list[list[str]], list[Tensors]]:
    """Devices and the values on them, by task.

    Raises:
        ValueError: these are not as many as those, or a device names no task.
    """
    if len(devices) != len(values):
        raise ValueError("len(devices) must equal len(values)")
    tasks: dict[Any, tuple[list[str], Tensors]] = {}
    for device, value in zip(devices, values):
        spec = DeviceSpec.from_string(device)
        if spec.task is None:
            raise ValueError(f"failed to parse device {device}")
        key = (spec.job or "localhost", spec.replica or 0, spec.task)
        names, found = tasks.setdefault(key, ([], []))
        names.append(device)
        found.append(value)
    return [names for names, _ in tasks.values()], [found for _, found in tasks.values()]


def build_nccl_all_reduce(
    input_tensors: Sequence[Tensor], red_op: Pair, un_op: Unary = None
) -> Tensors:
    """Reductions by the functions of `tensorflow.python.ops.nccl_ops`.

    Args:
        input_tensors: of one shape and dtype, each on a device.
        red_op: `tf.add`.
        un_op: a function of what was reduced.

    Returns:
        A list of as many equal tensors.

    Raises:
        ValueError: `red_op` is another function, or a tensor is on no device.
    """
    if red_op != tf.add:
        raise ValueError("red_op not supported by NCCL all-reduce: ", red_op)
    return _with_unary(nccl_ops.all_sum(input_tensors), un_op)


def _with_unary(tensors: Tensors, un_op: Unary) -> Tensors:
    if not un_op:
        return tensors
    output = []
    for tensor in tensors:
        with colocate_with(tensor):
            output.append(un_op(tensor))
    return output


Upper = Callable[[Tensors], Tensors]


def _build_nccl_hybrid(input_tensors: Sequence[Tensor], red_op: Pair, upper: Upper) -> Tensors:
    """Reductions within each task, then by `upper` among tasks."""
    tensors, shape = _flatten_tensors(input_tensors)
    devices, values = _split_by_task([tensor.device for tensor in tensors], tensors)
    firsts = []
    for some in values:
        reduced = build_nccl_all_reduce(some, red_op)
        # Reductions end when all of them are asked for.
        with tf.control_dependencies(reduced), tf.device(reduced[0].device):
            firsts.append(tf.identity(reduced[0]))
    outputs = []
    for names, value in zip(devices, upper(firsts)):
        with tf.device(names[0]):
            source = nccl_ops.broadcast(tf.identity(value))
        for name in names:
            with tf.device(name):
                outputs.append(tf.identity(source))
    return outputs if len(shape) == 1 else _reshape_tensors(outputs, shape)


def _reduce_non_singleton(input_tensors: Tensors, red_f: Upper, un_op: Unary) -> Tensors:
    """What `red_f` makes of several tensors; of a single one, what `un_op` does."""
    return red_f(input_tensors) if len(input_tensors) > 1 else _with_unary(input_tensors, un_op)


def _ring_among_tasks(subdiv: int, red_op: Pair, un_op: Unary) -> Upper:
    def ring(tensors: Tensors) -> Tensors:
        return build_ring_all_reduce(tensors, len(tensors), subdiv, [0], red_op, un_op)

    return lambda tensors: _reduce_non_singleton(tensors, ring, un_op)


def build_nccl_then_ring(
    input_tensors: Sequence[Tensor], subdiv: int, red_op: Pair, un_op: Unary = None
) -> Tensors:
    """Reductions by `build_nccl_all_reduce` within tasks, then by a ring; see there."""
    return _build_nccl_hybrid(input_tensors, red_op, _ring_among_tasks(subdiv, red_op, un_op))


def build_nccl_then_recursive_hd(
    input_tensors: Sequence[Tensor], red_op: Pair, un_op: Unary = None
) -> Tensors:
    """Reductions by `build_nccl_all_reduce` within tasks, then by halving and doubling."""
    return _build_nccl_hybrid(
        input_tensors, red_op, lambda x: build_recursive_hd_all_reduce(x, red_op, un_op)
    )


def build_nccl_then_shuffle(
    input_tensors: Sequence[Tensor],
    gather_devices: Sequence[str],
    nccl_red_op: Pair,
    shuffle_red_op: Callable[[Any], Any],
    un_op: Unary = None,
) -> Tensors:
    """Reductions by `build_nccl_all_reduce` within tasks, then by way of other devices."""
    return _build_nccl_hybrid(
        input_tensors,
        nccl_red_op,
        lambda x: build_shuffle_all_reduce(x, gather_devices, shuffle_red_op, un_op),
    )


def _build_shuffle_hybrid(
    input_tensors: Sequence[Tensor],
    gather_devices: Sequence[str],
    red_op: Callable[[Any], Any],
    upper: Upper,
) -> Tensors:
    """Reductions by way of a device for each task, then by `upper` among these."""
    tensors, shape = _flatten_tensors(input_tensors)
    devices, values = _split_by_task([tensor.device for tensor in tensors], tensors)
    if len(gather_devices) != len(devices):
        raise ValueError("For shuffle hybrid, gather_devices must contain one device per worker. ")
    firsts = [
        _build_shuffle_gather(some, [device], red_op)[0]
        for some, device in zip(values, gather_devices)
    ]
    outputs = []
    for value, names in zip(upper(firsts), devices):
        outputs += _build_shuffle_scatter([value], names)
    return outputs if len(shape) == 1 else _reshape_tensors(outputs, shape)


def build_shuffle_then_ring(
    input_tensors: Sequence[Tensor],
    gather_devices: Sequence[str],
    subdiv: int,
    red_n_op: Callable[[Any], Any],
    red_op: Pair,
    un_op: Unary = None,
) -> Tensors:
    """Reductions by way of a device for each task (`red_n_op`, of lists), then by a ring."""
    upper = _ring_among_tasks(subdiv, red_op, un_op)
    return _build_shuffle_hybrid(input_tensors, gather_devices, red_n_op, upper)


def build_shuffle_then_shuffle(
    input_tensors: Sequence[Tensor],
    first_gather_devices: Sequence[str],
    second_gather_devices: Sequence[str],
    red_op: Callable[[Any], Any],
    un_op: Unary = None,
) -> Tensors:
    """Reductions by way of a device for each task, then by way of further devices."""

    def shuffle(tensors: Tensors) -> Tensors:
        return build_shuffle_all_reduce(tensors, second_gather_devices, red_op, un_op)

    return _build_shuffle_hybrid(
        *(input_tensors, first_gather_devices, red_op),
        lambda tensors: _reduce_non_singleton(tensors, shuffle, un_op),
    )
