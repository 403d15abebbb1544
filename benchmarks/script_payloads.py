"""Put payloads into each text of a finding in turn, and look whether one becomes code in what is written from it, or
something live in Markdown.

    python benchmarks/script_payloads.py [--short] [--every N [--first K]]

The fields are found by reflection on the types of finding.json, once for each kind of evidence, and in the files
case.json, natural.json and onnx.json of shipped findings, and in the document of a given program. Each string and
each name of a dictionary is replaced by each payload, and extended by it. A finding that is read then gives its
script, its regression test and its reports, among them those of `fuzz diff`, and its message becomes the title of a
script of `check_pass`. The syntax trees of these programs may differ from those with harmless
texts in the same place in literals only. Its issue, and the page of `fuzz diff`, may have no other headings, and no
link, mention, image or tag but difftvm's own; SARIF may have no link, and JUnit no other element. Prints how many
places and payloads were tried, and each fault. Exits with 1 where there is one.
`--short`: all payloads as one, at the end of each text. `--every N`: one text of N, in each place other payloads, from
the K-th on; the N runs with `--first 0` to N - 1 try all.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from live_markdown import live
from msgspec import inspect

from fuzzer.difference.changed_code import ChangedCode
from fuzzer.difference.reports import FORMS
from fuzzer.difference.reports.lines import Shown
from fuzzer.difference.reports.markdown import docs_table
from fuzzer.difference.verdict import Comparison
from fuzzer.findings import finding_file, natural_file, record
from fuzzer.findings.finding_doc import FindingDoc, StoredEvidence
from fuzzer.findings.record import FindingRecord
from fuzzer.isolate.module_job import ModuleJob
from fuzzer.report import document, issue, module_script, page, regression_test
from fuzzer.report.no_script import why_no_script
from fuzzer.signature.blame import Blame
from generators import case_file
from generators.graph import Case, Given, Graph, Input, Invalid, Node, Role, TensorType, Value
from oracles.finding import Kind
from oracles.outcome import Mutant

CRASHES = Path(__file__).parents[1] / "crashes"
OF_TORCH = "wrong-value-selu-253a62bf677c"
SHIPPED = (OF_TORCH, "rejected-tile-34f780f878bb", "wrong-value-ReduceL1-1d3e9066f4b2")
"""A case of PyTorch with a natural case, an exported file, and a case of ONNX with a natural case."""

_CALL = "__import__('os').system('true')"
PAYLOADS = (
    f"\n{_CALL}\n",
    f'"\n{_CALL}\n"',
    f'" + {_CALL} + "',
    f"' + {_CALL} + '",
    f'"""\n{_CALL}\n"""',
    f"'''\n{_CALL}\n'''",
    f"): {_CALL} #",
    f"={_CALL}",
    f"\x0c{_CALL}",
    f"\u2028{_CALL}\u2029",
    "\0",
    "\\",
    "\\N{BULLET}",
    "\ud800",
    "\u202e\u2066\ufeff",
    "{{ 7 * 7 }}{% raw %}{0}%s",
    "`````\n# heading\n",
    "\r\n\x85\x1b]0;x\x07",
    "@team \\@team &#64;team &commat;team @<!-- -->team",
    "#77 GH-77 apache/tvm#77 x@y.z 0123456789abcdef0123456789abcdef01234567",
    "https://x.y www.x.y http:x [x](https://x.y) [x](/y) ![x](https://x.y/z) [x]: https://x.y",
    "<img src=x> <b>x</b> <https://x.y> <!-- x",
    "`@team`x` ``\\`@team` `a`#77`b`` \\`x @team`",
    "| @team | `|@team|` \\|@team `\\|` @team",
    "\n\n# x\n\n- [ ] x\n\n***\n\nx\n===\n",
)
SHORT = ("".join(each for each in PAYLOADS if each != "\ud800"),)
HARMLESS = ("", "harmless text that stands here", "x0")
EVIDENCE = {
    "raised": Kind.INTERNAL_ERROR,
    "died": Kind.DIED,
    "timed_out": Kind.TIMED_OUT,
    "mismatch": Kind.WRONG_VALUE,
    "ill_formed": Kind.ILL_FORMED,
    "mutant": Kind.CHECKER_GAP,
    "side_effect": Kind.MODIFIED_INPUT,
    "excess": Kind.BLOAT,
    "memory_access": Kind.OUT_OF_BOUNDS_READ,
}

GIVEN = "given.json"
"""The document of a given program. It is no file of a finding: its bytes are a tensor of the case."""

Place = tuple[str | int, ...]
"""The keys that lead to a value. A last key `KEY` stands for the name of the value itself, in a dictionary."""

KEY = "\0key"


@dataclass(frozen=True, slots=True)
class Share:
    """One text of `every`, spread over all places and payloads. `short`: the facts of lanes, which three kinds of
    evidence have, are tried in one of them."""

    every: int = 1
    first: int = 0
    short: bool = False

    def of(self, place: int, texts: list[str]) -> list[str]:
        """Its texts of a place with this number. Neighbouring places have different ones."""
        return [text for each, text in enumerate(texts, place * (len(texts) + 1)) if each % self.every == self.first]


@dataclass
class Tried:
    """What was tried: places and texts in them; how many of the findings were read; faults."""

    places: int = 0
    texts: int = 0
    read: int = 0
    faults: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="K")
    arguments = parser.parse_args()
    if not 0 <= arguments.first < arguments.every:
        parser.error("--first is a number below that of --every")
    share = Share(arguments.every, arguments.first, arguments.short)
    payloads = SHORT if share.short else PAYLOADS
    all_tried = Tried()
    for name, tried in attempts(payloads, share):
        print(f"{name}: {tried.places} places, {tried.texts} texts, {tried.read} findings read", flush=True)
        print(*tried.faults, sep="\n", end="\n" if tried.faults else "", flush=True)
        all_tried.places += tried.places
        all_tried.texts += tried.texts
        all_tried.read += tried.read
        all_tried.faults += tried.faults
    counted = f"{all_tried.places} places, {len(payloads)} payloads, {all_tried.texts} texts"
    print(f"{counted}, {all_tried.read} findings read, {len(all_tried.faults)} faults")
    sys.exit(1 if all_tried.faults else 0)


def attempts(payloads: tuple[str, ...], share: Share) -> Iterator[tuple[str, Tried]]:
    """Each document with what came of it. Findings of one lane differ in their evidence only, which is tried alone."""
    with tempfile.TemporaryDirectory(prefix="difftvm-") as scratch:
        for kind in EVIDENCE:
            folder = with_evidence(kind, Path(scratch, kind))
            whole = kind == "raised"
            below = () if whole else ("evidence",)
            yield f"finding.json: {kind}", tried_in(folder, finding_file.NAME, payloads, share, below)
        for slug in SHIPPED:
            for name in (case_file.JSON_NAME, natural_file.NAME, record.ONNX):
                folder = copied(slug, Path(scratch, f"{slug}-{name}"))
                if (folder / name).exists():
                    if name == natural_file.NAME:
                        fill_natural(folder)
                    yield f"{name}: {slug}", tried_in(folder, name, payloads, share)
        yield f"{GIVEN}: {OF_TORCH}", tried_in(with_program(Path(scratch, GIVEN)), GIVEN, payloads, share)


def with_evidence(kind: str, folder: Path) -> Path:
    """A finding with evidence of this kind, and without a natural case, which reports would show in its place."""
    copied(OF_TORCH, folder)
    for name in (natural_file.NAME, natural_file.TENSORS):
        (folder / name).unlink()
    write(folder, finding_file.NAME, filled_finding(folder, kind))
    return folder


def with_program(folder: Path) -> Path:
    """A finding whose case has a given program with open sizes, and a parameter."""
    with_evidence("raised", folder)
    doc = json.loads((folder / finding_file.NAME).read_bytes())
    doc["lane"] |= {"symbolic": True, "passes": []}
    write(folder, finding_file.NAME, doc)
    write(folder, GIVEN, PROGRAM)
    sign(folder)
    return folder


def put_program(folder: Path, program: Any) -> None:
    """Write a case with this document. Nothing checks it here."""
    small, pair = TensorType.parse("float32[2]"), TensorType.parse("float32[2,2]")
    inputs = (Input(Value("x0", pair)), Input(Value("w0", small), Role.PARAM))
    graph = Graph(inputs, (Node("mul", ("x0", "w0"), {}, (Value("v0", pair),)),), ("v0",))
    given = Given(graph, json.dumps(program).encode(), {"x0": "x", "w0": "p_w"}, open=True)
    arrays = {"x0": np.ones((2, 2), np.float32), "w0": np.ones(2, np.float32)}
    text, tensors = case_file.encode(Case(graph, arrays, given=given))
    (folder / case_file.JSON_NAME).write_bytes(text)
    (folder / case_file.TENSORS_NAME).write_bytes(tensors)


def copied(slug: str, folder: Path) -> Path:
    shutil.copytree(CRASHES / slug, folder, dirs_exist_ok=True)
    return folder


def tried_in(folder: Path, name: str, payloads: tuple[str, ...], share: Share, below: Place = ()) -> Tried:
    tried = Tried()
    original = json.loads((folder / name).read_bytes())
    first = shapes(record.read(folder), folder)
    for place in places(original, below, MOST_ITEMS[name == GIVEN]):
        if share.short and "facts" in place and "raised" not in place:
            continue
        tried.places += 1
        for text in _texts(original, place, payloads, share, tried.places):
            tried.texts += 1
            where = f"{name}: {'/'.join(map(str, place))}: {text[:60]!a}"
            try:
                found = _shapes_with(folder, name, original, place, text)
            except Exception as error:
                tried.faults.append(f"{where}: {type(error).__name__}: {str(error)[:200]}")
                continue
            tried.read += found is not None
            if found not in (None, first) and not any(
                found == _shapes_with(folder, name, original, place, harmless) for harmless in HARMLESS
            ):
                tried.faults.append(f"{where}: its programs are not those with a harmless text")
    write(folder, name, original)
    return tried


def _texts(original: Any, place: Place, payloads: tuple[str, ...], share: Share, number: int) -> list[str]:
    """The payloads, alone and after the text that is there, that the share has in this place."""
    after = [f"{_text_at(original, place)}{payload}" for payload in payloads]
    return share.of(number, after if share.short else [*payloads, *after])


def _shapes_with(folder: Path, name: str, original: Any, place: Place, text: str) -> tuple[str, ...] | None:
    """The shapes of the programs of the finding with the text in this place; None where it is refused."""
    document = json.loads(json.dumps(original))
    _put(document, place, text)
    write(folder, name, document)
    if name in (case_file.JSON_NAME, GIVEN):
        sign(folder)
    try:
        found = record.read(folder)
    except Invalid:
        return None
    return shapes(found, folder)


def shapes(found: FindingRecord, folder: Path) -> tuple[str, ...]:
    """The syntax trees of the programs, without their literals, and what is live in Markdown."""
    table = "\n".join(docs_table("Worse", [Shown(found.shown.doc, folder)]))
    compared = of_a_comparison(found.shown.doc, folder)
    family = "\n".join(("", issue.body(found, [found])))
    return (*map(shape, programs(found)), *live(issue.text(found)), *live(family), *live(table), *compared)


def of_a_comparison(doc: FindingDoc, folder: Path) -> Iterator[str]:
    """What is live in the page of `fuzz diff`, each bracket that begins a link in its SARIF, and the elements of its
    JUnit."""
    code, docs = ChangedCode({"relax/op.py": ["relu"]}), (doc,)
    compared = Comparison("0.26.0", "own", 1.0, 1, 1, 0, 0, 1, code, folder, docs, docs, docs, docs, docs)
    yield from live(FORMS["markdown"](compared))
    for result in json.loads(FORMS["sarif"](compared))["runs"][0]["results"]:
        yield from re.findall(r"(?<!\\)(?:\\\\)*\[", result["message"]["text"])
    yield from (each.tag for each in ElementTree.fromstring(FORMS["junit"](compared)).iter())


def programs(found: FindingRecord) -> list[str]:
    """The script, that of a Relax module, and the regression test where there is one. All reports are written, too."""
    written = document.document(found)
    for text in (*map(str, written.values()), issue.log(found), page.html(found)):
        text.encode()
    raised = found.shown.doc.evidence.raised
    script = str(written["repro"])
    of_a_module = module_script.script(raised.message if raised else "a title", ModuleJob(0, 1))
    tested = regression_test.has_test(found.shown.doc) and not why_no_script(found)
    return [script, of_a_module, *([regression_test.source(found)] if tested else [])]


def shape(program: str) -> str:
    tree = ast.parse(program)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            node.name = "test"
    return ast.dump(_WithoutLiterals().visit(tree))


class _WithoutLiterals(ast.NodeTransformer):
    """Replaces each literal, and a list, tuple or dictionary of literals, by one constant."""

    def visit(self, node: ast.AST) -> ast.AST:
        node = self.generic_visit(node)
        try:
            if isinstance(node, ast.expr):
                ast.literal_eval(node)
                return ast.Constant(0)
        except (ValueError, TypeError, SyntaxError):
            pass
        return node


def sign(folder: Path) -> None:
    """Write the digest of a changed case into its finding, as somebody would who wants it to be read."""
    try:
        digest = case_file.digest(case_file.read(folder))
    except Invalid:
        return
    doc = json.loads((folder / finding_file.NAME).read_bytes())
    write(folder, finding_file.NAME, {**doc, "case_sha256": digest})


def write(folder: Path, name: str, document: Any) -> None:
    (folder / name).write_text(json.dumps(document))
    if name == GIVEN:
        put_program(folder, document)


# --- places


MOST_ITEMS = (2, 9)
"""How many items of a list are tried: in files of findings, and in the document of a program."""


def places(document: Any, below: Place = (), items: int = MOST_ITEMS[0]) -> Iterator[Place]:
    """The places of all texts and names in a document that begin with `below`."""
    found = document
    for key in below:
        found = found[key]
    yield from _places(found, below, items)


def _places(value: Any, at: Place, items: int) -> Iterator[Place]:
    if isinstance(value, str):
        yield at
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*at, key, KEY)
            yield from _places(item, (*at, key), items)
    elif isinstance(value, list):
        for index, item in enumerate(value[:items]):
            yield from _places(item, (*at, index), items)


def _text_at(document: Any, place: Place) -> str:
    if place[-1] == KEY:
        return str(place[-2])
    for key in place:
        document = document[key]
    return str(document)


def _put(document: Any, place: Place, text: str) -> None:
    *way, last = place[:-1] if place[-1] == KEY else place
    for key in way:
        document = document[key]
    if place[-1] == KEY:
        document[text] = document.pop(last)
    else:
        document[last] = text


# --- documents in which every field has a value


def _argument(name: str, **arg: Any) -> dict[str, Any]:
    return {"name": name, "arg": arg, "kind": None}


def _call(target: str, inputs: list[dict[str, Any]], output: dict[str, Any]) -> dict[str, Any]:
    return {"target": target, "inputs": inputs, "outputs": [output]}


_ROWS = {"as_expr": {"expr_str": "Symbol('s0', positive=True)", "hint": {"as_int": 2}}}
_BRANCH = {
    "inputs": [{"as_tensor": {"name": "x"}}],
    "nodes": [
        _call("torch.ops.aten.sin.default", [_argument("", as_tensor={"name": "x"})], {"as_tensor": {"name": "y"}})
    ],
    "outputs": [{"as_tensor": {"name": "y"}}],
    "tensor_values": {},
}
PROGRAM: dict[str, Any] = {
    "graph_module": {
        "graph": {
            "inputs": [{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}],
            "nodes": [
                _call(
                    "torch.ops.aten.sym_size.int",
                    [_argument("", as_tensor={"name": "x"}), _argument("", as_int=0)],
                    {"as_sym_int": {"as_name": "n"}},
                ),
                _call(
                    "_operator.add",
                    [_argument("", as_sym_int={"as_name": "n"}), _argument("", as_sym_float={"as_float": "Infinity"})],
                    {"as_sym_float": {"as_name": "m"}},
                ),
                _call(
                    "torch.ops.higher_order.cond",
                    [
                        _argument("", as_sym_bool={"as_bool": True}),
                        _argument("", as_graph={"name": "f", "graph": _BRANCH}),
                        _argument("", as_graph={"name": "g", "graph": _BRANCH}),
                        _argument("", as_tensors=[{"name": "x"}]),
                    ],
                    {"as_tensor": {"name": "c"}},
                ),
                _call(
                    "torch.ops.aten.gelu.default",
                    [
                        _argument("", as_tensor={"name": "c"}),
                        _argument("approximate", as_string="none"),
                        _argument("device", as_device={"type": "cpu"}),
                    ],
                    {"as_tensors": [{"name": "a"}, {"name": "b"}]},
                ),
                _call(
                    "torch.ops.aten.mul.Tensor",
                    [
                        _argument("", as_optional_tensor={"as_tensor": {"name": "p_w"}}),
                        _argument("", as_optional_tensors=[{"as_tensor": {"name": "a"}}]),
                        _argument("", as_sym_ints=[{"as_name": "n"}]),
                        _argument("", as_floats=["NaN"]),
                    ],
                    {"as_sym_bool": {"as_name": "d"}},
                ),
            ],
            "tensor_values": {
                "x": {"dtype": 7, "sizes": [_ROWS, {"as_int": 2}]},
                "p_w": {"dtype": 7, "sizes": [{"as_int": 2}]},
            },
        },
        "signature": {
            "input_specs": [
                {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                {"user_input": {"arg": {"as_tensor": {"name": "x"}}}},
            ],
            "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "c"}}}}],
        },
    },
    "range_constraints": {"s0": {"min_val": 2, "max_val": 9}},
}
"""A program whose texts are of every kind that a script has."""


def filled_finding(folder: Path, kind: str) -> Any:
    """The finding of a folder with evidence of this kind. Every field has a value, those too that are usually empty."""
    doc = json.loads((folder / finding_file.NAME).read_bytes())
    whole = _filled(inspect.type_info(FindingDoc), FindingDoc, "")
    kept = ("format", "slug", "signature", "component", "lanes", "ops", "identity", "lane", "case_sha256", "found_in")
    evidence = _filled(inspect.type_info(StoredEvidence), StoredEvidence, "")[kind]
    doc = {**whole, **{name: doc[name] for name in kept}, "kind": EVIDENCE[kind], "flaky": False}
    doc["versions"] = {"python": "3.11.7", "tvm": "0.27.0", "preload": "x.py", "base": "a", "patched": "b"}
    doc["lane"] |= {"passes": ["FoldConstant"], "disabled": ["FuseOps"], "options": ["tirx.disable_vectorize"]}
    doc["identity"] |= _filled(inspect.type_info(type(finding_file.read(folder).identity)), None, "") | {
        "kind": doc["kind"]
    }
    doc["scope"]["statement"]["conditions"][0]["property"] = {"call": 0, "subject": "operand 0", "what": "rank"}
    doc["scope"]["ignored"][0]["call"] = 0
    doc["evidence"] = {kind: evidence}
    return doc


def fill_natural(folder: Path) -> None:
    doc = json.loads((folder / natural_file.NAME).read_bytes())
    doc["blame"] = _filled(inspect.type_info(Blame), Blame, "")
    write(folder, natural_file.NAME, doc)


SAMPLES = ("x0", "relu", "3 of 3", "0" * 12, "0" * 64, "input x0", "float32", "tirx.a", "wrong-value")


def _filled(type: Any, owner: Any, name: str) -> Any:
    """A value of a type, with one item in each list and dictionary. Texts have the form of the field."""
    match type:
        case inspect.StructType(cls=cls, fields=fields) | inspect.DataclassType(cls=cls, fields=fields):
            return {each.name: _filled(each.type, cls, each.name) for each in fields}
        case inspect.UnionType(types=types):
            texts = [each for each in types if isinstance(each, inspect.StrType)]
            chosen = texts or [each for each in types if not isinstance(each, inspect.NoneType)]
            return _filled(chosen[0], owner, name)
        case inspect.StrType():
            form = natural_file.FORMS.get((owner, name))
            assert form is not None, f"{owner.__name__}.{name} has no form"
            if (owner, name) == (Mutant, "edits"):
                return '[[1, {"type": "None"}]]'
            return next(text for text in SAMPLES if form.fits(text))
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            return [_filled(item, owner, name)]
        case inspect.TupleType(item_types=items):
            return [_filled(item, owner, name) for item in items]
        case inspect.DictType(value_type=value):
            return {"x0": _filled(value, owner, name)}
        case inspect.EnumType(cls=cls):
            return next(iter(cls)).value
        case inspect.BoolType():
            return True
        case inspect.IntType():
            return 1
        case inspect.FloatType():
            return 1.0
        case _:
            raise TypeError(f"{owner}.{name}: {type}")


if __name__ == "__main__":
    main()
