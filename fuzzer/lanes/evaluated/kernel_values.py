"""An interpreter of TVM's kernels that uses no pass, code generator or compiler of TVM.

It runs kernels as LegalizeOps leaves them: loops, blocks with axes, loads, stores and arithmetic. It computes with
numpy in the kernel's own types. It raises `Unknown` for anything else (library functions, vectors, threads).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from tvm import tirx

from fuzzer.lanes.evaluated.common import Outside, Unknown
from generators.graph import Array

STEPS_OF_REDUCED_CASES = 200_000
"""The largest number of loads and stores of a kernel that blame interprets. They take some seconds. Reduced cases need
a few hundred."""


def run_kernel(function: Any, inputs: Sequence[Array], outputs: Sequence[Array], max_steps: int) -> None:
    """Call a PrimFunc that writes into `outputs`. Raise `Unknown`, or `Outside` for an access outside of a buffer."""
    arguments = (*inputs, *outputs)
    if len(function.params) != len(arguments):
        raise Unknown("a kernel with other parameters")
    machine = _Machine(max_steps)
    for param, array in zip(function.params, arguments, strict=True):
        machine.buffers[_key(_of_a_buffer(function, param))] = array
    try:
        with np.errstate(all="ignore"):
            machine.run(function.body)
    except ArithmeticError as error:
        raise Unknown(f"a kernel in which numbers give a {type(error).__name__}") from error


def unwritten(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return an array whose bytes are all 0xFF, so that elements that a kernel does not write show."""
    array = np.empty(shape, dtype)
    array.view(np.uint8).fill(0xFF) if array.ndim else array.reshape(1).view(np.uint8).fill(0xFF)
    return array


class _Machine:
    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps
        self.buffers: dict[int, Array] = {}
        self.values: dict[int, Any] = {}
        self._steps = 0

    # -- statements

    def run(self, stmt: Any) -> None:
        kind = type(stmt).__name__
        handler = getattr(self, f"_{kind.lower()}", None)
        if handler is None:
            raise Unknown(f"a statement {kind}")
        handler(stmt)

    def _seqstmt(self, stmt: Any) -> None:
        for each in stmt.seq:
            self.run(each)

    def _for(self, stmt: Any) -> None:
        if stmt.thread_binding is not None:
            raise Unknown("threads")
        first, count = int(self.value(stmt.min)), int(self.value(stmt.extent))
        step = int(self.value(stmt.step)) if stmt.step is not None else 1
        for number in range(first, first + count, step):
            self.values[_key(stmt.loop_var)] = _as(number, stmt.loop_var)
            self.run(stmt.body)

    def _while(self, stmt: Any) -> None:
        while self.value(stmt.condition):
            self._step()
            self.run(stmt.body)

    def _sblockrealize(self, stmt: Any) -> None:
        if not self.value(stmt.predicate):
            return
        block = stmt.block
        for item, value in zip(block.iter_vars, stmt.iter_values, strict=True):
            self.values[_key(item.var)] = self.value(value)
        if block.match_buffers:
            raise Unknown("a part of a buffer as a buffer")
        for buffer in block.alloc_buffers:
            self._allocate(buffer)
        if block.init is not None and self._begins_reduction(block):
            self.run(block.init)
        self.run(block.body)

    def _begins_reduction(self, block: Any) -> bool:
        """Whether all reduction axes are at their first value."""
        axes = [item for item in block.iter_vars if item.iter_type == tirx.IterVar.CommReduce]
        return all(self.values[_key(item.var)] == self.value(item.dom.min) for item in axes)

    def _allocbuffer(self, stmt: Any) -> None:
        self._allocate(stmt.buffer)

    def _allocate(self, buffer: Any) -> None:
        if _key(buffer) not in self.buffers:
            shape = tuple(int(self.value(size)) for size in buffer.shape)
            self.buffers[_key(buffer)] = unwritten(shape, _dtype(buffer.dtype))

    def _bufferstore(self, stmt: Any) -> None:
        self._step()
        value = self.value(stmt.value)
        array, index = self._place(stmt.buffer, stmt.indices)
        array[index] = value

    def _bind(self, stmt: Any) -> None:
        self.values[_key(stmt.var)] = self.value(stmt.value)

    def _letstmt(self, stmt: Any) -> None:
        self._bind(stmt)
        self.run(stmt.body)

    def _attrstmt(self, stmt: Any) -> None:
        if stmt.body is not None:
            self.run(stmt.body)

    def _ifthenelse(self, stmt: Any) -> None:
        if self.value(stmt.condition):
            self.run(stmt.then_case)
        elif stmt.else_case is not None:
            self.run(stmt.else_case)

    def _evaluate(self, stmt: Any) -> None:
        self.value(stmt.value)

    def _step(self) -> None:
        self._steps += 1
        if self._steps > self._max_steps:
            raise Unknown("a kernel of too many steps")

    # -- expressions

    def value(self, expr: Any) -> Any:
        kind = type(expr).__name__
        if kind in _BINARY:
            return _BINARY[kind](self.value(expr.a), self.value(expr.b))
        match kind:
            case "int" | "bool" | "float":
                return expr
            case "IntImm" | "FloatImm":
                return _as(expr.value, expr)
            case "Var" | "SizeVar":
                if _key(expr) not in self.values:
                    raise Unknown(f"the value of {expr.name}")
                return self.values[_key(expr)]
            case "Cast":
                return _cast(self.value(expr.value), expr)
            case "Not":
                return np.logical_not(self.value(expr.a))
            case "And":
                return np.bool_(self.value(expr.a) and self.value(expr.b))
            case "Or":
                return np.bool_(self.value(expr.a) or self.value(expr.b))
            case "Select":
                return self.value(expr.true_value if self.value(expr.condition) else expr.false_value)
            case "Let":
                self.values[_key(expr.var)] = self.value(expr.value)
                return self.value(expr.body)
            case "BufferLoad" | "TensorLoad":
                self._step()
                source = expr.source if kind == "TensorLoad" else expr.buffer
                array, index = self._place(source, expr.indices)
                return array[index]
            case "Call":
                return self._call(expr)
            case _:
                raise Unknown(f"an expression {kind}")

    def _place(self, buffer: Any, indices: Sequence[Any]) -> tuple[Array, tuple[int, ...]]:
        array = self.buffers.get(_key(buffer))
        if array is None:
            raise Unknown(f"the buffer {buffer.name}")
        index = tuple(int(self.value(each)) for each in indices)
        if len(index) != array.ndim or not all(0 <= at < size for at, size in zip(index, array.shape, strict=True)):
            raise Outside(f"{buffer.name}{list(index)} is outside {list(array.shape)}")
        return array, index

    def _call(self, expr: Any) -> Any:
        name = str(getattr(expr.op, "name", "")).rpartition(".")[2]
        if name == "if_then_else":
            condition, yes, no = expr.args
            return self.value(yes if self.value(condition) else no)
        function = _CALLS.get(name)
        if function is None:
            raise Unknown(f"a call of {name or expr.op}")
        return _as(function(*map(self.value, expr.args)), expr)


