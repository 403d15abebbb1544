"""Record what happens inside a traced lane, before it happens, so that the step that ends the process is known.

A pass instrument records the order of the passes, and skips optional passes beyond the limit. A pass that runs inside
another one belongs to that one: FoldConstant compiles kernels, FuseTIR cleans up. Python's profiler finds the functions
of TVM that translate an operator, because they are called from C++ or from tables of partial functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import tvm
import tvm_ffi
from tvm import relax

from fuzzer.lanes.base.step import Step
from fuzzer.lanes.relax.comparable import comparable
from fuzzer.lanes.relax.converted_types import TypesOfFile, mistyped_in_program, node_of, type_text
from fuzzer.lanes.relax.executed_lines import DISPATCHERS, ExecutedLines
from fuzzer.lanes.relax.needed_passes import CONTAINERS, LEGALIZING, is_optional, without_namespace
from generators.dialect import dialect_named
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.trace import AS_IMPORTED, PassRun, Trace, Tracing, Translation

MAX_TEXT = 60_000
"""The largest length of a program's text, in characters."""

_TVM = f"{Path(tvm.__file__).parent}/"
"""The folder of TVM's Python files."""


class Tracer:
    def __init__(self, tracing: Tracing, step: Step, case: Case) -> None:
        self._tracing, self._step, self._case = tracing, step, case
        self._trace = Trace()
        self._stack: list[tuple[str, int | None]] = []
        self._optional = 0
        self._lines = ExecutedLines()
        self._types_of_file = TypesOfFile(case) if dialect_named(case.graph.dialect).is_file else None

    @staticmethod
    def of(spec: LaneSpec, step: Step, case: Case) -> Tracer | None:
        """Return a tracer, or None for a lane that is not traced."""
        return Tracer(spec.tracing, step, case) if spec.tracing else None

    def instruments(self) -> list[Any]:
        """Return the instruments for a PassContext."""
        return [_Instrument(self)]

    @contextmanager
    def importing(self) -> Iterator[None]:
        self._lines.start()
        try:
            with watching_calls(self._converts, self._converted):
                yield
        finally:
            self._lines.stop()
            self._note(lines=self._lines.lines)

    def imported(self, module: Any) -> None:
        if self._tracing.show == AS_IMPORTED:
            self._note(after=text_of(module.functions))
        self._note(types=result_types(module), calls=called_in(module))

    def should_run(self, name: str) -> bool:
        """Record a pass; return whether it runs."""
        if name in CONTAINERS or self._inside:
            return True
        optional, limit = is_optional(name), self._tracing.limit
        runs = not optional or limit is None or self._optional < limit
        self._optional += optional
        self._note(passes=(*self._trace.passes, PassRun(name, optional, runs, changed=runs)))
        return runs

    def pass_begins(self, name: str, module: Any) -> None:
        counted = name not in CONTAINERS and not self._inside
        place = len(self._trace.passes) - 1 if counted else None
        self._stack.append((name, place))
        if place is not None:
            self._hash = tvm_ffi.structural_hash(comparable(module))
            self._functions = dict(module.functions) if place == self._tracing.show else {}
            if self._functions:  # record the whole text now, because the pass may end the process
                self._note(before=text_of(self._functions))
            if without_namespace(name) in LEGALIZING:
                self._lines.start()
                start_watching(self._legalizes)
        self._note(under_way=self._names)

    def pass_ended(self, module: Any) -> None:
        name, place = self._stack.pop()
        if place is None:
            return self._note(under_way=self._names)
        if without_namespace(name) in LEGALIZING:
            sys.setprofile(None)
            self._lines.stop()
            self._note(left=left_in(module), lines=self._lines.lines)
        passes = list(self._trace.passes)
        passes[place] = replace(passes[place], changed=tvm_ffi.structural_hash(comparable(module)) != self._hash)
        if self._functions:
            before, after = _different(self._functions, dict(module.functions))
            self._note(before=text_of(before), after=text_of(after))
        return self._note(passes=tuple(passes), under_way=self._names)

    def stopped(self) -> None:
        """No further pass runs."""
        self._lines.stop()
        self._note(lines=self._lines.lines)

    @property
    def _inside(self) -> bool:
        return any(name not in CONTAINERS for name, _ in self._stack)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self._stack if name not in CONTAINERS)

    def _note(self, **fields: Any) -> None:
        self._trace = replace(self._trace, **fields)
        self._step.note(trace=self._trace)

    def _converts(self, frame: FrameType) -> None:
        if found := converter_in(frame):
            self._note(converters=(*self._trace.converters, found), places=self._places(frame))
            if self._types_of_file and self._trace.mistyped is None:
                self._note(mistyped=self._types_of_file.mistyped_operand(frame, self._trace.converters))

    def _converted(self, frame: FrameType, result: object) -> None:
        if self._trace.mistyped is not None:
            return
        if self._types_of_file:
            wrong = self._types_of_file.mistyped(frame, result, self._trace.converters)
        else:
            by = converter_in(frame)
            wrong = mistyped_in_program(frame, result, by, self._case) if by else None
        if wrong is not None:
            self._note(mistyped=wrong)

    def _legalizes(self, frame: FrameType) -> None:
        known = self._trace.legalizations
        found = legalization_in(frame)
        if found and not (
            known and known[-1][0] == found[0]
        ):  # otherwise the function called another one with the same call
            self._note(legalizations=(*known, found), places=self._places(frame))

    def _places(self, frame: FrameType) -> tuple[tuple[str, str], ...]:
        """The places so far, and that of a function of TVM. One that the user preloads has no place in TVM's source."""
        code = frame.f_code
        if not code.co_filename.startswith(_TVM):
            return self._trace.places
        file = "tvm/" + code.co_filename.removeprefix(_TVM)
        return tuple(dict.fromkeys((*self._trace.places, (_name(frame), f"{file}:{code.co_firstlineno}"))))


