"""Cases from PyTorch's own samples (OpInfo in torch.testing._internal): `python -m fuzzer.children.samples`."""

from __future__ import annotations

import ast
import math
import sys
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import torch

from fuzzer.children import sample_files
from fuzzer.children.sample_files import Request, Sample
from fuzzer.lanes.base.arrays import from_torch
from fuzzer.system import no_network
from generators import syntax_tree
from generators.check import check
from generators.graph import DRAWN, Array, Attrs, Case, DType, Graph, Input, Invalid, Node, TensorType, Value
from generators.torch.ops.functions import FUNCTIONS

MAX_NUMEL = 1 << 16
MAX_REFUSED = 20
"""After this number of samples without a case, the rest of an operator and dtype is skipped: some have thousands."""
WHY_LENGTH = 200
DTYPES = {getattr(torch, dtype.value): dtype for dtype in DRAWN}


class NotACase(Exception):
    """A sample cannot be a case. The message is the reason, for people."""


def operators(ops: str, after: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and OpInfos in alphabetical order, of those that match the globs and come after a name."""
    from torch.testing._internal.common_methods_invocations import op_db

    database: list[Any] = op_db
    for op in sorted(database, key=_name):
        if _name(op) > after and any(fnmatchcase(op.name, glob.strip()) for glob in ops.split(",")):
            yield _name(op), op


def samples(ops: str, per_dtype: int) -> Iterator[tuple[str, Case | str]]:
    """Yield (operator/dtype/number, case or the reason why there is none)."""
    for name, op in operators(ops):
        yield from samples_of(name, op, per_dtype)


def samples_of(name: str, op: Any, per_dtype: int) -> Iterator[tuple[str, Case | str]]:
    supported = op.supported_dtypes("cpu")
    for dtype in (dtype for dtype in DTYPES if dtype in supported):
        yield from _of_dtype(op, f"{name}/{DTYPES[dtype].value}", dtype, per_dtype)


def sample_inputs(op: Any, dtype: torch.dtype) -> Iterator[Any]:
    """Yield PyTorch's samples, each with the same seed, as `op.sample_inputs` does. That method also looks for the
    test that calls it, in each frame of the stack and each loaded module: up to 70 ms for each operator and dtype."""
    from torch.testing._internal import common_utils

    set_seed: Any = common_utils.set_rng_seed
    made = iter(op.sample_inputs_func(op, "cpu", dtype, False))
    while True:
        set_seed()
        try:
            yield next(made)
        except StopIteration:
            return


def _name(op: Any) -> str:
    return f"{op.name}_{op.variant_test_name}" if op.variant_test_name else str(op.name)


def _of_dtype(op: Any, key: str, dtype: torch.dtype, wanted: int) -> Iterator[tuple[str, Case | str]]:
    """Yield the first `wanted` samples that make a case, and the reasons of those before them. PyTorch numbers them."""
    found = refused = 0
    try:
        for sample in sample_inputs(op, dtype):
            if found == wanted:
                return
            if refused == MAX_REFUSED:
                yield f"{key}/{found + refused}", f"{MAX_REFUSED} samples are refused: no more are looked at"
                return
            try:
                made: Case | str = case_of(op, sample)
            except NotACase as why:
                made = str(why)
            except Exception as error:  # for example results that cannot be compared
                made = _text_of(error)
            yield f"{key}/{found + refused}", made
            found, refused = found + isinstance(made, Case), refused + isinstance(made, str)
    except Exception as error:  # raised by the code that makes the samples
        yield f"{key}/{found + refused}", f"no samples: {_text_of(error)}"
        return
    if not found + refused:
        yield f"{key}/0", "no samples"


def _text_of(error: Exception) -> str:
    """Describe an exception by type and message, in one line of bounded length."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".removesuffix(": ")[:WHY_LENGTH]


def case_of(op: Any, sample: Any) -> Case:
    """Return the case that calls the operator on the tensors of a sample. Raise `NotACase`."""
    function, result = _function(op, sample)
    arrays: list[Array] = []
    parts = [_text(arg, arrays) for arg in (sample.input, *sample.args)]
    parts += [f"{key}={_text(value, arrays)}" for key, value in sample.kwargs.items()]
    if isinstance(result, tuple | list) and len(result) < 2:
        raise NotACase("gives a list of fewer than two")
    outputs = result if isinstance(result, tuple | list) else (result,)
    types = tuple(str(_type(output)) for output in outputs)
    inputs = tuple(Input(Value(f"x{i}", _type_of_array(array))) for i, array in enumerate(arrays))
    results = tuple(Value(f"v{i}", TensorType.parse(text)) for i, text in enumerate(types))
    call = ast.unparse(syntax_tree.parse(f"{function}({', '.join(parts)})"))
    attrs: Attrs = {"call": call, "types": types}
    node = Node("torch_call", tuple(item.value.name for item in inputs), attrs, results)
    graph = Graph(inputs, (node,), tuple(value.name for value in results))
    case = Case(graph, {item.value.name: array for item, array in zip(inputs, arrays, strict=True)})
    try:
        check(case)
    except Invalid as error:
        raise NotACase(str(error)[:WHY_LENGTH]) from None
    return case


def _function(op: Any, sample: Any) -> tuple[str, Any]:
    """Return the public name of a function with the sample's result, and that result."""
    if "empty" in op.name:
        raise NotACase("gives memory that nobody wrote")
    state = torch.get_rng_state()
    right = _result(op.op, sample)
    names = [name for name in (f"torch.{op.name}", f"torch.Tensor.{op.name}") if name in FUNCTIONS]
    for name in names:
        function: Any = torch
        for part in name.split(".")[1:]:
            function = getattr(function, part, None)
        try:
            result = _result(function, sample)
        except NotACase:
            continue
        if not torch.equal(state, torch.get_rng_state()):
            raise NotACase("is random")
        if _equal(result, right):
            return name, result
    raise NotACase("no public function computes it" if names else "no function of this name that a case may call")


def _result(function: Any, sample: Any) -> Any:
    args = [_cloned(arg) for arg in (sample.input, *sample.args)]
    try:
        return function(*args, **{key: _cloned(value) for key, value in sample.kwargs.items()})
    except Exception as error:
        raise NotACase(f"PyTorch refuses it: {_text_of(error)}") from None


def _cloned(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return type(value)(map(_cloned, value)) if type(value) in (list, tuple) else value


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and bool(torch.equal(a.nan_to_num(), b.nan_to_num()))
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(_equal, a, b))
    return False


def _text(value: Any, arrays: list[Array]) -> str:
    """Return the source of an argument. Tensors are appended to `arrays`."""
    match value:
        case torch.Tensor():
            _type(value)
            arrays.append(from_torch(value.resolve_conj().resolve_neg()))
            return f"a{len(arrays) - 1}"
        case None | bool() | int() | str():
            return repr(value)
        case float():
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        case torch.dtype() if value in DTYPES:
            return f"torch.{DTYPES[value].value}"
        case tuple():
            return f"({', '.join(_text(item, arrays) for item in value)}{',' * (len(value) == 1)})"
        case list():
            return f"[{', '.join(_text(item, arrays) for item in value)}]"
        case _:
            raise NotACase(f"takes a {type(value).__name__}")


def _type(output: Any) -> TensorType:
    if not isinstance(output, torch.Tensor) or output.layout is not torch.strided or output.dtype not in DTYPES:
        what = output.dtype if isinstance(output, torch.Tensor) else type(output).__name__
        raise NotACase(f"a value is {what}: not among our types")
    if output.numel() > MAX_NUMEL:
        raise NotACase("larger than a sweep takes")
    return TensorType(DTYPES[output.dtype], tuple(output.shape))


def _type_of_array(array: Array) -> TensorType:
    return TensorType(DType(str(array.dtype)), array.shape)


def _take(request: Request) -> Iterator[tuple[str, Iterator[Sample]]]:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    for name, op in operators(request.ops, request.after):
        yield name, (Sample(key, made) for key, made in samples_of(name, op, request.most or sys.maxsize))


def main() -> None:
    no_network.enter()
    sample_files.write(_take)


if __name__ == "__main__":
    main()
