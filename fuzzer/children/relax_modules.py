"""Check Relax modules: `fuzzer.api.relax_modules` runs this in a process of its own (`fuzzer.isolate.module_job`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import tvm
from tvm import relax
from tvm_ffi import structural_equal

from fuzzer.isolate.module_job import ANSWERS, INVALID, REFUSED, STAGES, ModuleJob, Verdict, read_arrays, read_jobs
from fuzzer.isolate.module_job import write_arrays as write
from fuzzer.lanes.evaluated.common import Contradiction, Outside, Unknown
from fuzzer.lanes.evaluated.reference import Reference, evaluated, reference
from fuzzer.lanes.relax import releases
from fuzzer.lanes.relax.build import apply, target_of
from fuzzer.lanes.relax.check import ill_formed
from fuzzer.lanes.relax.comparable import comparable
from generators.graph import Array
from oracles.finding import Kind
from oracles.targets import TARGETS_BY_NAME
from oracles.tolerance import mismatch, tolerance
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
            verdict = _Check(where, number, job, step).verdict()
            answers.write(msgspec.json.encode(verdict) + b"\n")
            answers.flush()


class _Ended(Exception):
    """The verdict is known."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class _Check:
    """One job. `stage` is what it does."""

    def __init__(self, folder: Path, number: int, job: ModuleJob, step: Any) -> None:
        self._folder, self._number, self._job, self._step = folder, number, job, step
        self._stage, self._changed, self._unknown = "load", False, ""
        self._operators: tuple[str, ...] = ()

    def verdict(self) -> Verdict:
        try:
            self._run()
        except _Ended as end:
            return self._verdict(end.kind, str(end))
        return self._verdict("", "")

    def _verdict(self, kind: str, message: str) -> Verdict:
        return Verdict(kind, self._stage, message[:2000], self._changed, self._unknown, self._operators)

    def _begin(self, stage: str) -> None:
        self._stage = stage
        self._step(stage)

    def _run(self) -> None:
        job = self._job
        module, inputs = self._given()
        expected = self._reference(module, inputs)
        self._save(expected, inputs)
        if job.alone:  # what the module without the pass does wrong is not the pass's fault
            plain = self._attempt("compile", INVALID, lambda: self._compiled(module, job.pipeline, inputs))
            self._compare(expected, plain, INVALID)
        after = self._passed(module)
        if job.passes:
            self._begin("evaluate")
            self._meaning(after, inputs, expected)
        outputs = self._attempt("compile", Kind.INTERNAL_ERROR, lambda: self._compiled(after, job.pipeline, inputs))
        self._compare(expected, outputs, Kind.WRONG_VALUE)

    def _given(self) -> tuple[Any, tuple[Array, ...]]:
        """The module, and the inputs of main in their order. The job ends where it has no main, or is ill-formed."""
        self._begin("load")
        text = (self._folder / f"module-{self._job.module}.json").read_text()
        module = self._attempt("load", INVALID, lambda: tvm.ir.load_json(text))
        if not isinstance(module, tvm.IRModule) or "main" not in {var.name_hint for var in module.get_global_vars()}:
            raise _Ended(INVALID, "it is no module with a function main")
        if broken := ill_formed(module, "load"):
            raise _Ended(INVALID, f"it is ill-formed as it is given: {broken.message}")
        self._operators = tuple(dict.fromkeys(_operators(module)))
        given = read_arrays(self._folder / f"inputs-{self._number}.npz")
        return module, tuple(_inputs(module["main"], given, self._job.seed))

    def _reference(self, module: Any, inputs: tuple[Array, ...]) -> Reference:
        self._begin("evaluate")
        try:
            found = reference(module, inputs, lambda: self._compiled(module, "zero", inputs))
        except (Outside, Contradiction) as error:
            raise _Ended(INVALID, str(error)) from None
        except Exception as error:  # TVM may raise anything
            raise _Ended(INVALID, f"without optional passes: {_text(error)}") from None
        self._unknown = found.unknown
        rounding = max([found.rounding, *(transform_named(name).rounding for name in self._job.passes)])
        return Reference(found.expected, rounding, found.unknown)

    def _save(self, found: Reference, inputs: Sequence[Array]) -> None:
        write(self._folder / f"inputs-{self._number}.npz", {f"x{place}": each for place, each in enumerate(inputs)})
        arrays: dict[str, Array] = {}
        for place, each in enumerate(found.expected):
            arrays[f"value{place}"] = each.truth
            allowed = np.where(each.ill, np.inf, tolerance(each, found.rounding))
            arrays[f"allowed{place}"] = np.where(np.isnan(allowed), np.inf, allowed)
        write(self._folder / f"expected-{self._number}.npz", arrays)

    def _attempt(self, stage: str, kind: str, make: Callable[[], Any]) -> Any:
        self._begin(stage)
        try:
            return make()
        except NotImplementedError as error:
            raise _Ended(REFUSED, _text(error)) from None
        except Exception as error:  # TVM and passes may raise anything
            raise _Ended(kind, _text(error)) from None

    def _passed(self, module: Any) -> Any:
        """Run the passes, and check the module after each."""
        for name in self._job.passes:
            before = module
            module = self._attempt(name, Kind.INTERNAL_ERROR, partial(self._applied, name, before))
            if not isinstance(module, tvm.IRModule):
                raise _Ended(Kind.INTERNAL_ERROR, f"{name} returns {type(module).__name__}, and not an IRModule")
            if broken := ill_formed(module, name):
                raise _Ended(Kind.ILL_FORMED, f"after {name}, TVM's checker refuses the module: {broken.message}")
            self._changed = not structural_equal(comparable(module), comparable(before))
        return module

    def _applied(self, name: str, module: Any) -> Any:
        target = target_of(TARGETS_BY_NAME[self._job.target])
        with target:
            return apply(name, module, target)

    def _meaning(self, module: Any, inputs: Sequence[Array], expected: Reference) -> None:
        try:
            outputs = evaluated(module, inputs)
        except Unknown:
            return  # the compiled program decides
        except (Outside, Contradiction) as error:
            raise _Ended(Kind.WRONG_VALUE, f"the module after {self._job.passes[-1]}: {error}") from None
        self._compare(expected, outputs, Kind.WRONG_VALUE)

    def _compiled(self, module: Any, pipeline: str, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Compile and run main."""
        target = target_of(TARGETS_BY_NAME[self._job.target])
        with target:
            if pipeline == "zero":
                module = relax.get_pipeline("zero")(module)
            executable = relax.build(module, target)
            self._begin("run")
            machine = relax.VirtualMachine(executable, tvm.cpu())
            return tuple(_arrays(machine["main"](*[tvm.runtime.tensor(array) for array in inputs])))

    def _compare(self, found: Reference, outputs: Sequence[Array], wrong: str) -> None:
        """End the job as `wrong` where the results are not what is expected."""
        if len(outputs) != len(found.expected):
            raise _Ended(wrong, f"there are {len(outputs)} results, and {len(found.expected)} are expected")
        for place, (actual, right) in enumerate(zip(outputs, found.expected, strict=True)):
            made, needed = (f"{each.dtype}{list(each.shape)}" for each in (actual, right.eager))
            if made != needed:
                raise _Ended(wrong, f"result {place} is {made}, and {needed} is expected")
            if differs := mismatch(place, actual, right, found.rounding):
                raise _Ended(wrong, f"result {place}: expected {differs.expected}, and it is {differs.actual}")


def _text(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    return f"{type(error).__name__}: {lines[-1].strip()}"


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
    for place, param in enumerate(function.params):
        type = releases.type_of(param)
        if getattr(type, "shape", None) is None or not hasattr(type.shape, "values"):
            raise _Ended(INVALID, f"the parameter {_name(param)} of main is no tensor of a known rank")
        dtype = np.dtype(ml_dtypes.bfloat16) if str(type.dtype) == "bfloat16" else np.dtype(str(type.dtype))
        array = given.get(_name(param), given.get(f"x{place}"))
        if array is not None:
            for size, actual in zip(type.shape.values, array.shape, strict=False):
                sizes.setdefault(str(size), int(actual))
            yield np.ascontiguousarray(array.astype(dtype))
            continue
        shape = [_size(size, sizes) for size in type.shape.values]
        yield _drawn(random, shape, dtype)


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
