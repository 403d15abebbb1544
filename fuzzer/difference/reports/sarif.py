"""The result of `fuzz diff` as SARIF 2.1.0, which code hosts show beside the code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version

import msgspec

from fuzzer.difference.reports.lines import Shown, shown, wrong_with
from fuzzer.difference.verdict import Comparison
from fuzzer.findings.severity import Level

LEVELS = {Level.CRITICAL: "error", Level.HIGH: "error", Level.MEDIUM: "warning", Level.LOW: "note"}
"""The level of a result, by the severity of its finding."""

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PLACE = re.compile(r"(?P<file>tvm/[\w/.-]+\.py):(?P<line>[0-9]{1,7})")


def document(comparison: Comparison) -> str:
    kinds = sorted({doc.kind for doc in comparison.worse})
    run = {
        "tool": {
            "driver": {
                "name": "difftvm",
                "version": version("difftvm"),
                "rules": [
                    {"id": str(kind), "shortDescription": {"text": str(kind).replace("-", " ")}} for kind in kinds
                ],
            }
        },
        "results": [_result(comparison, each) for each in shown(comparison, comparison.worse)],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _result(comparison: Comparison, each: Shown) -> Mapping[str, object]:
    """A result. Its place is the function of TVM's Python that is blamed, as it is called in TVM's repository, or the
    report of the finding."""
    doc = each.doc
    place = _PLACE.search(doc.blame.origin.place)
    location: dict[str, object] = {"artifactLocation": {"uri": f"{each.folder}/issue.md"}}
    if place:
        line = max(1, int(place["line"]))
        location = {"artifactLocation": {"uri": f"python/{place['file']}"}, "region": {"startLine": line}}
    words = (f"{each.title}.", f"{wrong_with(comparison)}.", f"At fault: {each.blamed}." if each.blamed else "")
    return {
        "ruleId": str(doc.kind),
        "level": LEVELS[each.level],
        "message": {"text": without_links(" ".join(word for word in words if word))},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"difftvmSignature": doc.signature},
        "properties": {"severity": each.level},
    }


def without_links(text: str) -> str:
    """The text as SARIF shows it without a link: `[text](address)` is one in a message (SARIF 2.1.0, 3.11.6)."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", text)
