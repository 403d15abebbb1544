"""`issue.md`: a finding in the form of TVM's bug report. Nothing is sent from here.

`title(record)` is one line and `body(record)` the rest; `fuzz file` sends these two. The body's last line is
`marker(signature)`, an HTML comment by which the issue is found again. Both are made from the stored finding
(`fuzzer.findings.record.read(folder)`), so an old finding gets the report of the current code.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuzzer.findings import upstream
from fuzzer.findings.record import AFTER, BEFORE, FindingRecord
from fuzzer.findings.severity import KINDS
from fuzzer.isolate.bare_script import BareRun
from fuzzer.report import repro, sanitizer_section, scope_section, sentences, summary
from fuzzer.report import title as titles
from fuzzer.report.area import area, other
from fuzzer.report.evidence import shown_evidence
from fuzzer.report.markdown import block, cell, code, details, heading, prose, shortened, table
from fuzzer.report.no_script import why_no_script
from fuzzer.report.plain_text import LINE, cut, first_line
from fuzzer.report.requirements import PACKAGES, requirements_of, versions_of
from fuzzer.seeds.own_weights import WITH_OWN_WEIGHTS
from fuzzer.signature.blame import Place, ReleaseVerdict
from fuzzer.triage.scope.words import listed, sentence
from generators.dialect import dialect_named
from oracles.finding import Component
from oracles.outcome import Died, Raised

MESSAGE_LINES = 30
"""The number of lines of a compiler's output that an issue shows. `log.txt` has the whole text."""

IR_LINES = 60
"""The number of lines of TVMScript before and after the part at fault that an issue shows: a kernel or two.
`ir-before.txt` and `ir-after.txt` have the whole text."""

NAMES = {
    "python": "Python",
    "torch": "PyTorch",
    "tvm": "TVM",
    "onnx": "ONNX",
    "numpy": "NumPy",
    "os": "Operating system",
    "processor": "Processor",
}
"""The names that issues use, by the names in `versions` of finding.json."""


def text(record: FindingRecord) -> str:
    """The contents of issue.md: title and body."""
    return f"# {heading(title(record))}\n\n{body(record)}"


def title(record: FindingRecord) -> str:
    return titles.title(record.shown)


def marker(signature: str) -> str:
    """The HTML comment that identifies an issue. Signatures consist of letters, digits and hyphens."""
    return f"<!-- difftvm: {signature} -->"


def body(record: FindingRecord, family: Sequence[FindingRecord] = (), bare: BareRun | None = None) -> str:
    """Markdown: a summary, then the sections of TVM's template. `family` are other findings of the same cause, `bare`
    is a run of the script in a bare environment."""
    doc, shown = record.doc, record.shown
    sections = {
        "Expected behavior": prose(sentences.expected(shown)),
        "Actual behavior": _actual(shown),
        **({"Scope": scope_section.text(shown, record.case.graph)} if doc.scope.cases else {}),
        **({"Perhaps of the same cause": _family(family)} if family else {}),
        "Environment": _environment(record),
        "Steps to reproduce": _steps(shown, bare),
        "Triage": _triage(record),
    }
    section_text = "\n".join(f"### {name}\n\n{content.strip()}\n" for name, content in sections.items())
    return f"{summary.text(shown, family)}\n\n{section_text}\n{provenance(record)}\n\n{marker(doc.signature)}\n"


MOST_RELATIVES = 12
"""How many other findings of a family an issue lists."""


def _family(records: Sequence[FindingRecord]) -> str:
    """A line for each other finding: its operators, what is wrong, and what it needs."""
    more = len(records) - MOST_RELATIVES
    lines = [f"- {code(' + '.join(each.doc.ops))}: {prose(_in_short(each))}" for each in records[:MOST_RELATIVES]]
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])


def _in_short(record: FindingRecord) -> str:
    """What is wrong, the first line of the message, and the statement of the scope where it is certain."""
    doc, evidence = record.doc, record.doc.evidence.evidence
    text = KINDS[doc.kind][1]
    if isinstance(evidence, Raised):
        text += f": {evidence.type}: {cut(first_line(evidence.message), LINE)}"
    return f"{text}. {sentence(doc.scope, record.case.graph)}" if doc.scope.is_certain else text


def _actual(record: FindingRecord) -> str:
    return "\n".join(filter(None, [_evidence(record), _ir(record), sanitizer_section.text(record.doc.reports).strip()]))


def _evidence(record: FindingRecord) -> str:
    what = shown_evidence(record)
    parts = [
        table(what.rows) if what.rows else "",
        block(shortened(what.printed, MESSAGE_LINES, "log.txt")) if what.printed else "",
        f"{prose(what.note)}\n" if what.note else "",
    ]
    return "\n".join(filter(None, parts))


