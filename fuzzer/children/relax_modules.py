"""Check Relax modules: `fuzzer.api.relax_modules` runs this in a process of its own (`fuzzer.isolate.module_job`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import tvm
from tvm import relax
from tvm_ffi import structural_equal

from fuzzer.isolate.module_job import (
    ANSWERS,
    INVALID,
    MOST_MESSAGE,
    MOST_STAGE,
    REFUSED,
    STAGES,
    ModuleAnswer,
    ModuleJob,
    read_arrays,
    read_jobs,
)
from fuzzer.isolate.module_job import write_arrays as write
from fuzzer.lanes.evaluated.common import Contradiction, Outside, Unknown
from fuzzer.lanes.evaluated.reference import Reference, evaluated, reference
from fuzzer.lanes.relax import releases
from fuzzer.lanes.relax.build import apply, target_of
from fuzzer.lanes.relax.check import ill_formed
from fuzzer.lanes.relax.comparable import comparable
from generators.graph import Array
from oracles.finding import Kind
from oracles.lane import Pipeline
from oracles.outcome import Facts, Raised, Ran, Stage, Unsupported
from oracles.relax_module import objection
from oracles.targets import Runs, Target, target_named
from oracles.tolerance import tolerance
from oracles.transforms import transform_named

OPEN_SIZE = 3
"""The size that stands for an open size of an input that is not given, and the next ones for others."""


def main(folder: str, first: int) -> None:
    """Do the jobs of a folder from this one on."""
    where = Path(folder)
    with (where / ANSWERS).open("ab") as answers, (where / STAGES).open("a") as stages:

        def step(stage: str) -> None:
            stages.write(f"{stage}\n")
            stages.flush()

        for number, job in list(enumerate(read_jobs(where)))[first:]:
            answer = _Check(where, number, job, step).answer()
            answers.write(msgspec.json.encode(answer) + b"\n")
            answers.flush()


class _Ended(Exception):
    """The answer is known."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Check:
    """One job. `stage` is what it does."""

    def __init__(self, folder: Path, number: int, job: ModuleJob, step: Callable[[str], None]) -> None:
        self._folder, self._number, self._job, self._step = folder, number, job, step
        self._stage, self._changed, self._unknown = "load", False, ""
        self._operators: tuple[str, ...] = ()

    def answer(self) -> ModuleAnswer:
        try:
            self._run()
        except _Ended as end:
            return self._answer(end.kind, str(end))
        return self._answer("", "")

    def _answer(self, kind: str, message: str) -> ModuleAnswer:
        stage, message, unknown = self._stage[:MOST_STAGE], message[:MOST_MESSAGE], self._unknown[:MOST_MESSAGE]
        return ModuleAnswer(kind, stage, message, self._changed, unknown, self._operators)

    def _begin(self, stage: str) -> None:
        self._stage = stage
        self._step(stage)

    def _run(self) -> None:
        job = self._job
        module, inputs = self._given()
        right = self._reference(module, inputs)
        self._save(right, inputs)
        if job.alone:  # what the module without the pass does wrong is not the pass's fault
            self._judge(right, self._compiled_run(module, inputs), INVALID)
        after = self._passed(module, right)
        if job.passes:
            self._judge(right, self._meaning(after, inputs))
        self._judge(right, self._compiled_run(after, inputs))

    def _judge(self, right: Reference, outcome: Ran | Raised | Unsupported | None, kind: str = "") -> None:
        """End the job where an oracle objects, as `kind` where it is given. None: there is nothing to judge."""
        if isinstance(outcome, Unsupported):
            raise _Ended(kind or REFUSED, outcome.reason)
        if outcome and (found := objection(outcome, right.expected, right.rounding)):
            raise _Ended(kind or found[0], found[1])

    def _given(self) -> tuple[Any, tuple[Array, ...]]:
        """The module, and the inputs of main in their order. The job ends where it has no main, or is ill-formed."""
        self._begin("load")
        text = (self._folder / f"module-{self._job.module}.json").read_text()
        try:
            module = tvm.ir.load_json(text)
        except Exception as error:  # TVM may raise anything
            raise _Ended(INVALID, _text(error)) from None
        if not isinstance(module, tvm.IRModule) or "main" not in {var.name_hint for var in module.get_global_vars()}:
            raise _Ended(INVALID, "it is no module with a function main")
        if broken := ill_formed(module, "load"):
            raise _Ended(INVALID, f"it is ill-formed as it is given: {broken.message}")
        self._operators = tuple(dict.fromkeys(_operators(module)))
        given = read_arrays(self._folder / f"inputs-{self._number}.npz")
        return module, tuple(_inputs(module["main"], given, self._job.seed))

    def _reference(self, module: Any, inputs: Sequence[Array]) -> Reference:
        self._begin("evaluate")
        try:
            found = reference(module, inputs, lambda: self._zero(module, inputs))
        except (Outside, Contradiction) as error:
            raise _Ended(INVALID, str(error)) from None
        except Exception as error:  # TVM may raise anything
            raise _Ended(INVALID, f"without optional passes: {_text(error)}") from None
        self._unknown = found.unknown
        rounding = max([found.rounding, *(transform_named(name).rounding for name in self._job.passes)])
        return Reference(found.expected, rounding, found.unknown)

    def _save(self, right: Reference, inputs: Sequence[Array]) -> None:
        write(self._folder / f"inputs-{self._number}.npz", {f"x{place}": each for place, each in enumerate(inputs)})
        arrays: dict[str, Array] = {}
        for place, each in enumerate(right.expected):
            arrays[f"value{place}"] = each.truth
            allowed = np.where(each.ill, np.inf, tolerance(each, right.rounding))
            arrays[f"allowed{place}"] = np.where(np.isnan(allowed), np.inf, allowed)
        write(self._folder / f"expected-{self._number}.npz", arrays)

    def _passed(self, module: Any, right: Reference) -> Any:
        """The module after the passes. TVM's checker looks at it after each."""
        for name in self._job.passes:
            before = module
            self._begin(name)
            try:
                module = self._applied(name, before)
            except Exception as error:  # passes may raise anything
                self._judge(right, _failure(Stage.TRANSFORM, error))
            broken = ill_formed(module, name)
            self._judge(right, Raised(Stage.TRANSFORM, "", "", facts=Facts(ill_formed=broken)) if broken else None)
            self._changed = not structural_equal(comparable(module), comparable(before))
        return module

    def _applied(self, name: str, module: Any) -> Any:
        target = target_of(target_named(self._job.target))
        with target:
            made = apply(name, module, target)
        if not isinstance(made, tvm.IRModule):
            raise TypeError(f"{name} returns {type(made).__name__}, and not an IRModule")
        return made

    def _meaning(self, module: Any, inputs: Sequence[Array]) -> Ran | None:
        """What the module computes by the definitions of its operators. None where one has none: then the compiled
        program decides."""
        self._begin("evaluate")
        try:
            return Ran(evaluated(module, inputs))
        except Unknown:
            return None
        except (Outside, Contradiction) as error:
            raise _Ended(Kind.WRONG_VALUE, f"the module after {self._job.passes[-1]}: {error}") from None

    def _compiled_run(self, module: Any, inputs: Sequence[Array]) -> Ran | Raised | Unsupported | None:
        """What the compiled program gives; None where the code of the target does not run here."""
        self._begin("compile")
        row = target_named(self._job.target)
        try:
            executable = self._compiled(module, self._job.pipeline, row)
            return Ran(self._results(executable, inputs)) if row.runs is Runs.HERE else None
        except Exception as error:  # TVM may raise anything
            return _failure(Stage.RUN if self._stage == "run" else Stage.COMPILE, error)

    def _zero(self, module: Any, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """What the program without optional passes gives, for the target if its code runs here."""
        row = target_named(self._job.target)
        here = row if row.runs is Runs.HERE else target_named("llvm")
        return self._results(self._compiled(module, Pipeline.ZERO, here), inputs)

    def _compiled(self, module: Any, pipeline: Pipeline, row: Target) -> Any:
        target = target_of(row)
        with tvm.transform.PassContext(opt_level=self._job.opt_level), target:
            whole = "default"
            match pipeline:
                case Pipeline.ZERO:
                    module = relax.get_pipeline("zero")(module)
                case Pipeline.CPU:
                    whole = relax.backend.cpu_generic.get_default_pipeline(target)
            return relax.build(module, target, relax_pipeline=whole)

    def _results(self, executable: Any, inputs: Sequence[Array]) -> tuple[Array, ...]:
        self._begin("run")
        machine = relax.VirtualMachine(executable, tvm.cpu())
        return tuple(_arrays(machine["main"](*[tvm.runtime.tensor(array) for array in inputs])))


def _failure(stage: Stage, error: Exception) -> Raised | Unsupported:
    if isinstance(error, NotImplementedError):
        return Unsupported(stage, _text(error))
    return Raised(stage, type(error).__name__, _line(error))


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {_line(error)}"


def _line(error: BaseException) -> str:
    return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), "")


