"""What files of a change are called in what lanes record, and whether a lane reaches them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import TVM, TVM_C

from fuzzer.difference.changed_code import ChangedCode, changed_code, traced
from fuzzer.difference.changed_files import named_by
from fuzzer.difference.pair import Pair
from fuzzer.toolchains.preload import read
from fuzzer.toolchains.reached import FUNCTIONS
from fuzzer.toolchains.toolchain import HOST
from generators.graph import Invalid
from oracles.outcome import Built, Facts, Raised, Ran, Stage, Unsupported

PAIR = Pair(replace(HOST, name="base"), HOST)
FUSE_OPS = "python/tvm/relax/transform/transform.py"


@pytest.fixture
def tvm(tmp_path: Path) -> Path:
    folder = tmp_path / "site-packages" / "tvm"
    (folder / "relax" / "transform").mkdir(parents=True)
    (folder / "relax" / "transform" / "transform.py").write_text("def FuseOps():\n    pass\n")
    (folder / "relax" / "data.py").write_text("TABLE = {}\n")
    return folder


def test_a_python_file_has_functions(tvm: Path) -> None:
    found = named_by([Path(FUSE_OPS)], tvm)
    assert (found.functions, found.parts, found.untraced) == ({"relax/transform/transform.py": ["FuseOps"]}, set(), [])


def test_a_python_file_without_functions_leaves_no_trace(tvm: Path) -> None:
    assert named_by([Path("python/tvm/relax/data.py")], tvm).untraced == ["python/tvm/relax/data.py has no function"]


def test_a_deleted_python_file_leaves_no_trace(tvm: Path) -> None:
    found = named_by([Path("python/tvm/relax/none.py")], tvm)
    assert (found.functions, found.untraced) == ({}, ["python/tvm/relax/none.py is not in the patched toolchain"])


def test_a_file_of_the_package_that_is_no_python_is_bad_input(tvm: Path) -> None:
    (tvm / "relax" / "broken.py").write_text("def f(:\n")
    with pytest.raises(Invalid, match=r"^--changed python/tvm/relax/broken.py: .*/broken.py: invalid syntax .*$"):
        named_by([Path("python/tvm/relax/broken.py")], tvm)


UNBUILT = [
    "tests/python/relax/test_op.py",
    "tests/cpp/ir_test.cc",
    "python/gen_requirements.py",
    "setup.py",
    "docs/index.rst",
    "docs/conf.ini",
    "README.md",
]


@pytest.mark.parametrize("path", UNBUILT)
def test_files_that_no_build_has_do_not_count(tvm: Path, path: str) -> None:
    found = named_by([Path("patched") / path, Path(FUSE_OPS)], tvm)
    assert (found.unbuilt, found.untraced) == ([f"patched/{path}"], [])
    assert found.functions == {"relax/transform/transform.py": ["FuseOps"]}


def test_it_is_not_known_what_reaches_a_change_of_such_files_alone(tvm: Path) -> None:
    found = named_by(list(map(Path, UNBUILT)), tvm)
    assert (found.unbuilt, found.untraced) == (UNBUILT, ["the named files, which are part of no build"])


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("src/relax/transform/fuse_ops.cc", "pass FuseOps"),
        ("src/tirx/transform/lower_intrin.cc", "pass LowerIntrin"),
        ("src/target/llvm/codegen_llvm.cc", "target llvm"),
        ("src/target/source/codegen_c.cc", "target c"),
        ("src/target/source/codegen_c.cc", "target cuda"),
        ("src/runtime/vm/vm.cc", "runtime"),
    ],
)
def test_a_cpp_file_has_parts_by_its_place(tvm: Path, path: str, part: str) -> None:
    assert part in named_by([Path(path)], tvm).parts


def test_a_cpp_file_has_parts_by_its_text(tvm: Path, tmp_path: Path) -> None:
    file = tmp_path / "src" / "relax" / "op" / "unary.cc"
    file.parent.mkdir(parents=True)
    file.write_text(
        'RELAX_REGISTER_UNARY_ARITH_OP_AND_IMPL(abs, true);\nTVM_REGISTER_OP("relax.nn.relu");\n'
        'return CreateModulePass(pass_func, 0, "FoldThis", {});\n'
        'def("relax.transform.FoldThis", FoldThis);\n'
    )
    expected = {"operator relax.abs", "operator relax.nn.relu", "pass relu", "pass FoldThis"}
    assert named_by([file], tvm).parts == expected


def test_files_that_leave_no_trace(tvm: Path) -> None:
    paths = [Path("cmake/config.cmake"), Path("src/support/parallel_for.cc")]
    assert named_by(paths, tvm).untraced == [
        "cmake/config.cmake is neither Python nor C++",
        "src/support/parallel_for.cc registers no pass and no operator, and belongs to no target",
    ]


PARTS = ChangedCode(parts=frozenset({"pass FuseOps", "operator relax.nn.relu", "target llvm", "runtime"}))
COMPILED = Facts(compile_seconds=0.1)


@pytest.mark.parametrize(
    ("lane", "outcome", "names"),
    [
        (TVM, Built(Facts(reached=("pass FuseOps", "pass FuseTIR"))), ["pass FuseOps"]),
        (TVM, Built(Facts(reached=("relax/op.py relu",))), ["relax/op.py relu"]),
        (TVM, Built(Facts(behaviour=("relax relax.nn.relu float32 2", "kernel relu"))), ["operator relax.nn.relu"]),
        (TVM, Built(Facts(behaviour=("relax relax.nn.gelu float32 2",))), []),
        (TVM, Built(COMPILED), ["target llvm"]),
        (TVM, Ran((), facts=COMPILED), ["target llvm", "runtime"]),
        (TVM_C, Ran((), facts=COMPILED), ["runtime"]),
        (TVM, Ran(()), []),
        (TVM, Raised(Stage.IMPORT, "E", "", facts=Facts(reached=("relax/op.py relu",))), ["relax/op.py relu"]),
        (TVM, Unsupported(Stage.IMPORT, "no"), []),
    ],
)
def test_what_a_lane_reaches(lane: object, outcome: object, names: list[str]) -> None:
    assert list(PARTS.reached_by(lane, outcome)) == names  # type: ignore[arg-type]


def test_passes_are_not_changed_code_where_nothing_names_them() -> None:
    outcome = Built(Facts(reached=("pass FuseOps", "mine.py relu")))
    assert list(ChangedCode(preloaded=("mine.py",)).reached_by(TVM, outcome)) == ["mine.py relu"]


@pytest.mark.parametrize(
    ("code", "is_traced"),
    [
        (ChangedCode(), False),
        (ChangedCode(preloaded=("mine.py",)), True),
        (ChangedCode({"op.py": ["relu"]}), True),
        (PARTS, True),
        (ChangedCode({"op.py": ["relu"]}, untraced=("libtvm.so",)), False),
    ],
)
def test_the_reach_is_known_where_everything_that_differs_is_traced(code: ChangedCode, is_traced: bool) -> None:
    assert code.is_traced is is_traced


def test_the_change_is_a_preloaded_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def conv2d():\n    pass\n")
    pair = Pair(PAIR.base, replace(HOST, preload=read(path)))
    code = changed_code(pair, [])
    assert (code.preloaded, code.functions, code.is_traced) == (("mine.py",), {}, True)
    assert "def conv2d" in code.names
    assert traced(pair.patched, code, tmp_path) is pair.patched, "its functions are noted anyway"


def test_it_is_not_known_what_reaches_a_preloaded_file_without_functions(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import functools\nfrom tvm import topi\n\ntopi.nn.relu = functools.partial(topi.nn.relu)\n")
    patched = replace(HOST, preload=read(path))
    code = changed_code(Pair(PAIR.base, patched), [])
    assert (code.untraced, code.is_traced) == (("mine.py, which has no function",), False)
    code = changed_code(Pair(PAIR.base, patched), [Path("src/relax/transform/fuse_ops.cc")])
    assert code.untraced == ("mine.py, which has no function",)


def test_the_change_is_what_the_user_names(tmp_path: Path) -> None:
    code = changed_code(PAIR, [Path("python/tvm/relax/frontend/torch/fx_translator.py")])
    (names,) = code.functions.values()
    assert "TorchFXImporter.from_fx" in names
    toolchain = traced(HOST, code, tmp_path)
    assert json.loads(Path(toolchain.environment[FUNCTIONS]).read_bytes()) == {
        "functions": code.functions,
        "conditions": True,
    }


@pytest.mark.slow
def test_the_change_is_what_differs(tmp_path: Path) -> None:
    for name, text in (("one", "def f():\n    return 1\n"), ("two", "def f():\n    return 2\n")):
        (tmp_path / name / "tvm").mkdir(parents=True)
        (tmp_path / name / "tvm" / "__init__.py").write_text(text)
    base, patched = (replace(HOST, name=n, environment={"PYTHONPATH": str(tmp_path / n)}) for n in ("one", "two"))
    assert changed_code(Pair(base, patched), []) == ChangedCode({"__init__.py": ["f"]}, called=("__init__.py f",))
    for number in range(4):
        (tmp_path / "two" / "tvm" / f"{number}.py").write_text("TABLE = {}\n")
    code = changed_code(Pair(base, patched), [])
    assert code.untraced == ("code outside of functions in 0.py, 1.py, 2.py and 1 other file",)
    for number in range(4):
        (tmp_path / "two" / "tvm" / f"{number}.py").unlink()
    (tmp_path / "two" / "tvm" / "libtvm.so").write_bytes(b"2")
    assert changed_code(Pair(base, patched), []).untraced == ("libtvm.so: --changed names its files",)
