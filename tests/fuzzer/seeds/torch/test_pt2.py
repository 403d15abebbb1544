"""A .pt2 file is read as what it says, nothing in it is executed, and bad ones end with one line."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from archives import document, meta, node, write

from fuzzer.seeds import archive as archives_read
from fuzzer.seeds import bounds
from fuzzer.seeds.torch import pt2, pt2_file
from fuzzer.seeds.torch.program import Call, Program, Ref
from fuzzer.seeds.torch.resolve import resolve
from fuzzer.system import confinement
from generators.graph import DType, Invalid, Role, TensorType

pytestmark = pytest.mark.slow

CONV = document(
    {"x": "float32[1,3,8,8]", "w0": "float32[4,3,3,3]", "c": "float32[1,4,6,6]", "r": "float32[1,4,6,6]"},
    node("conv2d.default", "c", input="$x", weight="$w0", stride=[1, 1]),
    node("relu.default", "r", self="$c"),
    inputs="w0 x",
)


def test_calls_types_and_roles(tmp_path: Path) -> None:
    program = pt2.read(write(tmp_path / "m.pt2", CONV))
    assert [step.title for step in program.steps] == ["conv2d", "relu"]
    assert program.steps[0].calls == (
        Call("conv2d", {"input": Ref("x"), "weight": Ref("w0"), "stride": (1, 1)}, ("c",)),
    )
    assert program.types["c"] == TensorType.parse("float32[1,4,6,6]")
    assert program.roles == {"w0": Role.PARAM}


def test_the_rows_of_the_table(tmp_path: Path) -> None:
    resolved = resolve(pt2.read(write(tmp_path / "m.pt2", CONV)))
    assert [(n.op, n.args, dict(n.attrs)) for n in resolved.nodes] == [
        ("conv2d", ("x", "w0"), {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}),
        ("relu", ("c",), {}),
    ]
    assert (resolved.mapped, resolved.steps) == (2, 2)


def test_open_sizes_are_those_of_the_example(tmp_path: Path) -> None:
    model = document({"x": "float32[2,6]", "v": "float32[2,6]"}, node("relu.default", "v", self="$x"))
    hint = {"as_expr": {"expr_str": "s0", "hint": {"as_int": 5}}}
    for name in "xv":
        model["graph_module"]["graph"]["tensor_values"][name]["sizes"][0] = hint
    program = pt2.read(write(tmp_path / "m.pt2", model))
    assert program.types["v"] == TensorType.parse("float32[5,6]")


def test_arithmetic_on_sizes_is_left_out(tmp_path: Path) -> None:
    size = {"target": "torch.ops.aten.sym_size.int", "inputs": [], "outputs": [{"as_sym_int": {"as_name": "s"}}]}
    shape = {"as_sym_ints": [{"as_name": "s"}, {"as_int": 3}]}
    model = document(
        {"x": "float32[6]", "v": "float32[2,3]"},
        {**size, "metadata": {}},
        node("view.default", "v", self="$x", size=shape),
    )
    model["graph_module"]["graph"]["sym_int_values"] = {"s": {"as_expr": {"expr_str": "s0", "hint": {"as_int": 2}}}}
    program = pt2.read(write(tmp_path / "m.pt2", model))
    assert [step.calls[0].args["size"] for step in program.steps] == [(2, 3)]


def test_what_is_changed_in_place_is_read_as_changed(tmp_path: Path) -> None:
    """A view of it that was made before is made anew."""
    types = dict.fromkeys(("x", "a", "b", "d", "e"), "float32[2,3]")
    model = document(
        types,
        node("neg.default", "a", self="$x"),
        node("view.default", "b", self="$a", size=[2, 3]),
        node("relu_.default", "d", self="$a"),
        node("add.Tensor", "e", self="$a", other="$b"),
    )
    program = pt2.read(write(tmp_path / "m.pt2", model))
    assert [(step.calls[0].function, step.calls[0].operands) for step in program.steps[2:]] == [
        ("relu", ("a",)),
        ("view", ("d",)),
        ("add", ("d", "b@1")),
    ]
    assert resolve(program).mapped == 5


def test_what_may_be_a_copy_is_a_cut_after_a_change(tmp_path: Path) -> None:
    model = document(
        dict.fromkeys(("x", "a", "b", "d", "e"), "float32[2,3]"),
        node("neg.default", "a", self="$x"),
        node("reshape.default", "b", self="$a", shape=[2, 3]),
        node("relu_.default", "d", self="$a"),
        node("add.Tensor", "e", self="$a", other="$b"),
    )
    program = pt2.read(write(tmp_path / "m.pt2", model))
    assert program.steps[3].calls[0].operands == ("d", "b:1")
    assert resolve(program).mapped == 4


def test_a_change_through_a_view_of_another_dtype_is_a_cut(tmp_path: Path) -> None:
    model = document(
        {"x": "float32[2]", "a": "float32[2]", "b": "int64[1]", "d": "int64[1]", "e": "float32[2]"},
        node("neg.default", "a", self="$x"),
        node("view.dtype", "b", self="$a", dtype={"as_scalar_type": 5}),
        node("neg_.default", "d", self="$b"),
        node("exp.default", "e", self="$a"),
    )
    program = pt2.read(write(tmp_path / "m.pt2", model))
    assert program.steps[-1].calls[0].operands == ("a:1",)


def test_a_part_that_is_taken_after_a_change_is_as_changed(tmp_path: Path) -> None:
    model = document(
        dict.fromkeys(("x", "a", "d", "b", "e", "f"), "float32[2,3]"),
        node("neg.default", "a", self="$x"),
        node("relu_.default", "d", self="$a"),
        node("view.default", "b", self="$a", size=[2, 3]),
        node("add.Tensor", "e", self="$b", other="$a"),
        node("neg_.default", "f", self="$b"),
        node("add.Tensor", "g", self="$d", other="$b"),
    )
    program = pt2.read(write(tmp_path / "m.pt2", model))
    assert [(step.calls[0].function, step.calls[0].operands) for step in program.steps[2:]] == [
        ("view", ("d",)),
        ("add", ("b", "d")),
        ("neg", ("b",)),
        ("view", ("f",)),
        ("add", ("a@2", "f")),
    ]


def test_changes_in_place_take_no_more_than_what_is_read(tmp_path: Path) -> None:
    """Each changes all parts that were taken before: of a buffer that is changed n times these are n^2/2."""
    count = 1000
    values = {"x": "float32[2]", **{f"v{n}": "float32[2]" for n in range(count)}}
    model = document(values, *(node("relu_.default", f"v{n}", self="$x") for n in range(count)))
    program = pt2.read(write(tmp_path / "m.pt2", model))
    assert len(program.steps) == count
    assert len(program.types) <= 2 * count + 1


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (node("brandnew.default", "v", self="$x"), "no row of the operator table has its name"),
        (node("torch.ops.mine.op.default", "v", self="$x"), "is not a function of PyTorch's own"),
        (
            node("relu.default", "v", self="$x", extra={"as_graph": {"name": "g"}}),
            "has an argument that is not a tensor",
        ),
        (node("mul.Tensor", "v", self="$x", other={"as_float": "Infinity"}), "mul has no attribute other=inf"),
        (node("sum.default", "v", self="$x"), "returns float32[2,3], the row float32[]"),
        (node("to.dtype", "v", self="$x", dtype={"as_scalar_type": 10}), "has a dtype that difftvm does not support"),
    ],
)
def test_what_has_no_row_is_a_cut(made: dict[str, Any], why: str, tmp_path: Path) -> None:
    model = document(
        {"x": "float32[2,3]", "v": "float32[2,3]", "r": "float32[2,3]"}, made, node("relu.default", "r", self="$v")
    )
    resolved = resolve(pt2.read(write(tmp_path / "m.pt2", model)))
    assert [n.op for n in resolved.nodes] == ["relu"]
    ((_, reason),) = resolved.lacking
    assert why in reason


def calls_of(folder: Path, model: dict[str, Any]) -> list[str]:
    """The nodes of the whole model: rows by their names, calls by their text."""
    resolved = resolve(pt2.read(write(folder / "m.pt2", model)), whole=True)
    return [str(node.attrs.get("call", node.op)) for node in resolved.nodes] + [why for _, why in resolved.lacking]


def test_what_has_no_row_is_a_call_in_a_whole_model(tmp_path: Path) -> None:
    """The types are those of the file."""
    model = document(
        {"x": "float32[2,3]", "c": "complex64[2,2]", "v": "float32[2,2]", "r": "float32[2,2]"},
        node("_fft_r2c.default", "c", self="$x", dim=[1], normalization=0, onesided=True),
        node("abs.default", "v", self="$c"),
        node("relu.default", "r", self="$v"),
    )
    spectrum = "t0 = torch.ops.aten._fft_r2c.default(a0, [1], 0, True)\ntorch.ops.aten.abs.default(t0)"
    assert calls_of(tmp_path, model) == [spectrum, "relu"]


def keyword(made: dict[str, Any], **kinds: int | None) -> dict[str, Any]:
    """The node with these kinds of arguments: 2 for a keyword, None for a file that does not say it."""
    return {**made, "inputs": [{**each, "kind": kinds.get(each["name"], each["kind"])} for each in made["inputs"]]}


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (node("take.default", "v", self="$x", index="$i"), "torch.ops.aten.take.default(a0, a1)"),
        (node("take.default", "v", self="$x", index="$x"), "torch.ops.aten.take.default(a0, a0)"),
        (
            keyword(node("sum.dim_IntList", "v", self="$x", dim=[0], dtype={"as_scalar_type": 10}), dtype=2),
            "torch.ops.aten.sum.dim_IntList(a0, [0], dtype=torch.complex64)",
        ),
        (
            keyword(node("frexp.Tensor", "v", self="$x"), self=None),
            "torch.ops.aten.frexp.Tensor(self=a0)",
        ),
        (
            node("bincount.default", "v", self="$i", weights={"as_optional_tensor": {"as_none": True}}, minlength=3),
            "torch.ops.aten.bincount.default(a0, None, 3)",
        ),
        (
            keyword(
                node("_to_copy.default", "v", self="$x", device={"as_device": {"type": "cpu"}}, pin={"as_none": True}),
                device=2,
                pin=2,
            ),
            "torch.ops.aten._to_copy.default(a0)",
        ),
        (
            node("logit.default", "v", self="$x", eps={"as_float": "Infinity"}),
            "torch.ops.aten.logit.default(a0, float('inf'))",
        ),
        (node("igamma_.default", "v", self="$x", other="$x"), "torch.ops.aten.igamma.default(a0, a0)"),
        (
            node(
                "index.Tensor",
                "v",
                self="$x",
                indices={"as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "m"}}]},
            ),
            "torch.ops.aten.index.Tensor(a0, [None, a1])",
        ),
    ],
)
def test_arguments_are_written_as_the_file_gives_them(made: dict[str, Any], call: str, tmp_path: Path) -> None:
    types = {"x": "float32[2,3]", "i": "int64[2]", "m": "bool[3]", "v": "float32[7,7]"}
    assert calls_of(tmp_path, document(types, made, inputs="x i m")) == [call]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (node("rand_like.default", "v", self="$x"), "it draws random numbers, so that no two results can be compared"),
        (
            node("from_file.default", "v", filename="/etc/passwd"),
            "torch.ops.aten.from_file.default is not among the oper",
        ),
        (
            node("take.default(__import__('os').abort()) or torch.abs", "v", self="$x"),
            "is not among the operators that",
        ),
        (node("torch.ops.mine.op.default", "v", self="$x"), "is not a function of PyTorch's own"),
        (node("take.default", "v", self="$x", index={"as_string": "{out}"}), "is not among the operators that"),
        (node("take.default", "v", self="$x", index={"as_custom_obj": {"name": "o"}}), "has an argument that is not a"),
        (node("take.default", "v", self="$s"), "reads s, which no case can hold"),
    ],
)
def test_what_no_case_may_call_cuts_a_whole_model_too(made: dict[str, Any], why: str, tmp_path: Path) -> None:
    model = document({"x": "float32[2]", "v": "float32[2]", "s": "float32[2]"}, made, inputs="x s")
    model["graph_module"]["graph"]["tensor_values"]["s"]["layout"] = 1
    (found,) = calls_of(tmp_path, model)
    assert why in found


def test_branches_are_functions(tmp_path: Path) -> None:
    def branch(*nodes: dict[str, Any]) -> dict[str, Any]:
        graph = {"inputs": [{"as_tensor": {"name": "y"}}], "nodes": list(nodes), "tensor_values": {}}
        outputs = [nodes[-1]["outputs"][0]]
        return {"as_graph": {"name": "g", "graph": {**graph, "outputs": outputs}}}

    positive = branch(node("sin.default", "s", self="$y"))
    other = branch(node("sort.default", "a b", self="$y"), node("add.Tensor", "c", self="$a", other="$y"))
    cond = node("torch.ops.higher_order.cond", "v", predicate="$p", one=positive, two=other, operands=["$x"])
    model = document({"p": "bool[]", "x": "float32[2]", "v": "float32[2]"}, cond, inputs="p x")
    text = """def f0(p0):
    t0 = torch.ops.aten.sin.default(p0)
    return (t0,)