def _operators(module: Any) -> Iterator[str]:
    found: list[str] = []

    def visit(expr: Any) -> None:
        if isinstance(expr, relax.Call) and isinstance(expr.op, tvm.ir.Op):
            found.append(str(expr.op.name).removeprefix("relax."))

    for function in module.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    yield from found


def _arrays(value: Any) -> Iterator[Array]:
    if isinstance(value, tvm.runtime.Tensor):
        yield value.numpy()
        return
    for part in value:
        yield from _arrays(part)


def _inputs(function: Any, given: dict[str, Array], seed: int) -> Iterator[Array]:
    """The inputs of main: those that are given, by place (`x0`) or name, and drawn ones."""
    random = np.random.default_rng(seed)
    sizes: dict[str, int] = {}
    _require_names(given, [_name(param) for param in function.params])
    for place, param in enumerate(function.params):
        type = releases.type_of(param)
        if getattr(type, "shape", None) is None or not hasattr(type.shape, "values"):
            raise _Ended(INVALID, f"the parameter {_name(param)} of main is no tensor of a known rank")
        dtype = np.dtype(ml_dtypes.bfloat16) if str(type.dtype) == "bfloat16" else np.dtype(str(type.dtype))
        array = given.get(_name(param), given.get(f"x{place}"))
        if array is not None:
            _require_fitting(_name(param), array, list(type.shape.values), dtype, sizes)
            yield np.asarray(array, dtype, order="C")  # np.ascontiguousarray makes rank 1 of rank 0
            continue
        shape = [_size(size, sizes) for size in type.shape.values]
        yield _drawn(random, shape, dtype)


