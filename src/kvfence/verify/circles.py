"""Whether moves that are sure to be made can be made for ever."""

from __future__ import annotations

from array import array


def on_a_circle(count: int, moves: array[int]) -> int | None:
    """A number that lies on a circle of moves, or behind one; None where every way ends.

    `moves` is pairs of numbers below `count`: from, to. Numbers that nothing leads to are taken away until none is
    left, or only circles and what they lead to.
    """
    led_to = array("l", bytes(count * array("l").itemsize))
    starts = array("l", bytes((count + 1) * array("l").itemsize))
    for at in range(0, len(moves), 2):
        starts[moves[at] + 1] += 1
        led_to[moves[at + 1]] += 1
    for number in range(count):
        starts[number + 1] += starts[number]
    ends, free = array("l", bytes(len(moves) // 2 * array("l").itemsize)), array("l", starts)
    for at in range(0, len(moves), 2):
        ends[free[moves[at]]] = moves[at + 1]
        free[moves[at]] += 1
    ready = [number for number in range(count) if not led_to[number]]
    while ready:
        number = ready.pop()
        count -= 1
        for at in range(starts[number], starts[number + 1]):
            led_to[ends[at]] -= 1
            if not led_to[ends[at]]:
                ready.append(ends[at])
    return None if not count else next(number for number, left in enumerate(led_to) if left)