def f1(p0):
    t0 = torch.ops.aten.sort.default(p0)
    t1 = torch.ops.aten.add.Tensor(t0[0], p0)
    return (t1,)
t0 = torch.ops.higher_order.cond(a0, f0, f1, [a1])
t0[0]"""
    assert calls_of(tmp_path, model) == [text]
    cond["inputs"][1]["arg"] = branch(node("relu.default", "s", self="$x"))
    (why,) = calls_of(tmp_path, model)
    assert why.startswith("a part of the model is a program of its own"), "a branch reads what it is not given"
    for _ in range(12):
        cond["inputs"][1]["arg"] = branch({**cond, "inputs": [dict(each) for each in cond["inputs"]]})
    assert calls_of(tmp_path, model) == [why], "branches are nested too deep"


def test_a_region_with_a_step_that_cannot_be_called_is_lost_as_a_whole(tmp_path: Path) -> None:
    model = document(
        {"x": "float32[4]", "c": "complex64[3]", "d": "complex64[3]", "v": "float32[3]", "r": "float32[3]"},
        node("fft_rfft.default", "c", self="$x"),
        node("bernoulli.default", "d", self="$c"),
        node("abs.default", "v", self="$d"),
        node("relu.default", "r", self="$v"),
    )
    random = "it draws random numbers, so that no two results can be compared"
    other = f"its values are no tensors of a case, and bernoulli: {random}"
    assert calls_of(tmp_path, model) == ["relu", other, random, other]


def test_a_type_that_the_file_does_not_declare_has_no_more_dimensions_either(tmp_path: Path) -> None:
    model = document({"x": "float32[2]"}, node("view.default", "v", self="$x", size=[1] * 8 + [2]))
    assert list(resolve(pt2.read(write(tmp_path / "m.pt2", model))).lacking) == [("view", "returns a tensor of rank 9")]


def config(name: str, text: str, *, use_pickle: bool = False) -> bytes:
    payload = {"path_name": "weight_0", "is_param": True, "use_pickle": use_pickle, "tensor_meta": meta(text)}
    return json.dumps({"config": {f"own.{name}": payload}}).encode()


def test_integers_that_the_model_owns_are_kept_and_floats_are_not(tmp_path: Path) -> None:
    model = document({"b0": "int64[2]", "v": "int64[2]"}, node("neg.default", "v", self="$b0"), inputs="b0")
    numbers = np.array([7, -1], np.int64)
    members = {"data__weights__model_weights_config.json": config("b0", "int64[2]")}
    program = pt2.read(write(tmp_path / "m.pt2", model, **members, data__weights__weight_0=numbers.tobytes()))
    assert {name: array.tolist() for name, array in program.constants.items()} == {"b0": [7, -1]}

    members = {"data__weights__model_weights_config.json": config("b0", "float32[4]")}
    program = pt2.read(write(tmp_path / "n.pt2", model, **members, data__weights__weight_0=numbers.tobytes()))
    assert not program.constants


class Canary:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("use_pickle", [True, False])
def test_no_pickle_is_executed(use_pickle: bool, tmp_path: Path) -> None:
    """Wherever one lies: as a weight, as the example inputs, as an old file's state."""
    canary = pickle.dumps(Canary(tmp_path / "sings"))
    pickle.loads(canary)
    assert (tmp_path / "sings").is_dir()  # it would
    (tmp_path / "sings").rmdir()
    model = document({"b0": "int64[2]", "v": "int64[2]"}, node("neg.default", "v", self="$b0"), inputs="b0")
    members = {
        "data__weights__model_weights_config.json": config("b0", "int64[2]", use_pickle=use_pickle),
        "data__weights__weight_0": canary,
        "data__sample_inputs__model.pt": canary,
        "serialized_state_dict.pt": canary,
    }
    program = pt2.read(write(tmp_path / "m.pt2", model, **members))
    assert resolve(program).mapped == 1
    assert not program.constants
    assert not (tmp_path / "sings").exists()


