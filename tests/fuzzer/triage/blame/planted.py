"""Faults that are planted in a real TVM, and what blame must say of each."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphs_by_hand import Call, case_of

from fuzzer.isolate.executor import Executor
from fuzzer.lanes import EVERY_TVM_LANE
from fuzzer.signature import signature_of
from fuzzer.signature.blame import Blame, Place
from fuzzer.toolchains.preload import read
from fuzzer.toolchains.toolchain import HOST
from fuzzer.triage.blame.search import blame
from fuzzer.triage.reproduce import observe
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Result

FAULTS = Path(__file__).with_name("faults.py")


@dataclass(frozen=True)
class Planted:
    """`fault` is for faults.py; `culprit` what must be named, "" where nothing can."""

    fault: str
    calls: tuple[Call, ...]
    operator: str
    culprit: str
    lane: str = "relax-export-llvm"
    inputs: tuple[tuple[str, str], ...] = (("x0", "float32[2,3]"),)
    passes: tuple[str, ...] = ()

    @property
    def place(self) -> Place:
        return Place(self.fault.split()[0])

    @property
    def case(self) -> Case:
        return case_of(dict(self.inputs), list(self.calls), self.calls[-1][0])

    @property
    def spec(self) -> LaneSpec:
        named = next(lane for lane in EVERY_TVM_LANE if lane.name == self.lane)
        return replace(named, name=f"{self.lane}-drawn", passes=self.passes) if self.passes else named


def _between(*call: object) -> tuple[Call, ...]:
    """The call, on a negated operand, its result negated: three operators, of which the second is at fault."""
    op, attrs = str(call[0]), call[1] if len(call) > 1 else {}
    return ("v0", "neg", "x0"), ("v1", op, "v0", attrs), ("v2", "neg", "v1")  # type: ignore[return-value]


EXP, FLIP, SOFTMAX = _between("exp"), _between("flip", {"dims": (0,)}), _between("softmax", {"dim": 1})
CUMSUM, PERMUTE = _between("cumsum", {"dim": 1}), _between("permute", {"dims": (1, 0)})
SUM, RELU, TANH = _between("mean", {"dim": (1,)}), _between("relu"), _between("tanh")
MATMUL: tuple[Call, ...] = (("v0", "neg", "x0"), ("v1", "matmul", "v0 x1"), ("v2", "neg", "v1"))
ADD: tuple[Call, ...] = (("v0", "neg", "x0"), ("v1", "add", "v0 x0"), ("v2", "neg", "v1"))
MUL: tuple[Call, ...] = (("v0", "neg", "x0"), ("v1", "mul", "v0 x0"), ("v2", "neg", "v1"))
CAT: tuple[Call, ...] = (("v0", "neg", "x0"), ("v1", "cat", "v0 x0", {"dim": 0}), ("v2", "neg", "v1"))
TWO = (("x0", "float32[2,3]"), ("x1", "float32[3,2]"))


def _frontend(name: str, calls: tuple[Call, ...], how: str = "wrong", **more: Any) -> Planted:
    return Planted(f"frontend {name} {how}", calls, calls[1][1], name, **more)


def _legalization(name: str, calls: tuple[Call, ...], how: str = "wrong", **more: Any) -> Planted:
    return Planted(f"legalization {name} {how}", calls, calls[1][1], name, **more)


def _pass(name: str, calls: tuple[Call, ...], only: str, how: str = "wrong", **more: Any) -> Planted:
    operator = "" if how in ("raise", "die") else calls[1][1]  # one that stops, stops at all of them
    return Planted(f"pass {name} {how} {only}".strip(), calls, operator, name, **more)


def _codegen(kind: str, calls: tuple[Call, ...], only: str, how: str = "wrong", **more: Any) -> Planted:
    culprit, operator = f"target.build.{kind}", "" if how in ("raise", "die") else calls[1][1]
    return Planted(f"codegen {kind} {only} {how}", calls, operator, culprit, **more)


PLANTED: tuple[Planted, ...] = (
    _frontend("_flip", FLIP),
    _frontend("_softmax", SOFTMAX),
    _frontend("_cumsum", CUMSUM),
    _frontend("_permute", PERMUTE),
    _frontend("_mean", SUM),
    _frontend("_cat", CAT),
    _frontend("_flip", FLIP, "dtype"),
    _frontend("_softmax", SOFTMAX, "shape"),
    _frontend("_softmax", SOFTMAX, "small"),
    _frontend("_flip", FLIP, "raise"),
    _frontend("_cumsum", CUMSUM, "die"),
    _frontend("Softmax._impl_v13", SOFTMAX, lane="relax-onnx-llvm"),
    _frontend("Exp._impl_v13", EXP, "dtype", lane="relax-onnx-llvm"),
    _legalization("relax.exp", EXP),
    _legalization("relax.flip", FLIP),
    _legalization("relax.nn.softmax", SOFTMAX),
    _legalization("relax.nn.relu", RELU),
    _legalization("relax.permute_dims", PERMUTE),
    _legalization("relax.mean", SUM),
    _legalization("relax.matmul", MATMUL, inputs=TWO),
    _legalization("relax.add", ADD),
    _legalization("relax.tanh", TANH, lane="relax-onnx-llvm"),
    _legalization("relax.multiply", MUL, "outside"),
    _legalization("relax.exp", EXP, "small"),
    _legalization("relax.concat", CAT, "raise"),
    _legalization("relax.tanh", TANH, "die"),
    _pass("RewriteDataflowReshape", EXP, "exp"),
    _pass("KillAfterLastUse", FLIP, "flip"),
    _pass("FuseOps", SOFTMAX, "softmax", lane="relax-export-zero"),
    _pass("FuseTIR", TANH, "tanh", lane="relax-export-zero"),
    _pass("AnnotateTIROpPattern", EXP, "exp", lane="relax-export-cpu"),
    _pass("CanonicalizeBindings", RELU, "relu", passes=("LegalizeOps", "CanonicalizeBindings")),
    _pass("EliminateCommonSubexpr", MUL, "multiply", passes=("LegalizeOps", "EliminateCommonSubexpr")),
    _pass("DeadCodeElimination", ADD, "add", "raise", passes=("DeadCodeElimination",)),
    _pass("s_tir.StmtSimplify", EXP, "exp"),
    _pass("s_tir.LoopPartition", SUM, "mean"),
    _pass("tirx.StorageRewrite", SOFTMAX, "softmax"),
    _pass("tirx.StorageRewrite", TANH, "tanh", "small"),
    replace(_pass("s_tir.ConvertBlocksToOpaque", TANH, "tanh", "small"), culprit=""),
    _pass("tirx.VectorizeLoop", MATMUL, "matmul", inputs=TWO),
    _pass("tirx.NarrowDataType", FLIP, "flip", lane="relax-export-c"),
    _pass("tirx.UnrollLoop", RELU, "", "raise"),
    _pass("tirx.CommonSubexprElim", TANH, "", "die"),
    replace(_pass("s_tir.LowerOpaqueBlock", EXP, "exp"), culprit=""),
    replace(_pass("tirx.FlattenBuffer", MUL, "multiply"), culprit=""),
    _pass("s_tir.LowerInitBlock", SUM, "", "raise"),
    _codegen("llvm", EXP, "exp"),
    _codegen("llvm", SOFTMAX, "softmax"),
    _codegen("llvm", MATMUL, "matmul", inputs=TWO),
    _codegen("llvm", FLIP, "flip", lane="relax-export-zero"),
    _codegen("llvm", TANH, "tanh", lane="relax-onnx-llvm"),
    _codegen("llvm", EXP, "exp", "small"),
    _codegen("c", EXP, "exp", lane="relax-export-c"),
    _codegen("c", SUM, "mean", lane="relax-export-c"),
    _codegen("llvm", RELU, "relu", "raise"),
    _codegen("llvm", CUMSUM, "cumsum", "die"),
    Planted("runtime vm wrong", EXP, "", ""),
    Planted("runtime vm raise", SOFTMAX, "", ""),
    Planted("runtime vm die", RELU, "", ""),
    Planted("runtime vm wrong", MATMUL, "", "", "relax-export-compiled", TWO),
)


class Bed:
    """A TVM in which one fault after the other is planted."""

    def __init__(self, executor: Executor, file: Path) -> None:
        self._executor, self._file = executor, file
        self.runs = 0

    def blame(self, planted: Planted) -> Blame | None:
        """None where the fault does not show."""
        self._file.write_text(planted.fault)
        self.runs = 0
        case, lane = planted.case, planted.spec
        finding = observe(self._executor.run_fresh, case, lane).finding
        return blame(self._run, case, finding, signature_of(finding)) if finding else None

    def _run(self, case: Case, lanes: Sequence[LaneSpec]) -> Result:
        self.runs += 1
        return self._executor.run_fresh(case, lanes)


@contextmanager
def bed() -> Iterator[Bed]:
    folder = Path(tempfile.mkdtemp(prefix="difftvm-"))
    try:
        copy = Path(shutil.copy(FAULTS, folder / FAULTS.name))
        (folder / "planted").write_text("")
        with Executor(folder / "scratch", replace(HOST, preload=read(copy))) as executor:
            yield Bed(executor, folder / "planted")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
