# SPDX-License-Identifier: Apache-2.0
"""The kernels of bilinear and nearest resampling of images; see jit/library/image.py.

Images are channels-last.  Rows of a launch are images, cuts, or lines of the result.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    copy,
    float32,
    float64,
    helper,
    int64,
    pointer,
    region,
    zero,
)

NEAREST: bool = GIVEN  # the nearest pixel, not a mixture of four
DEPTH: int = GIVEN  # the number of channels, or 0 for any
SPARE = 4  # numbers behind a line that may be written


def resized_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: gradients, two rows and their share for each row, likewise columns, result; height,
    width, rows, columns and channels of the gradient's image.  Rows are images.
    """
    top, bottom, down = pointer(args[1]), pointer(args[2]), pointer(args[3])
    left, right, across = pointer(args[4]), pointer(args[5]), pointer(args[6])
    height, width, rows, columns, depth = args[8], args[9], args[10], args[11], args[12]
    for r in range(r0, r1):
        zero(args[7] + r * height * width * depth, height * width * depth)
        for i in range(rows):
            y, upper, lower = down[i], top[i], bottom[i]
            for j in range(columns):
                x = across[j]
                source = ((r * rows + i) * columns + j) * depth
                line = r * height
                grad = pointer(args[0] + source)
                tl = pointer(args[7] + ((line + upper) * width + left[j]) * depth)
                if NEAREST:
                    for c in range(depth):
                        tl[c] = tl[c] + grad[c]
                else:
                    tr = pointer(args[7] + ((line + upper) * width + right[j]) * depth)
                    bl = pointer(args[7] + ((line + lower) * width + left[j]) * depth)
                    br = pointer(args[7] + ((line + lower) * width + right[j]) * depth)
                    above, nearer = float32(1) - y, float32(1) - x
                    for c in range(depth):
                        tl[c] = tl[c] + grad[c] * above * nearer
                    for c in range(depth):
                        tr[c] = tr[c] + grad[c] * above * x
                    for c in range(depth):
                        bl[c] = bl[c] + grad[c] * y * nearer
                    for c in range(depth):
                        br[c] = br[c] + grad[c] * y * x


@helper
def place(first: Scalar, last: Scalar, size: int, count: int, i: int) -> Scalar:
    """Where row (or column) i of a cut lies in the image."""
    end = float32(size - 1)
    if count == 1:
        return end * (first + last) / float32(2)
    step = (last - first) * end / float32(count - 1)
    return float32(i) * step + end * first


@helper
def whole(x: Scalar) -> int:
    """The integer below a number that is not negative."""
    return int64(x)


@helper
def above(x: Scalar) -> int:
    """The integer above a number that is not negative."""
    low = int64(x)
    return low + 1 if float32(low) < x else low


@helper
def mixed(
    out: Address,
    tl: Address,
    tr: Address,
    bl: Address,
    br: Address,
    x: Scalar,
    y: Scalar,
    depth: int,
) -> None:
    """Interpolates between the four pixels around a place."""
    result, p, q, s, t = pointer(out), pointer(tl), pointer(tr), pointer(bl), pointer(br)
    for c in range(depth):
        high = p[c] + (q[c] - p[c]) * x
        low = s[c] + (t[c] - s[c]) * x
        result[c] = high + (low - high) * y


