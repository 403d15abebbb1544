"""The part of Ray that the driver uses, in one process and with a simulated clock: only waiting advances the clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Clock:
    """Replaces the module `time`. It fails where code reads the time `most_looks` times, because such code spins."""

    now: float = 1000.0
    most_looks: int = 20_000
    looks: int = 0
    at: dict[float, Callable[[], None]] = field(default_factory=dict)
    """Functions by time: each is called at the first reading of the clock after its time."""

    def monotonic(self) -> float:
        self.looks += 1
        assert self.looks < self.most_looks, "a loop reads the clock without waiting"
        for when in [when for when in self.at if when <= self.now]:
            self.at.pop(when)()
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@dataclass(eq=False)
class Answer:
    there: float
    value: object


@dataclass
class Actor:
    """`node` is None where no machine is large enough. Methods run at once; answers come `delay` seconds later."""

    ray: Ray
    node: Any
    alive: bool = True

    def __getattr__(self, name: str) -> Any:
        return _Method(self, name)


@dataclass
class _Method:
    actor: Actor
    name: str

    def remote(self, *arguments: object) -> Answer:
        ray = self.actor.ray
        if self.actor.node is None:
            return Answer(float("inf"), None)
        try:
            value = getattr(self.actor.node, self.name)(*arguments)
        except Exception as error:
            value = ray.exceptions.RayError(f"a stack\n{type(error).__name__}: {error}")
        return Answer(ray.clock.now + ray.delay, value)


class Ray:
    """`machines`: CPUs of each; `node(assignment, folder, seed_cases)` makes what runs in an actor."""

    class exceptions:  # noqa: N801 - as in Ray
        class RayError(Exception):
            pass

    def __init__(self, clock: Clock, machines: Sequence[int], node: Callable[..., Any], delay: float = 0.0) -> None:
        self.clock, self.machines, self.make, self.delay = clock, list(machines), node, delay
        self.actors: list[Actor] = []

    def nodes(self) -> list[dict[str, Any]]:
        return [{"Alive": True, "Resources": {"CPU": float(cpus)}} for cpus in self.machines]

    def put(self, value: object) -> object:
        return value

    def remote(self, num_cpus: int, num_gpus: int) -> Callable[[type], Any]:
        def start(*arguments: object) -> Actor:
            fits = any(cpus >= num_cpus for cpus in self.machines)
            self.actors.append(Actor(self, self.make(*arguments) if fits else None))
            return self.actors[-1]

        return lambda remote: type("Remote", (), {"remote": staticmethod(start)})

    def wait(self, answers: Sequence[Answer], timeout: float) -> tuple[list[Answer], list[Answer]]:
        assert answers, "Ray refuses an empty list"
        first = min(answers, key=lambda answer: answer.there)
        if first.there > self.clock.now + timeout:
            self.clock.sleep(timeout)
            return [], list(answers)
        self.clock.sleep(max(0.0, first.there - self.clock.now))
        return [first], [answer for answer in answers if answer is not first]

    def get(self, answer: Answer) -> Any:
        if isinstance(answer.value, Exception):
            raise answer.value
        return answer.value

    def kill(self, actor: Actor) -> None:
        actor.alive = False
