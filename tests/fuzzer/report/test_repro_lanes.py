"""Scripts of the sampled lanes, and of evidence that is no wrong result."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from graphs_by_hand import Call, case_of, numbered
from records import record
from warm_python import WarmPython

from fuzzer.campaign.plan.drawn_lanes import with_open_sizes
from fuzzer.lanes import SAMPLED_LANES, TVM_LANES
from fuzzer.lanes.base.availability import CompileOnly, Missing, availability, runs_by_kernels
from fuzzer.lanes.target_table import SCHEDULED_LANES
from fuzzer.report import repro
from generators.choice import NumpySource
from generators.graph import Case, Graph, Input, Node, Symbol, TensorType, Value
from generators.table import TABLE
from oracles.finding import Evidence, Excess, Kind, Mismatch, Quantity, SideEffect, WorstElement
from oracles.lane import SCHEDULES, Importer, LaneSpec, returns_gradients
from oracles.outcome import FAILURES, Cause, Died, IllFormed, Mutant, MutantFate, Raised, Stage
from oracles.targets import Runs, target_named
from oracles.transforms import TRANSFORMS_BY_NAME

LLVM = TVM_LANES[0]
NAMED = {lane.name.removeprefix("relax-export-"): lane for lane in SAMPLED_LANES}
ORDINARY = [lane for lane in SAMPLED_LANES if lane.variant == "relax"]
REFUSED = Raised(Stage.LOAD, "fuzzer.lanes.written.Refused", "Compilation error: no")
WORST = WorstElement((0, 1), 1.0, 2.0, 1e-3, 1e-4)
CALLS: list[Call] = [("v0", "linear", "x0 w0 w1"), ("v1", "relu", "v0")]
LINEAR = case_of({"x0": "float32[2,3]", "w0": "float32[4,3]", "w1": "float32[4]"}, CALLS, "v1")


def open_sizes() -> Case:
    x, y = (Value(name, TensorType.parse("float32[n,2]")) for name in ("x0", "x1"))
    z, v = Value("x2", TensorType.parse("float32[2*n+1,2]")), Value("v0", TensorType.parse("float32[n,2]"))
    node = Node("add", ("x0", "x1"), TABLE["add"].defaults, (v,))
    graph = Graph((Input(x), Input(y), Input(z)), (node,), ("v0", "x2"), symbols=(Symbol("n", 1, 7),))
    sizes = {"n": 3}
    bound = graph.bind(sizes)
    return Case(graph, {i.value.name: numbered(i.value.type, 1) for i in bound.inputs}, sizes, ({"n": 2},))


def case_for(lane: LaneSpec) -> Case:
    return open_sizes() if lane.symbolic else LINEAR


def script(lane: LaneSpec, kind: Kind, evidence: Evidence, case: Case | None = None) -> str:
    return repro.script(record(case or case_for(lane), kind, lane, evidence, stage=Stage.RUN))


OF_A_TEXT = [
    replace(LLVM, name=f"relax-export-{number}", target=text)
    for number, text in enumerate(
        ("cuda -arch=sm_90", "llvm -mattr=+avx2,+fma -num-cores=4", "llvm -mcpu=unheard-of", "c -march=x", "metal")
    )
]
"""Lanes whose targets are no rows."""


def test_a_target_that_is_no_row_is_a_literal_in_the_script() -> None:
    evidence = Raised(Stage.COMPILE, "E", "no")
    records = (record(LINEAR, Kind.REJECTED, lane, evidence, stage=Stage.COMPILE) for lane in OF_A_TEXT)
    of_cuda, of_llvm, *_ = map(repro.script, records)
    assert 'tvm.target.Target({"kind": "cuda", "arch": "sm_90"})' in of_cuda
    assert 'tvm.target.Target({"kind": "llvm", "mattr": ["+avx2", "+fma"], "num-cores": 4})' in of_llvm


EDITS = '[[1, {"type": "None"}], [2, {"a": true}]]'
EVIDENCE: list[tuple[Kind, Evidence]] = [
    (Kind.REJECTED, Raised(Stage.IMPORT, "tvm.error.InternalError", "no")),
    (Kind.DIED, Died(Stage.RUN, Cause.SIGNAL, 11)),
    (Kind.WRONG_VALUE, Mismatch(0, "1", "2", WORST)),
    (Kind.WRONG_VALUE, Mismatch(0, "1", "2", against=LLVM.name)),
    (Kind.WRONG_SHAPE, Mismatch(0, "[1]", "[2]", against=LLVM.name)),
    (Kind.NONDETERMINISTIC, Mismatch(0, "1", "2", against="another process")),
    (Kind.ILL_FORMED, IllFormed("import", "tvm.error.InternalError", "no")),
    (Kind.ILL_FORMED, IllFormed("FuseOps", "tvm.error.InternalError", "no")),
    (Kind.ILL_FORMED, IllFormed("ScriptRoundTrip", "tvm.error.InternalError", "no")),
    (Kind.ILL_FORMED, IllFormed("import", "tvm.error.InternalError", "no", Kind.WRONG_VALUE)),
    (Kind.ILL_FORMED, IllFormed("FuseOps", "tvm.error.InternalError", "no", Kind.INTERNAL_ERROR)),
    (Kind.ILL_FORMED, IllFormed("FuseOps", "tvm.error.InternalError", "no", Kind.DIED)),
    (
        Kind.CHECKER_GAP,
        Mutant("an argument less", MutantFate.RAISED, "no", True, '[[1, {"type": "None"}], [2, {"a": true}]]'),
    ),
    (Kind.MODIFIED_INPUT, SideEffect(("x0",))),
    (Kind.ALIASED_OUTPUT, SideEffect((), ((0, "x0"),))),
    *((Kind.BLOAT, Excess(quantity, 3.0, 2.0, "the parameters")) for quantity in Quantity),
]


@pytest.mark.parametrize("lane", [*SAMPLED_LANES, *TVM_LANES, *OF_A_TEXT], ids=str)
@pytest.mark.parametrize(("kind", "evidence"), EVIDENCE, ids=[f"{i}-{kind}" for i, (kind, _) in enumerate(EVIDENCE)])
@pytest.mark.exhaustive
def test_every_lane_and_evidence_gives_a_whole_script(lane: LaneSpec, kind: Kind, evidence: Evidence) -> None:
    if lane.importer is Importer.DYNAMO and not isinstance(evidence, (*FAILURES, Mismatch, IllFormed)):
        return  # all that such a lane notes
    text = script(lane, kind, evidence)
    tree = ast.parse(text)
    imported = {a.asname or a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    imported |= {a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used, f"not used: {imported - used}"
    assert not {"fuzzer", "generators", "oracles"} & imported
    for allowed in ("@tvm.ir.instrument", "@tvm.transform.module_pass", "@group", "@binding"):  # the last two are WGSL
        text = text.replace(allowed, "")
    assert "@" not in text
    assert "\n\n\n\n" not in text
    launches = target_named(lane.target).runs is Runs.BY_KERNELS
    assert len(text.splitlines()) <= (260 if launches else 135)


@pytest.mark.slow
def test_all_of_them_are_as_ruff_leaves_them(tmp_path: Path) -> None:
    """Each lane with one evidence in turn, each evidence with many lanes."""
    for number, lane in enumerate([*SAMPLED_LANES, *TVM_LANES, *OF_A_TEXT] * 3):
        kind, evidence = EVIDENCE[number * 5 % len(EVIDENCE)]
        if lane.importer is not Importer.DYNAMO or isinstance(evidence, (*FAILURES, Mismatch)):
            (tmp_path / f"{number}_{kind.name}.py".lower()).write_text(script(lane, kind, evidence))
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "120", "--diff", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_edits_of_a_module_are_the_json_that_was_saved() -> None:
    edits = '[[1, {"text": "a: true, b: null"}], [2, [null]], [3, {"a": [true, false], "b": null}]]'
    text = script(NAMED["mutants"], Kind.CHECKER_GAP, Mutant("x", MutantFate.RAISED, "no", False, edits))
    loop = next(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For))
    assert ast.literal_eval(loop.iter) == json.loads(edits)


VARIANTS = ("llvm-O1", "llvm-O2", "llvm-v2", "llvm-v3", "llvm-avx2", "llvm-avx512", "c-gcc-O0", "c-gcc-O2", "c-gcc-O3")
"""Targets whose scripts differ from another's in a word."""
PASS_WITH_OPEN_SIZES = with_open_sizes(NumpySource(0), TRANSFORMS_BY_NAME["FuseTIR"])
TOLD_APART = [
    *(lane for lane in SAMPLED_LANES if lane.variant not in ("mutants", SCHEDULES) and lane.target not in VARIANTS),
    PASS_WITH_OPEN_SIZES,
]


