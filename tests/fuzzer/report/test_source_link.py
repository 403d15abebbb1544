"""The line of TVM's source at fault."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from fakes import TVM
from graphs_by_hand import case_of
from records import record

from fuzzer.report.source_link import SOURCE, source_link
from fuzzer.signature.blame import Blame, Origin, Place
from oracles.finding import Kind
from oracles.outcome import Frame, Raised, Stage

FLIP = case_of({"x0": "float32[2,3]"}, [("v0", "flip", "x0", {"dims": (-1,)})], "v0")
CONVERTER = Frame("/x/site-packages/tvm/relax/frontend/torch/base.py", 787, "_fmod")
FRAMES = (
    Frame("/x/site-packages/tvm/relax/frontend/torch/program.py", 1549, "_translate"),
    CONVERTER,
    Frame("/x/site-packages/tvm/relax/block_builder.py", 331, "emit"),
    Frame("python/tvm_ffi/cython/function.pxi", 1038, "__call__"),
    Frame("/project/src/relax/op/distributed/../op_common.h", 334, "Infer"),
    Frame("/project/3rdparty/tvm-ffi/include/tvm/ffi/big_int.h", 12, "f"),
)


def linked(blame: Blame, frames: tuple[Frame, ...] = FRAMES, version: str = "0.27.0.post1") -> str:
    made = record(FLIP, Kind.INTERNAL_ERROR, TVM, Raised(Stage.IMPORT, "TypeError", "no", frames), blame=blame)
    return source_link(replace(made, doc=msgspec.structs.replace(made.doc, versions={"tvm": version})))


def link(place: str, path: str) -> str:
    file, _, line = place.partition(":")
    return f"[`{place}`]({SOURCE}/v0.27.0.post1/{path}{file}#L{line})"


@pytest.mark.parametrize(
    ("blame", "expected"),
    [
        (
            Blame(Place.FRONTEND, origin=Origin(place="tvm/relax/frontend/torch/base.py:700")),
            f"begins at {link('tvm/relax/frontend/torch/base.py:700', 'python/')}",
        ),
        (
            Blame(Place.FRONTEND, culprit="_fmod of fmod"),
            f"raised at {link('tvm/relax/frontend/torch/base.py:787', 'python/')}",
        ),
        (Blame(Place.PASS, culprit="FuseOps"), f"raised at {link('src/relax/op/op_common.h:334', '')}"),
    ],
)
def test_the_function_else_the_line_that_raised(blame: Blame, expected: str) -> None:
    assert linked(blame) == expected


def test_python_only_calls_a_code_generator() -> None:
    assert linked(Blame(Place.CODEGEN), FRAMES[:4]) == ""
    assert linked(Blame(Place.CODEGEN)) == f"raised at {link('src/relax/op/op_common.h:334', '')}"


@pytest.mark.parametrize("version", ["", "0.28.dev3+g1a2b", "0.27](x"])
def test_a_build_that_is_no_release_has_no_link(version: str) -> None:
    assert linked(Blame(Place.FRONTEND, culprit="_fmod"), version=version) == ""


@pytest.mark.parametrize("file", ["/x/site-packages/torch/a.py", "/project/src/a](x).cc", "<ConvertLayout>"])
def test_other_files_have_no_link(file: str) -> None:
    assert linked(Blame(Place.PASS), (Frame(file, 1, "f"),)) == ""
