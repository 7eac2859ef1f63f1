# SPDX-License-Identifier: Apache-2.0
"""The kernel of alignments of labels with steps of time; see jit/library/alignment.py.

States are the labels with a blank before, between and behind them.  All is in logarithms; that of
zero is a number so low that nothing reaches it, so that sums need no special cases.
"""

from __future__ import annotations

from typing import Any

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    accumulate_add,
    accumulate_max,
    exp,
    float32,
    float64,
    helper,
    int64,
    log,
    log1p,
    pointer,
    region,
    zero,
)

# The dtype of scores, and the logarithm of its smallest normal number: what is below counts as 0.
KIND: Any = GIVEN
LOWEST: Any = GIVEN
NEVER = -1e30  # the logarithm of zero
DEAD = -1e29  # what is below has a zero in it


@helper
def real(x: Scalar) -> Scalar:
    """A number of the dtype of scores."""
    return float32(x) if KIND == "float32" else float64(x)


@helper
def fill(out: Address, begin: int, end: int, value: Scalar) -> None:
    """Writes one number into the elements of a range."""
    numbers = pointer(out)
    for i in range(begin, end):
        numbers[i] = value


@helper
def highest(values: Address, begin: int, end: int) -> Scalar:
    """The largest of a range of elements, which is not empty."""
    numbers = pointer(values)
    most = numbers[begin]
    for i in range(begin, end):
        most = accumulate_max(most, numbers[i])
    return most


@helper
def log_total(values: Address, count: int) -> Scalar:
    """log(sum(exp(values)))."""
    numbers, most, total = pointer(values), highest(values, 0, count), real(0)
    for i in range(count):
        total = accumulate_add(total, exp(numbers[i] - most))
    return most + log(total)


