"""Lines of a compiler's Python that run while a node is converted, without the compiler."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from fuzzer.lanes.relax.executed_lines import MOST, ExecutedLines

FRONTEND = "/site-packages/tvm/relax/frontend/torch/some_translator.py"
KERNELS = "/site-packages/tvm/topi/some.py"

SOURCE = """
class Importer:
    def _translate_fx_graph(self, scalar):
        self.common = 1
        return self._convert(scalar)

    def _convert(self, scalar):
        if scalar:
            return helper()
        return 0


def helper():
    return 1


def from_fx(scalar):
    return Importer()._translate_fx_graph(scalar)


def setup():
    return helper()
"""


def module(file: str, source: str = SOURCE) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "some"}
    exec(compile(source, file, "exec"), names)
    return names


def lines_of(run: Callable[[], object]) -> tuple[str, ...]:
    executed = ExecutedLines()
    executed.start()
    try:
        run()
    finally:
        executed.stop()
    return executed.lines


def test_lines_below_the_dispatcher_are_recorded() -> None:
    from_fx = module(FRONTEND)["from_fx"]
    assert lines_of(lambda: from_fx(True)) == ("Importer._convert+1", "Importer._convert+2", "helper+1")
    assert lines_of(lambda: from_fx(False)) == ("Importer._convert+1", "Importer._convert+3")


def test_what_runs_for_every_model_is_left_out() -> None:
    assert lines_of(module(FRONTEND)["setup"]) == ()


def test_functions_of_kernels_are_recorded_by_name() -> None:
    assert lines_of(module(KERNELS)["setup"]) == ("setup", "helper")


def test_other_files_are_left_out() -> None:
    assert lines_of(lambda: module("/site-packages/torch/fx/some_translator.py")["from_fx"](True)) == ()


def test_who_traced_before_traces_after_the_end() -> None:
    """As coverage.py does in the tests."""

    def other(frame: FrameType, event: str, _: object) -> None:
        return None

    before = sys.gettrace()
    try:
        for trace in (None, other):
            sys.settrace(trace)
            lines_of(lambda: None)
            assert sys.gettrace() is trace
    finally:
        sys.settrace(before)


def test_an_exception_leaves_what_ran() -> None:
    source = SOURCE.replace("return helper()\n        return 0", "raise KeyError\n        return 0")
    executed = ExecutedLines()
    executed.start()
    with pytest.raises(KeyError):
        module(FRONTEND, source)["from_fx"](True)
    executed.stop()
    assert executed.lines == ("Importer._convert+1", "Importer._convert+2")


def test_there_is_a_bound() -> None:
    source = "\n".join(f"def f{number}(): pass" for number in range(MOST + 5))
    names = module(KERNELS, source)
    assert len(lines_of(lambda: [names[f"f{number}"]() for number in range(MOST + 5)])) == MOST