def _ir(record: FindingRecord) -> str:
    """TVMScript before and after the part at fault, in folded sections."""
    blame = record.doc.blame
    culprit = f" {blame.culprit}" if blame.culprit else " the import" if blame.place is Place.FRONTEND else ""
    parts = [(f"IR before{culprit}", record.before, BEFORE), (f"IR after{culprit}", record.after, AFTER)]
    return "\n".join(
        details(name, block(shortened(script, IR_LINES, file), "python")) for name, script, file in parts if script
    )


def _environment(record: FindingRecord) -> str:
    absent = dialect_named(record.doc.lane.dialect).words.absent
    there = {name: version for name, version in versions_of(record.doc).items() if name not in absent}
    versions = [f"- {NAMES.get(name, name)} {version}" for name, version in there.items()]
    machines = [f"- Seen on {machine}" for machine in record.doc.machines]
    version_lines = "\n".join(_item(line) for line in (*versions, *machines))
    verdicts = record.doc.releases.verdicts
    if not verdicts:
        return version_lines
    rows = "".join(f"| {cell(release)} | {_verdict(verdict)} |\n" for release, verdict in verdicts)
    return f"{version_lines}\n\n| TVM | |\n|---|---|\n{rows}"


def _item(line: str) -> str:
    return line[:2] + prose(line[2:])


def _verdict(verdict: ReleaseVerdict) -> str:
    return f"**{verdict}**" if verdict is ReleaseVerdict.FAILS else str(verdict)


def _steps(record: FindingRecord, bare: BareRun | None) -> str:
    """The script, what pip installs for it, and what pip has installed where it was run; or why there is none."""
    if why := why_no_script(record):
        return prose(why)
    needed = code(f"pip install {' '.join(requirements_of(record))}")
    script = block(repro.script(record), "python")
    exits = "This script exits with 1 while the bug is there, with 0 when it is gone."
    return f"{exits} It needs {needed}.{_run_bare(bare) if bare and bare.run.shows else ''}\n\n{script}"


def _run_bare(bare: BareRun) -> str:
    """In which environment it shows the bug. Of the packages that pip adds, those of TVM and of the frameworks."""
    named = {each.partition("==")[0] for each in bare.record.requirements}
    there = bare.record.packages.items()
    more = [f"{name} {version}" for name, version in there if name in PACKAGES.values() and name not in named]
    others = f" {prose(f'(pip adds {listed(more)})')}" if more else ""
    return f" It exits with 1 in a new environment of Python {bare.record.python} with nothing else{others}."


def _triage(record: FindingRecord) -> str:
    """Labels of TVM's tracker, issues that are perhaps related, and the component at fault if it is not TVM."""
    doc = record.doc
    labels = ["needs-triage", "type: bug"]
    if "[Frontend]" in area(record):
        labels.append(doc.lane.importer.row.function.label)
    perhaps = "".join(f"* perhaps related: {prose(str(row))}\n" for row in upstream.related(doc))
    others = "" if doc.component is Component.TVM else f"* at fault: {prose(other(doc.component, doc.lane))}, not TVM\n"
    return "".join(f"* {label}\n" for label in labels) + perhaps + others


def provenance(record: FindingRecord) -> str:
    """Who wrote the report, how far it is reduced, and how often the failure was seen."""
    doc = record.doc
    before, after = len(doc.found_in), len(doc.ops)
    fewer = f", from {_counted(before)} to {after}" if after < before else ""
    smaller = f"minimized automatically{fewer}" if doc.reduction_calls else "not minimized"
    unfinished = "" if doc.reduction_finished or not doc.reduction_calls else " (perhaps not to the end)"
    flaky = "; it does not show each time" if doc.flaky else ""
    natural = ", then shown with usual types and sizes" if record.natural else ""
    has_own = record.case.origin.endswith(WITH_OWN_WEIGHTS) and bool(record.case.owned)
    own = " Numbers in its weights may be those of a person's model." if has_own else ""
    return (
        f"Found by difftvm, a differential fuzzer; {smaller}{unfinished}{natural}; "
        f"seen in {doc.confirmed} fresh processes{flaky}.{own} This text is generated: no person has checked it."
    )


def _counted(operators: int) -> str:
    return f"{operators} operator{'s' * (operators != 1)}"


def log(record: FindingRecord) -> str:
    """The contents of log.txt: the whole raw text of the evidence."""
    return _raw(record.shown) + sanitizer_section.log(record.doc.reports)


def _raw(record: FindingRecord) -> str:
    match record.doc.evidence.evidence:
        case Raised(stage=stage, type=name, message=message, frames=frames):
            lines = [f"{frame.file}:{frame.line} {frame.function}" for frame in frames]
            return "\n".join([f"raised in {stage}", *lines, f"{name}: {message}"]) + "\n"
        case Died(stage=stage, cause=cause, code=code, log=raw):
            return f"died in {stage}: {cause} {code}\n\n{raw}\n"
        case other:
            return f"{other}\n"
