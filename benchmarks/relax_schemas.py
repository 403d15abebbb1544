"""Write the operators of TVM's registry that cases of Relax may have into `generators/relax/schemas.json`.

python benchmarks/relax_schemas.py           compare the file with the registry of this TVM
python benchmarks/relax_schemas.py --write   write it
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi
from tvm import relax

FILE = Path(__file__).parents[1] / "generators/relax/schemas.json"

PREFIX = "relax."

OTHER_FUNCTIONS = {"nn.attention_bias": "nn.attention"}
"""Operators that a function of another name makes."""

LEFT_OUT = re.compile(r"(builtin|ccl|dist|grad|inspect|memory|vm|vision)\.|call_|invoke_|make_closure|null_value|print")
"""Operators of lowered modules, of gradients and of several processes, calls of what is no operator, and detection."""


def operators() -> Iterator[tuple[str, Any]]:
    for name in sorted(tvm.ir.Op.list_op_names()):
        short = str(name).removeprefix(PREFIX)
        if str(name).startswith(PREFIX) and not LEFT_OUT.match(short):
            yield short, tvm.ir.Op.get(str(name))


def schema(name: str, operator: Any) -> dict[str, Any]:
    """The arguments with the kind of each, the attributes with their types, the parameters of the function that makes a
    call, with their defaults where they have some, and whether TVM has a legalization."""
    function = OTHER_FUNCTIONS.get(name, name)
    return {
        "function": function if function_named(function) else "",
        "arguments": [[str(each.name), str(each.type_info)] for each in operator.arguments],
        "attributes": attributes(str(operator.attrs_type_key or "")),
        "parameters": parameters(function_named(function)),
        "legalized": operator.has_attr("FLegalize") and operator.get_attr("FLegalize") is not None,
    }


def attributes(key: str) -> dict[str, str]:
    if not key:
        return {}
    fields = tvm_ffi.core._lookup_or_register_type_info_from_type_key(key).fields
    return {str(field.name): json.loads(field.metadata["type_schema"])["type"] for field in fields}


def function_named(name: str) -> Callable[..., Any] | None:
    found: Any = relax.op
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


def parameters(function: Callable[..., Any] | None) -> list[Any]:
    if function is None:
        return []
    found = []
    for each in inspect.signature(function).parameters.values():
        plain = each.default is None or isinstance(each.default, bool | int | float | str | tuple)
        found.append([each.name, each.default] if plain else [each.name])
    return found


def text() -> str:
    schemas = {name: schema(name, operator) for name, operator in operators()}
    lines = (f"{json.dumps(name)}: {json.dumps(schemas[name])}" for name in schemas)
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    made = text()
    if parser.parse_args().write:
        FILE.write_text(made, encoding="utf-8")
        return 0
    same = FILE.read_text(encoding="utf-8") == made
    print("the file is that of this TVM" if same else "the file differs from this TVM: --write writes it")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