def test_the_older_layout(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.pt2", "w") as archive:
        archive.writestr("serialized_exported_program.json", json.dumps(CONV))
        archive.writestr("serialized_state_dict.pt", b"")
    assert resolve(pt2.read(tmp_path / "m.pt2")).mapped == 2


# --- files that are not what they should be


def _changed(**graph: Any) -> dict[str, Any]:
    model = json.loads(json.dumps(CONV))
    model["graph_module"]["graph"].update(graph)
    return dict(model)


def _sized(size: int) -> dict[str, Any]:
    model = _changed()
    model["graph_module"]["graph"]["tensor_values"]["c"]["sizes"][0] = {"as_int": size}
    return model


BAD: dict[str, tuple[Any, str]] = {
    "no JSON": (b"\x80\x04", "models/model.json: "),
    "half of it": (json.dumps(CONV).encode()[:-9], "models/model.json: "),
    "a list": (b"[]", "models/model.json: "),
    "deep": (b'{"graph_module":' * 5000 + b"}" * 5000, "models/model.json: "),
    "a cycle": (
        _changed(nodes=[node("relu.default", "r", self="$c"), node("neg.default", "c", self="$r")]),
        "relu.default reads 'c' before any node makes it",
    ),
    "made twice": (
        _changed(nodes=[node("relu.default", "r", self="$x"), node("neg.default", "r", self="$x")]),
        "'r' is made twice",
    ),
    "huge": (_sized(1 << 60), "has the sizes"),
    "negative": (_sized(-4), "has the sizes"),
    "many dimensions": (_changed(tensor_values={"x": meta("float32[1,1,1,1,1,1,1,1,1]")}), "x has rank 9, more than 8"),
    "a long name": (_changed(nodes=[node("relu.default", "r" * 1001, self="$x")]), "... has 1001 characters"),
    "dtype of text": (_changed(tensor_values={"x": {**meta("float32[1]"), "dtype": "float32"}}), "models/model.json: "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_programs_end_with_one_line(name: str, tmp_path: Path) -> None:
    model, why = BAD[name]
    path = write(tmp_path / "bad.pt2", model)
    with pytest.raises(Invalid) as caught:
        pt2.read(path)
    assert str(caught.value).startswith(str(path))
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_archives_end_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = write(tmp_path / "good.pt2", CONV).read_bytes()
    path = tmp_path / "bad.pt2"

    def refused(data: bytes) -> str:
        path.write_bytes(data)
        with pytest.raises(Invalid) as caught:
            pt2.read(path)
        assert "\n" not in str(caught.value)
        return str(caught.value).removeprefix(str(path))

    assert refused(b"") == ": File is not a zip file"
    assert refused(good[: len(good) // 2]) == ": File is not a zip file"
    flipped = bytearray(good)
    flipped[60:120] = bytes(60)
    assert "m/models/model.json: " in refused(bytes(flipped))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../etc/cron.d/x", b"")
    assert "leads out of the archive" in refused(path.read_bytes())
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("m/data.txt", b"")
    assert "no exported program in it" in refused(path.read_bytes())
    monkeypatch.setattr(archives_read, "MAX_READ", 1 << 10)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(99):
            archive.writestr(f"m/{number}", b"")
    assert "its list of members has more than" in refused(path.read_bytes())
    monkeypatch.undo()
    monkeypatch.setattr(pt2, "MAX_JSON", 1 << 20)
    write(path, b"[" + b" " * (64 << 20) + b"]")  # 64 KB that would be 64 MB
    assert path.stat().st_size < 1 << 17
    assert "m/models/model.json is larger than 1 MiB" in refused(path.read_bytes())


def test_the_nodes_of_a_file_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "m.pt2", CONV)
    monkeypatch.setattr(bounds, "MAX_NODES", 1)
    with pytest.raises(Invalid, match=r"m\.pt2: 2 nodes, more than 1$"):
        pt2.read(path)


# --- the child


def test_a_child_reads_the_same(tmp_path: Path) -> None:
    """Tensors and numbers that JSON does not have among what it says."""
    model = document(
        {"b0": "bool[2]", "x": "float32[2]", "v": "float32[2]", "w": "float32[2]"},
        node("mul.Tensor", "v", self="$x", other={"as_float": "-Infinity"}),
        node("index.Tensor", "w", self="$v", indices={"as_optional_tensors": [{"as_tensor": {"name": "b0"}}, {}]}),
        inputs="b0 x",
    )
    members = {"data__weights__model_weights_config.json": config("b0", "bool[2]")}
    path = write(tmp_path / "m.pt2", model, **members, data__weights__weight_0=b"\1\0")
    read, by_child = pt2.read(path), pt2_file.read(path)
    assert by_child.constants["b0"].dtype == bool
    assert {name: array.tolist() for name, array in by_child.constants.items()} == {"b0": [True, False]}
    assert (by_child.steps, by_child.types, by_child.roles) == (read.steps, read.types, read.roles)


def test_what_takes_more_memory_than_the_child_has_ends_with_one_line(tmp_path: Path) -> None:
    """12 MB of JSON, 12 kB of a file, are 800 MB of structures."""
    path = write(tmp_path / "m.pt2", b'{"graph_module":{"graph":{"inputs":[' + b"{}," * 4_000_000 + b"{}]}}}")
    child = "from fuzzer.seeds import archive; from fuzzer.seeds.torch import pt2_file"
    child += "; from fuzzer.seeds.bounded_child import Limits"
    child += "; archive.MOST_TIMES = 10**6"  # it is compressed here
    child += "; pt2_file.limits_of = lambda path: Limits(5 << 27, 60); pt2_file.main()"
    command = [sys.executable, "-c", child, str(path), str(os.getpid())]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert pt2_file.decode(done.stdout, path).refused.startswith(f"{path}: reading it takes more than")


def test_what_is_compressed_as_no_model_is_refuses_to_become_large(tmp_path: Path) -> None:
    bomb = b'{"graph_module": {"graph": {"inputs": [' + b"{}," * 2_000_000 + b"{}]}}}"
    path = write(tmp_path / "m.pt2", bomb)
    with pytest.raises(Invalid, match=r"model\.json is larger than 1 MiB"):
        pt2.read(path)


def test_an_answer_with_impossible_sizes_is_refused() -> None:
    program = Program("m", (), {"x": TensorType(DType.FLOAT32, (-4,))})
    with pytest.raises(Invalid, match="x has the sizes"):
        pt2_file.decode(pt2_file.encode(pt2_file._Answer(pt2_file.Pt2Model(program))), Path("m.pt2"))


WRITES = """
import sys
from fuzzer.seeds.bounded_child import Limits, limit_child
with limit_child(int(sys.argv[1]), Limits(2 << 30, 60)) as answers:
    try:
        open(sys.argv[2], "w")
    except PermissionError:
        answers.write(b"refused")
"""


@pytest.mark.skipif(confinement.version() == 0, reason=confinement.in_words(confinement.version()))
def test_the_child_that_reads_a_file_writes_none(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITES, str(os.getpid()), str(tmp_path / "x")]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"refused"
    assert os.listdir(tmp_path) == []
