"""What finding.json may say: texts and numbers of another form are refused in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzzer.findings import finding_file
from generators.graph import Invalid


def access(**fields: object) -> dict[str, object]:
    return {"access": "read", "tensor": "input x0", "side": "after", "distance": 1, "dtype": "float32", **fields}


Changed = Callable[[dict[str, Any]], object]

CHANGES: dict[str, tuple[Changed, str]] = {
    "signature": (lambda doc: doc.update(signature="--> <script>"), "is no signature"),
    "signature that is long": (lambda doc: doc.update(signature="0" * 13), "is no signature"),
    "confirmed": (lambda doc: doc.update(confirmed="3 of 3 @everyone"), "is not such as '3 of 3'"),
    "operator": (lambda doc: doc.update(ops=["`code`"]), "ops: '`code`' is no name"),
    "operator of the origin": (lambda doc: doc.update(found_in=["\x1b[2J"]), "found_in: .* is no name"),
    "lanes": (lambda doc: doc.update(lanes=["\x1b]52;c;x\x07"]), "lanes: .* is no name"),
    "lane": (lambda doc: doc["lane"].update(name="a\nb"), "lane.name: .* is no name"),
    "toolchain": (lambda doc: doc["lane"].update(toolchain="a b;c"), "lane.toolchain: 'a b;c' is no name"),
    "many operators": (lambda doc: doc.update(ops=["relu"] * 10_001), "ops: 10001 items are more than 10000"),
    "builds": (
        lambda doc: doc.update(introduced={"builds": ["b"] * 10_001}),
        "introduced.builds: 10001 items are more than",
    ),
    "commit": (
        lambda doc: doc.update(introduced={"builds": ["b"], "subject": "s" * 301}),
        "introduced.subject: 's.* has more than 300 characters",
    ),
    "feature": (
        lambda doc: doc.update(machines=[{"os": "o", "processor": "p", "features": ["`avx2`"]}]),
        "machines.features: '`avx2`' is no feature of a processor",
    ),
    "threads": (
        lambda doc: doc.update(machines=[{"os": "o", "processor": "p", "threads": 0}]),
        r"Expected `int` >= 1 .* at `\$\.machines\[0\]\.threads`",
    ),
    "many machines": (
        lambda doc: doc.update(machines=[{"os": "o", "processor": "p"}] * 17),
        r"Expected `array` of length <= 16 .* at `\$\.machines`",
    ),
    "negative output": (
        lambda doc: doc.update(evidence={"mismatch": {"output": -5, "expected": "1.0", "actual": "2.0"}}),
        "evidence: the position of an output, or a number of elements, is negative",
    ),
    "negative output that shares memory": (
        lambda doc: doc.update(evidence={"side_effect": {"aliases": [[-1, "x0"]]}}),
        "evidence: the position of an output is negative",
    ),
    "no evidence": (lambda doc: doc.update(evidence={}), "evidence: 0 fields are set, not one"),
    "dtype of an access": (
        lambda doc: doc.update(evidence={"memory_access": access(dtype='x"; import os')}),
        "evidence.memory_access.dtype: 'x\"; import os' is no dtype",
    ),
    "distance of an access": (
        lambda doc: doc.update(evidence={"memory_access": access(distance=10**30)}),
        "evidence: an access 1000000000000000000000000000000 elements away",
    ),
    "time after all years": (lambda doc: doc.update(found=1e300), r"Expected `float` < .* at `\$\.found`"),
    "time before all years": (lambda doc: doc.update(found=-1e18), r"Expected `float` >= 0.* at `\$\.found`"),
    "CPU seconds": (lambda doc: doc.update(cpu_seconds=1e308), r"Expected `float` <= .* at `\$\.cpu_seconds`"),
    "pass": (
        lambda doc: doc.update(evidence={"ill_formed": {"after": 'a"\nimport os', "type": "E", "message": ""}}),
        "evidence.ill_formed.after: .* is neither the import nor a pass",
    ),
    "edits": (
        lambda doc: doc.update(evidence={"mutant": {"change": "c", "fate": "same result", "edits": "import os"}}),
        "evidence: the edits of the module are no list of numbers and nodes",
    ),
    "signal": (
        lambda doc: doc.update(evidence={"died": {"stage": "run", "cause": "signal", "code": 999, "log": ""}}),
        "evidence: there is no signal 999",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_form_is_refused(saved: Path, name: str) -> None:
    change, says = CHANGES[name]
    path = saved / finding_file.NAME
    doc = json.loads(path.read_text())
    change(doc)
    path.write_text(json.dumps(doc))
    with pytest.raises(Invalid, match=says) as caught:
        finding_file.read(saved)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize(
    ("call", "what", "values", "says"),
    [(-1, "rank", [1], "no call -1"), (0, "rank", [], "has no values"), (0, "dtype", ["x"], "dtype")],
)
def test_a_scope_of_another_form_is_refused(saved: Path, call: int, what: str, values: list[object], says: str) -> None:
    condition = {
        "property": {"call": call, "subject": "operand 0", "what": what},
        "relation": "in",
        "values": values,
    }
    path = saved / finding_file.NAME
    doc = json.loads(path.read_text())
    doc["scope"] = {"statement": {"conditions": [condition]}}
    path.write_text(json.dumps(doc))
    with pytest.raises(Invalid, match=f"scope: .*{says}"):
        finding_file.read(saved)


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"call": 7}, "scope: there is no call 7"), ({"attribute": "a`b"}, "attribute: 'a`b' is no name")],
)
def test_an_ignored_attribute_of_another_form_is_refused(saved: Path, changes: dict[str, object], says: str) -> None:
    path = saved / finding_file.NAME
    doc = json.loads(path.read_text())
    doc["scope"] = {"ignored": [{"call": 0, "attribute": "alpha", "value": "2", "as_if": "1", **changes}]}
    path.write_text(json.dumps(doc))
    with pytest.raises(Invalid, match=says):
        finding_file.read(saved)