def _key(node: Any) -> int:
    """Return the key of a variable or buffer. They cannot be keys themselves, because `==` builds an expression."""
    return hash(node)


def _of_a_buffer(function: Any, param: Any) -> Any:
    """Return the buffer of a parameter. Up to TVM 0.26 a parameter is a handle, and a table has its buffer."""
    return function.buffer_map[param] if hasattr(function, "buffer_map") else param


def _dtype(name: object) -> np.dtype[Any]:
    text = str(name)
    try:
        return np.dtype(ml_dtypes.bfloat16 if text == "bfloat16" else text)
    except TypeError:
        raise Unknown(f"numbers of type {text}") from None


def _type_of(expr: Any) -> np.dtype[Any]:
    return _dtype(expr.dtype if hasattr(expr, "dtype") else expr.ty.dtype)


def _as(value: Any, like: Any) -> Any:
    return _type_of(like).type(value)


def _cast(value: Any, like: Any) -> Any:
    wanted = _type_of(like)
    if (
        np.issubdtype(wanted, np.integer)
        and np.issubdtype(np.asarray(value).dtype, np.floating)
        and not np.isfinite(value)
    ):
        raise Unknown("an integer of no number")
    return np.asarray(value).astype(wanted)[()]


def _divided(a: Any, b: Any) -> Any:
    """Divide; integers are rounded towards zero."""
    if not isinstance(a, np.integer | int):
        return a / b
    quotient = abs(int(a)) // abs(int(b))
    return type(a)(quotient if (a < 0) == (b < 0) else -quotient)


_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": _divided,
    "Mod": np.fmod,
    "FloorDiv": lambda a, b: a // b,
    "FloorMod": lambda a, b: a % b,
    "Min": lambda a, b: a if a < b or a != a else b,
    "Max": lambda a, b: a if a > b or a != a else b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


_CALLS: Mapping[str, Callable[..., Any]] = {
    **{
        name: getattr(np, name)
        for name in ("exp", "exp2", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan")
    },
    **{
        name: getattr(np, name) for name in ("sinh", "cosh", "tanh", "floor", "ceil", "trunc", "fabs", "isnan", "isinf")
    },
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    **{f"bitwise_{name}": getattr(np, f"bitwise_{name}") for name in ("and", "or", "xor", "not")},
    "isfinite": np.isfinite,
    "abs": np.abs,
    "pow": np.power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "ldexp": lambda x, n: x * np.exp2(n),
    "round": np.round,
    "nearbyint": np.round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": math.erf,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "likely": lambda x: x,
}
