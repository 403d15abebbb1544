"""What findings are compared by: where they fail, how they show, and which cases show them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence

import msgspec

from fuzzer.findings.finding_doc import FindingDoc
from fuzzer.signature.blame import Origin
from fuzzer.triage.scope.statement import Answer, Relation, Statement
from oracles.finding import Kind, Mismatch

FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
HALF = frozenset({"float16", "bfloat16"})


class Traits(msgspec.Struct, frozen=True, omit_defaults=True):
    """The traits of a finding. Numbers in names are written as `#`, so that conv1d and conv2d are alike.

    place       the part of TVM that is blamed; "" if none is
    culprits    names of what is blamed, and of the converter that gives the first wrong type
    functions   the functions in the location of an exception
    lines       lines of TVM's converters and legalizations that ran
    calls       operators of the imported module
    symptom     how it shows: "memory", "value", "always float32", the type of an exception, ...
    words       words of the message
    operators   operators of the reduced case
    names       words in the names of these operators
    importer    "fx", "onnx" or "export"
    target      as in the lane, with the transforms that the lane adds
    types       properties of the operands: "half", "integer", "bool", "rank 0", "empty", ...
    attributes  attributes that are not at their defaults, with the class of their value
    needs       what the certain statement of the scope is about, such as "dtype in float16"
    siblings    operators that fail in the same way
    """

    place: str = ""
    culprits: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    symptom: str = ""
    words: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    importer: str = ""
    target: str = ""
    types: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    siblings: frozenset[str] = frozenset()


def traits_of(doc: FindingDoc, types: Sequence[str]) -> Traits:
    """`types` are those of the inputs of the reduced case, such as "float32[2,3]"."""
    origin, lane = doc.blame.origin, doc.lane
    certain = doc.scope.statement if doc.scope.is_certain else None
    return Traits(
        doc.blame.place.value if doc.blame.place else "",
        frozenset(_culprits(doc)),
        frozenset(_functions(doc.identity.frame)) - _EVERYWHERE,
        frozenset(_unqualified(line) for line in origin.lines if not _HELPERS.search(line)),
        frozenset(map(_stem, origin.calls)),
        symptom(doc, {type.partition("[")[0] for type in types}),
        frozenset(re.findall(r"[A-Za-z]{3,}", doc.identity.skeleton)),
        frozenset(doc.ops),
        frozenset(word for op in doc.ops for word in _stem(op).split("_")) - _GENERAL_WORDS,
        lane.importer.row.family,
        " ".join([lane.target, *lane.passes]),
        frozenset(_of_types(types)),
        frozenset(origin.attributes),
        frozenset(_needs(certain) if certain else ()),
        frozenset(name for name, answer in doc.scope.siblings if answer is Answer.FAILS),
    )


_HELPERS = re.compile(
    r"create_input_vars|_convert_data_type|_check_unsupported|retrieve_args|_flatten_output|from_fx|<module>|shape_of"
    r"|__init__|_fetch_attr|_get_convert_map|get_converter|onnx_input"
)
"""Functions that run for nearly every model."""

_EVERYWHERE = frozenset({"", "_pipeline", "convert", "_construct_nodes", "exec_tvm"})
"""Functions that call all others of their kind."""

_GENERAL_WORDS = frozenset(
    {"scalar", "number", "all", "dim", "values", "item", "with", "size", "shape", "like", "mask"}
)


def name_of(operator: str) -> str:
    """What operators of one name have in common: `conv#` of `conv1d` and `conv2d`, `div` of `div` and `div_scalar`."""
    return "_".join(word for word in _stem(operator).split("_") if word not in _GENERAL_WORDS) or operator


def _stem(name: str) -> str:
    return re.sub(r"\d+d?", "#", name)


def _functions(location: str) -> Iterator[str]:
    """`op_common.h:tvm::relax::InferTypeUnary < fx_translator.py:_lerp` has two."""
    for part in location.split(" < "):
        yield _stem(part.partition(":")[2])


def _culprits(doc: FindingDoc) -> Iterator[str]:
    """`_binary_op of add` is `_binary_op` and `_binary_op of add`: one function makes the converters of many."""
    for name in (doc.blame.culprit, _unqualified(doc.blame.origin.converter)):
        if name:
            yield _stem(name.partition(" of ")[0])
            yield name
    if doc.blame.origin.operator:
        yield doc.blame.origin.operator.partition(".")[0]


def _unqualified(name: str) -> str:
    """`BaseFXGraphImporter._binary_op.convert` without its class. A converter of ONNX keeps it: it is its operator."""
    return re.sub(r"^\w+Importer\.", "", name)


def symptom(doc: FindingDoc, given: Collection[str]) -> str:
    """How the finding shows. A first wrong type counts more than what follows from it. `given` are the dtypes of the
    inputs."""
    if of_type := _of_type(doc.blame.origin, given):
        return of_type
    evidence = doc.evidence.evidence
    match doc.kind:
        case Kind.OUT_OF_BOUNDS_READ | Kind.OUT_OF_BOUNDS_WRITE | Kind.UNINITIALISED_READ | Kind.SECOND_RUN_DIFFERS:
            return "memory"
        case Kind.WRONG_VALUE if isinstance(evidence, Mismatch):
            return _of_values(evidence)
        case Kind.WRONG_DTYPE if isinstance(evidence, Mismatch):
            return _dtype_relation(evidence.actual, evidence.expected, doc.blame.origin.attributes, given)
        case Kind.WRONG_SHAPE:
            return "shape"
        case Kind.INTERNAL_ERROR | Kind.REJECTED:
            return doc.identity.error
        case kind:
            return kind.value


def _of_type(origin: Origin, given: Collection[str]) -> str:
    """What is wrong with the first type that the importer got wrong: its dtype, or its shape."""
    made, right = origin.made.partition("[")[0], origin.right.partition("[")[0]
    if made == right:
        return "shape" if origin.made else ""
    return _dtype_relation(made, right, origin.attributes, given)


def _dtype_relation(made: str, right: str, attributes: Collection[str], given: Collection[str]) -> str:
    if any(attribute.endswith(f": {right!r}") for attribute in attributes):
        return "dtype argument ignored"
    if made == "float32" and "float32" not in given:
        return "always float32"
    return "other precision" if made in FLOATS and right in FLOATS else "not promoted"


def _of_values(mismatch: Mismatch) -> str:
    worst = mismatch.worst
    if worst is None:
        return "value"
    if worst.expected != worst.expected:
        return "NaN is lost"
    if not math.isfinite(worst.expected) or not math.isfinite(worst.actual) or worst.expected == 0:
        return "value"
    part = abs(worst.actual - worst.expected) / abs(worst.expected)
    least = IMPRECISE if worst.expected != round(worst.expected) else IMPRECISE_WHOLE
    return "imprecise" if part < least else "value"


IMPRECISE, IMPRECISE_WHOLE = 0.15, 0.001
"""A value that is off by a smaller part of itself is imprecise, not wrong. A whole number is rarely rounded by much."""


def _of_types(types: Sequence[str]) -> Iterator[str]:
    dtypes = {type.partition("[")[0] for type in types}
    yield from (name for name, some in _CLASSES.items() if dtypes & some)
    if len(dtypes) > 1:
        yield "mixed"
    if any(type.endswith("[]") for type in types):
        yield "rank 0"
    if any(re.search(r"[\[,]0[,\]]", type) for type in types):
        yield "empty"


_CLASSES = {
    "half": HALF,
    "float64": frozenset({"float64"}),
    "integer": frozenset({"int64", "int32", "int16", "int8", "uint8"}),
    "bool": frozenset({"bool"}),
}


def _needs(statement: Statement) -> Iterator[str]:
    """Each condition, without the place of the operand."""
    for condition in statement.conditions:
        subject = re.sub(r"\d+", "#", condition.property.subject)
        what = f"{subject} {condition.property.what}"
        yield what
        if condition.relation in (Relation.IN, Relation.NOT_IN):
            yield from (f"{what} {condition.relation} {value}" for value in condition.values)
        else:
            yield f"{what} {condition.relation} {condition.values}"