@helper
def first_of(indices: Address, count: int, row: int) -> int:
    """How many of some pairs, in order, are of rows before one."""
    pairs, low, high = pointer(indices), 0, count
    while low < high:
        middle = (low + high) // 2
        if pairs[2 * middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def in_order(indices: Address, begin: int, end: int, row: int) -> bool:
    """Whether a range of pairs is of one row, with places that rise from 0 or above."""
    pairs, wrong, before = pointer(indices), 0, -1
    for i in range(begin, end):
        wrong += 1 if pairs[2 * i] != row or pairs[2 * i + 1] <= before else 0
        before = pairs[2 * i + 1]
    return wrong == 0


@helper
def put_targets(
    labels: Address, count: int, classes: int, blank: int, collapses: int, out: Address
) -> int:
    """The states of some labels; how many there are, 0 where labels are wrong."""
    given, states, size, wrong, is_over = pointer(labels), pointer(out), 0, 0, 0
    for i in range(count):
        label = given[i]
        if i == 0 or collapses == 0 or label != given[i - 1]:
            # Behind the last label there may be blanks, if the blank is the last class.
            if blank == classes - 1 and label >= blank:
                is_over = 1
            else:
                is_wrong = is_over > 0 or label < 0 or label == blank or label >= classes
                wrong += 1 if is_wrong else 0
                states[2 * size] = blank
                states[2 * size + 1] = label
                size += 1
    states[2 * size] = blank
    return 0 if wrong > 0 else 2 * size + 1


@helper
def put_steps(targets: Address, states: int, blank: int, merges: int, stay: Address) -> None:
    """Logarithms of 0 or 1: whether a state may stay; behind them, be come to over another."""
    labels, still, skip = pointer(targets), pointer(stay), pointer(stay + states)
    for u in range(states):
        may_stay = merges > 0 or labels[u] == blank
        still[u] = real(0) if may_stay else real(NEVER)
        skip[u] = real(NEVER)
        if u > 1 and labels[u] != blank:
            repeats = merges > 0 and labels[u] == labels[u - 2]
            skip[u] = real(NEVER) if repeats else real(0)
    skip[states] = real(NEVER)
    skip[states + 1] = real(NEVER)


@helper
def put_scores(scores: Address, norm: Scalar, targets: Address, states: int, out: Address) -> None:
    """The logarithms of the probabilities of the states' classes at a step."""
    x, labels, found = pointer(scores), pointer(targets), pointer(out)
    for u in range(states):
        value = x[labels[u]] - norm
        # As TensorFlow's probabilities do, those that are no normal numbers become zero.
        found[u] = real(NEVER) if value < real(LOWEST) else value


@helper
def move(
    near: Address, middle: Address, far: Address, steps: Address, skips: Address,
    begin: int, end: int, most: Scalar, out: Address,
) -> None:  # fmt: skip
    """Scores of states by those from which they are come to: itself, a neighbour, over another.

    The highest of them all, `most`, is taken away.
    """
    x, y, z, found = pointer(near), pointer(middle), pointer(far), pointer(out)
    still, skip = pointer(steps), pointer(skips)
    # One loop with nothing called in it, so that it becomes one of vectors.
    for u in range(begin, end):
        a, b, c = x[u] + still[u], y[u], z[u] + skip[u]
        top = max(max(a, b), c)
        beside = exp(a - top) + exp(b - top) + exp(c - top) - real(1)
        found[u] = (top - most) + log1p(beside)


@helper
def forward(
    before: Address, row: Address, begin: int, end: int, states: int, emit: Address, stay: Address
) -> Scalar:
    """A row of forward scores of the one before, whose highest one is taken away and returned.

    Rows have two elements more in front.
    """
    out, scores, most = pointer(row + 2), pointer(emit), highest(before, 2, 2 + states)
    fill(row, 0, 2 + begin, real(NEVER))
    move(before + 2, before + 1, before, stay, stay + states, begin, end, most, row + 2)
    for u in range(begin, end):
        out[u] += scores[u]
    fill(row, 2 + end, 2 + states, real(NEVER))
    return most


@helper
def backward(later: Address, row: Address, states: int, emit: Address, stay: Address) -> None:
    """A row of backward scores, in place of the one behind it, whose scores are given.

    `later` has room for two elements more than there are states.
    """
    out, behind, scores = pointer(row), pointer(later), pointer(emit)
    for u in range(states):
        behind[u] = out[u] + scores[u]
    fill(later, states, states + 2, real(NEVER))
    most = highest(later, 0, states)
    move(later, later + 1, later + 2, stay, stay + (states + 2), 0, states, most, row)


@helper
def put_softmax(scores: Address, norm: Scalar, classes: int, out: Address) -> None:
    """The probabilities of the classes at a step."""
    x, found = pointer(scores), pointer(out)
    for c in range(classes):
        value = x[c] - norm
        share = exp(value)
        found[c] = real(0) if value < real(LOWEST) else share


@helper
def take_shares(
    ahead: Address, behind: Address, states: int, targets: Address, room: Address, out: Address
) -> None:
    """Takes from the classes of a step the shares of the paths that go through their states."""
    shares, forth, back = pointer(room), pointer(ahead), pointer(behind)
    labels, found = pointer(targets), pointer(out)
    for u in range(states):
        shares[u] = forth[u] + back[u]
    most, total = highest(room, 0, states), real(0)
    for u in range(states):
        share = exp(shares[u] - most)
        shares[u] = share
        total = accumulate_add(total, share)
    scale = real(1) / total
    for u in range(states):
        found[labels[u]] -= shares[u] * scale


@helper
def put_ahead(
    scores: Address, step: int, length: int, classes: int, targets: Address, states: int,
    rows: Address,
) -> Scalar:  # fmt: skip
    """Forward scores of all steps; the logarithm of the probability of the labels.

    rows: what `alignment` says lies in scratch memory behind the states.
    """
    stay, emit, norms = rows, rows + 2 * states + 2, rows + 5 * states + 4
    ahead, width, offset = norms + length, states + 2, float64(0)
    for t in range(length):
        norm = log_total(scores + t * step, classes)
        pointer(norms)[t] = norm
        put_scores(scores + t * step, norm, targets, states, emit)
        # Only what can be reached, and can reach the end, counts.
        low, high = max(0, states - 2 * (length - t)), min(states, 2 * (t + 1))
        here = ahead + t * width
        if t == 0:
            fill(here, 0, width, real(NEVER))
            for u in range(low, high):
                pointer(here)[2 + u] = pointer(emit)[u]
        else:
            most = forward(here + (0 - width), here, low, high, states, emit, stay)
            offset += float64(most)
    # The last two states; where there is one, what is in front of it is no state.
    return offset + float64(log_total(ahead + ((length - 1) * width + states), 2))


@helper
def put_slopes(
    scores: Address, slopes: Address, step: int, length: int, classes: int, targets: Address,
    states: int, rows: Address, is_dead: bool,
) -> None:  # fmt: skip
    """The gradients of all steps, from the last one backwards; probabilities if no path is."""
    emit, row, later = rows + 2 * states + 2, rows + 3 * states + 2, rows + 4 * states + 2
    stay, norms, width = rows, rows + 5 * states + 4, states + 2
    fill(row, 0, states, real(NEVER))
    fill(row, max(states - 2, 0), states, real(0))
    for back in range(length):
        t = length - 1 - back
        here, norm = slopes + t * step, pointer(norms)[t]
        put_softmax(scores + t * step, norm, classes, here)
        if not is_dead:
            if back > 0:
                behind = pointer(norms)[t + 1]
                put_scores(scores + (t + 1) * step, behind, targets, states, emit)
                backward(later, row, states, emit, stay)
            take_shares(norms + (length + t * width + 2), row, states, targets, later, here)


def alignment(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: scores, pairs of row and place, labels, lengths; losses, gradients, whether a row is
    wrong; steps, rows and classes of scores, the number of labels, the most of a row that count,
    the blank, whether labels collapse, whether paths merge, whether what is too long is left out;
    scratch: states, then steps between them (2 states + 2), scores of states, backward scores,
    room (states + 2), norms and forward scores of all steps (states + 2).
    """
    time, batch, classes, number = args[7], args[8], args[9], args[10]
    room, blank, step = args[11], args[12], args[8] * args[9]
    base = args[16] + worker * args[17]
    targets, rows = region(base, "int64"), region(base + 8 * (2 * room + 1), KIND)
    for r in range(r0, r1):
        scores, slopes, losses = args[0] + r * classes, args[5] + r * classes, pointer(args[4])
        length, begin = int64(pointer(args[3])[r]), first_of(args[1], number, r)
        end, states = first_of(args[1], number, r + 1), 0
        # All pairs are in one of the rows, and in order, where each row is.
        fits = in_order(args[1], begin, end, r) and begin < end
        fits = fits and (r > 0 or begin == 0) and (r < batch - 1 or end == number)
        fits = fits and length >= 0 and length <= time
        is_long = end - begin > length
        # What is too long to count has no room, either.
        if fits and not is_long:
            states = put_targets(args[2] + begin, end - begin, classes, blank, args[13], targets)
        is_left_out = fits and is_long and args[15] > 0
        pointer(args[6])[r] = 0 if states > 0 or is_left_out else 1
        length = length if states > 0 else 0
        losses[r] = real(0)
        for t in range(length, time):
            zero(slopes + t * step, classes)
        if length > 0:
            put_steps(targets, states, blank, args[14], rows)
            total = put_ahead(scores, step, length, classes, targets, states, rows)
            is_dead = total < DEAD
            losses[r] = real(-log(real(0)) if is_dead else real(-total))
            put_slopes(scores, slopes, step, length, classes, targets, states, rows, is_dead)
            # A loss that is no number has no slopes: by classes without labels, either.
            for t in range(length if total != total else 0):
                fill(slopes + t * step, 0, classes, losses[r])
