"""Write generators/onnx/schemas.json: what onnx and onnxruntime say about the operators that TVM's ONNX importer has.

    python benchmarks/onnx_schemas.py --write      writes the file again
    python benchmarks/onnx_schemas.py              says whether the file is what the installed packages say

An operator has an entry for each version that is in force at an opset from 7 on. The versions of the default domain
come from `onnx.defs`. Those of com.microsoft say their domain, and come from onnxruntime. `kernels` has the dtypes that
onnxruntime's kernels for CPUs take, by type variable, where they are fewer than the schema's. `no_kernel` says that
onnxruntime cannot run a version: no kernel for CPUs takes it, and it is no function that onnxruntime expands.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import onnx
from onnx import defs

from fuzzer.lanes.onnx.silent_onnxruntime import ort, states

FILE = Path(__file__).parents[1] / "generators" / "onnx" / "schemas.json"
OLDEST = 7
DTYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(bfloat16)": "bfloat16",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(int16)": "int16",
    "tensor(int8)": "int8",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
}
OPEN_ENDED = 2**31 - 1
"""The last version of a kernel that names none."""
MICROSOFT = "com.microsoft"
CONTRIBUTED = (
    "Attention",
    "BiasGelu",
    "EmbedLayerNormalization",
    "FastGelu",
    "MatMulInteger16",
    "SkipLayerNormalization",
)
"""The operators of com.microsoft that TVM's table is meant for. TVM does not look at domains: for Attention it has one
converter, and both domains have an operator of that name."""


def converters() -> list[str]:
    from tvm.relax.frontend.onnx import onnx_frontend

    return sorted(onnx_frontend._get_convert_map())


def table() -> dict[str, Any]:
    default = _by_name(each for each in defs.get_all_schemas_with_history() if each.domain == "")
    contributed = _by_name(each for each in states.get_all_operator_schema() if each.domain == MICROSOFT)
    kernels = [each for each in states.get_all_opkernel_def() if each.provider == "CPUExecutionProvider"]
    found: dict[str, Any] = {}
    for name in converters():
        history = list(_versions(default.get(name, []), kernels))
        if name in CONTRIBUTED:
            history += _versions(contributed[name], kernels)
        if history:
            found[name] = history
    helpers = {name: _helper(default[name]) for name in ("Cast", "Constant", "Identity", "If")}
    return {
        "onnx": onnx.__version__,
        "newest": _newest(),
        "known": defs.onnx_opset_version(),
        "helpers": helpers,
        "operators": found,
    }


def _newest() -> int:
    """The newest opset that onnxruntime reads."""
    opset = defs.onnx_opset_version()
    while not _loads(opset):
        opset -= 1
    return opset


def _loads(opset: int) -> bool:
    from onnx import TensorProto, helper

    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    try:
        ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except states.Fail:
        return False
    return True


def _helper(history: list[Any]) -> dict[str, list[str]]:
    """For each version, by its first opset, the dtypes of its tensors."""
    return {str(schema.since_version): _types(schema)[schema.outputs[0].type_str] for schema in history}


def _by_name(schemas: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for each in schemas:
        found.setdefault(each.name, []).append(each)
    return {name: sorted(each, key=lambda schema: schema.since_version) for name, each in found.items()}


def _versions(history: list[Any], kernels: list[Any]) -> Iterator[dict[str, Any]]:
    """The versions in force at opset 7 or later, each with the last opset in which it is in force."""
    for schema, after in zip_longest(history, history[1:]):
        last = after.since_version - 1 if after else None
        if (last is not None and last < OLDEST) or schema.deprecated:
            continue
        types, own = _types(schema), [each for each in kernels if _takes(each, schema)]
        yield {
            **({"domain": schema.domain} if schema.domain else {}),
            "since": schema.since_version,
            **({"last": last} if last else {}),
            "inputs": [_parameter(each) for each in schema.inputs],
            "outputs": [_parameter(each) for each in schema.outputs],
            **({"attributes": attributes} if (attributes := dict(_attributes(schema))) else {}),
            "types": types,
            **({"kernels": fewer} if (fewer := _fewer(types, own)) else {}),
            **({} if own or _is_function(schema) else {"no_kernel": True}),
        }


def _parameter(each: Any) -> str:
    """`name type`, where a star follows a variadic one and a question mark an optional one."""
    kind = {"Single": "", "Optional": "?", "Variadic": "*"}[str(each.option).rpartition(".")[2]]
    return f"{each.name}{kind} {_type_of(each)}"


def _type_of(each: Any) -> str:
    """The type variable, or the dtype itself, or the text of a type that is no tensor."""
    text = getattr(each, "type_str", None) or each.typeStr
    return DTYPES.get(text, text)


def _types(schema: Any) -> dict[str, list[str]]:
    """The dtypes of each type variable, in our order. Others, such as strings, are left out."""
    found = {}
    for each in schema.type_constraints:
        allowed = set(each.allowed_type_strs)
        found[each.type_param_str] = [ours for theirs, ours in DTYPES.items() if theirs in allowed]
    return found


def _attributes(schema: Any) -> Iterator[tuple[str, str | list[Any]]]:
    for name, each in sorted(schema.attributes.items()):
        kind = str(each.type).rpartition(".")[2].lower()
        if each.required:
            yield name, f"{kind}!"
        elif (default := _default(each)) is None:
            yield name, kind
        else:
            yield name, [kind, default]


def _default(each: Any) -> Any:
    proto = getattr(each, "default_value", None)
    if proto is None:
        proto = onnx.AttributeProto()
        proto.ParseFromString(each._default_value)
    if not proto.type:
        return None
    value = onnx.helper.get_attribute_value(proto)
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if proto.type in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS) else value


def _takes(kernel: Any, schema: Any) -> bool:
    """Whether a kernel is for a version of an operator. A kernel that names no last version is for its first one only:
    onnxruntime does not use it for versions that were unknown when the kernel was written."""
    first, last = kernel.version_range
    named = (kernel.op_name, kernel.domain) == (schema.name, schema.domain)
    return named and (first == schema.since_version or first < schema.since_version <= last < OPEN_ENDED)


def _is_function(schema: Any) -> bool:
    return bool(schema.has_function or schema.has_context_dependent_function)


def _fewer(types: dict[str, list[str]], kernels: list[Any]) -> dict[str, list[str]]:
    """The dtypes of each type variable that some kernel takes, where they are fewer. A type variable is left out where
    the kernels do not name it, or there are none."""
    found = {}
    for variable, dtypes in types.items():
        taken = {DTYPES.get(text) for each in kernels for text in each.type_constraints.get(variable, ())}
        ours = [dtype for dtype in dtypes if dtype in taken]
        if taken and ours != dtypes:
            found[variable] = ours
    return found


def text() -> str:
    """The file's text: a line for each version of an operator."""
    made = table()
    rows = []
    for name, history in made["operators"].items():
        versions = ",\n   ".join(map(json.dumps, history))
        rows.append(f" {json.dumps(name)}: [\n   {versions}]")
    helpers, opsets = json.dumps(made["helpers"]), f'"newest": {made["newest"]}, "known": {made["known"]}'
    head = f'"onnx": {json.dumps(made["onnx"])}, {opsets},\n"helpers": {helpers},\n"operators"'
    return f"{{{head}: {{\n" + ",\n".join(rows) + "\n}}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the file again")
    if parser.parse_args().write:
        FILE.write_text(text())
        print(f"{FILE}: {FILE.stat().st_size:,} bytes")
        return 0
    same = FILE.read_text() == text()
    print("the file is what the installed packages say" if same else "the file differs: --write writes it again")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
