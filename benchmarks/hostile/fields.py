"""Rows: wrong values in documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from hostile.commands import KINDS
from hostile.place import FINDING, ONNX_FINDING, Place
from hostile.row import ESCAPES, INJECTED, Make, Row, resign, with_contents

_LONG = "x" * 300
Field = tuple[str, str, tuple[str | int, ...], Any]
"""Name, kind, place in the document, value."""

_FIELDS: tuple[Field, ...] = (
    ("its name leads upwards", "finding.json", ("slug",), "../../outside"),
    ("its name is absolute", "finding.json", ("slug",), "/tmp/x"),
    ("its name has 300 characters", "finding.json", ("slug",), _LONG),
    ("its name has a line break", "finding.json", ("slug",), "a\nb"),
    ("its name is an option", "finding.json", ("slug",), "--help"),
    ("its signature has escapes", "finding.json", ("signature",), ESCAPES),
    ("an unknown kind", "finding.json", ("kind",), "wrong-" + "x" * 100_000),
    ("a kind that is a number", "finding.json", ("kind",), 7),
    ("a million operators", "finding.json", ("ops",), ["relu"] * 1_000_000),
    ("operators with escapes", "finding.json", ("ops",), [ESCAPES]),
    ("a lane with a null byte", "finding.json", ("lanes",), ["a\0b"]),
    ("a lane of a million characters", "finding.json", ("lane", "name"), "x" * 1_000_000),
    ("a toolchain that leads upwards", "finding.json", ("lane", "toolchain"), "../../outside"),
    ("a target with code", "finding.json", ("lane", "target"), INJECTED),
    ("an option with code", "finding.json", ("lane", "options"), {INJECTED: INJECTED}),
    ("a level of 10^30", "finding.json", ("lane", "opt_level"), 10**30),
    ("passes with code", "finding.json", ("lane", "passes"), [INJECTED]),
    ("confirmed with escapes", "finding.json", ("confirmed",), ESCAPES),
    ("flaky is a word", "finding.json", ("flaky",), "yes"),
    ("found in the year 10^300", "finding.json", ("found",), 1e300),
    ("found before all time", "finding.json", ("found",), -1e18),
    ("found is a huge integer", "finding.json", ("found",), 10**300),
    ("CPU seconds of 10^308", "finding.json", ("cpu_seconds",), 1e308),
    ("no evidence", "finding.json", ("evidence",), {}),
    ("two kinds of evidence", "finding.json", ("evidence", "timed_out"), {"stage": "run", "seconds": 1.0}),
    (
        "a pass that is code",
        "finding.json",
        ("evidence",),
        {"ill_formed": {"after": f'"): {INJECTED} #', "type": "E", "message": ""}},
    ),
    (
        "an access to a dtype that is none",
        "finding.json",
        ("evidence",),
        {"memory_access": {"access": "read", "tensor": "input x0", "side": "after", "distance": 1, "dtype": "f4,(2"}},
    ),
    ("evidence with escapes", "finding.json", ("evidence", "mismatch", "expected"), ESCAPES),
    ("an index of 10^30", "finding.json", ("evidence", "mismatch", "worst", "index"), [10**30]),
    ("a million indices", "finding.json", ("evidence", "mismatch", "worst", "index"), [1] * 1_000_000),
    ("an output that there is not", "finding.json", ("evidence", "mismatch", "output"), 10**9),
    ("a negative output", "finding.json", ("evidence", "mismatch", "output"), -5),
    ("versions with escapes", "finding.json", ("versions",), {"tvm": ESCAPES, ESCAPES: "1", "preload": ESCAPES}),
    ("100,000 versions", "finding.json", ("versions",), {f"p{n}": "1" for n in range(100_000)}),
    ("blame with escapes", "finding.json", ("blame", "culprit"), ESCAPES),
    ("its script ended with no signal", "finding.json", ("script",), {"exit_code": -999, "why": ESCAPES}),
    ("its script ended with 10^30", "finding.json", ("script",), {"exit_code": 10**30}),
    ("calls of 10^30", "finding.json", ("reduction_calls",), 10**30),
    ("a digest that is none", "finding.json", ("case_sha256",), ESCAPES),
    ("format 10^30", "finding.json", ("format",), 10**30),
    ("an unknown field of 100,000 characters", "finding.json", ("y" * 100_000,), 1),
    ("a scope with escapes", "finding.json", ("scope", "siblings"), [[ESCAPES, ESCAPES]]),
    ("a negative dimension", "case.json", ("inputs", 0, "type"), "float32[-1]"),
    ("a dimension of 10^10", "case.json", ("inputs", 0, "type"), "float32[10000000000]"),
    ("a dimension of 2^64", "case.json", ("inputs", 0, "type"), f"float32[{2**64}]"),
    ("a dimension of 5,000 digits", "case.json", ("inputs", 0, "type"), f"float32[{'9' * 5000}]"),
    ("rank 100,000", "case.json", ("inputs", 0, "type"), f"float32[{','.join('1' * 100_000)}]"),
    ("an unknown dtype", "case.json", ("inputs", 0, "type"), "object[2]"),
    ("a name that is code", "case.json", ("inputs", 0, "name"), INJECTED),
    ("a name with a line break", "case.json", ("inputs", 0, "name"), "x0\nimport os"),
    ("a million outputs", "case.json", ("outputs",), ["v0"] * 1_000_000),
    ("no outputs", "case.json", ("outputs",), []),
    ("5,000 outputs that exist", "case.json", ("outputs",), ["x0"] * 5000),
    ("an operator that is none", "case.json", ("nodes", 0, "op"), "__class__"),
    ("an operator of 100,000 characters", "case.json", ("nodes", 0, "op"), "o" * 100_000),
    ("a call that reads its own result", "case.json", ("nodes", 0, "args"), ["v0"]),
    ("a million operands", "case.json", ("nodes", 0, "args"), ["x0"] * 1_000_000),
    ("an attribute that is code", "case.json", ("nodes", 0, "attrs"), {"alpha": INJECTED}),
    ("an attribute that is nested", "case.json", ("nodes", 0, "attrs"), {"alpha": [[[[1]]]]}),
    ("an attribute of 10^400", "case.json", ("nodes", 0, "attrs"), {"alpha": 10**400}),
    ("an attribute that is named as code", "case.json", ("nodes", 0, "attrs"), {INJECTED: 1}),
    ("results of another type", "case.json", ("nodes", 0, "results"), {"v0": "int8[1]"}),
    ("5,000 calls", "case.json", ("nodes",), [{"op": "relu", "args": ["x0"], "attrs": {}, "results": {}}] * 5000),
    ("sizes that are negative", "case.json", ("sizes",), {"s0": -(10**9)}),
    ("a symbol from high to low", "case.json", ("symbols",), {"s0": {"low": 9, "high": 1}}),
    ("a symbol of 10^30", "case.json", ("symbols",), {"s0": {"low": 1, "high": 10**30}}),
    ("an origin of 10 MB", "case.json", ("origin",), "o" * 10_000_000),
    ("an origin with escapes", "case.json", ("origin",), ESCAPES),
    ("a dialect that is code", "case.json", ("dialect",), INJECTED),
    ("a domain that is none", "case.json", ("inputs", 0, "domain"), "within[9e999,-1]"),
    ("a natural case that is none", "natural.json", ("case",), {"format": 2}),
    ("a natural case without evidence", "natural.json", ("evidence",), {}),
    ("TVMScript with escapes", "natural.json", ("blame", "before"), ESCAPES),
    ("a script that ended with no signal", "natural.json", ("script",), {"exit_code": -100_000}),
    ("lanes with escapes", "natural.json", ("lanes",), [ESCAPES]),
    ("a million lanes", "natural.json", ("lanes",), ["a"] * 1_000_000),
    (
        "a constant of 2^62 elements",
        "onnx.json",
        ("initializers",),
        {"c": {"element": "FLOAT", "shape": [2**31, 2**31], "data": ""}},
    ),
    (
        "a constant of negative size",
        "onnx.json",
        ("initializers", "c"),
        {"element": "FLOAT", "shape": [-1, -1], "data": "AAAAAA=="},
    ),
    ("data that is no base64", "onnx.json", ("initializers", "c"), {"element": "FLOAT", "shape": [1], "data": "%%"}),
    ("rank 10,000", "onnx.json", ("initializers", "c"), {"element": "INT8", "shape": [1] * 10_000, "data": "AA=="}),
    ("an opset of 10^30", "onnx.json", ("opsets", ""), 10**30),
    ("an operator that is code", "onnx.json", ("nodes", 0, "op"), INJECTED),
    ("names with escapes", "onnx.json", ("nodes", 0, "name"), ESCAPES),
    ("a duplicate of itself", "merged.json", ("merged",), [{"slug": FINDING, "into": FINDING, "why": ""}]),
    (
        "duplicates in a circle",
        "merged.json",
        ("merged",),
        [{"slug": FINDING, "into": ONNX_FINDING, "why": ""}, {"slug": ONNX_FINDING, "into": FINDING, "why": ""}],
    ),
    ("a reason with escapes", "merged.json", ("merged", 0, "why"), ESCAPES),
    ("a name that leads upwards", "merged.json", ("merged", 0, "into"), "../x"),
    (
        "100,000 duplicates",
        "merged.json",
        ("merged",),
        [{"slug": f"a{n}", "into": "b", "why": ""} for n in range(10**5)],
    ),
    ("a negative seed", "campaign.json", ("seed",), -1),
    ("a seed of 10^30", "campaign.json", ("seed",), 10**30),
    ("a next test of 10^30", "campaign.json", ("next_test",), 10**30),
    ("counters of 10^300", "campaign.json", ("tally", "tests"), 10**300),
    ("counters that are words", "campaign.json", ("tally", "cpu_seconds"), "much"),
    ("a campaign named with escapes", "campaign.json", ("campaign",), ESCAPES),
    ("trouble with escapes", "filing.json", ("trouble",), ESCAPES),
    ("10^300 that wait", "filing.json", ("waiting",), 10**300),
    ("its name leads upwards", "waiting/finding.json", ("slug",), "../../outside"),
    ("a lane that is unknown", "waiting/finding.json", ("lane", "name"), "no-such-lane"),
    ("an expectation of another format", "corpus/expect.json", ("format",), "1"),
    ("a lane with an unknown field", "corpus/expect.json", ("expected", 0, "lane", ESCAPES), 1),
    ("a stage that is none", "corpus/expect.json", ("expected", 0, "gives"), ESCAPES),
    ("a toolchain with escapes", "kept/corpus.json", ("toolchain",), ESCAPES),
    ("versions with escapes", "kept/corpus.json", ("versions",), {"tvm": ESCAPES}),
    ("a lane with code", "kept/corpus.json", ("lanes", INJECTED), {"name": INJECTED, "target": INJECTED}),
    ("a lane with an unknown field", "kept/corpus.json", ("lanes", "a"), {ESCAPES: 1}),
    ("a level of 10^30", "kept/corpus.json", ("lanes", "a"), {"name": "a", "engine": "tvm", "opt_level": 10**30}),
    ("100,000 lanes", "kept/corpus.json", ("lanes",), {f"a{n}": {"name": "a", "engine": "tvm"} for n in range(10**5)}),
    ("a failure with escapes", "kept/corpus.json", ("failures", ESCAPES), {"kind": ESCAPES}),
    ("coverage of 10^30", "kept/corpus.json", ("coverage", ESCAPES), {"covered": 10**30, "of": 0}),
    ("an interpreter that is a script", "toolchain.json", ("python",), "/tmp/evil.sh"),
    ("a name that leads upwards", "toolchain.json", ("name",), "../x"),
    ("no version of TVM", "toolchain.json", ("versions",), {}),
    ("versions with escapes", "toolchain.json", ("versions",), {"tvm": ESCAPES}),
    ("a size of 10^300", "toolchain.json", ("size",), 10**300),
    ("a sample that leads upwards", "sweep/asked.json", ("ops",), "../" + ESCAPES),
    ("10^30 samples", "sweep/asked.json", ("samples",), 10**30),
)


def fields() -> Iterator[Row]:
    for name, kind, where, value in _FIELDS:
        yield Row(f"{kind}: {name}", _with_field(kind, where, value), frozenset({kind}))
        if kind == "finding.json" and where[0] in ("evidence", "blame", "scope"):
            row = f"{kind}: {name}, without a natural case"
            yield Row(row, _without_natural(_with_field(kind, where, value)), frozenset({kind}))
    yield Row(
        "finding.json: NaN", with_contents("finding.json", _raw(b'"cpu_seconds": NaN')), frozenset({"finding.json"})
    )
    yield Row(
        "finding.json: 1e999", with_contents("finding.json", _raw(b'"found": 1e999')), frozenset({"finding.json"})
    )
    yield Row(
        "finding.json: a field twice", with_contents("finding.json", _raw(b'"slug": "a"')), frozenset({"finding.json"})
    )
    yield Row(
        "finding.json: half a character",
        with_contents("finding.json", _raw(rb'"slug": "\ud800"')),
        frozenset({"finding.json"}),
    )
    yield Row(
        "sweep: a sample that leads upwards",
        with_contents("sweep/samples.jsonl", lambda data: b'{"key": "../../../outside/x", "why": ""}\n'),
        frozenset({"sweep/samples.jsonl"}),
    )
    yield Row(
        "sweep: a line of another type",
        with_contents("sweep/samples.jsonl", lambda data: b"7\n"),
        frozenset({"sweep/samples.jsonl"}),
    )


def lines() -> Iterator[Row]:
    """Rows: lines of a regression corpus, and a file of compile options."""
    entries: dict[str, dict[str, object]] = {
        "a case that leads upwards": {"case": "../../outside/x"},
        "a case that is not there": {"case": "0123456789ab"},
        "an unknown lane": {"right": [ESCAPES]},
        "an unknown failure": {"fails": {"relax-export-llvm": ESCAPES}},
        "operators with escapes": {"ops": [ESCAPES]},
        "a million operators": {"ops": ["relu"] * 1_000_000},
        "a source with escapes": {"source": ESCAPES},
        "an unknown field": {ESCAPES: 1},
    }
    for name, fields_of_line in entries.items():
        make = with_contents("kept/expected.jsonl", _first_line_with(fields_of_line))
        yield Row(f"kept/expected.jsonl: {name}", make, frozenset({"kept/expected.jsonl"}))
    yield Row(
        "kept/expected.jsonl: 100,000 lines",
        with_contents("kept/expected.jsonl", lambda data: data.splitlines(keepends=True)[0] * 100_000),
        frozenset({"kept/expected.jsonl"}),
    )
    options = {
        "a pass that is code": f"passes = ['a', {json.dumps(INJECTED)}]",
        "a pass with escapes": f"passes = ['FoldConstant', {json.dumps(ESCAPES)}]",
        "a target with code": f"targets = ['llvm', {json.dumps(INJECTED)}]",
        "a level of 10^30": f"opt_levels = [1, {10**30}]",
        "a negative level": "opt_levels = [-1, 2]",
        "a level with 100,000 digits": f"opt_levels = [{'9' * 100_000}]",
        "100,000 passes": f"passes = {['FoldConstant'] * 100_000}",
        "100 passes": f"tuples = 3\noptions = {[f'tirx.{n}' for n in range(100)]}",
        "nested 10,000 deep": "passes = " + "[" * 10_000,
        "a key of 10,000 parts": ".".join(["a"] * 10_000) + " = 1",
        "1 MB of keys": "\n".join(f"a{n} = 1" for n in range(80_000)),
        "an unknown key with escapes": f"{json.dumps(ESCAPES)} = 1",
    }
    for name, text in options.items():
        contents = text.encode(errors="surrogatepass")
        make = with_contents("options.toml", lambda data, contents=contents: contents)
        yield Row(f"options.toml: {name}", make, frozenset({"options.toml"}))


def _first_line_with(changes: dict[str, object]) -> Callable[[bytes], bytes]:
    def contents(data: bytes) -> bytes:
        first, *others = data.splitlines(keepends=True)
        return b"".join((json.dumps(json.loads(first) | changes).encode() + b"\n", *others))

    return contents


def _raw(text: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data.rstrip()[:-1] + b", " + text + b"}"


def _without_natural(change: Make) -> Make:
    """Without a natural case, reports read the evidence of finding.json itself."""

    def make(place: Place) -> None:
        for kind in ("natural.json", "natural.safetensors"):
            KINDS[kind].path(place).unlink()
        change(place)

    return make


def _with_field(kind: str, where: tuple[str | int, ...], value: Any) -> Make:
    def make(place: Place) -> None:
        path = KINDS[kind].path(place)
        document = json.loads(path.read_bytes())
        holder = document
        for key in where[:-1]:
            if isinstance(holder, dict) and holder.get(key) is None:  # a field at its default is not written
                holder[key] = {}
            holder = holder[key]
        holder[where[-1]] = value
        path.write_text(json.dumps(document))
        if "case.json" in kind:
            resign(place)

    return make