@pytest.mark.tvm
@pytest.mark.programs
@pytest.mark.parametrize("lane", TOLD_APART, ids=str)
def test_the_script_of_a_lane_without_the_bug_says_that_it_is_gone(
    warm: WarmPython, lane: LaneSpec, tmp_path: Path
) -> None:
    match availability(lane):
        case Missing(why) | CompileOnly(why, None):
            pytest.skip(why)
    if target_named(lane.target).written and not runs_by_kernels(lane):
        done = warm.run(script(lane, Kind.INTERNAL_ERROR, REFUSED), tmp_path)
    else:
        output, against = (1, "torch.autograd") if returns_gradients(lane) else (0, "PyTorch")
        done = warm.run(script(lane, Kind.WRONG_VALUE, Mismatch(output, "1", "2", WORST, against=against)), tmp_path)
    assert done.returncode == 0, done.output


@pytest.mark.tvm
@pytest.mark.parametrize("lane", SCHEDULED_LANES, ids=str)
def test_the_script_of_a_right_schedule_says_that_the_bug_is_gone(
    warm: WarmPython, lane: LaneSpec, tmp_path: Path
) -> None:
    wrong = Raised(Stage.COMPILE, "fuzzer.lanes.schedules.WrongSchedule", "dlight's rule Fallback changes it")
    finding = record(case_for(lane), Kind.INTERNAL_ERROR, lane, wrong, stage=Stage.COMPILE)
    done = warm.run(repro.script(finding), tmp_path)
    assert done.returncode == 0, done.output
    assert done.output.endswith("the bug is gone: there is no error; this script has no results to compare\n")


