"""Area, title and summary of a finding, in the words of compiler developers. Terms of difftvm (lane, oracle) are
avoided."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterable
from typing import assert_never

from fuzzer.findings.record import FindingRecord, built_file
from fuzzer.findings.severity import limits
from fuzzer.report import onnx_unused
from fuzzer.signature import readable
from fuzzer.signature.blame import ALREADY_WRONG, Place, ReleaseVerdict
from fuzzer.system.terminal import printable
from fuzzer.triage.scope.statement import Ignored, Statement
from fuzzer.triage.scope.table_conditions import numbers_of_table
from fuzzer.triage.scope.words import listed, phrase
from generators.dialect import dialect_named, words_for
from generators.graph import Graph
from oracles.finding import PYTORCH, Component, Excess, Kind, Mismatch, Quantity, SideEffect
from oracles.lane import Engine, LaneSpec, Pipeline, converts, is_relay, returns_gradients
from oracles.memory_access import MemoryAccess
from oracles.outcome import Cause, Died, IllFormed, Mutant, Raised, Stage, TimedOut
from oracles.siblings import additions
from oracles.targets import target_named
from oracles.transforms import TRANSFORMS_BY_NAME, transform_named

LINE = 140
"""The largest number of characters of a quoted message."""

KINDS = {"llvm": "LLVM", "c": "C", "cuda": "CUDA", "opencl": "OpenCL", "webgpu": "WebGPU", "metal": "Metal",
         "vulkan": "Vulkan", "rocm": "ROCm", "hip": "ROCm"}  # fmt: skip
"""Targets, as TVM's issues call them."""

OTHERS = {
    Component.ONNXRUNTIME: "onnxruntime",
    Component.PYTORCH: "PyTorch",
    Component.POCL: "PoCL",
    Component.LAVAPIPE: "lavapipe",
    Component.ENVIRONMENT: "environment",
}
"""The components other than TVM and the exporter."""

_FRONTENDS = {"onnx": "[Frontend][ONNX]", "torch": "[Frontend][Torch]", "": "[TVMScript]"}
"""The frontends, and the parser of scripts, as TVM's issues call them."""

_LANGUAGES = ("tirx.", "tir.", "s_tir.")
"""Prefixes of the names of passes that work on TIR."""


def area(record: FindingRecord) -> str:
    """Tags as TVM's issues have them: [Relax][Frontend][ONNX]."""
    doc, lane = record.doc, record.doc.lane
    if doc.component is not Component.TVM:
        return f"[{other(doc.component, lane)}]"
    language = "[Relay]" if is_relay(lane) else "[Relax]"
    match place_of(record):
        case Place.FRONTEND:
            return f"{language}{_FRONTENDS[lane.importer.row.frontend]}"
        case Place.CODEGEN:
            return f"[Codegen][{target_tag(lane)}]"
        case Place.RUNTIME:
            return f"{language}[VM]"
        case Place.PASS if doc.blame.culprit.startswith(_LANGUAGES):
            return "[TIR]"
        case _:
            return language


def other(component: Component, lane: LaneSpec) -> str:
    """The name of a component other than TVM."""
    return dialect_named(lane.dialect).words.exporter if component is Component.EXPORTER else OTHERS[component]


def place_of(record: FindingRecord) -> Place | None:
    """The place that blame found; if it found none, the frontend for a failed import."""
    doc = record.doc
    imported = doc.identity.stage is Stage.IMPORT or _after(record) == "import"
    return doc.blame.place or (Place.FRONTEND if imported and doc.component is Component.TVM else None)


def target_tag(lane: LaneSpec) -> str:
    kind = str(target_named(lane.target).config["kind"])
    return KINDS.get(kind, kind)


