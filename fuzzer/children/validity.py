"""Check that a case runs, returns the inferred types, and stays finite: a case of PyTorch in eager PyTorch, one of ONNX
in onnxruntime and in the interpreter of the onnx package, one of another dialect in its reference.

`fuzzer.isolate.validity` starts it as the process `python -m fuzzer.children.validity`. It reads cases from stdin (two
lengths of 8 bytes, then case.json and the tensors) and answers each with a line of JSON on stdout. Its first line is
`ready`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import warnings
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import torch

from fuzzer.lanes import eager_of
from fuzzer.lanes.base.arrays import from_torch, laid_out, to_torch
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Quiet
from fuzzer.lanes.runners import runner_of
from fuzzer.lanes.torch.prepared import build_model
from fuzzer.system import confinement, no_network
from generators import case_file
from generators.check import check
from generators.dialect import dialect_named
from generators.graph import Array, Case, Invalid, holds_floats
from oracles.outcome import Ran

MOST_BYTES = 12 << 30
"""What the process may take: twice the memory of a lane. A reference that needs more raises an exception."""

OK, NOT_FINITE, INVALID, WRONG_TYPE = "ok", "not finite", "invalid", "wrong type"


def verdict(case: Case) -> tuple[str, str]:
    """Return one of the four results above and a message. The case must be static."""
    try:
        check(case)
        dialect = dialect_named(case.graph.dialect)
        if dialect.source:
            runs = [_by_pytorch(case, dialect.source(case.graph))]
        else:
            runs = list(_by_readers(case)) if dialect.is_file else [_by_reference(case)]
    except Exception as error:  # any exception means that the case is invalid
        return INVALID, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    expected = [str(type) for type in case.graph.output_types]
    for arrays in runs:
        found = [f"{array.dtype}[{','.join(map(str, array.shape))}]" for array in arrays]
        if found != expected:
            return WRONG_TYPE, f"{found} instead of {expected}"
    floats = [array for arrays in runs for array in arrays if holds_floats(array)]
    return (OK if all(np.all(np.isfinite(array.astype(np.float64))) for array in floats) else NOT_FINITE), ""


def _by_pytorch(case: Case, source: str) -> tuple[Array, ...]:
    model = build_model(source, case.owned)
    items = [item for item in case.graph.inputs if not item.role.is_owned]
    with torch.no_grad():
        outputs = model(*(laid_out(to_torch(case.tensors[i.value.name]), i.layout) for i in items))
    return tuple(map(from_torch, outputs))


def _by_readers(case: Case) -> Iterator[tuple[Array, ...]]:
    from fuzzer.lanes.onnx import witnesses  # takes a second, and most cases need PyTorch alone

    file = witnesses.file_of(case)
    model = witnesses.to_proto(file.model)
    yield witnesses.by_onnxruntime(model, file.inputs)
    yield witnesses.by_interpreter(model, file.inputs)


def _by_reference(case: Case) -> tuple[Array, ...]:
    """The results of the lane that decides whether a case of its dialect is valid."""
    spec, step = eager_of(case.graph.dialect), Quiet()
    outcome = runner_of(spec).run(PreparedCase(case, step), spec, step)
    if not isinstance(outcome, Ran):
        raise Invalid(f"{spec.name} gave no results: {outcome}")
    return outcome.outputs


def prepare() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)


def _read(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    lengths = stream.read(16)
    if len(lengths) < 16:
        return None
    text, tensors = (int.from_bytes(part, "little") for part in (lengths[:8], lengths[8:]))
    return stream.read(text), stream.read(tensors)


def _answer(text: bytes, tensors: bytes) -> tuple[str, str]:
    try:
        case = case_file.decode(text, tensors)
    except Invalid as error:
        return INVALID, str(error)
    return verdict(case)


def _limit_memory() -> None:
    """A lower limit of the user stays: nobody but root may raise it."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or most > MOST_BYTES:
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))


def main() -> None:
    _limit_memory()
    no_network.enter()
    confinement.enter([])
    prepare()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps output of libraries out of the answers
    print("ready", file=answers, flush=True)
    while (files := _read(sys.stdin.buffer)) is not None:
        print(json.dumps(_answer(*files)), file=answers, flush=True)


if __name__ == "__main__":
    main()
