"""TVM's own run of ONNX's node tests, and what its list of operators lacks.

`tests/python/relax/test_frontend_onnx_backend.py` of TVM (PR #19515, for issue #19505) runs the node tests whose names
begin with the prefixes of a list, `_INCLUDE_OPS`. An operator is in the list only if all of its tests pass.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping

from fuzzer.evaluation.allow_list import AllowList
from fuzzer.evaluation.status import Status

WHERE = "tests/python/relax/test_frontend_onnx_backend.py"

_PREFIXES = """
abs acos acosh add and argmax argmin averagepool bitshift bitwise_and bitwise_not bitwise_or bitwise_xor ceil clip
compress concat conv cos cosh depthtospace div einsum erf exp flatten floor gathernd gemm globalaveragepool
globalmaxpool greater greater_equal hardmax hardswish isnan less less_equal lrn matmul matmulinteger mean min mod mul
neg nonzero not or reciprocal round scatternd sigmoid sign sin sinh size slice spacetodepth sqrt squeeze sub sum tan
tanh tile transpose unique unsqueeze where xor
"""
INCLUDED = frozenset(_PREFIXES.split())
"""`_INCLUDE_OPS` in TVM's main at 5d4dc872, of 22 August 2026."""


def selects(prefixes: Collection[str], test: str) -> bool:
    """Whether the list selects a test. The rule of TVM's test: `test_PREFIX`, alone or before a `_`."""
    return re.fullmatch(rf"test_(?:{'|'.join(map(re.escape, sorted(prefixes)))})(?:_.*)?", test) is not None


def compared(statuses: Mapping[str, Status | None]) -> AllowList:
    """Compare the list with the status of each test, by the key of its sample; None for a test without a result."""
    operators = {_test(key): _operator(key) for key in statuses}
    tests = {_test(key): status for key, status in statuses.items()}
    right = {test for test, status in tests.items() if status is Status.SUPPORTED}
    selected = {test for test in tests if selects(INCLUDED, test)}
    found: dict[str, set[str]] = {}
    for group in _of_operators(operators).values():
        for prefix in _prefixes([test for test in group if test not in selected]):
            taken = {test for test in tests if selects({prefix}, test)}
            if taken <= right:
                found[prefix] = taken
                break
    covered = set[str]().union(*found.values())
    return AllowList(
        WHERE,
        sorted(selected),
        sorted(selected - right),
        sorted(found),
        sorted({operators[test] for test in covered}),
        sorted(right - selected - covered),
        sorted(right - selected),
    )


def _test(key: str) -> str:
    return key.rpartition("/")[2]


def _operator(key: str) -> str:
    return key.partition("-")[0]


def _of_operators(operators: Mapping[str, str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for test, operator in operators.items():
        found[operator].append(test)
    return found


def _prefixes(tests: Collection[str]) -> list[str]:
    """The prefixes that all of the tests have, the shortest first."""
    parts = [test.removeprefix("test_").split("_") for test in sorted(tests)]
    shared = []
    for words in zip(*parts, strict=False):
        if len(set(words)) > 1:
            break
        shared.append(words[0])
    return ["_".join(shared[: end + 1]) for end in range(len(shared))]
