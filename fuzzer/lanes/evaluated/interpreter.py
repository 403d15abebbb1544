"""A lane that evaluates the imported module operator by operator, without compiling it as a whole.

`evaluated.operators` computes each operator with PyTorch. Each operator is also legalized alone, and its kernels run
twice on the same numbers: in an interpreter, and compiled and called without the virtual machine. This separates errors
of the importer, of the legalization and of later steps. The lane's variant names the value that the next operator gets.
If that value is not known, the next operator gets another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import tvm
from tvm import relax

from fuzzer.lanes.base.arrays import from_torch, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.evaluated.common import Outside, Unknown
from fuzzer.lanes.evaluated.kernel_values import STEPS_OF_REDUCED_CASES, run_kernel, unwritten
from fuzzer.lanes.evaluated.operators import value_of
from fuzzer.lanes.evaluated.ties import TIES
from fuzzer.lanes.relax import releases
from fuzzer.lanes.relax.build import target_of
from fuzzer.lanes.relax.importing import imported
from fuzzer.lanes.relax.trace import legalization_in, watching_calls
from generators.graph import DRAWN, Array, DType, holds_floats
from oracles.lane import LaneSpec
from oracles.outcome import Built, Ran, Stage
from oracles.targets import target_named
from oracles.trace import (
    CALL_BUILT_KERNELS,
    INTERPRET_KERNELS,
    INTERPRET_OPERATORS,
    Correctness,
    OperatorCheck,
    Trace,
    Translation,
)

Kernels = Callable[[str, Sequence[Array], Sequence[Array]], None]
"""(name, inputs, outputs): run a kernel of the module, which writes into the outputs."""

Evaluate = Callable[[Any, Sequence[Any]], Any]
"""(call of an operator, values of its operands) -> the value of the call."""


def run(prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran | Built:
    """Evaluate the module. Return `Built()`, which has no result, where an operator cannot be evaluated."""
    model = imported(prepared, spec, step)
    step(Stage.RUN)
    examiner = _Examiner(target_of(target_named(spec.target)), step, spec.variant)
    program = Program(model.module, examiner.value, interpreting(model.module))  # ONNX's importer makes kernels
    try:
        result = program.call("main", [to_torch(array) for array in model.inputs.values()])
    except Unknown:
        return Built()
    except Outside as error:
        examiner.note(outside=str(error))
        return Built()
    return Ran(tuple(from_torch(each) for each in flat(result)))


class Program:
    """An evaluation of the functions of a Relax module on PyTorch tensors."""

    def __init__(self, module: Any, evaluate: Evaluate, kernels: Kernels | None = None) -> None:
        self._module, self._evaluate, self._kernels = module, evaluate, kernels

    def call(self, name: str, args: Sequence[Any]) -> Any:
        function = self._module[name]
        scope = {_key(param): value for param, value in zip(function.params, args, strict=True)}
        return self._value(function.body, scope)

    def _value(self, expr: Any, scope: dict[int, Any]) -> Any:
        match type(expr).__name__:
            case "Var" | "DataflowVar":
                if _key(expr) not in scope:  # in a well-formed module only sizes are bound by nothing
                    raise Unknown("a size that is no number")
                return scope[_key(expr)]
            case "Constant" | "GenericConst" | "TensorConst":
                return to_torch(_known(expr.data.numpy() if hasattr(expr, "data") else expr.value.numpy()))
            case "SeqExpr":
                for block in expr.blocks:
                    for binding in block.bindings:
                        scope[_key(binding.var)] = self._value(binding.value, scope)
                return self._value(expr.body, scope)
            case "Tuple":
                return tuple(self._value(each, scope) for each in expr.fields)
            case "TupleGetItem":
                return self._value(expr.tuple_value, scope)[int(expr.index)]
            case "ShapeExpr":
                return tuple(_number(each) for each in expr.values)
            case "PrimValue" | "IntImm" | "FloatImm":
                return _number(expr)
            case "StringImm" | "DataTypeImm":
                return str(expr.value)
            case "If":
                taken = expr.true_branch if bool(self._value(expr.cond, scope)) else expr.false_branch
                return self._value(taken, scope)
            case "Call":
                return self._call(expr, scope)
            case kind:
                raise Unknown(f"an expression {kind}")

    def _call(self, call: Any, scope: dict[int, Any]) -> Any:
        if isinstance(call.op, tvm.ir.GlobalVar):
            return self.call(call.op.name_hint, [self._value(arg, scope) for arg in call.args])
        if not isinstance(call.op, tvm.ir.Op):
            raise Unknown("a call of a library")
        if call.op.name == "relax.call_tir":
            return self._call_kernel(call, scope)
        return self._evaluate(call, [self._value(arg, scope) for arg in call.args])

    def _call_kernel(self, call: Any, scope: dict[int, Any]) -> Any:
        if self._kernels is None or len(call.args) > 2:
            raise Unknown("a kernel")
        inputs = [from_torch(value) for value in flat(self._value(call.args[1], scope))]
        (kind,) = releases.type_arguments(call)
        several = hasattr(kind, "fields")
        types = list(kind.fields) if several else [kind]
        outputs = [unwritten(tuple(_shape(each)), _dtype(str(each.dtype)).numpy) for each in types]
        self._kernels(call.args[0].name_hint, inputs, outputs)
        values = tuple(map(to_torch, outputs))
        return values if several else values[0]


class _Examiner:
    """Evaluate operators, and record for each whether its legalization and its compiled kernels are right."""

    def __init__(self, target: Any, step: Step, variant: str) -> None:
        self._target, self._step, self._variant = target, step, variant
        self._examined: tuple[OperatorCheck, ...] = ()

    def note(self, *more: OperatorCheck, outside: str = "") -> None:
        self._step.note(trace=Trace(examined=(*self._examined, *more), outside=outside))

    def value(self, call: Any, args: Sequence[Any]) -> Any:
        expected, name = _expected(call, args), str(call.op.name)
        if expected is not None and not _sizes_are_numbers(call):
            # with numbers in place of symbolic sizes it would be another kernel
            self._record(OperatorCheck(name, "", Correctness.UNKNOWN, Correctness.UNKNOWN))
            return expected
        try:
            alone, by = self._legalized(call, args)
        except Exception:  # it is wrong to have no kernel for a call with a value
            self._record(
                OperatorCheck(name, "", *(Correctness.UNKNOWN if expected is None else Correctness.WRONG,) * 2)
            )
            alone = None
        if alone is None:
            if expected is None:
                raise Unknown(name)
            return expected
        interpreted = _tried(lambda: _run_alone(alone, args, interpreting(alone)))
        legalized = _correctness(name, interpreted, expected)
        self.note(OperatorCheck(name, by, legalized, Correctness.WRONG))  # this stays if the call ends the process
        built = _tried(lambda: _run_alone(alone, args, _building(alone, self._target)))
        self._record(
            OperatorCheck(
                name, by, legalized, _correctness(name, built, expected), _largest_error(interpreted, expected)
            )
        )
        values = {INTERPRET_OPERATORS: expected, INTERPRET_KERNELS: interpreted, CALL_BUILT_KERNELS: built}
        for value in (values[self._variant], *values.values()):
            if value is not None and not isinstance(value, Outside):
                return value
        raise Unknown(name)

    def _record(self, one: OperatorCheck) -> None:
        self._examined = (*self._examined, one)
        self.note()

    def _legalized(self, call: Any, args: Sequence[Any]) -> tuple[Any, str]:
        """Return a module of this one call as kernels, and what legalized it; None for a call that is left as it is."""
        found: list[Translation] = []

        def look(frame: Any) -> None:
            if legalization := legalization_in(frame):
                found.append(legalization)

        alone = _alone(call, args)
        with self._target:
            alone = relax.backend.DispatchSortScan()(alone)
            dispatched = any(isinstance(each, tvm.tirx.PrimFunc) for each in alone.functions.values())
            with watching_calls(look):
                alone = relax.transform.LegalizeOps()(alone)
        if not any(isinstance(each, tvm.tirx.PrimFunc) for each in alone.functions.values()):
            return None, ""
        return alone, "DispatchSortScan" if dispatched or not found else found[0][1]


def _expected(call: Any, args: Sequence[Any]) -> Any:
    """Return the value of a call as PyTorch computes it; None where it cannot, or refuses the operands."""
    try:
        return as_declared(call, value_of(call.op.name.removeprefix("relax."), call.attrs, args))
    except Outside:
        raise
    except (Unknown, RuntimeError, TypeError, ValueError, IndexError):
        return None


def _alone(call: Any, args: Sequence[Any]) -> Any:
    """Return a module whose main makes this one call on tensors."""
    params: list[Any] = []

    def argument(expr: Any, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            params.append(
                relax.Var(f"x{len(params)}", _type(list(value.shape), str(value.dtype).removeprefix("torch.")))
            )
            return params[-1]
        if isinstance(value, tuple) and any(isinstance(each, torch.Tensor) for each in value):
            return relax.Tuple([argument(None, each) for each in value])
        return relax.ShapeExpr(list(value)) if isinstance(value, tuple) and isinstance(expr, relax.Var) else expr

    builder = relax.BlockBuilder()
    given = [argument(expr, value) for expr, value in zip(call.args, args, strict=True)]
    with builder.function("main", params):
        with builder.dataflow():
            result = builder.emit_output(
                builder.emit(relax.Call(call.op, given, call.attrs, releases.type_arguments(call)))
            )
        builder.emit_func_output(result)
    return builder.get()


def _sizes_are_numbers(call: Any) -> bool:
    parts = [part for arg in call.args for part in getattr(arg, "fields", [arg])]
    types = [releases.type_of(part) for part in parts if isinstance(part, relax.Expr)]
    shapes = [type.shape for type in types if isinstance(getattr(type, "shape", None), relax.ShapeExpr)]
    return all(isinstance(size, tvm.tirx.IntImm | int) for shape in shapes for size in shape.values)


def _type(shape: list[int], dtype: str) -> Any:
    make = relax.TensorType if hasattr(relax, "TensorType") else relax.TensorStructInfo
    return make(shape, dtype)


def _run_alone(module: Any, args: Sequence[Any], kernels: Kernels) -> Any:
    tensors = [each for arg in args for each in flat(arg) if isinstance(each, torch.Tensor)]
    return Program(module, _left_as_it_is, kernels).call("main", tensors)


def _left_as_it_is(call: Any, args: Sequence[Any]) -> Any:
    return value_of(call.op.name.removeprefix("relax."), call.attrs, args)


def interpreting(module: Any, max_steps: int = STEPS_OF_REDUCED_CASES) -> Kernels:
    """Return a function that runs the kernels of a module in difftvm's interpreter."""
    return lambda name, inputs, outputs: run_kernel(module[name], inputs, outputs, max_steps)


