"""Cases from ONNX's own node tests (onnx.backend.test.case.node): `python -m fuzzer.children.node_tests`.

Each test is a file of one operator, with inputs and expected results. A case runs the file as it is. The onnx package
also expands operators that are functions: such a test, whose name ends with `_expanded`, is of the same operator, and
has a row of its own.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from fuzzer.cases.expected_results import Expected
from fuzzer.children import sample_files
from fuzzer.children.sample_files import Request, Sample
from fuzzer.lanes.onnx.given import tensors_of_graph
from fuzzer.seeds.bounded_child import Answer, in_this_process
from fuzzer.seeds.onnx import file as onnx_file
from fuzzer.seeds.onnx import whole_model
from fuzzer.seeds.onnx.reader import reader, refusal, run_types
from fuzzer.system import no_network
from generators.graph import Array, Case, Invalid
from generators.onnx.model import ELEMENTS
from generators.onnx.source import tensor

EXPANDED = re.compile(r"_expanded(_ver[0-9]+)?$")
WHY_LENGTH = 300
READERS: Mapping[str, Answer] = {
    onnx_file.MODULE: reader.answer,
    onnx_file.REFUSAL_MODULE: refusal.answer,
    onnx_file.RUN_MODULE: run_types.answer,
}


def by_row(tests: Sequence[Any]) -> dict[str, list[Any]]:
    """The tests of each row, which is an operator and its version: `Clip-13`, `Clip-13-expanded`. Rows are in the order
    of the alphabet."""
    rows = {test.name: _row(test.model) for test in tests if not EXPANDED.search(test.name)}
    found: dict[str, list[Any]] = defaultdict(list)
    for test in tests:
        own = EXPANDED.sub("", test.name)
        found[rows[own] if own == test.name else f"{rows[own]}-expanded"].append(test)
    return dict(sorted(found.items()))


def _row(model: onnx.ModelProto) -> str:
    """The operator of a file of one node, with its domain where that is not ONNX's own, and its version."""
    (node,) = model.graph.node
    version = next(each.version for each in model.opset_import if each.domain == node.domain)
    since = onnx.defs.get_schema(node.op_type, version, node.domain).since_version
    domain = f"{node.domain}." if node.domain else ""
    return f"{domain}{node.op_type}-{since}"


def sample_of(row: str, test: Any) -> Sample:
    """The case of a test, with the inputs of its first set of data, or why it has none."""
    key = f"{row}/{test.name}"
    names = [item.name for item in test.model.graph.input]
    try:
        inputs, outputs = (tuple(map(_array, values)) for values in test.data_sets[0])
        case = case_of(test.model, dict(zip(names, inputs, strict=True)))
    except Invalid as why:
        return Sample(key, str(why)[:WHY_LENGTH])
    expected = Expected(tuple(map(tensor, outputs)), test.rtol, test.atol)
    return Sample(key, case, msgspec.msgpack.encode(expected))


def case_of(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> Case:
    """The file as a case, with its own numbers. Raise `Invalid` where it is none."""
    with tempfile.TemporaryDirectory() as folder, in_this_process(READERS):
        path = Path(folder) / "test.onnx"
        onnx.save(model, path)
        try:
            case = whole_model.read(path, inputs).case
        except Invalid as why:
            raise Invalid(str(why).removeprefix(f"{path}: ")) from None
    assert case.given is not None
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    reader.unchanged_nodes(graph)  # moves weights of graphs inside of nodes to this graph
    own = {name: numpy_helper.to_array(item) for name, item in tensors_of_graph(graph)}
    known = {name: own[of_file] for name, of_file in case.given.names.items() if of_file in own}
    return replace(case, tensors={**case.tensors, **known})


def _array(value: Any) -> Array:
    """A value of a test. Raise `Invalid` where it is none that a case can hold."""
    if isinstance(value, onnx.TensorProto):
        element = onnx.TensorProto.DataType.Name(value.data_type)
        if element not in ELEMENTS:
            raise Invalid(f"a value is of the type {element.lower()}, which no case can hold")
        known: Array = numpy_helper.to_array(value)
        return known
    if not isinstance(value, np.ndarray | np.generic):
        what = "a sequence" if isinstance(value, list) else "an optional value"
        raise Invalid(f"a value is {what}, which no case can hold")
    if (array := np.asarray(value)).dtype not in ELEMENTS.values():
        raise Invalid(f"a value is of the type {_type_of(array)}, which no case can hold")
    return array


def _type_of(array: Array) -> str:
    return "string" if array.dtype.kind in "OSU" else str(array.dtype)


def _take(request: Request) -> Iterator[tuple[str, Iterator[Sample]]]:
    globs = [glob.strip() for glob in request.ops.split(",")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tests overflow and divide by zero
        rows = by_row(collect_testcases(None))
    for row, tests in rows.items():
        chosen = [test for test in tests if any(_matches(row, test.name, glob) for glob in globs)]
        if row > request.after and chosen:
            yield row, (sample_of(row, test) for test in islice(chosen, request.most))


def _matches(row: str, name: str, glob: str) -> bool:
    """Whether a glob is for an operator (Clip), one of its rows (Clip-13) or a test (test_clip_*)."""
    operator = row.partition("-")[0]
    return any(fnmatchcase(each, glob) for each in (operator, operator.rpartition(".")[2], row, name))


def main() -> None:
    no_network.enter()
    sample_files.write(_take)


if __name__ == "__main__":
    main()