def plain_title(record: FindingRecord) -> str:
    """The title without its area, not cut."""
    return f"{what_is_wrong(record)}{_circumstance(record)}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def cut(text: str, limit: int) -> str:
    """One printable line of at most this many characters, cut between words."""
    line = printable(" ".join(text.split()))
    if len(line) <= limit:
        return line
    head = line[: limit - 3]
    return (head.rpartition(" ")[0] if " " in head[limit // 2 :] else head).rstrip(" :,`(") + " ..."


def operators(record: FindingRecord) -> str:
    """The operators of the model, as its source names them: `conv2d` + `relu`. At a failed import of an ONNX file, the
    operator whose converter failed, where no operator before it got a wrong type."""
    graph, file = record.case.graph, built_file(record, record.case)
    stops_at = onnx_unused.operator_at_fault(file.model if file else None, record.doc.blame.culprit)
    if stops_at and record.doc.identity.stage is Stage.IMPORT and not record.doc.blame.origin.made:
        return f"`{stops_at}`"
    dialect = dialect_named(graph.dialect)
    if dialect.is_file and _returns_its_input(record):
        used: Iterable[str] = ("Identity",)
    else:
        used = record.onnx.ops if record.onnx else [dialect.called(graph, node) for node in graph.nodes]
    names = list(dict.fromkeys(name for name in used if name != "Constant")) or ["Constant"]
    shown = " + ".join(f"`{name}`" for name in names[:3])
    more = len(names) - 3
    return shown + (f" and {more} more operator{'s' * (more > 1)}" if more > 0 else "")


def _returns_its_input(record: FindingRecord) -> bool:
    """Whether the evidence is about an output of the graph that is an input, which an Identity writes in a file."""
    evidence, graph = record.doc.evidence.evidence, record.case.graph
    inputs = {item.value.name for item in graph.inputs}
    aliases = evidence.aliases if isinstance(evidence, SideEffect) else ()
    return bool(aliases) and all(graph.outputs[output] in inputs for output, _ in aliases)


def pass_name(transform: str) -> str:
    """The name of a pass in TVM."""
    found = re.match(r"[a-z_.]*\.(\w+)\(", transform_named(transform).source)
    return found[1] if found else transform


def pass_of_tvm(name: str) -> str:
    """The name of a pass in TVM, where difftvm has another one for the pass with arguments: `ConvertLayout-NHWC`."""
    return pass_name(name) if name in TRANSFORMS_BY_NAME else name


def what_is_wrong(record: FindingRecord) -> str:
    """A clause for the title: subject, verb, failure. It may contain a compiler's message."""
    doc, ops = record.doc, operators(record)
    match doc.evidence.evidence:
        case Raised(message=message, type=name):
            return f"{failing_step(record, operators(record))} fails: {_message_with_type(name, first_line(message))}"
        case Died(cause=Cause.MEMORY):
            return f"{failing_step(record, operators(record))} takes all memory"
        case Died(cause=Cause.SIGNAL, code=code):
            return f"{failing_step(record, operators(record))} ends the process ({signal.Signals(code).name})"
        case Died(code=code):
            return f"{failing_step(record, operators(record))} ends the process (exit status {code})"
        case TimedOut():
            return f"{failing_step(record, operators(record))} does not come to an end"
        case Mismatch() as mismatch:
            return ignores(record) or f"{subject(record)} {_differs(doc.kind, mismatch)}"
        case IllFormed(after="import"):
            return f"`{doc.lane.importer.row.function}` gives an ill-formed module for {ops}"
        case IllFormed(after=after):
            return f"the module is ill-formed after `{pass_of_tvm(after)}` of {ops}"
        case Mutant(change=change):
            return f"`relax.analysis.well_formed` accepts an ill-formed module ({change})"
        case SideEffect(modified=modified):
            does = "overwrites its input" if modified else "returns a tensor that shares memory with its input"
            return f"compiled {ops} {does}"
        case MemoryAccess() as access:
            return f"compiled {ops} {access.does}"
        case Excess(quantity=Quantity.TIME):
            return f"compiling {ops} takes too long"
        case Excess(quantity=quantity, measured=measured, allowed=allowed):
            what = quantity.value.removeprefix("bytes of ")
            times = f", {measured / allowed:.1f} times what is ample" if allowed else ""
            return f"compiling {ops} gives {size(measured)} of {what}{times}"
        case _:
            assert_never(doc.evidence.evidence)


def ignored_attributes(record: FindingRecord) -> list[Ignored]:
    """The attributes of the case that the lane ignores. That of a pass is no property of the operator."""
    doc, nodes = record.doc, record.case.graph.nodes
    if doc.blame.place is Place.PASS or returns_gradients(doc.lane):
        return []
    return [each for each in doc.scope.ignored if each.call < len(nodes) and each.attribute in nodes[each.call].attrs]


def ignores(record: FindingRecord) -> str:
    """ "`torch.sub` ignores `alpha`"; "" where the lane ignores no attribute."""
    found, graph = ignored_attributes(record), record.case.graph
    if not found:
        return ""
    node = graph.nodes[found[0].call]
    of_node = dialect_named(graph.dialect).called(graph, node)
    subject = operators(record) if len(graph.nodes) == 1 else f"`{of_node}`"
    return f"{subject} ignores {listed([f'`{each.attribute}`' for each in found if each.call == found[0].call])}"


def _differs(kind: Kind, mismatch: Mismatch) -> str:
    match kind:
        case Kind.SECOND_RUN_DIFFERS:
            return "gives different results in two runs on the same input"
        case Kind.NONDETERMINISTIC:
            return "gives different results in different processes"
        case Kind.WRONG_ARITY:
            return f"gives {mismatch.actual} instead of {mismatch.expected}"
        case Kind.WRONG_SHAPE:
            values = ", and wrong values" if mismatch.wrong else ""
            return f"gives shape {mismatch.actual} instead of {mismatch.expected}{values}"
        case Kind.WRONG_DTYPE:
            return f"gives {mismatch.actual} instead of {mismatch.expected}"
        case _ if mismatch.worst and not math.isfinite(mismatch.worst.expected + mismatch.worst.actual):
            return f"gives {_number(mismatch.worst.actual)} instead of {_number(mismatch.worst.expected)}"
        case _:
            return f"gives wrong values{f', in {mismatch.also}' if mismatch.also else ''}"


def _number(number: float) -> str:
    return "NaN" if math.isnan(number) else f"{number:.6g}"


def subject(record: FindingRecord) -> str:
    """The subject of a wrong result: the operators, and the pass at fault if it is known."""
    ops, blame = operators(record), record.doc.blame
    if returns_gradients(record.doc.lane):
        return f"the gradient of {ops}"
    return f"{ops} after `{pass_of_tvm(blame.culprit)}`" if blame.place is Place.PASS and blame.culprit else ops


def failing_step(record: FindingRecord, ops: str) -> str:
    """The failed step of these operators, as a gerund or a function: "compiling `conv2d`"."""
    doc, lane = record.doc, record.doc.lane
    culprit = doc.blame.culprit
    match doc.identity.stage:
        case Stage.IMPORT:
            return f"`{lane.importer.row.function}` on {ops}"
        case Stage.EXPORT | Stage.VERIFY:
            exporting = dialect_named(lane.dialect).words.exporting.format(ops=ops, opset=lane.opset)
            return f"{exporting} to ONNX" if lane.importer.row.reads.is_exported_file else exporting
        case Stage.TRANSFORM | Stage.COMPILE if doc.blame.place is Place.PASS and culprit:
            return f"`{pass_of_tvm(culprit)}` on {ops}"
        case Stage.TRANSFORM if len(lane.passes) == 1:
            return f"`{pass_name(lane.passes[0])}` on {ops}"
        case Stage.TRANSFORM:
            return f"transforming {ops}"
        case Stage.COMPILE:
            return f"compiling {ops}"
        case Stage.LOAD:
            return f"loading compiled {ops}" if lane.engine is Engine.TVM else f"loading a model of {ops}"
        case _:
            return f"running compiled {ops}" if lane.engine is Engine.TVM else f"running {ops}"


def _circumstance(record: FindingRecord) -> str:
    """All circumstances, in parentheses."""
    parts = circumstances(record)
    return f" ({', '.join(parts)})" if parts else ""


def circumstances(record: FindingRecord) -> list[str]:
    """What the failure needs beside the model: the cause, the target, the pipeline, passes."""
    lane = record.doc.lane
    parts = [part for part in (cause(record), *forms(record.case.graph), _needs(record)) if part]
    parts += [f"converted to opset {lane.opset}"] if converts(lane) else []
    parts += [] if lane.target == "llvm" or place_of(record) is Place.FRONTEND else [f"target {lane.target}"]
    parts += [f"pipeline {lane.pipeline}"] if lane.pipeline is not Pipeline.DEFAULT else []
    named = record.doc.blame.culprit
    parts += [
        name
        for name in map(pass_name, lane.passes)
        if name != named and record.doc.identity.stage is not Stage.TRANSFORM
    ]
    return parts


def forms(graph: Graph) -> list[str]:
    """How the calls are written, where that matters: ["`shape` is an input"]."""
    return list(dict.fromkeys(filter(None, map(dialect_named(graph.dialect).written, graph.nodes))))


LONGEST_NEED = 60
"""A longer statement of scope is left out of the title."""


def _needs(record: FindingRecord) -> str:
    """What the certain statement of the scope limits the bug to: "where x0 is bfloat16"; "" if it is long, or if there
    is no limit."""
    scope = record.doc.scope
    if not scope.is_certain and (numbers := numbers_of_table(scope)):
        return f"where {numbers}" if len(numbers) < LONGEST_NEED else ""
    named = {(each.call, each.attribute) for each in ignored_attributes(record)}
    conditions = [
        each
        for each in (limits(scope.statement) if scope.is_certain and scope.statement else [])
        if (each.property.call, each.property.subject) not in named
    ]
    text = phrase(Statement(tuple(conditions)), record.case.graph) if conditions else ""
    return text if len(text) <= LONGEST_NEED else ""


def cause(record: FindingRecord) -> str:
    """The converter or the legalization at fault; "" where it is not known, and for a pass, which the title names."""
    blame = record.doc.blame
    match blame.place:
        case Place.FRONTEND if blame.culprit:
            return f"converter {as_code(blame.culprit)}"
        case Place.LEGALIZATION if blame.culprit:
            return f"legalization of `{blame.culprit}`"
        case _:
            return ""


def _message_with_type(type: str, message: str) -> str:
    """The message; with the exception's name if the message has no blank: KeyError: 'main'."""
    short = type.rpartition(".")[2]
    return message if " " in message else ": ".join(filter(None, [short, message]))


def first_line(message: str) -> str:
    return next((line for line in map(str.strip, readable(message).split("\n")) if line), "").rstrip(" :")


def size(number: float) -> str:
    """A number of bytes with a decimal unit."""
    for unit, word in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{number / unit:.1f} {word}"
    return f"{number:.0f} bytes"


def way(lane: LaneSpec, *, built: bool = False) -> str:
    """The steps of a lane in order: import, passes, compilation. `built`: the script builds the exported file."""
    opset = f", opset {lane.opset}" if lane.opset else ""
    converted = f"`onnx.version_converter.convert_version` to opset {lane.opset}, " if lane.opset else ""
    read = lane.importer.row.steps or dialect_named(lane.dialect).words.eager
    read = read.format(opset=opset, converted=converted)
    read = "`from_onnx`" if built else read
    if lane.engine is not Engine.TVM:
        return read.replace("from_onnx", "onnxruntime").replace("`onnxruntime`", "onnxruntime")
    more = [feature for feature in additions(lane) if not feature.startswith("target ")]
    target = f"target `{lane.target}`" + ("" if lane.asserts else ", `tirx.disable_assert`")
    return ", ".join([read, *(f"`{feature}`" for feature in more), target])


EARLIER_WORDS = {
    "The imported module is already wrong when PyTorch evaluates it operator by operator": ALREADY_WRONG,
    "The module as imported is wrong already when PyTorch computes it operator by operator": ALREADY_WRONG,
}
"""What findings of earlier versions say, in today's words."""


def blamed(record: FindingRecord) -> str:
    """One or two sentences on the cause; "" if it is not known."""
    what, evidence = culprit(record), blame_evidence(record)
    return f"At fault is {what}.{' ' * bool(evidence)}{evidence}" if what else ""


def blame_evidence(record: FindingRecord) -> str:
    """How the part at fault was determined, as a sentence; "" where that is not known."""
    text = record.doc.blame.evidence.rstrip(".")
    for earlier, today in EARLIER_WORDS.items():
        text = text.replace(earlier, today)
    return f"{text}." if text else ""


def culprit(record: FindingRecord) -> str:
    """The part of TVM that is at fault, as a noun; "" if it is not known."""
    blame = record.doc.blame
    if blame.place is None:
        return ""
    shown = f" {as_code(blame.culprit)}" if blame.culprit else ""
    at = blame.operator and blame.operator != blame.culprit.rpartition(" of ")[2]
    operator = f", at `{blame.operator}`" if at else ""
    what = {
        Place.FRONTEND: f"the frontend{shown and ': its converter'}{shown}",
        Place.PASS: f"{'the' if shown else 'a'} pass{shown}",
        Place.LEGALIZATION: f"the legalization{shown and ' of'}{shown}",
        Place.CODEGEN: f"code generation{shown and ':'}{shown}",
        Place.RUNTIME: f"the runtime{shown and ':'}{shown}",
    }[blame.place]
    return f"{what}{operator}"


def as_code(culprit: str) -> str:
    """For example "`_binary_op` of `sub`": a converter of several operators, and the one that it converts."""
    return " of ".join(f"`{name}`" for name in culprit.split(" of "))


RELEASED = {
    ReleaseVerdict.FAILS: "fails in",
    ReleaseVerdict.OTHERWISE: "fails with another error in",
    ReleaseVerdict.PASSES: "passes in",
}


def released(record: FindingRecord) -> str:
    """One sentence on the releases that were run; "" if there is only one."""
    releases = record.doc.releases
    run_verdicts = [(name, verdict) for name, verdict in releases.verdicts if verdict is not ReleaseVerdict.NOT_RUN]
    if len(run_verdicts) < 2:
        return ""
    if releases.introduced or releases.fixed:
        parts = [f"introduced in {releases.introduced}"] if releases.introduced else []
        parts += [f"fixed in {releases.fixed}"] if releases.fixed else []
        return f"By the releases that were run, it was {' and '.join(parts)}."
    parts = []
    for verdict, words in RELEASED.items():
        names = [name for name, each in run_verdicts if each is verdict]
        parts += [f"{words} {', '.join(names)}"] if names else []
    return f"It {'; '.join(parts)}."


def introduced(record: FindingRecord) -> str:
    """One sentence on the build that introduced it; "" where nobody looked."""
    found = record.doc.introduced
    if not found.builds:
        return ""
    before = f" {found.passes}, the build before, does not show it." if found.passes else ""
    return f"It was introduced by {found.shown}.{before}"


def compared(record: FindingRecord) -> str:
    """One sentence on the builds that `fuzz diff` has compared; "" where another command found it."""
    versions = record.doc.versions
    if not {"base", "patched"} <= versions.keys():
        return ""
    return f"It is right with `{versions['base']}`, and wrong with `{versions['patched']}`."


def expected(record: FindingRecord) -> str:
    """What should happen, in one sentence."""
    doc = record.doc
    words = words_for(record.case.graph)
    runs = "onnxruntime runs this model" if record.shows_export else words.run
    match doc.evidence.evidence:
        case Raised() | Died() | TimedOut():
            if doc.component is not Component.TVM:
                return words.exported
            return f"{runs}; TVM should import, compile and run it, or say plainly that it does not support it."
        case Mismatch(against=against, by=by):
            if doc.kind in (Kind.SECOND_RUN_DIFFERS, Kind.NONDETERMINISTIC):
                return "The same compiled model on the same input gives the same result each time."
            if against != PYTORCH and by:
                return "The result without " + _listed(by) + " is right: this must not change it."
            whose = "onnxruntime's and PyTorch's" if record.shows_export else words.results
            whose = "torch.autograd's" if returns_gradients(doc.lane) else whose
            return f"The result agrees with {whose}."
        case IllFormed() | Mutant():
            return "`relax.analysis.well_formed` accepts what TVM makes, and refuses what contradicts itself."
        case SideEffect():
            return f"Inputs stay as they are, and outputs have memory of their own, as in {words.reference}."
        case MemoryAccess():
            return "A compiled model reads only values that were written, and writes only its own tensors."
        case Excess(quantity=quantity, allowed=allowed, against=against):
            shown = f"{allowed:.1f}" if quantity is Quantity.TIME else size(allowed)
            return f"{shown} ({quantity}) are ample beside {against}."
        case _:
            assert_never(doc.evidence.evidence)


def _listed(by: str) -> str:
    return ", ".join(f"`{each}`" for each in by.split(", "))


def failure(record: FindingRecord) -> str:
    """What is wrong, with the type of an exception in place of its message."""
    match record.doc.evidence.evidence:
        case Raised(type=name):
            return f"{failing_step(record, operators(record))} fails with `{name.rpartition('.')[2]}`"
    return what_is_wrong(record)


def summary(record: FindingRecord) -> str:
    """The first paragraph: what fails, in which of two builds, by which steps, the cause, the releases, and the build
    that introduced it."""
    sentence = f"{capital(failure(record))}."
    reached = f"Steps: {way(record.doc.lane, built=record.shows_export)}."
    graph = record.case.graph
    as_it_is = dialect_named(graph.dialect).opsets and not record.doc.lane.opset
    reached += f" The model has opset {graph.opset}." if as_it_is else ""
    where = [compared(record), reached, blamed(record), released(record), introduced(record)]
    return " ".join(filter(None, [sentence, *where]))


def _after(record: FindingRecord) -> str:
    evidence = record.doc.evidence.evidence
    return evidence.after if isinstance(evidence, IllFormed) else ""
