"""Sentences of a report: the summary, the part at fault, the releases, what should happen."""

from __future__ import annotations

from typing import assert_never

from fuzzer.findings.record import FindingRecord
from fuzzer.report.area import place_of
from fuzzer.report.names import as_code
from fuzzer.report.plain_text import capital, size
from fuzzer.report.what_is_wrong import failure
from fuzzer.signature.blame import ALREADY_WRONG, DECLARES_INPUTS, Place, ReleaseVerdict
from generators.dialect import dialect_named, words_for
from oracles.finding import PYTORCH, Component, Excess, Kind, Mismatch, Quantity, SideEffect
from oracles.lane import Engine, LaneSpec, returns_gradients
from oracles.memory_access import MemoryAccess
from oracles.outcome import Died, IllFormed, Mutant, Raised, TimedOut
from oracles.siblings import additions


def summary(record: FindingRecord) -> str:
    """The first paragraph: what fails, in which of two builds, by which steps, the cause, the releases, and the build
    that introduced it."""
    sentence = f"{capital(failure(record))}."
    reached = f"Steps: {steps_of(record)}."
    graph = record.case.graph
    as_it_is = dialect_named(graph.dialect).opsets and not record.doc.lane.opset
    reached += f" The model has opset {graph.opset}." if as_it_is else ""
    where = [compared(record), reached, blamed(record), released(record), introduced(record)]
    return " ".join(filter(None, [sentence, *where]))


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


def steps_of(record: FindingRecord) -> str:
    """The steps of the lane of a finding."""
    return way(record.doc.lane, built=record.shows_export, given=record.case.given is not None)


def way(lane: LaneSpec, *, built: bool = False, given: bool = False) -> str:
    """The steps of a lane in order: import, passes, compilation. `built`: the script builds the exported file. `given`:
    the lane runs a model that a person gave, as it is."""
    opset = f", opset {lane.opset}" if lane.opset else ""
    converted = f"`onnx.version_converter.convert_version` to opset {lane.opset}, " if lane.opset else ""
    read = lane.importer.row.steps or dialect_named(lane.dialect).words.eager
    read = read.format(opset=opset, converted=converted, folded="" if given else "constants folded, ")
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
    blame, place = record.doc.blame, place_of(record)
    if place is None:
        return ""
    shown = f" {as_code(blame.culprit)}" if blame.culprit else ""
    declares = blame.culprit in DECLARES_INPUTS.values()
    at = "" if declares else _place_in_model(record)
    operator = f", at `{at}`" if at else ""
    what = {
        Place.FRONTEND: f"the frontend{shown and (': its function' if declares else ': its converter')}{shown}",
        Place.PASS: f"{'the' if shown else 'a'} pass{shown}",
        Place.LEGALIZATION: f"the legalization{shown and ' of'}{shown}",
        Place.CODEGEN: f"code generation{shown and ':'}{shown}",
        Place.RUNTIME: f"the runtime{shown and ':'}{shown}",
    }[place]
    return f"{what}{operator}"


def _place_in_model(record: FindingRecord) -> str:
    """The call that is blamed, as the model has it; "" where the name of the converter says it: `_binary_op` of `sub`,
    `Softmax._impl_v13`; and where the report shows the file that PyTorch exported, which has no such call."""
    operator, culprit = record.doc.blame.operator, record.doc.blame.culprit
    if operator in ("", culprit.rpartition(" of ")[2]) or "._impl" in culprit or record.shows_export:
        return ""
    graph = record.case.graph
    called = (dialect_named(graph.dialect).called(graph, node) for node in graph.nodes if node.title == operator)
    return next(called, operator)


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