def _require_names(given: Mapping[str, Array], names: Sequence[str]) -> None:
    known = {*names, *(f"x{place}" for place in range(len(names)))}
    if unknown := [name for name in given if name not in known]:
        raise _Ended(INVALID, f"main has no parameter {unknown[0]}; it has {', '.join(names) or 'none'}")


def _require_fitting(
    name: str, array: Array, shape: Sequence[Any], dtype: np.dtype[Any], sizes: dict[str, int]
) -> None:
    """Require the shape and a dtype that becomes the parameter's without losing its kind. Open sizes get numbers."""
    taken = [getattr(size, "value", sizes.get(str(size), size)) for size in shape]
    fits = len(taken) == array.ndim and all(
        size == actual or not isinstance(size, int) for size, actual in zip(taken, array.shape, strict=True)
    )
    if not fits:
        given, wanted = list(array.shape), ", ".join(map(str, taken))
        raise _Ended(INVALID, f"the input {name} has shape {given}, and main takes [{wanted}]")
    sizes.update({str(size): actual for size, actual in zip(shape, array.shape, strict=True)})
    kept = np.float32 if dtype == ml_dtypes.bfloat16 else dtype
    if not np.can_cast(array.dtype, kept, "same_kind"):
        raise _Ended(INVALID, f"the input {name} is {array.dtype}, and main takes {dtype}")


def _size(size: Any, sizes: dict[str, int]) -> int:
    number = getattr(size, "value", size)
    return number if isinstance(number, int) else sizes.setdefault(str(size), OPEN_SIZE + len(sizes))


def _drawn(random: np.random.Generator, shape: list[int], dtype: np.dtype[Any]) -> Array:
    """Numbers around 0; integers are 0 or 1, which are places in most tensors."""
    if dtype.kind in "iub":
        return random.integers(0, 2, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def _name(param: Any) -> str:
    """Releases have it under two names."""
    return str(param.name_hint if hasattr(param, "name_hint") else param.name)