def _building(module: Any, target: Any) -> Kernels:
    kernels = {
        var.name_hint: function.with_attr("global_symbol", var.name_hint)
        for var, function in module.functions.items()
        if isinstance(function, tvm.tirx.PrimFunc)
    }
    library = tvm.tirx.build(tvm.IRModule(kernels), target=target)

    def call(name: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        tensors = [tvm.runtime.tensor(np.array(array)) for array in (*inputs, *outputs)]
        library[name](*tensors)
        for array, tensor in zip(outputs, tensors[len(inputs) :], strict=True):
            array[...] = tensor.numpy()

    return call


def _tried(make: Callable[[], Any]) -> Any:
    """Return the value, the exception `Outside` for an access out of bounds, or None where there is no value."""
    try:
        return make()
    except Unknown:
        return None
    except Outside as error:
        return error
    except Exception:  # it proves nothing if a kernel does not compile alone
        return None


def _correctness(operator: str, value: Any, expected: Any) -> Correctness:
    if isinstance(value, Outside):
        return Correctness.WRONG
    if value is None or expected is None:
        return Correctness.UNKNOWN
    if _close(value, expected):
        return Correctness.RIGHT
    return Correctness.UNKNOWN if operator.removeprefix("relax.") in TIES else Correctness.WRONG


def _largest_error(value: Any, expected: Any) -> float:
    if value is None or expected is None or isinstance(value, Outside):
        return 0.0
    pairs = [(from_torch(a), from_torch(b)) for a, b in zip(flat(value), flat(expected), strict=True)]
    return max((_distance(a, b) for a, b in pairs if a.shape == b.shape and a.size and holds_floats(b)), default=0.0)


def _distance(one: Array, other: Array) -> float:
    a, b = one.astype(np.float64), other.astype(np.float64)
    both = np.isfinite(a) & np.isfinite(b)
    scale = float(np.abs(b[both]).max(initial=0.0))
    return float(np.abs(a - b)[both].max(initial=0.0) / scale) if scale else 0.0


_DIGITS: Mapping[int, tuple[float, float]] = {2: (2.0**-6, 2.0**-7), 4: (1e-4, 1e-5), 8: (1e-9, 1e-10)}
"""By the size of an element: how far two may be apart, relative to one, and relative to the largest."""


def _close(one: Any, other: Any) -> bool:
    pairs = list(zip(flat(one), flat(other), strict=True))
    return all(near(from_torch(a), from_torch(b)) for a, b in pairs)


def near(one: Array, other: Array) -> bool:
    """Whether two arrays differ by rounding only."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not holds_floats(one):
        return bool(np.array_equal(one, other))
    a, b = one.astype(np.float64), other.astype(np.float64)
    finite = np.abs(b[np.isfinite(b)])
    relative, absolute = _DIGITS[one.dtype.itemsize]
    scale = float(finite.max()) if finite.size else 0.0
    return bool(np.allclose(a, b, rtol=relative, atol=absolute * scale, equal_nan=True))


def as_declared(call: Any, value: Any) -> Any:
    """Cast a value to the dtypes that the module declares. One with another number of tensors is returned as it is."""
    types, values = declared_types(call), flat(value)
    if len(types) != len(values) or not all(hasattr(each, "dtype") for each in types):
        return value
    made = tuple(each.to(getattr(torch, str(kind.dtype))) for each, kind in zip(values, types, strict=True))
    return made if isinstance(value, tuple) else made[0]


def declared_types(call: Any) -> list[Any]:
    """Return the types that the module declares for a call: one for each tensor."""
    declared = releases.type_of(call)
    return list(declared.fields) if hasattr(declared, "fields") else [declared]


def flat(value: Any) -> list[Any]:
    return [each for part in value for each in flat(part)] if isinstance(value, tuple | list) else [value]


def _key(var: Any) -> int:
    return hash(var)


def _number(expr: Any) -> Any:
    """Return the number of a PrimValue or of a constant in a shape."""
    value = getattr(expr, "value", expr)
    value = getattr(value, "value", value)
    if not isinstance(value, int | float):
        raise Unknown("a size that is no number")
    return value


def _shape(type: Any) -> list[int]:
    if getattr(type.shape, "values", None) is None:
        raise Unknown("a kernel's result of no known rank")
    return [int(_number(each)) for each in type.shape.values]


def _known(array: Array) -> Array:
    """Return the array, if it is of a dtype that graphs have."""
    _dtype(str(array.dtype))
    return array


def _dtype(name: str) -> DType:
    if name not in set(DRAWN):
        raise Unknown(f"dtype {name}")
    return DType(name)