def with_a_program_in_front(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.mark.tvm
def test_what_a_checker_refuses_exits_1(warm: WarmPython, tmp_path: Path) -> None:
    with_a_program_in_front(tmp_path, "clang", "echo 'error: no such type' >&2; exit 1")
    done = warm.run(script(NAMED["opencl"], Kind.INTERNAL_ERROR, REFUSED), tmp_path, path=str(tmp_path))
    assert done.returncode == 1, done.output
    assert "Refused: error: no such type" in done.output


@pytest.mark.tvm
@pytest.mark.parametrize("name", ["opencl", "webgpu", "aarch64", "cuda"])
def test_a_program_that_is_missing_is_named_in_one_sentence_and_exits_125(
    warm: WarmPython, name: str, tmp_path: Path
) -> None:
    text = script(NAMED[name], Kind.INTERNAL_ERROR, REFUSED)
    done = warm.run(f"import os\nos.environ['PATH'] = ''\n{text}", tmp_path)
    assert done.returncode == 125, done.output
    assert re.fullmatch(r"cannot tell: this script needs [\w-]+, which is not on PATH\n", done.output)


@pytest.mark.tvm
@pytest.mark.programs("gcc", "sed")
@pytest.mark.long
def test_a_sanitizers_report_exits_1(warm: WarmPython, tmp_path: Path) -> None:
    off_by_one = r"s/\(compute[A-Za-z_0-9]*\)\[\(.*\)\] = /\1[(\2) + 1] = /"
    edit = f"for each in \"$@\"; do case $each in *.c) sed -i '{off_by_one}' $each;; esac; done"
    with_a_program_in_front(tmp_path, "gcc", f'{edit}\nexec {shutil.which("gcc")} "$@"')
    report = Raised(Stage.RUN, "fuzzer.lanes.sanitized.SanitizerReport", "==1==ERROR: AddressSanitizer: no")
    done = warm.run(script(NAMED["c-asan"], Kind.INTERNAL_ERROR, report), tmp_path, path=str(tmp_path))
    assert done.returncode == 1, done.output
    assert "AddressSanitizer: heap-buffer-overflow" in done.output


def test_a_finding_of_a_gpu_runs_there() -> None:
    text = script(NAMED["cuda"], Kind.WRONG_VALUE, Mismatch(0, "1", "2", WORST))
    assert "executable = tvm.compile(mod, target)" in text
    assert 'with tvm.target.Target("cuda") as target:' in text
    assert 'vm = relax.VirtualMachine(executable, tvm.device("cuda"))' in text
    assert 'tvm.runtime.tensor(x.numpy(), tvm.device("cuda"))' in text
    assert 'for program in ["nvcc"]:' in text


@pytest.mark.tvm
@pytest.mark.parametrize("name", ["script", "json", "library"])
def test_a_round_trip_is_held_against_its_sibling(warm: WarmPython, name: str, tmp_path: Path) -> None:
    text = script(NAMED[name], Kind.WRONG_VALUE, Mismatch(0, "1", "2", against=LLVM.name))
    assert "run_plain()" in text
    done = warm.run(text, tmp_path)
    assert done.returncode == 0, done.output


@pytest.mark.tvm
@pytest.mark.parametrize("follows", ["", Kind.WRONG_VALUE])
@pytest.mark.parametrize("after", ["import", "LegalizeOps", "FuseOps"])
def test_a_checker_that_is_content_exits_0(warm: WarmPython, after: str, follows: str, tmp_path: Path) -> None:
    done = warm.run(script(NAMED["zero"], Kind.ILL_FORMED, IllFormed(after, "ValueError", "no", follows)), tmp_path)
    assert done.returncode == 0, done.output


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("follows", "instead", "code"),
    [
        (Kind.WRONG_ARITY, "run_tvm() * 2", 1),
        (Kind.WRONG_VALUE, "run_tvm().missing", 125),
        (Kind.WRONG_VALUE, "open('/missing/cc')", 125),
        (Kind.INTERNAL_ERROR, "run_tvm().missing", 1),
        (Kind.INTERNAL_ERROR, "open('/missing/cc')", 125),
    ],
)
def test_what_follows_a_module_that_the_checker_accepts(
    warm: WarmPython, follows: Kind, instead: str, code: int, tmp_path: Path
) -> None:
    """An error is the bug only where the bug is an error, and then not one of this machine."""
    text = script(NAMED["zero"], Kind.ILL_FORMED, IllFormed("FuseOps", "ValueError", "no", follows))
    done = warm.run(text.replace("results = run_tvm()", f"results = {instead}"), tmp_path)
    assert done.returncode == code, done.output


