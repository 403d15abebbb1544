"""What finding.json may say: texts and numbers of another form are refused in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuzzer.findings import finding_file
from generators.graph import Invalid

Changed = Callable[[dict[str, Any]], object]

CHANGES: dict[str, tuple[Changed, str]] = {
    "signature": (lambda doc: doc.update(signature="--> <script>"), "is no signature"),
    "signature that is long": (lambda doc: doc.update(signature="0" * 13), "is no signature"),
    "confirmed": (lambda doc: doc.update(confirmed="3 of 3 @everyone"), "is not such as '3 of 3'"),
    "operator": (lambda doc: doc.update(ops=["`code`"]), "ops: '`code`' is no name"),
    "operator of the origin": (lambda doc: doc.update(found_in=["\x1b[2J"]), "found_in: .* is no name"),
    "lanes": (lambda doc: doc.update(lanes=["\x1b]52;c;x\x07"]), "lanes: .* is no name"),
    "lane": (lambda doc: doc["lane"].update(name="a\nb"), "lane: .* is no name"),
    "toolchain": (lambda doc: doc["lane"].update(toolchain="a b;c"), "lane: 'a b;c' is no name"),
    "many operators": (lambda doc: doc.update(ops=["relu"] * 10_001), "ops: 10001 names are more than 10000"),
    "builds": (lambda doc: doc.update(introduced={"builds": ["b"] * 10_001}), "introduced: 10001 builds are more than"),
    "commit": (
        lambda doc: doc.update(introduced={"builds": ["b"], "subject": "s" * 301}),
        "introduced: a text has more than 300 characters",
    ),
    "no evidence": (lambda doc: doc.update(evidence={}), "evidence: 0 fields are set, not one"),
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