Look = Callable[[FrameType], None]
LookBack = Callable[[FrameType, object], None]


@contextmanager
def watching_calls(look: Look, look_back: LookBack | None = None) -> Iterator[None]:
    """Call `look` with the frame of each called Python function, and `look_back` with its frame and result."""
    start_watching(look, look_back)
    try:
        yield
    finally:
        sys.setprofile(None)


def start_watching(look: Look, look_back: LookBack | None = None) -> None:
    looks: dict[str, LookBack | None] = {"call": lambda frame, _: look(frame), "return": look_back}

    def watch(frame: FrameType, event: str, result: object) -> None:
        if callback := looks.get(event):
            sys.setprofile(None)  # do not profile the calls of the callback
            try:
                callback(frame, result)
            finally:
                sys.setprofile(watch)

    sys.setprofile(watch)


def converter_in(frame: FrameType) -> Translation | None:
    """A function that an importer's table gave for a node of its graph."""
    code, caller = frame.f_code, frame.f_back
    if caller is None or caller.f_code.co_name not in DISPATCHERS or code.co_name.startswith("<"):
        return None
    if caller.f_code.co_name == "_convert_operator":
        return (str(caller.f_locals["op_name"]), _name(frame)) if code.co_name.startswith("_impl") else None
    node = node_of(frame)
    return (_target(node), _name(frame)) if node is not None else None


def legalization_in(frame: FrameType) -> Translation | None:
    """Return the operator and the name of a legalization, which is a function (builder, call), or None."""
    code = frame.f_code
    if code.co_argcount != 2 or code.co_varnames[0] == "self":
        return None
    call = frame.f_locals.get(code.co_varnames[1])
    if not isinstance(call, relax.Call) or not isinstance(call.op, tvm.ir.Op):
        return None
    name = str(call.op.name)
    return (name, _name(frame)) if name.startswith("relax.") else None


def _name(frame: FrameType) -> str:
    """Return the qualified name of a function, for example `_binary.call` for one inside another."""
    return frame.f_code.co_qualname.replace(".<locals>", "")


def _target(node: torch.fx.Node) -> str:
    if node.op == "call_module":
        module = node.graph.owning_module
        return type(module.get_submodule(str(node.target))).__name__ if module is not None else str(node.target)
    return str(getattr(node.target, "__name__", node.target))


@tvm.ir.instrument.pass_instrument
class _Instrument:
    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def should_run(self, module: Any, info: Any) -> bool:
        return self._tracer.should_run(str(info.name))

    def run_before_pass(self, module: Any, info: Any) -> None:
        self._tracer.pass_begins(str(info.name), module)

    def run_after_pass(self, module: Any, info: Any) -> None:
        self._tracer.pass_ended(module)

    def exit_pass_ctx(self) -> None:
        sys.setprofile(None)  # a pass that raises does not reach run_after_pass
        self._tracer.stopped()


def _different(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return the functions of each module that the other lacks or has with another body. Names identify functions."""
    mine, theirs = ({var.name_hint: function for var, function in some.items()} for some in (one, other))
    same = {name for name in mine.keys() & theirs.keys() if tvm_ffi.structural_equal(mine[name], theirs[name])}
    left, right = ({var: f for var, f in some.items() if var.name_hint not in same} for some in (one, other))
    return left, right


def text_of(functions: Mapping[Any, Any]) -> str:
    """Return functions of a module as TVMScript, cut after `MAX_TEXT` characters."""
    text = str(tvm.IRModule(dict(functions)).script())
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT].rpartition("\n")[0] + "\n# ... and so on\n"


_RUN_AS_THEY_ARE = ("relax.call_", "relax.builtin.", "relax.memory.", "relax.vm.", "relax.shape_", "relax.invoke_")


def left_in(module: Any) -> tuple[str, ...]:
    """Return the operators that the Relax functions still call and that should have become kernels."""
    return tuple(name for name in called_in(module) if not name.startswith(_RUN_AS_THEY_ARE))


def called_in(module: Any) -> tuple[str, ...]:
    """Return the names of the operators that Relax functions call, each once."""
    found: dict[str, None] = {}

    def look(expr: Any) -> None:
        if isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op):
            found[str(expr.op.name)] = None

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, look)
    return tuple(found)


def result_types(module: Any) -> tuple[str, ...]:
    """Return the types of main's results; an empty text for one that is no tensor of known sizes."""
    main = module["main"]
    type = main.ret_ty if hasattr(main, "ret_ty") else main.ret_struct_info
    return tuple(type_text(each) for each in getattr(type, "fields", [type]))