@pytest.mark.tvm
def test_a_checker_that_is_content_with_a_wrong_result_exits_1(warm: WarmPython, tmp_path: Path) -> None:
    evidence = IllFormed("FuseOps", "ValueError", "no", Kind.WRONG_VALUE)
    wrong = script(NAMED["zero"], Kind.ILL_FORMED, evidence).replace("[output.numpy() for", "[output.numpy() + 1 for")
    done = warm.run(wrong, tmp_path)
    assert done.returncode == 1, done.output
    assert " instead of " in done.output


@pytest.mark.tvm
def test_an_importer_that_makes_an_ill_formed_module_exits_1(warm: WarmPython, tmp_path: Path) -> None:
    """TVM 0.27: of an input of size 2*n alone, n is defined nowhere."""
    x, v = (Value(name, TensorType.parse("float32[2*n,2]")) for name in ("x0", "v0"))
    graph = Graph((Input(x),), (Node("neg", ("x0",), {}, (v,)),), ("v0",), symbols=(Symbol("n", 1, 7),))
    case = Case(graph, {"x0": numbered(graph.bind({"n": 3}).inputs[0].value.type, 1)}, {"n": 3}, ({"n": 2},))
    done = warm.run(script(NAMED["symbolic"], Kind.ILL_FORMED, IllFormed("import", "ValueError", "no"), case), tmp_path)
    assert done.returncode == 1, done.output
    assert "is not defined" in done.output


@pytest.mark.tvm
@pytest.mark.parametrize(("quantity", "allowed"), [*((q, 1e-9) for q in Quantity), (Quantity.LIBRARY, 1e15)])
def test_what_is_too_much_exits_1(warm: WarmPython, quantity: Quantity, allowed: float, tmp_path: Path) -> None:
    evidence = Excess(quantity, 1e3, allowed, "the parameters")
    done = warm.run(script(NAMED["library"], Kind.BLOAT, evidence), tmp_path)
    assert done.returncode == (1 if allowed < 1 else 0), done.output


@pytest.mark.tvm
def test_side_effects(warm: WarmPython, tmp_path: Path) -> None:
    case = case_of({"x0": "float32[2,3]"}, [("v0", "neg", "x0")], "v0 x0")
    shared = SideEffect((), ((1, "x0"),))
    assert warm.run(script(LLVM, Kind.ALIASED_OUTPUT, shared, case), tmp_path).returncode == 1
    changed = SideEffect(("x0",))
    done = warm.run(script(LLVM, Kind.MODIFIED_INPUT, changed, case), tmp_path)
    assert done.returncode == 0, done.output


@pytest.mark.tvm
@pytest.mark.long
def test_processes_that_agree_exit_0(warm: WarmPython, tmp_path: Path) -> None:
    text = script(NAMED["again"], Kind.NONDETERMINISTIC, Mismatch(0, "1", "2"))
    assert text.count("range(5)") == 1
    done = warm.run(text.replace("range(5)", "range(2)"), tmp_path)  # each process imports torch and TVM
    assert done.returncode == 0, done.output
    assert "expected: one result in all processes; actual: 1" in done.output
