"""A case with the work before TVM that its lanes share. Imported in children only.

What the work is says the dialect: `fuzzer/lanes/<dialect>/prepared.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import TracebackType
from typing import Any, TypeVar

from generators.dialect import dialect_named
from generators.graph import Array, Case
from oracles.outcome import Stage

T = TypeVar("T")


class PreparedCase:
    """A case, and the parts of this work. Each part is made once, when it is first needed.

    A part that raised an exception raises it again at once. No lane gets an object that it could change for others:
    each lane imports its own module, and files and tensors are copied.
    """

    def __init__(self, case: Case, step: Callable[[Stage], None], before: PreparedCase | None = None) -> None:
        """`before` is an earlier case of this process. Its parts are taken over where they must be the same."""
        self.case = case
        self._step = step
        self._stage = Stage.START
        self._parts: dict[str, Any] = {}
        self._read_no_inputs: set[str] = set()
        self._failed: dict[str, tuple[Stage, Exception, TracebackType | None]] = {}
        if before is not None and _differ_in_inputs_only(case, before.case):
            self._read_no_inputs = set(before._read_no_inputs)
            self._parts = {name: before._parts[name] for name in self._read_no_inputs}

    def report_to(self, step: Callable[[Stage], None]) -> None:
        """Report the stages of further lanes to `step`."""
        self._step, self._stage = step, Stage.START

    def step(self, stage: Stage) -> None:
        self._stage = stage
        self._step(stage)

    @cached_property
    def inputs(self) -> Mapping[str, Array]:
        """The inputs of the model, in the order in which it takes them."""
        return dialect_named(self.case.graph.dialect).inputs(self.case)

    def once(self, name: str, make: Callable[[], T], *, reads_inputs: bool = True) -> T:
        """The part of this name, which `make` makes where there is none yet.

        reads_inputs  whether it depends on the numbers of inputs. torch.export sees their types and layouts only; the
                      exporters of ONNX files run the model, and do see numbers
        """
        if name in self._failed:
            stage, failure, raised_at = self._failed[name]
            self.step(stage)
            raise failure.with_traceback(raised_at)  # without the frames of lanes that got it before
        if name not in self._parts:
            try:
                self._parts[name] = make()
            except Exception as error:
                self._failed[name] = (self._stage, error, error.__traceback__)
                raise
            if not reads_inputs:
                self._read_no_inputs.add(name)
        value: T = self._parts[name]
        return value


def _differ_in_inputs_only(case: Case, other: Case) -> bool:
    """Whether the two differ in the numbers of inputs at most."""
    if (case.graph, case.sizes, case.given) != (other.graph, other.sizes, other.given):
        return False
    return all(array.tobytes() == other.owned[name].tobytes() for name, array in case.owned.items())
