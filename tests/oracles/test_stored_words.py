"""The words in findings and waiting sightings that users have saved. A change here makes them unreadable, or renames
them."""

from __future__ import annotations

from enum import StrEnum

import msgspec
import pytest

from oracles.finding import Component, Kind, Mismatch, Quantity, SideEffect
from oracles.lane import Engine, Execution, Importer, LaneSpec, Params, Pipeline
from oracles.memory_access import Access, Side
from oracles.outcome import Cause, Facts, Frame, Mutant, MutantFate, Raised
from oracles.stage import Stage

WORDS: dict[type[StrEnum], str] = {
    Kind: (
        "died, timed-out, out-of-memory, internal-error, rejected, wrong-arity, wrong-shape, wrong-dtype, wrong-value, "
        "out-of-bounds-write, out-of-bounds-read, uninitialised-read, second-run-differs, nondeterministic, "
        "modified-input, aliased-output, ill-formed, checker-gap, bloat, slow"
    ),
    Component: "tvm, exporter, onnxruntime, pytorch, pocl, lavapipe, environment",
    Quantity: "bytes of constants, bytes of library, bytes of memory, CPU seconds of compilation",
    Engine: "torch, onnx, relax, onnxruntime, onnx-reference, onnx-file, tvm, honest, faulty",
    Importer: "export, onnx, export-tvm, export-raw, fx, dynamo, onnx-dynamo, onnx-model, module, trace, eager",
    Params: "bound, inputs, rebound, bundled, lifted, lifted-shared, lifted-consuming",
    Pipeline: "default_build, zero, cpu_generic",
    Execution: "bytecode, compiled, graph, vm",
    Access: "write, read",
    Side: "before, after, inside",
    MutantFate: "refused by the checker, same result, refused by the build, ended the process, another result",
    Cause: "signal, exit, memory",
    Stage: "start, render, export, verify, import, transform, compile, load, run",
}

DEFAULTS: dict[object, dict[str, object]] = {
    LaneSpec("a", Engine.TVM): {
        "name": "a",
        "engine": "tvm",
        "importer": "eager",
        "variant": "eager",
        "toolchain": "host",
        "opset": None,
        "params": "bound",
        "passes": (),
        "pipeline": "default_build",
        "disabled": (),
        "options": (),
        "opt_level": 2,
        "target": "llvm",
        "executor": "bytecode",
        "asserts": True,
        "checked": False,
        "as_library": False,
        "symbolic": False,
        "given_sizes": False,
        "fresh": False,
        "tracing": None,
        "until": None,
    },
    Facts(): {
        "checked": (),
        "ill_formed": None,
        "modified": (),
        "aliases": (),
        "accesses": (),
        "parameter_bytes": 0,
        "needed_bytes": None,
        "constant_bytes": 0,
        "built_bytes": 0,
        "peak_bytes": 0,
        "compile_seconds": 0.0,
        "kernels": 0,
        "passes": 0,
        "mutants": (),
        "behaviour": (),
        "reached": (),
        "undefined": (),
        "base": None,
        "trace": None,
        "overflow": "",
        "pointed": "",
        "wrong_operand": None,
    },
    Frame("a.py", 1, "f"): {"file": "a.py", "line": 1, "function": "f", "raises": False, "owner": ""},
    Mismatch(0, "a", "b"): {
        "output": 0,
        "expected": "a",
        "actual": "b",
        "worst": None,
        "elements": 0,
        "wrong": 0,
        "ill_conditioned": 0,
        "against": "PyTorch",
        "by": "",
        "wide": 0,
        "also": "",
    },
    SideEffect(): {"modified": (), "aliases": ()},
    Mutant("a", MutantFate.RAISED): {
        "change": "a",
        "fate": "refused by the build",
        "message": "",
        "legalised": False,
        "edits": "",
    },
}
"""What a saved value is without the fields that earlier versions of difftvm did not have."""


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.__name__)
def test_words(words: type[StrEnum]) -> None:
    assert ", ".join(words) == WORDS[words]


@pytest.mark.parametrize("value", DEFAULTS, ids=lambda value: type(value).__name__)
def test_fields_that_are_not_there(value: object) -> None:
    assert msgspec.to_builtins(value) == DEFAULTS[value]


def test_a_failure_without_frames_and_facts() -> None:
    assert msgspec.convert({"stage": "run", "type": "E", "message": "no"}, Raised) == Raised(Stage.RUN, "E", "no")
    assert (Raised(Stage.RUN, "E", "no").frames, Raised(Stage.RUN, "E", "no").facts) == ((), Facts())