def cut(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, boxes, numbers of images, what lies outside, result; images, height, width,
    channels, rows and columns of a cut.  Rows are cuts.
    """
    boxes, numbers, outside = pointer(args[1]), pointer(args[2]), pointer(args[3])[0]
    batch, height, width, depth, rows, columns = (
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
        args[10],
    )
    for r in range(r0, r1):
        # (Where a number is outside the run fails; here nothing outside is read.)
        image = args[0] + min(max(numbers[r], 0), batch - 1) * height * width * depth
        for i in range(rows):
            y = place(boxes[4 * r], boxes[4 * r + 2], height, rows, i)
            has_y = y >= 0 and y <= float32(height - 1)
            for j in range(columns):
                x = place(boxes[4 * r + 1], boxes[4 * r + 3], width, columns, j)
                out = args[4] + ((r * rows + i) * columns + j) * depth
                if not (has_y and x >= 0 and x <= float32(width - 1)):
                    result = pointer(out)
                    for c in range(depth):
                        result[c] = outside
                elif NEAREST:
                    row, column = whole(y + float32(0.5)), whole(x + float32(0.5))
                    result, source = pointer(out), pointer(image + (row * width + column) * depth)
                    for c in range(depth):
                        result[c] = source[c]
                else:
                    top, bottom, left, right = whole(y), above(y), whole(x), above(x)
                    mixed(
                        out,
                        image + (top * width + left) * depth,
                        image + (top * width + right) * depth,
                        image + (bottom * width + left) * depth,
                        image + (bottom * width + right) * depth,
                        x - float32(left),
                        y - float32(top),
                        depth,
                    )


@helper
def add_scaled(target: Address, grad: Address, factor: Scalar, depth: int) -> None:
    result, source = pointer(target), pointer(grad)
    for c in range(depth):
        result[c] = result[c] + source[c] * factor


@helper
def give(image: Address, grad: Address, y: Scalar, x: Scalar, width: int, depth: int) -> None:
    """Adds a pixel's gradient to the pixels that it was made of."""
    if NEAREST:
        row, column = whole(y + float32(0.5)), whole(x + float32(0.5))
        add_scaled(image + (row * width + column) * depth, grad, float32(1), depth)
    else:
        top, bottom, left, right = whole(y), above(y), whole(x), above(x)
        v, u = y - float32(top), x - float32(left)
        high, near = float32(1) - v, float32(1) - u
        add_scaled(image + (top * width + left) * depth, grad, high * near, depth)
        add_scaled(image + (top * width + right) * depth, grad, high * u, depth)
        add_scaled(image + (bottom * width + left) * depth, grad, v * near, depth)
        add_scaled(image + (bottom * width + right) * depth, grad, v * u, depth)


def cut_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: gradients, boxes, numbers of images, result; cuts, height, width, channels, rows and
    columns of a cut.  Rows are images; each goes through all cuts in order.
    """
    boxes, numbers = pointer(args[1]), pointer(args[2])
    count, height, width, depth, rows, columns = (
        args[4],
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
    )
    for r in range(r0, r1):
        image = args[3] + r * height * width * depth
        zero(image, height * width * depth)
        for n in range(count):
            if numbers[n] == r:
                for i in range(rows):
                    y = place(boxes[4 * n], boxes[4 * n + 2], height, rows, i)
                    has_y = y >= 0 and y <= float32(height - 1)
                    for j in range(columns):
                        x = place(boxes[4 * n + 1], boxes[4 * n + 3], width, columns, j)
                        if has_y and x >= 0 and x <= float32(width - 1):
                            grad = args[0] + ((n * rows + i) * columns + j) * depth
                            give(image, grad, y, x, width, depth)


@helper
def stretched(
    target: Address, source: Address, floats: Address, columns: int, args: Arguments
) -> None:
    """A line of an image interpolated along itself.

    floats: room for the line and SPARE numbers more; so many are behind the target, too.
    """
    left, right, across = pointer(args[4]), pointer(args[5]), pointer(args[6])
    out, line, depth = pointer(target), pointer(source), args[12]
    if DEPTH == 1:
        for j in range(columns):
            first = float32(line[left[j]])
            out[j] = first + (float32(line[right[j]]) - first) * across[j]
    elif DEPTH == 3:
        wide = pointer(floats)
        for j in range(args[9] * 3):
            wide[j] = float32(line[j])
        # Four numbers at once, of which the next pixel's first takes the place of the last.
        for j in range(columns):
            x, p, q = across[j], 3 * left[j], 3 * right[j]
            red, green, blue, more = wide[p], wide[p + 1], wide[p + 2], wide[p + 3]
            red2, green2, blue2, more2 = wide[q], wide[q + 1], wide[q + 2], wide[q + 3]
            out[3 * j] = red + (red2 - red) * x
            out[3 * j + 1] = green + (green2 - green) * x
            out[3 * j + 2] = blue + (blue2 - blue) * x
            out[3 * j + 3] = more + (more2 - more) * x
    else:
        for j in range(columns):
            x, p, q = across[j], left[j] * depth, right[j] * depth
            for c in range(depth):
                first = float32(line[p + c])
                out[j * depth + c] = first + (float32(line[q + c]) - first) * x


def resized(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, two rows and the share of the second for each row, likewise columns, result;
    height, width, rows, columns and channels; scratch.  Rows are lines of all resized images.

    A line between two is one of even and one of odd number (or is one of them): each is
    interpolated along itself once, for all the lines of the result that lie beside it.
    """
    top, bottom, down = pointer(args[1]), pointer(args[2]), pointer(args[3])
    height, width, rows, columns, depth = args[8], args[9], args[10], args[11], args[12]
    count = columns * depth
    lines = region(args[13] + worker * args[14], "float32")
    step = count + SPARE
    floats = lines + 2 * step
    even, odd = -1, -1
    for r in range(r0, r1):
        image = r // rows
        i = r - image * rows
        for k in range(2):
            at = image * height + (bottom[i] if k else top[i])
            line = args[0] + at * width * depth
            if at % 2:
                if at != odd:
                    stretched(lines + step, line, floats, columns, args)
                odd = at
            else:
                if at != even:
                    stretched(lines, line, floats, columns, args)
                even = at
        upper = pointer(lines + (image * height + top[i]) % 2 * step)
        lower = pointer(lines + (image * height + bottom[i]) % 2 * step)
        y, out = down[i], pointer(args[7] + r * count)
        for x in range(count):
            out[x] = upper[x] + (lower[x] - upper[x]) * y


@helper
def move(size: int, count: int, i: int) -> Scalar:
    """How far row (or column) i of a cut moves with the last corner of its box."""
    end = float32(size - 1)
    return float32(i) * end / float32(count - 1) if count > 1 else end / float32(2)


def box_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: gradients, images, boxes, numbers of images, result; images, height, width, channels,
    rows and columns of a cut.  Rows are boxes.
    """
    boxes, numbers, result = pointer(args[2]), pointer(args[3]), pointer(args[4])
    batch, height, width, depth, rows, columns = (
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
        args[10],
    )
    for r in range(r0, r1):
        image = args[1] + min(max(numbers[r], 0), batch - 1) * height * width * depth
        first_y, first_x, last_y, last_x = 0.0, 0.0, 0.0, 0.0
        for i in range(rows):
            y = place(boxes[4 * r], boxes[4 * r + 2], height, rows, i)
            has_y = y >= 0 and y <= float32(height - 1)
            for j in range(columns):
                x = place(boxes[4 * r + 1], boxes[4 * r + 3], width, columns, j)
                if has_y and x >= 0 and x <= float32(width - 1):
                    top, bottom, left, right = whole(y), above(y), whole(x), above(x)
                    v, u = y - float32(top), x - float32(left)
                    grad = pointer(args[0] + ((r * rows + i) * columns + j) * depth)
                    tl = pointer(image + (top * width + left) * depth)
                    tr = pointer(image + (top * width + right) * depth)
                    bl = pointer(image + (bottom * width + left) * depth)
                    br = pointer(image + (bottom * width + right) * depth)
                    by_y, by_x = 0.0, 0.0
                    for c in range(depth):
                        near, far = float32(1) - u, float32(1) - v
                        falls = near * (bl[c] - tl[c]) + u * (br[c] - tr[c])
                        rises = far * (tr[c] - tl[c]) + v * (br[c] - bl[c])
                        by_y += float64(falls * grad[c])
                        by_x += float64(rises * grad[c])
                    down, across = move(height, rows, i), move(width, columns, j)
                    first_y += by_y * float64(float32(height - 1) - down)
                    last_y += by_y * float64(down)
                    first_x += by_x * float64(float32(width - 1) - across)
                    last_x += by_x * float64(across)
        result[4 * r] = float32(first_y)
        result[4 * r + 1] = float32(first_x)
        result[4 * r + 2] = float32(last_y)
        result[4 * r + 3] = float32(last_x)


@helper
def draw_line(pixel: Address, color: Address, step: int, count: int, depth: int) -> None:
    """Gives some pixels, `step` elements from each other, a colour."""
    source = pointer(color)
    for i in range(count):
        target = pointer(pixel + i * step)
        for c in range(depth):
            target[c] = source[c]


def outlined(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, boxes, colours, result; height, width, channels, boxes of an image, colours,
    numbers of a colour.  Rows are images.
    """
    height, width, depth, count, colors, span = (
        args[4],
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
    )
    for r in range(r0, r1):
        image = args[3] + r * height * width * depth
        copy(image, args[0] + r * height * width * depth, height * width * depth)
        for n in range(count):
            box = pointer(args[1] + 4 * (r * count + n))
            color = args[2] + (n % colors) * span
            top, left = int64(box[0] * float32(height - 1)), int64(box[1] * float32(width - 1))
            bottom, right = int64(box[2] * float32(height - 1)), int64(box[3] * float32(width - 1))
            is_seen = top < height and bottom >= 0 and left < width and right >= 0
            if is_seen and top <= bottom and left <= right:
                y, x = max(top, 0), max(left, 0)
                tall, wide = min(bottom, height - 1) - y + 1, min(right, width - 1) - x + 1
                line = width * depth
                if top >= 0:
                    draw_line(image + top * line + x * depth, color, depth, wide, depth)
                if bottom < height:
                    draw_line(image + bottom * line + x * depth, color, depth, wide, depth)
                if left >= 0:
                    draw_line(image + y * line + left * depth, color, line, tall, depth)
                if right < width:
                    draw_line(image + y * line + right * depth, color, line, tall, depth)
