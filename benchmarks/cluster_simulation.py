# SPDX-License-Identifier: Apache-2.0
"""Workers and parameter servers that take their turns, as docs/cluster_costs.md has them.

Time goes from event to event: all phases that are under way share the processors, so they go on at
one speed, and the next to end is the one with the least work left.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

# The bytes of the perceptron's parameters: what is read and what is applied in a step.
PARAMETERS = 4 * (784 * 100 + 100 + 100 * 10 + 10)
_ENDLESS = float("inf")


@dataclass(frozen=True)
class Rates:
    """What the model knows of a machine, in seconds."""

    latency: float  # of a run through a master of another process
    per_byte: float  # sent one way and in memory by then
    step: float  # of the perceptron in one process
    mapped_byte: float  # written where another process maps it
    processors: float  # that processes find which compute at a time
    spread: float = 0.0  # of a step: the mean of what comes on top of it, which is drawn
    apart_latency: float = 0.0  # as `latency`, over gRPC
    apart_byte: float = 0.0  # as `per_byte`, over gRPC

    def exchange(self, size: float) -> float:
        """A call of another task that carries so many bytes."""
        return self.latency + size * self.per_byte

    def apart(self, network: float) -> Rates:
        """Those of tasks with machines of their own: a network of so many bytes a second."""
        return replace(
            self,
            latency=self.apart_latency,
            per_byte=self.apart_byte + 1 / network,
            processors=_ENDLESS,
        )


@dataclass(frozen=True)
class Phase:
    """Work of a step: where it is, and how long it takes a processor."""

    is_ps: bool
    seconds: float
    # Whether more comes on top of it, sometimes.
    is_spread: bool = False
    # Whether the first worker alone has it.
    is_chief: bool = False


def step_of(rates: Rates, is_sync: bool, servers: int = 1) -> list[Phase]:
    """The phases of a worker's step: parameters come, gradients are made, and go.

    Half of an exchange is the worker's, half the parameter server's, which does one at a time.
    Several of these have equal shares of the parameters, and are asked at a time.
    """
    half = rates.exchange(PARAMETERS / servers) / 2
    found = [Phase(False, half), Phase(True, half), Phase(False, rates.step, True)]
    found += [Phase(False, half), Phase(True, half)]
    if is_sync:
        # The update by the mean, which the chief asks for, and the token for the next step.
        found += [Phase(True, half, is_chief=True), Phase(False, rates.latency / 2)]
        found += [Phase(True, rates.latency / 2)]
    return found


class Simulation:
    """Workers that take steps, and share processors and a parameter server."""

    def __init__(
        self,
        phases: Sequence[Phase],
        workers: int,
        processors: float,
        is_sync: bool,
        spread: float = 0.0,
    ) -> None:
        self._phases, self._processors, self._is_sync = list(phases), processors, is_sync
        self._spread, self._draws = spread, random.Random(0)
        self._at = [0] * workers
        self._steps = [0] * workers
        # The rounds of synchronous steps that are over, and how many are done with the next.
        self._round = self._arrived = 0
        # Who waits for the parameter server, the first of them being served, and for other workers.
        self._queue: deque[int] = deque()
        self._waiting: list[int] = []
        # How far every phase under way has come since the beginning, and where it ends.
        self._reached, self._time = 0.0, 0.0
        self._ends: list[tuple[float, int]] = []

    def seconds_per_step(self, count: int = 200) -> float:
        """Seconds of a step of all workers together, over so many steps of each."""
        workers = len(self._at)
        for worker in range(workers):
            self._enter(worker)
        while sum(self._steps) < count * workers:
            end, worker = heapq.heappop(self._ends)
            share = min(1.0, self._processors / (len(self._ends) + 1))
            self._time += (end - self._reached) / share
            self._reached = end
            self._leave(worker)
        return self._time / sum(self._steps)

    def _enter(self, worker: int) -> None:
        """Begins the phase that a worker has come to, or waits for it."""
        if self._is_sync and self._at[worker] == 0 and self._steps[worker] > self._round:
            self._waiting.append(worker)
            return
        if self._phases[self._at[worker]].is_ps:
            self._queue.append(worker)
            if self._queue[0] != worker:
                return
        self._begin(worker)

    def _begin(self, worker: int) -> None:
        phase = self._phases[self._at[worker]]
        more = self._draws.expovariate(1.0) * self._spread if phase.is_spread else 0.0
        seconds = 0.0 if phase.is_chief and worker else phase.seconds + more
        heapq.heappush(self._ends, (self._reached + seconds, worker))

    def _leave(self, worker: int) -> None:
        """Ends a worker's phase, and begins the next, and those that waited for it."""
        if self._phases[self._at[worker]].is_ps:
            self._queue.popleft()
            if self._queue:
                self._begin(self._queue[0])
        self._at[worker] = (self._at[worker] + 1) % len(self._phases)
        if self._at[worker]:
            self._enter(worker)
            return
        self._steps[worker] += 1
        self._arrived += 1
        if self._is_sync and self._arrived == len(self._at):
            self._round, self._arrived = self._round + 1, 0
            waiting, self._waiting = self._waiting, []
            for other in waiting:
                self._enter(other)
        self._enter(worker)


def steps_per_second(
    rates: Rates, workers: int, is_sync: bool, servers: int = 1, count: int = 50
) -> float:
    """How many steps so many workers take together in a second."""
    phases = step_of(rates, is_sync, servers)
    made = Simulation(phases, workers, rates.processors, is_sync, rates.spread)
    return 1 / made.seconds_per_step(count)
